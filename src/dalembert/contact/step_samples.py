"""Steps for tests and benchmarks: a pyramid of boxes at rest, heaps in violent motion, machines of all laws. SI units."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import AnyArray, Array
from dalembert.contact.problem import BILATERAL, CONE, StepProblem

H = 1.0 / 60.0
SIDE = 0.2
GRAVITY = (0.0, 0.0, -9.81)


def masses_of(mass: Array, inertia: Array) -> tuple[Array, Array]:
    """Blocks and their inverses of bodies with equal principal moments."""
    numbers = np.stack([inertia, inertia, inertia, mass, mass, mass], axis=1)
    eye = np.eye(6)
    return numbers[:, :, None] * eye, (1.0 / numbers)[:, :, None] * eye


def frame(normal: Array) -> Array:
    """(n, t1, t2) as rows."""
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    t = np.cross(normal, helper)
    t /= np.linalg.norm(t)
    return np.stack([normal, t, np.cross(normal, t)])


def contact_rows(axes: Array, points: Array, centres: Array, bodies: AnyArray) -> Array:
    """Rows (3 m, 12) of contacts: axes (m, 3, 3), points (m, 3), bodies without rotation at `centres`; rate of b minus that of a."""
    m = len(points)
    J = np.zeros((m, 3, 12))
    for side, sign in ((0, -1.0), (1, 1.0)):
        on = bodies[:, side] >= 0
        r = points - np.where(on[:, None], centres[bodies[:, side]], 0.0)
        rows = sign * np.concatenate([np.cross(r[:, None, :], axes), axes], axis=2)
        J[:, :, 6 * side : 6 * side + 6] = rows * on[:, None, None]
    return J.reshape(3 * m, 12)


def contact_step(
    bodies: AnyArray,
    axes: Array,
    points: Array,
    gaps: Array,
    centres: Array,
    mass: Array,
    v: Array,
    mu: float = 0.5,
    eps: float = 1e-8,
    tau: float = 2.0,
) -> StepProblem:
    """The SPOOK step of boxes at `centres` with velocities v (n, 6): eps in m/N, tau in steps."""
    M, inverse = masses_of(mass, mass * SIDE**2 / 6.0)
    J = contact_rows(axes, points, centres, bodies)
    ends = np.concatenate([v, np.zeros((1, 6))])[bodies].reshape(len(bodies), 12)
    rate = np.einsum("cij,cj->ci", J.reshape(-1, 3, 12), ends)[:, 0]
    Y = 1.0 / (1.0 + 4.0 * tau)
    b = np.zeros((len(bodies), 3))
    b[:, 0] = 4.0 / H * Y * gaps - Y * rate
    free = v.copy()
    free[:, 3:] += H * np.array(GRAVITY)
    m = len(bodies)
    return StepProblem(
        bodies=bodies, kind=np.full(m, CONE), first=3 * np.arange(m + 1), J=J, b=b.reshape(-1), sigma=np.full(3 * m, 4.0 * eps * Y / H**2),
        mu=np.full(m, mu), masses=M, inverse=inverse, free=free.reshape(-1), start=v.reshape(-1).copy(),
    )  # fmt: skip


def pyramid(rows: int, gap: float = 0.03, eps: float = 1e-8) -> StepProblem:
    """rows (rows + 1) / 2 boxes of 1 kg on a plane, each on two, four points per pair; at rest."""
    centres: list[tuple[float, float, float]] = []
    number, bodies, points = {}, [], []
    for r in range(rows):
        for c in range(rows - r):
            number[r, c] = len(centres)
            centres.append(((c - (rows - r) / 2) * (SIDE + gap), 0.0, SIDE / 2 + SIDE * r))
    corner = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    half, overlap = SIDE / 2, (SIDE - (SIDE + gap) / 2) / 2
    for (r, c), k in number.items():
        x, _, z = centres[k]
        below = [(-1, x, half)] if r == 0 else [(number[r - 1, c + s], x - 0.5 * (SIDE + gap) / 2 * (1 - 2 * s), overlap) for s in (0, 1)]
        for other, middle, reach in below:
            for i, j in corner:
                bodies.append((other, k))
                points.append((middle + reach * i, half * j, z - half))
    n, m = len(centres), len(bodies)
    axes = np.broadcast_to(frame(np.array([0.0, 0.0, 1.0])), (m, 3, 3))
    return contact_step(np.array(bodies), axes, np.array(points), np.zeros(m), np.array(centres), np.ones(n), np.zeros((n, 6)), eps=eps)


def heap(
    seed: int, side: int = 4, layers: int = 4, speed: float = 5.0, ratio: float = 1.0, twice: bool = False, eps: float = 1e-8
) -> StepProblem:
    """Boxes that meet at up to `speed`, some 20 mm deep: neighbours in a disturbed lattice touch at 1 ... 4 points. ratio: of masses."""
    rng = np.random.default_rng(seed)
    lattice = np.stack(np.meshgrid(np.arange(side), np.arange(side), np.arange(layers), indexing="ij"), axis=-1).reshape(-1, 3)
    centres = SIDE * (lattice + np.array([0.0, 0.0, 0.5]) + rng.normal(scale=0.12, size=lattice.shape))
    n = len(centres)
    v = np.concatenate([rng.normal(scale=4.0, size=(n, 3)), rng.normal(scale=0.4 * speed, size=(n, 3)) - [0.0, 0.0, 0.4 * speed]], axis=1)
    bodies, axes, points, gaps = [], [], [], []

    def touch(a: int, e: int, normal: Array, middle: Array) -> None:
        F = frame(normal / np.linalg.norm(normal))
        for _ in range(rng.integers(1, 5)):
            s, t = rng.uniform(-0.08, 0.08, size=2)
            bodies.append((a, e))
            axes.append(F)
            points.append(middle + s * F[1] + t * F[2])
            gaps.append(rng.normal(scale=0.01) - 0.005)

    for k in range(n):
        if lattice[k, 2] == 0:
            touch(-1, k, np.array([0.0, 0.0, 1.0]), centres[k] - [0.0, 0.0, SIDE / 2])
        for j in range(k):
            away = centres[k] - centres[j]
            if np.linalg.norm(away) < 1.25 * SIDE:
                touch(j, k, away + rng.normal(scale=0.05, size=3), 0.5 * (centres[k] + centres[j]))
    mass = ratio ** rng.uniform(size=n)
    copies = 2 if twice else 1
    many = [np.array(list(values) * copies) for values in (bodies, axes, points, gaps)]
    return contact_step(many[0], many[1], many[2], many[3], centres, mass, v, eps=eps)


def chain(n: int, sigma: float = 0.0, seed: int = 0) -> StepProblem:
    """Bodies hung from the world one below the other by ball joints, moving at random."""
    rng = np.random.default_rng(seed)
    M, inverse = masses_of(np.ones(n), np.full(n, SIDE**2 / 6.0))
    J = np.zeros((n, 3, 12))
    for k in range(n):
        arm = np.cross(np.array([0.0, 0.0, SIDE / 2]), np.eye(3)).T
        J[k, :, 6:] = np.concatenate([arm, np.eye(3)], axis=1)
        if k:
            J[k, :, :6] = np.concatenate([arm, -np.eye(3)], axis=1)
    bodies = np.stack([np.arange(n) - 1, np.arange(n)], axis=1)
    free = rng.normal(size=6 * n)
    return StepProblem(
        bodies=bodies, kind=np.full(n, BILATERAL), first=3 * np.arange(n + 1), J=J.reshape(-1, 12), b=np.zeros(3 * n),
        sigma=np.full(3 * n, sigma), mu=np.zeros(n), masses=M, inverse=inverse, free=free,
    )  # fmt: skip


def mixed(seed: int, n: int = 20, m: int = 40, sigma: float = 1e-3, bound: float = 0.1) -> StepProblem:
    """Constraints of all laws with random rows between random bodies, full mass blocks."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 6, 6))
    M = A @ A.transpose(0, 2, 1) + np.eye(6)
    kind = rng.integers(0, 4, size=m)
    count = np.where(kind == CONE, 3, np.where(kind == BILATERAL, rng.integers(1, 4, size=m), 1))
    first = np.concatenate([[0], np.cumsum(count)])
    bodies = np.array([rng.choice(n + 1, 2, replace=False) - 1 for _ in range(m)])
    owner = np.repeat(np.arange(m), count)
    rows = len(owner)
    J = rng.normal(size=(rows, 12))
    J[bodies[owner, 0] < 0, :6] = 0.0
    J[bodies[owner, 1] < 0, 6:] = 0.0
    return StepProblem(
        bodies=bodies, kind=kind, first=first, J=J, b=rng.normal(size=rows), sigma=np.full(rows, sigma), mu=rng.uniform(0.0, 1.0, size=m),
        masses=M, inverse=np.asarray(np.linalg.inv(M), dtype=np.float64), free=rng.normal(size=6 * n),
        low=np.full(rows, -bound), high=np.full(rows, bound),
    )  # fmt: skip
