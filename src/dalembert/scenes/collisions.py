"""Bodies without friction that strike at instants within a step: balls, cubes, a cradle, a pendulum beside a wall, dominoes on hinges.

Cubes start as in the numbers of Leyendecker et al.'s method that a second program gave: both have edges of 0.2 m and 1 kg.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Box, Model, Plane, Sphere
from dalembert.model.rotation import matrix, quat_exp
from dalembert.scenes._base import Finding, Scene, register
from dalembert.scenes.collision_chains import PAPER, add_wall, add_walls, depth
from dalembert.scenes.contact_structures import cradle

GRAVITY, HEIGHT = 9.81, 1.0


def ball_on_floor(restitution: float = 1.0, name: str = "bouncing-ball") -> Model:
    """A point mass with a ball of 0.1 m around it, 1 m above a floor."""
    m = Model(name)
    m.add_shape("world", Plane(friction=0.0, restitution=restitution))
    m.add_particle("ball", 1.0, position=(0, 0, HEIGHT + 0.1), shapes=[Sphere(0.1, friction=0.0, restitution=restitution)])
    return m


def bouncing_check(traj: Any) -> list[Finding]:
    """Impacts at their times, heights in closed form: a step is exact on a parabola."""
    from dalembert.verification import BouncingBall  # with SciPy

    exact, t = BouncingBall(HEIGHT, GRAVITY), traj.events["t"]
    return [
        Finding("error of the times of impact, s", float(np.abs(t - exact.impact_times(len(t))).max()), 1e-10),
        Finding("error of the heights, m", float(np.abs(traj.q[:, 2] - 0.1 - exact.state(traj.t)[0]).max()), 1e-10),
        Finding("change of the energy, of its size", float(np.ptp(traj.energy)) / (GRAVITY * HEIGHT), 1e-12),
    ]


def resting_check(traj: Any) -> list[Finding]:
    """Infinitely many impacts up to the time sqrt(2 z/g) (1 + e)/(1 - e), here three falls; then it lies there."""
    end, rests = 3.0 * np.sqrt(2.0 * HEIGHT / GRAVITY), traj.events["t"][traj.events["kind"] == 3]
    lies = traj.t > end + 0.01
    return [
        Finding("error of the time at which it comes to rest, s", abs(float(rests[0]) - end) if len(rests) == 1 else np.inf, 1e-5),
        Finding("height at rest, m", float(np.abs(traj.q[lies, 2] - 0.1).max()), 1e-12),
        Finding("speed at rest, m/s", float(np.abs(traj.v[lies]).max()), 1e-12),
        Finding("energy that no impact took, J", abs(float(traj.account["impacts"].sum()) + GRAVITY * HEIGHT), 1e-5),
    ]


def billiards(n: int = 100, side: float = 4.0, name: str = "billiards-100") -> Model:
    """n balls of 0.1 m and 1 kg on a lattice in a cube."""
    m = Model(name, gravity=(0, 0, 0))
    add_walls(m, (side,) * 3)
    lattice = np.linspace(-0.4, 0.4, 5) * side
    places = np.stack(np.meshgrid(lattice, lattice, lattice), axis=-1).reshape(-1, 3)[:n]
    for k, place in enumerate(places):
        m.add_particle(f"ball{k + 1}", 1.0, position=tuple(place), shapes=[Sphere(0.1, friction=0.0, restitution=1.0)])
    return m


def one_speed(n: int, seed: int = 1) -> Array:
    """v0 of n points that all have the speed 1, in directions evenly spread."""
    v = np.random.default_rng(seed).normal(size=(n, 3))
    return (v / np.linalg.norm(v, axis=1, keepdims=True)).ravel()


def billiards_check(traj: Any) -> list[Finding]:
    """Energy, momentum with what walls gave, no overlap; speeds spread as Maxwell says: <v^4> = 5/3 <v^2>^2, less 2/(3 n) of it."""
    n = len(traj.model.bodies)
    change = traj.momentum - traj.momentum[0] - traj.impulse
    late = np.sum(traj.v[len(traj) // 2 :].reshape(-1, n, 3) ** 2, axis=2)
    spread = float(np.mean(late**2) / np.mean(late) ** 2) * (1.0 + 2.0 / (3.0 * n))
    return [
        Finding("change of the energy, of its size", float(np.ptp(traj.energy) / traj.energy[0]), 1e-12),
        Finding("momentum that no wall gave, kg m/s", float(np.abs(change).max()), 1e-10),
        Finding("depth in walls and balls, m", depth(traj), 1e-12),
        Finding("distance of the spread of speeds from Maxwell's 5/3", abs(spread - 5.0 / 3.0), 0.15),
    ]


CUBE = Box((0.2, 0.2, 0.2), friction=0.0, restitution=1.0)
TURNS = tuple(quat_exp(np.array(w)) for w in ([0.3, 0.5, -0.2], [-0.4, 0.2, 0.7]))


def in_body(turn: Any, velocity: Any, spin: Any) -> Array:
    """Free joint's v: spin and velocity of world axes in axes of the body."""
    R = matrix(np.asarray(turn))
    return np.concatenate([R.T @ np.asarray(spin, dtype=float), R.T @ np.asarray(velocity, dtype=float)])


