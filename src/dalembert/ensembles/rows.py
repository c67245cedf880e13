"""What a study keeps of each sample: how its run ended, its last node, what was observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.kernels import status

REFUSED, RAISED, KILLED = -1, -2, -3  # beside the answers of kernels: could not start; the user's own code raised; its process died
WORDS = {
    REFUSED: "refused", RAISED: "raised", KILLED: "killed", status.OK: "ok", status.NOT_CONVERGED: "not converged",
    status.NOT_FINITE: "not finite", status.SINGULAR: "singular", status.NO_SOLUTION: "no solution", status.LOST: "lost",
    status.RUNAWAY: "runaway", status.EVENT: "event", status.TOO_MANY_EVENTS: "too many events",
    status.NO_CONTINUATION: "no continuation", status.UNMET: "unmet",
}  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """Rows of some samples: index (k,), code (k,), steps (k,), t (k,), q (k, nq), v (k, nv) of the last node, sentences, observed columns.

    Where a run failed, the last node is the one before the failure; where it could not start, numbers are NaN.
    """

    index: np.ndarray
    code: np.ndarray
    steps: np.ndarray
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    errors: list[str]
    observed: dict[str, np.ndarray]


def empty_rows(index: Any, nq: int, nv: int) -> Rows:
    """Rows of samples that did not run."""
    k = len(index)
    nan = np.full(k, np.nan)
    whole = np.asarray(index, dtype=np.int64), np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
    return Rows(*whole, nan, np.full((k, nq), np.nan), np.full((k, nv), np.nan), [""] * k, {})


def put(rows: Rows, at: Any, other: Rows) -> None:
    """Write rows into places `at` of others; observed columns that are new are NaN elsewhere."""
    for name in ("index", "code", "steps", "t", "q", "v"):
        getattr(rows, name)[at] = getattr(other, name)
    for i, text in zip(at, other.errors, strict=True):
        rows.errors[int(i)] = text
    put_observed(rows.observed, len(rows.index), at, other.observed)


def put_observed(mine: dict[str, np.ndarray], count: int, at: Any, other: dict[str, np.ndarray]) -> None:
    """Write columns into places `at` of columns of `count` rows; NaN where nothing is written, and where a row has fewer numbers.

    The shape of a column is the smallest that holds the rows of all samples, so that neither their order nor their portions matter.
    """
    for name, column in other.items():
        room = mine.get(name)
        if room is None:
            room = mine[name] = np.full((count, *column.shape[1:]), np.nan)
        shape = common_shape(room.shape[1:], column.shape[1:])
        if shape != room.shape[1:]:
            room = mine[name] = filled(room, shape)
        room[at] = filled(column, shape)


def common_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The smallest shape that holds both; a number is an array of one."""
    k = max(len(a), len(b))
    first, second = ((*shape, *(1,) * (k - len(shape))) for shape in (a, b))
    return tuple(max(pair) for pair in zip(first, second, strict=True))


def filled(column: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Rows of a column with room for `shape` each, NaN in what is added."""
    if column.shape[1:] == shape:
        return column
    own = column.reshape(*column.shape, *(1,) * (len(shape) + 1 - column.ndim))
    out = np.full((len(column), *shape), np.nan)
    out[tuple(slice(0, n) for n in own.shape)] = own
    return out
