"""Beads on inextensible links in a box of six walls, without gravity or friction: Leyendecker et al. 3.3, and its neighbours.

Beads have 1 kg and a radius of 0.1 m, links 1 m; beads that a link joins do not touch each other. Print gives one start, which is chaotic,
and says that others are planar or periodic: those are ours. The chain of four beads has collisions at 126.7042, 176.7941, 190.7934,
222.0645 s (extrapolated from h = 0.025 and 0.0125 s); later ones depend on every digit.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model, Plane, Sphere
from dalembert.model.parts import WORLD
from dalembert.model.touching import touching
from dalembert.scenes._base import Finding, Scene, register

BOX, FLAT, RADIUS = (8.0, 10.0, 14.0), (8.0, 10.0, 2.0), 0.1
TIMES = np.array([126.704193, 176.794097, 190.793423, 222.064464])
ORDER = np.array([0.35, 0.5, 1.5, 4.5])  # error of these times over h^2, at most: found are 0.27, 0.39, 1.13, 3.5 at h = 0.1 s
SIDES = {  # quaternions that turn z to a direction, without round-off
    (1, 0, 0): (0.5, 0.5, 0.5, 0.5),
    (-1, 0, 0): (0.5, 0.5, -0.5, -0.5),
    (0, 1, 0): (0.5, -0.5, 0.5, 0.5),
    (0, -1, 0): (0.5, 0.5, 0.5, -0.5),
    (0, 0, 1): (1.0, 0.0, 0.0, 0.0),
    (0, 0, -1): (0.0, 1.0, 0.0, 0.0),
}


def add_wall(m: Model, inward: tuple[int, int, int], distance: float, restitution: float = 1.0) -> None:
    """A wall at a distance from the origin, which is inside."""
    place = tuple(-distance * x for x in inward)
    m.add_shape("world", Plane(position=place, quaternion=SIDES[inward], friction=0.0, restitution=restitution))


def add_walls(m: Model, box: Any, restitution: float = 1.0) -> None:
    """Six walls around the origin."""
    for inward in SIDES:
        add_wall(m, inward, 0.5 * float(np.abs(np.dot(box, inward))), restitution)


def zigzag(n: int) -> Array:
    """n points in the plane z = 0, one apart, up and down by 45 degrees: for n = 4 the start of the source."""
    k = np.arange(n)
    return np.column_stack([k - 0.5 * (n - 1), k % 2 - 0.5, np.zeros(n)]) / np.sqrt(2.0)


def chain(beads: Any, box: Any = BOX, name: str = "bead-chain", restitution: float = 1.0) -> Model:
    """Beads at places (n, 3), joined by links in their order."""
    m = Model(name, gravity=(0, 0, 0))
    add_walls(m, box, restitution)
    for k, place in enumerate(beads):
        m.add_particle(f"bead{k + 1}", 1.0, position=tuple(place), shapes=[Sphere(RADIUS, friction=0.0, restitution=restitution)])
    for k in range(1, len(beads)):
        m.add_loop(f"link{k}", "distance", f"bead{k}", f"bead{k + 1}")
        m.exclude(f"bead{k}", f"bead{k + 1}")
    return m


def kick(n: int, velocity: Any) -> Array:
    """v0 of a chain whose first bead moves; the direction of the source is along none of its links."""
    return np.concatenate([np.asarray(velocity, dtype=float), np.zeros(3 * n - 3)])


def kept(traj: Any, band: float) -> list[Finding]:
    """Energy, links, walls and what walls gave: what holds of every chain."""
    links = np.linalg.norm(np.diff(traj.q.reshape(len(traj), -1, 3), axis=1), axis=2)
    return [
        Finding("change of the energy, of its size", float(np.abs(traj.energy / traj.energy[0] - 1.0).max()), band),
        Finding("error of the links, m", float(np.abs(links - 1.0).max()), 1e-12),
        Finding("depth in walls and beads, m", depth(traj), 1e-12),
    ]


def depth(traj: Any) -> float:
    """Deepest overlap of balls of one radius with each other and with the walls of a box, at nodes, m: from positions alone."""
    x, names, radius = traj.poses[:, :, :3, 3], [b.name for b in traj.model.bodies], traj.model.bodies[0].shapes[0].radius
    half = np.max([np.abs(wall.position) for wall in traj.model.world_shapes], axis=0)
    worst = float((np.abs(x) + radius - half).max())
    for a, b in touching(traj.model):
        if WORLD not in (a, b):
            apart = np.linalg.norm(x[:, names.index(a)] - x[:, names.index(b)], axis=1)
            worst = max(worst, 2.0 * radius - float(apart.min()))
    return worst


def chaotic_check(traj: Any) -> list[Finding]:
    """The first four collisions at their times, to order h^2."""
    late = np.abs(traj.events["t"][:4] - TIMES) / traj.h**2 / ORDER if len(traj.events.rows) >= 4 else np.array([np.inf])
    return [Finding("error of the first four times of collision, of its limit", float(late.max()), 1.0), *kept(traj, 1e-3)]


def planar_check(traj: Any) -> list[Finding]:
    """What starts in a plane stays in it."""
    away = float(np.abs(traj.q.reshape(len(traj), -1, 3)[:, :, 2]).max())
    return [Finding("distance from the plane, m", away, 0.0), *kept(traj, 3e-3)]


def bounced(t: Any, speed: float, half: float) -> Array:
    """A point that starts at 0 and goes to and fro between walls at -half and half."""
    way = np.asarray(t) * speed + half
    return np.asarray(half - np.abs(way % (4.0 * half) - 2.0 * half))


def periodic_check(traj: Any) -> list[Finding]:
    """The straight chain goes to and fro; all its beads strike at one instant."""
    x = traj.q.reshape(len(traj), -1, 3)
    exact = bounced(traj.t, 0.5, 0.5 * BOX[0] - RADIUS)
    hits = np.unique(np.round(traj.events["t"], 9))
    return [
        Finding("error of the places, m", float(np.abs(x[:, :, 0] - exact[:, None]).max()), 1e-10),
        Finding("turning out of line, m", float(np.abs(x[:, :, 1:] - x[0, :, 1:]).max()), 1e-10),
        Finding("beads that did not strike with the others", abs(4.0 * len(hits) - len(traj.events.rows)), 0.0),
        *kept(traj, 1e-11),
    ]


PAPER = ("leyendecker",)
STILL = np.column_stack([np.zeros(4), np.arange(4) - 1.5, np.zeros(4)])

register(
    Scene(
        name="bead-chain",
        summary="four beads on links in a box, the first is pushed: chaotic, collisions at the times of the source's motion",
        build=partial(chain, zigzag(4)),
        v0=kick(4, (-0.1, 0.1, -0.1)),
        h=0.1,
        t_end=2000.0,
        stepper="collision",
        chaotic=True,
        references=PAPER,
        check=chaotic_check,
    )
)
register(
    Scene(
        name="bead-chain-planar",
        summary="four beads on links in a box, pushed within their plane: they stay in it",
        build=partial(chain, zigzag(4), FLAT, "bead-chain-planar"),
        v0=kick(4, (-0.5, 0.5, 0.0)),
        h=0.02,
        t_end=200.0,
        stepper="collision",
        chaotic=True,
        references=PAPER,
        check=planar_check,
    )
)
register(
    Scene(
        name="bead-chain-periodic",
        summary="four beads in line that go to and fro between two walls, and strike with all beads at once: periodic",
        build=partial(chain, STILL, FLAT, "bead-chain-periodic"),
        v0=np.tile([0.5, 0.0, 0.0], 4),
        h=0.1,
        t_end=1000.0,
        stepper="collision",
        references=PAPER,
        check=periodic_check,
    )
)
for beads, h, t_end, band in ((10, 0.02, 200.0, 2e-3), (50, 0.05, 40.0, 1e-2)):
    register(
        Scene(
            name=f"bead-chain-{beads}",
            summary=f"{beads} beads on links in a box as much larger, the first is pushed along all three axes",
            build=partial(chain, zigzag(beads), tuple((beads - 1) / 3 * x for x in BOX), f"bead-chain-{beads}"),
            v0=kick(beads, (-1.0, 1.0, -1.0)),
            h=h,
            t_end=t_end,
            stepper="collision",
            chaotic=True,
            references=PAPER,
            check=partial(kept, band=band),
        )
    )