def cube_between_walls() -> Model:
    """A cube between the walls x = -0.5 and 0.5."""
    m = Model("cube-and-walls", gravity=(0, 0, 0))
    add_wall(m, (1, 0, 0), 0.5)
    add_wall(m, (-1, 0, 0), 0.5)
    m.add_body("cube", 1.0, CUBE.inertia(1.0), shapes=[CUBE])
    return m


def cube_check(traj: Any) -> list[Finding]:
    """Walls push along x: momentum along y and z, and angular momentum about x, stay."""
    return [
        Finding("energy gained, of its size", float(traj.energy.max() / traj.energy[0] - 1.0), 2e-3),
        Finding("energy lost, of its size", float(1.0 - traj.energy.min() / traj.energy[0]), 2e-3),
        Finding("change of momentum along walls, kg m/s", float(np.abs(traj.momentum[:, 4:] - traj.momentum[0, 4:]).max()), 1e-10),
        Finding("change of L_x, kg m^2/s", float(np.abs(traj.momentum[:, 0] - traj.momentum[0, 0]).max()), 1e-10),
        Finding("impacts missing from 10", 10.0 - len(traj.events.rows), 0.0),
    ]


def two_cubes(restitution: float = 0.5, name: str = "two-cubes") -> Model:
    """Two cubes that fly towards each other."""
    m, shape = Model(name, gravity=(0, 0, 0)), Box((0.2, 0.2, 0.2), friction=0.0, restitution=restitution)
    for k in (1, 2):
        m.add_body(f"cube{k}", 1.0, shape.inertia(1.0), shapes=[shape])
    return m


def two_cubes_check(traj: Any) -> list[Finding]:
    """The first impact: when, how fast, and what it takes, 0.393112 (1 - e^2) J; momentum is that of the start."""
    first = traj.events.rows[0] if len(traj.events.rows) else np.full(13, np.inf)
    loss = traj.account["impacts"][traj.t[1:] < first[0] + traj.h].sum()
    return [
        Finding("error of the time of the first impact, s", abs(float(first[0]) - 0.162404), 1e-5),
        Finding("error of its speed, m/s", abs(float(first[11]) + 1.83132), 1e-3),
        Finding("error of the speed after it, of that before", abs(float(first[12] / first[11]) + 0.5), 1e-12),
        Finding("error of the energy that it takes, J", abs(float(loss) + 0.294834), 1e-3),
        Finding("change of momentum", float(np.abs(traj.momentum - traj.momentum[0]).max()), 1e-12),
    ]


def cradle_check(traj: Any) -> list[Finding]:
    """One ball in, one ball out: at every moment four balls hang still, and the first and the last take turns."""
    swing = np.abs(traj.q)
    return [
        Finding("greatest angle of the three in the middle, rad", float(swing[:, 1:4].max()), 1e-9),
        Finding("angle that the last ball misses, rad", 0.6 - float(swing[:, 4].max()), 1e-3),
        Finding("both ends swing at once, rad", float(np.minimum(swing[:, 0], swing[:, 4]).max()), 1e-9),
        Finding("change of the energy, of the largest kinetic energy", float(np.ptp(traj.energy) / traj.kinetic.max()), 1e-3),
    ]


def walled_pendulum() -> Model:
    """Two unit masses on unit links in the plane y = 0; they stay right of a wall half a metre left of the pivot."""
    m = Model("pendulum-and-wall")
    upper, lower = 0.9, 1.2
    ball = Sphere(0.1, friction=0.0, restitution=0.8)
    add_wall(m, (1, 0, 0), 0.6, 0.8)
    places = np.cumsum([[np.sin(a), 0.0, -np.cos(a)] for a in (upper, lower)], axis=0)
    for name, place in zip(("upper", "lower"), places, strict=True):
        m.add_particle(name, 1.0, position=tuple(place), shapes=[ball])
    m.add_loop("rod", "distance", "world", "upper", anchor=(0, 0, 0))
    m.add_loop("link", "distance", "upper", "lower")
    m.exclude("upper", "lower")
    return m


