"""Things that people build and knock over: dominoes, a house of cards, an arch, Newton's cradle. h = 1/60 s unless stated."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dalembert.model import Convex, Cylinder, Model, Sphere
from dalembert.scenes._base import Finding, Scene, register
from dalembert.scenes.contact_piles import STEPPER, UPRIGHT, H, about, add_box, ground, last_motion, moved, unsolved

# dominoes ----------------------------------------------------------------------------------------------------------------------------


def dominoes(n: int = 15, apart: float = 0.12, name: str = "dominoes") -> Model:
    """n dominoes of 3 x 10 x 20 cm in a row."""
    m = ground(name, 0.4)
    for k in range(n):
        add_box(m, f"domino{k + 1}", (0.03, 0.1, 0.2), 0.5, (apart * k, 0, 0.1), friction=0.4)
    return m


def _fall_one_after_the_other(traj: Any) -> list[Finding]:
    leaning = np.degrees(np.arccos(np.clip(traj.poses[:, :, 2, 2], -1.0, 1.0)))
    first = np.argmax(leaning > 20.0, axis=0)
    return [
        Finding("dominoes that stand at the end", float((leaning[-1] < 45.0).sum()), 0.0),
        Finding("dominoes that fall before the one in front of them", float((np.diff(first) <= 0).sum()), 0.0),
        Finding("kinetic energy at the end, J per body", last_motion(traj), 1e-6),
        unsolved(traj),
    ]


register(
    Scene(
        name="dominoes",
        summary="fifteen dominoes: the first is pushed, all fall, one after the other",
        build=dominoes,
        v0={"domino1": (0, 3.0, 0, 0.3, 0, 0)},
        h=H,
        t_end=4.0,
        stepper=STEPPER,
        check=_fall_one_after_the_other,
    )
)

# house of cards ----------------------------------------------------------------------------------------------------------------------

CARD = (0.002, 0.06, 0.09)  # thickness, width, length, m
LEAN = np.radians(24.0)


def card_house(stories: int = 2, name: str = "card-house") -> Model:
    """Pairs of cards that lean against each other, level cards between the stories; the uppermost story is one pair."""
    m = ground(name, 0.6)
    (t, _, l), s, c = CARD, np.sin(LEAN), np.cos(LEAN)
    reach = 0.5 * (t * c + l * s)  # of the middle of a leaning card from the line where two meet
    rise, height = 0.5 * (t * s + l * c), t * s + l * c
    apart = 2.0 * (t * c + l * s) + 0.012  # of neighbouring pairs: wider than their feet
    for story in range(stories):
        pairs, base = stories - story, story * (height + t)
        for k in range(pairs):
            middle = (k - 0.5 * (pairs - 1)) * apart
            for side, sign in (("left", -1.0), ("right", 1.0)):
                place = (middle + sign * reach, 0, base + rise)
                add_box(m, f"{side}{story + 1}.{k + 1}", CARD, 0.002, place, about(1, -sign * LEAN), 0.6)
        for k in range(pairs - 1):
            middle = (k - 0.5 * (pairs - 2)) * apart
            size = (apart - 0.0005, CARD[1], t)
            add_box(m, f"level{story + 1}.{k + 1}", size, 0.002, (middle, 0, base + height + 0.5 * t), friction=0.6)
    return m


def _stands(most: float, energy: float) -> Any:
    def check(traj: Any) -> list[Finding]:
        return [
            Finding("moved, mm", moved(traj), most),
            Finding("kinetic energy at the end, J per body", last_motion(traj), energy),
            unsolved(traj),
        ]

    return check


register(
    Scene(
        name="card-house",
        summary="a house of cards of two stories, held by friction alone: it stands",
        build=card_house,
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        check=_stands(1.0, 1e-12),
    )
)

# arch --------------------------------------------------------------------------------------------------------------------------------


def arch(stones: int = 11, radius: float = 1.0, thickness: float = 0.25, friction: float = 0.6, name: str = "arch") -> Model:
    """A half circle of wedges without mortar; the first and the last stand on the floor. It stands where thickness > 0.107 radius."""
    m = ground(name, friction)
    inner, outer, half = radius - 0.5 * thickness, radius + 0.5 * thickness, 0.5 * np.pi / stones
    depth, density = 0.3, 2400.0
    corners = np.array(
        [(r * np.sin(a), y, r * np.cos(a)) for r in (inner, outer) for a in (-half, half) for y in (-0.5 * depth, 0.5 * depth)]
    )
    mass, com, inertia = wedge(corners, density)
    shape = Convex(corners - com, friction=friction)
    for k in range(stones):
        turn = np.pi * (k + 0.5) / stones - 0.5 * np.pi
        s, c = np.sin(turn), np.cos(turn)
        place = (com[0] * c + com[2] * s, 0.0, com[2] * c - com[0] * s)
        m.add_body(f"stone{k + 1}", mass, inertia, pose=(place, about(1, turn)), shapes=(shape,))
    return m


def wedge(corners: Any, density: float) -> tuple[float, Any, Any]:
    """Mass, centre of mass and inertia about it of a convex body: tetrahedra between its middle and the triangles of its hull."""
    from scipy.spatial import ConvexHull

    middle = corners.mean(axis=0)
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for triangle in corners[ConvexHull(corners).simplices]:
        points = np.concatenate([middle[None], triangle])
        m = density * abs(np.linalg.det(triangle - middle)) / 6.0
        total = points.sum(axis=0)
        mass += m
        first += m * total / 4.0
        second += m / 20.0 * (np.outer(total, total) + points.T @ points)
    com = first / mass
    second -= mass * np.outer(com, com)
    return mass, com, np.trace(second) * np.eye(3) - second


register(
    Scene(
        name="arch",
        summary="eleven wedges in a half circle without mortar: the arch stands",
        build=arch,
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        options={"eps": 1e-10},  # stones of 100 kg: friction creeps by 4 eps Y/h times its force
        check=_stands(0.1, 1e-9),
    )
)

# Newton's cradle -----------------------------------------------------------------------------------------------------------------------


def cradle(n: int = 5, name: str = "newtons-cradle", gap: float = 0.0) -> Model:
    """n steel balls in a row, each on a rod of 0.5 m, restitution 1, no friction; gap between neighbours."""
    m, r, length, mass = Model(name), 0.05, 0.5, 1.0
    shape = Sphere(r, friction=0.0, restitution=1.0)
    rod = Cylinder(0.004, length, position=(0, 0, 0.5 * length), collide=False)
    for k in range(n):
        x = (2.0 * r + gap) * k
        m.add_body(f"ball{k + 1}", mass, shape.inertia(mass), pose=((x, 0, 0), UPRIGHT), shapes=(shape, rod))
        m.add_joint(f"rod{k + 1}", "revolute", "world", f"ball{k + 1}", (x, 0, length), (0, 1, 0))
    return m


def _speeds(law: Any) -> Any:
    """A check: speeds after the first impact are law(n) times the speed of the first ball before, and the energy does not grow."""

    def check(traj: Any) -> list[Finding]:
        speed = np.gradient(traj.poses[:, :, 0, 3], traj.t, axis=0)
        hit = int(np.argmax(speed[:, -1] > 0.1))
        error = np.abs(speed[hit + 2] / speed[hit - 3, 0] - law(len(traj.model.bodies)))
        return [
            Finding("error of the speeds after the first impact, of the speed before", float(error.max()), 0.05),
            Finding("energy gained, J", float((traj.energy - traj.energy[0]).max()), 0.02 * float(traj.kinetic.max())),
            unsolved(traj),
        ]

    return check


def together(n: int) -> Any:
    """Balls that touch are one impact: the first comes back with (n - 2)/n of its speed, the others leave together with 2/n."""
    return np.array([2.0 / n - 1.0, *[2.0 / n] * (n - 1)])


def handed_on(n: int) -> Any:
    """Balls that are apart are one impact after the other: the last one leaves with the whole speed."""
    return np.eye(n)[-1]


register(
    Scene(
        name="newtons-cradle",
        summary="Newton's cradle, five balls that touch: one impact of all contacts at once, which keeps the energy",
        build=cradle,
        q0={"rod1": 0.6},
        h=1.0 / 600.0,
        t_end=1.2,
        stepper=STEPPER,
        check=_speeds(together),
    )
)
register(
    Scene(
        name="newtons-cradle-apart",
        summary="Newton's cradle, five balls a tenth of a millimetre apart: one impact after the other, and the last ball flies",
        build=partial(cradle, 5, "newtons-cradle-apart", 1e-4),
        q0={"rod1": 0.6},
        h=1.0 / 600.0,
        t_end=1.2,
        stepper=STEPPER,
        check=_speeds(handed_on),
    )
)
