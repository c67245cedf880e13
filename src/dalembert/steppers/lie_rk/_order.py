"""Order conditions, computed by series instead of being listed.

Classical part. A Runge-Kutta method (A, b) has order p if for every rooted tree t of at most p nodes

    sum_i b_i phi_i(t) = 1 / gamma(t),    phi([t_1 ... t_m]) = (A phi(t_1)) ... (A phi(t_m)),   gamma(t) = |t| gamma(t_1) ... gamma(t_m)

Group part. On a Lie group the order of differentiations matters: words of ordered trees take the place of rooted trees. With Y' = Y F(Y), a
frozen element of the algebra acts as a left-invariant derivation, F(Y exp(X_1) exp(X_2)) = X_1 X_2 ... F, and

    stage    Y_i = exp(h sum_j alpha1_ij K_j) exp(h sum_j alpha2_ij K_j) ...,   K_i = B+(Y_i)        B+ puts a root below a word
    exact    t Y' = Y B+(Y),  so that  n [Y]_n = sum_k [Y]_(n-1-k) B+([Y]_k)

are series in words with the concatenation as product. No relation holds between these words on all groups and for all F, so a method
has order p if and only if the two series agree up to words of p nodes. A tree is the tuple of its subtrees, so a word of trees and
the tree that B+ makes of it are the same tuple at two levels: B+(w) = (w,).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations_with_replacement

import numpy as np

from dalembert.arrays import Array

Word = tuple  # of trees; a tree is the word of its subtrees
Series = dict[Word, float]

BERNOULLI = (1.0, -1 / 2, 1 / 6, 0.0, -1 / 30, 0.0, 1 / 42, 0.0, -1 / 30)


# rooted trees -----------------------------------------------------------------------------------------------------------------------


@cache
def rooted_trees(n: int) -> tuple[Word, ...]:
    """All rooted trees with n nodes; subtrees in a fixed order."""
    found = set()
    for sizes in _partitions(n - 1, n - 1):
        groups = [combinations_with_replacement(rooted_trees(size), sizes.count(size)) for size in sorted(set(sizes))]
        for choice in _products(groups):
            found.add(tuple(sorted(choice)))
    return tuple(sorted(found))


def _partitions(n: int, largest: int) -> Iterable[tuple[int, ...]]:
    if n == 0:
        yield ()
    for first in range(min(n, largest), 0, -1):
        for rest in _partitions(n - first, first):
            yield (first, *rest)


def _products(groups: Sequence[Iterable[Word]]) -> Iterable[Word]:
    if not groups:
        yield ()
        return
    rest = list(_products(groups[1:]))
    for first in groups[0]:
        for other in rest:
            yield (*first, *other)


@cache
def nodes(tree: Word) -> int:
    """Number of nodes of a tree."""
    return 1 + sum(nodes(t) for t in tree)


def density(tree: Word) -> int:
    """gamma(t)"""
    return nodes(tree) * math.prod(density(t) for t in tree)


def classical_defect(A: Array, b: Array, order: int) -> float:
    """Largest |sum_i b_i phi_i(t) - 1/gamma(t)| over all trees up to the order; relative to the terms of the sum where those exceed 1."""
    worst = 0.0
    for n in range(1, order + 1):
        for tree in rooted_trees(n):
            terms = float(np.abs(b) @ _phi(np.abs(A), tree))
            worst = max(worst, abs(float(b @ _phi(A, tree)) - 1 / density(tree)) / max(1.0, terms))
    return worst


def _phi(A: Array, tree: Word) -> Array:
    return np.prod([A @ _phi(A, t) for t in tree], axis=0) if tree else np.ones(len(A))


# words of ordered trees -------------------------------------------------------------------------------------------------------------


def add(a: Series, b: Series, factor: float = 1.0) -> Series:
    """a + factor b"""
    out = dict(a)
    for word, x in b.items():
        out[word] = out.get(word, 0.0) + factor * x
    return out


def product(a: Series, b: Series, order: int) -> Series:
    """Concatenation, cut off after the order."""
    out: Series = {}
    for u, x in a.items():
        room = order - size(u)
        for w, y in b.items():
            if size(w) <= room:
                out[u + w] = out.get(u + w, 0.0) + x * y
    return out


@cache
def size(word: Word) -> int:
    """Number of nodes of a word."""
    return sum(nodes(t) for t in word)


def exponential(a: Series, order: int) -> Series:
    """1 + a + a a/2 + ...; a has no constant term."""
    out: Series = {(): 1.0}
    power: Series = {(): 1.0}
    for k in range(1, order + 1):
        power = product(power, a, order)
        out = add(out, power, 1 / math.factorial(k))
    return out


def rooted(a: Series, order: int) -> Series:
    """B+: every word becomes a tree with one node more."""
    return {(word,): x for word, x in a.items() if size(word) < order}


def exact_flow(order: int) -> Series:
    """The solution of Y' = Y F(Y) after one unit of time."""
    out: Series = {(): 1.0}
    for n in range(1, order + 1):
        step = product(out, rooted(out, n), n)
        out = add(out, {word: x / n for word, x in step.items() if size(word) == n})
    return out


def combination(row: Sequence[float], K: Sequence[Series]) -> Series:
    """sum_j row_j K_j"""
    out: Series = {}
    for x, k in zip(row, K, strict=False):
        if x != 0.0:
            out = add(out, k, x)
    return out


def dexp_inv(theta: Series, v: Series, terms: int, order: int) -> Series:
    """The first terms of dexp^-1_(-theta) v = v + [theta, v]/2 + [theta, [theta, v]]/12 + ..."""
    out, bracket = v, v
    for k in range(1, terms):
        bracket = add(product(theta, bracket, order), product(bracket, theta, order), -1.0)
        out = add(out, bracket, (-1) ** k * BERNOULLI[k] / math.factorial(k))
    return out


def group_defect(stages: Sequence, weights: Sequence, order: int, algebra: bool = False, terms: int | None = None) -> float:
    """Largest difference of the method's series from that of the exact flow, over all words up to the order.

    stages, weights: for each stage, and for the step, the rows of the exponentials in order. algebra: the method of Munthe-Kaas, one
    exponential each, of a combination of dexp^-1 K_j with so many terms of its series (None: as many as can matter).
    """
    K: list[Series] = []
    for factors in stages:
        Y, theta = _move(factors, K, order)
        k = rooted(Y, order)
        K.append(dexp_inv(theta, k, terms or order, order) if algebra else k)
    difference = add(_move(weights, K, order)[0], exact_flow(order), -1.0)
    return max(abs(x) for x in difference.values())


def _move(factors: Sequence, K: list[Series], order: int) -> tuple[Series, Series]:
    """Product of the exponentials, and the exponent of the last."""
    Y: Series = {(): 1.0}
    theta: Series = {}
    for row in factors:
        theta = combination(row, K)
        Y = product(Y, exponential(theta, order), order)
    return Y, theta
