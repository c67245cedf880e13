"""Large heaps: a thousand boxes, a thousand balls, a wall of 990 boxes, and a heap of everything convex. h = 1/60 s.

The large ones take a minute or two and are run in full by `dalembert run` and the benchmarks; tests take their small builds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Box, Capsule, Convex, Cylinder, Ellipsoid, Model, Sphere
from dalembert.scenes._base import Finding, Scene, register
from dalembert.scenes.contact_piles import STEPPER, H, comes_to_rest, ground, heap, pyramid, spheres_in_bin, stands, turns
from dalembert.scenes.contact_structures import wedge

register(
    Scene(
        name="pyramid-990",
        summary="a wall of 990 boxes in 44 rows: it stands",
        build=partial(pyramid, 44, "pyramid-990"),
        small=partial(pyramid, 10, "pyramid-990"),
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        check=stands(0.1, 1e-12),
    )
)
register(
    Scene(
        name="heap-1000",
        summary="a thousand boxes fall into a heap and come to rest",
        build=partial(heap, 1000, 1, "heap-1000", 10),
        small=partial(heap, 40, 2, "heap-1000", 4),
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        chaotic=True,
        options={"law": "cone"},  # exact Coulomb does not converge in most steps of so many boxes in motion, and takes 10 times as long
        check=comes_to_rest(1e-9, 0.01, 6.0),
    )
)
register(
    Scene(
        name="spheres-1000",
        summary="a thousand balls fall into a bin; they have no rolling friction, and some roll on slowly",
        build=partial(spheres_in_bin, 1000, 1, "spheres-1000"),
        small=partial(spheres_in_bin, 60, 2, "spheres-1000"),
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        chaotic=True,
        options={
            "solver": "gauss-seidel",
            "sweeps": 50,
        },  # balls bear on few others: sweeps settle them, and exact solves cost a hundred times
        check=comes_to_rest(1e-3, 0.1, 6.0, 4.0),
    )
)

# everything convex -------------------------------------------------------------------------------------------------------------------

RESISTANCE = 5e-3  # m: torque per normal force against spinning and rolling, that of a patch of some 5 mm
FRICTION = 0.5


def solids() -> list[Array]:
    """Corners of a tetrahedron, an octahedron, an icosahedron, a wedge, a hexagonal prism and a pyramid, 0.2 m or so across."""
    golden = 0.5 * (1.0 + 5.0**0.5)
    faces = np.array([(0.0, a, b * golden) for a in (-1, 1) for b in (-1, 1)])

    def prism(n: int, radius: float, half: float) -> Array:
        angles = 2.0 * np.pi * np.arange(n) / n
        return np.array([(radius * np.cos(a), radius * np.sin(a), z) for z in (-half, half) for a in angles])

    return [
        0.1 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], dtype=float),
        0.14 * np.vstack([np.eye(3), -np.eye(3)]),
        0.07 * np.vstack([np.roll(faces, k, axis=1) for k in range(3)]),
        prism(3, 0.12, 0.09),
        prism(6, 0.11, 0.05),
        np.array([(x, y, -0.05) for x in (-0.1, 0.1) for y in (-0.1, 0.1)] + [(0.0, 0.0, 0.12)]),
    ]


def polyhedron(corners: Array) -> tuple[Any, Array]:
    """Shape about its centre of mass and inertia of a solid of 1 kg."""
    volume, _, _ = wedge(corners, 1.0)
    _, com, inertia = wedge(corners, 1.0 / volume)
    return Convex(corners - com, friction=FRICTION), inertia


def mixed_heap(n: int = 60, seed: int = 1, name: str = "mixed-heap") -> Model:
    """n bodies of 1 kg in random attitudes fall in layers of nine: in turn boxes of random edges, solids, cylinders, capsules, ellipsoids,
    balls. All contacts resist spinning and rolling a little; without, what hangs at two points swings on, and balls roll away for ever."""
    m, rng = ground(name, FRICTION), np.random.default_rng(seed)
    q, hulls = turns(rng, n), [polyhedron(c) for c in solids()]
    rounded: list[Callable[..., Any]] = [
        partial(Cylinder, 0.08, 0.2),
        partial(Capsule, 0.07, 0.15),
        partial(Ellipsoid, (0.06, 0.09, 0.13)),
        partial(Sphere, 0.09),
    ]
    for k in range(n):
        turn, kind = divmod(k, 6)
        layer, place = divmod(k, 9)
        at = 0.42 * np.array([place % 3 - 1.0, place // 3 - 1.0]) + rng.uniform(-0.03, 0.03, 2)
        shape, inertia = hulls[turn % 6]
        if kind != 1:
            shape = Box(rng.uniform(0.12, 0.26, 3), friction=FRICTION) if kind == 0 else rounded[kind - 2](friction=FRICTION)
            inertia = shape.inertia(1.0)
        m.add_body(f"body{k + 1}", 1.0, inertia, pose=((*at, 0.3 + 0.4 * layer), q[k]), shapes=(shape,))
    for a, b in combinations(["world", *(b.name for b in m.bodies)], 2):
        m.add_contact(a, b, torsion=RESISTANCE, rolling=RESISTANCE)
    return m


def _rests(traj: Any) -> list[Finding]:
    """At rest but for what leans on two points at the limit of friction: that creeps, and may turn by a milliradian once in a while."""
    rest, *others = comes_to_rest(1e-5, 0.01, 6.0)(traj)
    usual = float(np.median(traj.kinetic[traj.t >= traj.t[-1] - 3.0]) / len(traj.model.bodies))
    return [Finding("kinetic energy of the last 3 s, median, J per body", usual, 1e-9), rest, *others]


register(
    Scene(
        name="mixed-heap",
        summary="sixty convex bodies of six kinds fall into a heap and come to rest",
        build=mixed_heap,
        small=partial(mixed_heap, 36),
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        chaotic=True,
        check=_rests,
    )
)
