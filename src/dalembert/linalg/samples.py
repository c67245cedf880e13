"""Systems for tests and benchmarks: chains, random trees, rings, graphs, piles of contacts. Body -1 is the world."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dalembert.linalg.blocks import BlockJacobian, Floats, Ints
from dalembert.linalg.saddle import Saddle


def random_masses(n: int, rng: np.random.Generator, decades: float = 0.0) -> Floats:
    """(n, 6, 6) of condition up to about 100, times 10^-decades ... 10^decades."""
    a = rng.normal(size=(n, 6, 6))
    return (a @ np.swapaxes(a, 1, 2) / 6 + 0.2 * np.eye(6)) * 10.0 ** rng.uniform(-decades, decades, size=(n, 1, 1))


def random_rows(count: int, rng: np.random.Generator) -> Floats:
    """(count, 6, 6) orthogonal: the first r rows of each are a block of full rank."""
    return np.linalg.qr(rng.normal(size=(count, 6, 6)))[0]


def system(
    n: int, pairs: npt.ArrayLike, rows: npt.ArrayLike, rng: np.random.Generator, compliance: object = None, decades: float = 0.0
) -> Saddle:
    """Constraints of these numbers of rows between these pairs of bodies."""
    who = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    tall = np.broadcast_to(np.asarray(rows, dtype=np.int64), (len(who),))
    blocks = random_rows(2 * len(who), rng).reshape(-1, 2, 6, 6)
    if len(set(tall.tolist())) == 1:
        g = BlockJacobian.from_pairs(n, who, blocks[:, :, : tall[0]])
    else:
        g = BlockJacobian.from_blocks(
            n, [([k for k in p if k >= 0], [b[j, :r] for j in (0, 1) if p[j] >= 0]) for p, b, r in zip(who, blocks, tall, strict=True)]
        )
    return Saddle.of(random_masses(n, rng, decades), g, compliance)


def chain_pairs(n: int, anchored: bool = True) -> Ints:
    """Body i to body i - 1, the first to the world."""
    pairs = np.stack([np.arange(n) - 1, np.arange(n)], axis=1)
    return pairs if anchored else pairs[1:]


def chain(n: int, rows: int = 5, seed: int = 0, compliance: object = None, anchored: bool = True) -> Saddle:
    """n bodies in a row."""
    return system(n, chain_pairs(n, anchored), rows, np.random.default_rng(seed), compliance)


def tree_pairs(n: int, rng: np.random.Generator, roots: int = 1) -> Ints:
    """Each body but the first ones hangs on an earlier one; bodies are numbered at random."""
    name = rng.permutation(n)
    return np.array([(name[rng.integers(0, i)], name[i]) for i in range(roots, n) if i > 0], dtype=np.int64).reshape(-1, 2)


def contacts(m: int, seed: int = 0, compliance: float = 1e-3) -> Saddle:
    """m contacts (normal, two tangents) of m / 2 balls of radius 0.5; neighbours in number touch, the last ones the world."""
    rng = np.random.default_rng(seed)
    n = max(1, m // 2)
    a = np.sort(rng.integers(0, n, m))
    b = a + rng.integers(1, 30, m)
    who = np.stack([a, np.where(b >= n, -1, b)], axis=1)
    frame = random_rows(m, rng)[:, :3, :3]
    frame = np.linalg.qr(frame)[0]
    lever = 0.5 * frame[:, :1]
    blocks = np.stack([np.concatenate([np.cross(lever, frame), -frame], 2), np.concatenate([np.cross(lever, frame), frame], 2)], axis=1)
    inertia = np.tile([0.1, 0.1, 0.1, 1.0, 1.0, 1.0], (n, 1))
    return Saddle.of(inertia, BlockJacobian.from_pairs(n, who, blocks), compliance)
