"""Order conditions of compositions of a self-adjoint method, by arithmetic with words.

A self-adjoint method of order 2 is the flow of a series in odd powers: one substep w h is exp(w h X1 + (w h)^3 X3 + (w h)^5 X5 + ...) with
X1 the exact vector field and X3, X5, ... unknown, non-commuting error fields. A composition is the product of such exponentials. It has
order p if and only if that product equals exp(h X1) up to h^p in the free associative algebra of X1, X3, X5, ...; the coefficient of every
word of weight at most p is therefore a condition on the weights w. A palindrome of weights has only odd powers in its logarithm, so that
even weights bring nothing new: 1, 1, 2, 4 independent conditions at the weights 1, 3, 5, 7.

The product grows from left to right. Over the substeps k, with |u| the weight and #u the length of a word u,

    c_u(k) = c_u(k-1) + sum over splits u = a b, b not empty, of c_a(k-1) w_k^|b| / (#b)!.

The arithmetic is that of the weights, an array of floats or of exact fractions.
"""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import Any

import numpy as np

Word = tuple[int, ...]


@cache
def words(weight: int) -> tuple[Word, ...]:
    """All words in the letters 1, 3, 5, ... whose letters add up to `weight`."""
    if weight == 0:
        return ((),)
    return tuple((*word, letter) for letter in range(1, weight + 1, 2) for word in words(weight - letter))


def increments(weights: Any, order: int) -> dict[Word, Any]:
    """c_u(k) - c_u(k-1) of every substep k, for every word of weight 1 ... `order`."""
    w = np.asarray(weights)
    powers = [w**0]
    for _ in range(order):
        powers.append(powers[-1] * w)
    before: dict[Word, Any] = {(): powers[0]}  # c_u(k-1)
    found: dict[Word, Any] = {}
    for weight in range(1, order + 1):
        for word in words(weight):
            found[word] = sum(before[word[:i]] * powers[sum(word[i:])] / factorial(len(word) - i) for i in range(len(word)))
            before[word] = np.concatenate([[0 * found[word][0]], np.cumsum(found[word])[:-1]])
    return found


def series(weights: Any, order: int) -> dict[Word, Any]:
    """Coefficient of every word of weight at most `order` in the product of the substeps."""
    return {(): np.asarray(weights)[0] ** 0} | {word: np.sum(added) for word, added in increments(weights, order).items()}


def defects(weights: Any, order: int) -> dict[Word, Any]:
    """Coefficients of the product minus those of exp(h X1), 1/n! for n times X1 and 0 else, at the odd weights up to `order`."""
    found = series(weights, order)
    exact = {(1,) * n: w_n for n, w_n in enumerate(_exponential(found[()], order))}
    return {word: value - exact.get(word, 0) for word, value in found.items() if sum(word) % 2 == 1}


def _exponential(one: Any, order: int) -> list[Any]:
    return [one / factorial(n) for n in range(order + 1)]


def sizes(weights: Any, order: int) -> dict[Word, Any]:
    """The same sums with |w|: times the round-off of one number they bound the round-off of `defects`."""
    return series(np.abs(np.asarray(weights)), order)


def spell(word: Word) -> str:
    """A condition as people name it: the sum of w^k of one letter, else the word."""
    return f"sum of w^{word[0]}" if len(word) == 1 else "coefficient of " + " ".join(f"X{letter}" for letter in word)