def pendulum_check(traj: Any) -> list[Finding]:
    """It loses energy at the wall alone, never goes through it, and keeps its links."""
    x = traj.q.reshape(-1, 2, 3)
    links = np.linalg.norm(np.diff(np.concatenate([np.zeros((len(x), 1, 3)), x], axis=1), axis=1), axis=2)
    left = traj.energy[1:] - traj.energy[0] - np.cumsum(traj.account["impacts"])
    return [
        Finding("depth in the wall, m", float(-0.5 - x[:, :, 0].min()), 1e-12),
        Finding("error of the links, m", float(np.abs(links - 1.0).max()), 1e-12),
        Finding("distance from its plane, m", float(np.abs(x[:, :, 1]).max()), 0.0),
        Finding("energy that no impact took, J", float(np.abs(left).max()), 0.05),
        Finding("impacts missing from 4", 4.0 - len(traj.events.rows), 0.0),
    ]


def hinged_dominoes(n: int = 8, apart: float = 0.12, restitution: float = 0.0) -> Model:
    """n dominoes of 3 x 10 x 20 cm, each on a hinge along the lower edge over which it falls; the floor is a millimetre below."""
    m, size = Model("hinged-dominoes"), (0.03, 0.1, 0.2)
    m.add_shape("world", Plane(position=(0, 0, -0.001), friction=0.0, restitution=restitution))
    for k in range(n):
        box, name = Box(size, friction=0.0, restitution=restitution), f"domino{k + 1}"
        m.add_body(name, 0.5, box.inertia(0.5), pose=((apart * k, 0, 0.1), (1, 0, 0, 0)), shapes=[box])
        m.add_joint(f"hinge{k + 1}", "revolute", "world", name, (apart * k + 0.015, 0, 0), (0, 1, 0))
        m.add_contact(name, "world", restitution=restitution, friction=0.0)
    return m


def dominoes_check(traj: Any) -> list[Finding]:
    """All fall, one after the other, and what was lost is what impacts took: until they lie flat on each other, which ends the scene."""
    leaning = np.degrees(traj.q)
    first = np.argmax(leaning > 20.0, axis=0)
    left = traj.energy[1:] - traj.energy[0] - np.cumsum(traj.account["impacts"])
    return [
        Finding("dominoes that stand at the end", float((leaning[-1] < 45.0).sum()), 0.0),
        Finding("dominoes that fall before the one in front of them", float((np.diff(first) <= 0).sum()), 0.0),
        Finding("energy that no impact took, of the largest kinetic energy", float(np.abs(left).max() / traj.kinetic.max()), 1e-3),
    ]


def _enter(name: str, summary: str, build: Any, check: Any, h: float, t_end: float, **more: Any) -> None:
    register(Scene(name, summary, build, h=h, t_end=t_end, stepper="collision", references=PAPER, check=check, **more))


_enter("bouncing-ball", "a ball that bounces without loss: impacts at their exact times", ball_on_floor, bouncing_check, 0.02, 10.0)
_enter(
    "ball-comes-to-rest",
    "a ball that loses half its speed at each impact: infinitely many impacts in 1.35 s, then rest",
    partial(ball_on_floor, 0.5, "ball-comes-to-rest"),
    resting_check,
    0.02,
    3.0,
)
_enter(
    "billiards-100",
    "a hundred balls of one speed in a box: they come to Maxwell's distribution, energy stays to round-off",
    billiards,
    billiards_check,
    0.05,
    40.0,
    v0=one_speed(100),
    chaotic=True,
)
_enter(
    "cube-and-walls",
    "a cube that tumbles between two walls, and strikes them with its corners",
    cube_between_walls,
    cube_check,
    0.005,
    10.0,
    q0=[0, 0, 0, *TURNS[0]],
    v0=in_body(TURNS[0], (1, 0.1, 0.2), (1, -2, 0.5)),
    chaotic=True,
)
_enter(
    "two-cubes",
    "two cubes that tumble and strike each other, restitution one half: time, speed and loss of the first impact",
    two_cubes,
    two_cubes_check,
    0.01,
    1.0,
    q0=np.concatenate([[0.3, 0.02, 0.03], TURNS[0], [-0.3, 0.0, 0.0], TURNS[1]]),
    v0=np.concatenate([in_body(TURNS[0], (-1, 0, 0), (0.5, -1, 0.3)), in_body(TURNS[1], (1, 0, 0), (-0.4, 0.8, 0.2))]),
)
_enter(
    "newtons-cradle-in-turn",
    "Newton's cradle, five balls that touch, impacts handed on in turn: the last ball leaves with the whole speed",
    partial(cradle, 5, "newtons-cradle-in-turn"),
    cradle_check,
    0.01,
    6.0,
    q0={"rod1": 0.6},
    options={"impacts": "in turn"},
)
_enter(
    "pendulum-and-wall",
    "two masses on links that swing against a wall, restitution 0.8: the machine of double-pendulum-wall as bodies",
    walled_pendulum,
    pendulum_check,
    0.005,
    5.0,
    chaotic=True,
)
_enter(
    "hinged-dominoes",
    "eight dominoes on hinges, without friction: the first is pushed, all fall, one after the other",
    hinged_dominoes,
    dominoes_check,
    0.005,
    0.85,
    v0={"hinge1": 2.0},
)
