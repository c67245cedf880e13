"""Boxes, balls and logs that lie on each other: what a contact step must bring to rest and keep there.

Boxes have edges of 0.2 m and 1 kg, friction 0.5, h = 1/60 s, unless stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Box, Capsule, Model, Plane, Sphere
from dalembert.scenes._base import Finding, Scene, register

STEPPER, H = "spook", 1.0 / 60.0
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
EDGE, FRICTION = 0.2, 0.5
GRAVITY = 9.81


def about(axis: int, angle: float) -> tuple[float, ...]:
    """Quaternion of a turn about a world axis (0, 1, 2)."""
    q = [float(np.cos(0.5 * angle)), 0.0, 0.0, 0.0]
    q[1 + axis] = float(np.sin(0.5 * angle))
    return tuple(q)


def ground(name: str, friction: float = FRICTION, **material: Any) -> Model:
    """A model with a level floor at z = 0."""
    m = Model(name)
    m.add_shape("world", Plane(friction=friction, **material))
    return m


def add_box(m: Model, name: str, size: Any, mass: float, position: Any, quaternion: Any = UPRIGHT, friction: float = FRICTION) -> None:
    """A solid box of the model."""
    shape = Box(size, friction=friction)
    m.add_body(name, mass, shape.inertia(mass), pose=(position, quaternion), shapes=(shape,))


def moved(traj: Any, nodes: Any = slice(None), bodies: Any = slice(None)) -> float:
    """Greatest distance of a body from its start, mm."""
    places = traj.poses[nodes, :, :3, 3][:, bodies]
    return float(1e3 * np.linalg.norm(places - traj.poses[0, bodies, :3, 3], axis=-1).max())


def last_motion(traj: Any, seconds: float = 0.5) -> float:
    """Largest kinetic energy over the last part of a run, J per body."""
    return float(traj.kinetic[traj.t >= traj.t[-1] - seconds].max() / len(traj.model.bodies))


def penetration(traj: Any, after: float = 0.0) -> float:
    """Deepest overlap after a time, mm."""
    return float(1e3 * traj.solver["penetration"][traj.t[1:] >= after].max())


def unsolved(traj: Any, most: float = 0.0) -> Finding:
    """Steps whose problem was not solved to the tolerance. most: how many may be in violent motion, see contact/coulomb.py."""
    return Finding("steps that were not solved", float(traj.solver["unsolved"].sum()), most)


# one block on a slope ----------------------------------------------------------------------------------------------------------------


def incline(angle: float = 20.0, friction: float = FRICTION, name: str = "block-on-incline") -> Model:
    """A box on a plane that falls along x, angle in degrees. It sticks where tan(angle) < friction, else slides with g (sin - mu cos)."""
    m = Model(name)
    turn = about(1, np.radians(angle))
    m.add_shape("world", Plane(friction=friction, quaternion=turn))
    normal = np.array([np.sin(np.radians(angle)), 0.0, np.cos(np.radians(angle))])
    add_box(m, "block", (EDGE, EDGE, EDGE), 1.0, 0.5 * EDGE * normal, turn, friction)
    return m


def creep_speed(force: float, eps: float, h: float, steps: float = 2.0) -> float:
    """Of a contact that sticks under a tangential force: sigma times its impulse, 4 eps Y/h times the force, m/s."""
    return 4.0 * eps / (1.0 + 4.0 * steps) / h * force


def creep(traj: Any) -> float:
    """Speed over the second half of a run, um/s."""
    half = len(traj) // 2
    return 1e3 * (moved(traj) - moved(traj, slice(0, half + 1))) / float(traj.t[-1] - traj.t[half])


def _stays(traj: Any) -> list[Finding]:
    return [Finding("creep, um/s", creep(traj), 0.3), unsolved(traj)]


register(
    Scene(
        name="block-on-incline",
        summary="a block on a slope of 20 degrees, friction 0.5: it sticks, and creeps as its compliance says, 0.25 um/s",
        build=incline,
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        references=("lacoursiere2007",),
        check=_stays,
    )
)


def _slides(traj: Any) -> list[Finding]:
    """Acceleration by the way from 0.5 s to the end; x = a t^2/2 is met to order h."""
    a = GRAVITY * (np.sin(np.radians(35.0)) - FRICTION * np.cos(np.radians(35.0)))
    speed = np.linalg.norm(np.diff(traj.poses[:, 0, :3, 3], axis=0), axis=1) / traj.h
    found = np.polyfit(traj.t[1:][traj.t[1:] > 0.5], speed[traj.t[1:] > 0.5], 1)[0]
    return [Finding("error of the acceleration g (sin - mu cos), %", 100.0 * abs(found / a - 1.0), 0.5), unsolved(traj)]


register(
    Scene(
        name="sliding-block",
        summary="a block on a slope of 35 degrees, friction 0.5: it slides with g (sin - mu cos), as Coulomb says",
        build=partial(incline, 35.0, name="sliding-block"),
        h=H,
        t_end=2.0,
        stepper=STEPPER,
        references=("lacoursiere2007",),
        check=_slides,
    )
)

# stacks ------------------------------------------------------------------------------------------------------------------------------


def stack(masses: Sequence[float] = (1.0,) * 10, name: str = "stack") -> Model:
    """Boxes on each other, from below."""
    m = ground(name)
    for k, mass in enumerate(masses):
        add_box(m, f"box{k + 1}", (EDGE, EDGE, EDGE), mass, (0, 0, (k + 0.5) * EDGE))
    return m


def stands(most: float, energy: float = 1e-15) -> Any:
    """A check: nothing moves farther than so many mm, and at the end nothing moves."""

    def check(traj: Any) -> list[Finding]:
        return [
            Finding("moved, mm", moved(traj), most),
            Finding("kinetic energy at the end, J per body", last_motion(traj), energy),
            unsolved(traj),
        ]

    return check


register(
    Scene(
        name="stack",
        summary="ten boxes on each other: they stand, and sink by their compliance alone",
        build=stack,
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        references=("lacoursiere2007",),
        check=stands(0.02),
    )
)
register(
    Scene(
        name="mass-ratio",
        summary="ten boxes from 1 kg below to 10,000 kg on top: they stand all the same",
        build=partial(stack, tuple(np.geomspace(1.0, 1e4, 10).tolist()), "mass-ratio"),
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        check=stands(5.0, 1e-12),
    )
)


def pyramid(rows: int = 14, name: str = "pyramid") -> Model:
    """A wall of rows (rows + 1)/2 boxes, 3 cm apart: 14 rows are 105 boxes, 44 are 990."""
    m = ground(name)
    step = EDGE + 0.03
    for row in range(rows):
        n = rows - row
        for k in range(n):
            add_box(m, f"box{row + 1}.{k + 1}", (EDGE, EDGE, EDGE), 1.0, ((k - 0.5 * (n - 1)) * step, 0, (row + 0.5) * EDGE))
    return m


register(
    Scene(
        name="pyramid",
        summary="a wall of 105 boxes in 14 rows: it stands",
        build=pyramid,
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        check=stands(0.01),
    )
)

# heaps -------------------------------------------------------------------------------------------------------------------------------


def turns(rng: np.random.Generator, n: int) -> Array:
    """Quaternions (n, 4), evenly spread over all rotations."""
    q = rng.normal(size=(n, 4))
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))


def heap(n: int = 40, seed: int = 1, name: str = "heap", across: int = 3) -> Model:
    """n boxes in random attitudes that fall in layers of across^2."""
    m, rng = ground(name), np.random.default_rng(seed)
    q = turns(rng, n)
    for k in range(n):
        layer, place = divmod(k, across**2)
        jitter, middle = rng.uniform(-0.03, 0.03, 2), 0.5 * (across - 1)
        x, y = (place % across - middle) * 0.42 + jitter[0], (place // across - middle) * 0.42 + jitter[1]
        add_box(m, f"box{k + 1}", (EDGE, EDGE, EDGE), 1.0, (x, y, 0.3 + 0.4 * layer), q[k])
    return m


def comes_to_rest(most: float, deep: float, after: float, solved_from: float = 0.0) -> Any:
    """A check: kinetic energy at the end (J per body), overlap (mm) after a time (s), residuals from a time (s) on."""

    def check(traj: Any) -> list[Finding]:
        return [
            Finding("kinetic energy at the end, J per body", last_motion(traj), most),
            Finding(f"penetration after {after:g} s, mm", penetration(traj, after), deep),
            Finding("largest residual of a step, m/s", float(traj.solver["residual"][traj.t[1:] >= solved_from].max()), 5e-3),
        ]

    return check


register(
    Scene(
        name="heap",
        summary="forty boxes fall into a heap and come to rest",
        build=heap,
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        chaotic=True,
        check=comes_to_rest(1e-9, 0.01, 6.0),
    )
)


def bin_of(m: Model, half: float, height: float, friction: float, thick: float = 0.1) -> None:
    """Four walls of the world around (0, 0)."""
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        size = (thick, 2.0 * (half + thick), height) if x else (2.0 * (half + thick), thick, height)
        place = (x * (half + 0.5 * thick), y * (half + 0.5 * thick), 0.5 * height)
        m.add_shape("world", Box(size, position=place, friction=friction))


def spheres_in_bin(n: int = 100, seed: int = 1, name: str = "spheres-in-bin") -> Model:
    """n balls of 5 cm radius and 0.5 kg fall into a bin, in layers."""
    r, mass, friction = 0.05, 0.5, 0.3
    m, rng = ground(name, friction), np.random.default_rng(seed)
    across = max(3, round((n / 4) ** (1 / 2.5)))
    half = 1.25 * across * r
    bin_of(m, half, min(2.5 * r * n / across**2, 8 * half), friction)
    shape = Sphere(r, friction=friction)
    for k in range(n):
        layer, place = divmod(k, across**2)
        x, y = ((i + 0.5) / across * 2.0 * half - half for i in (place % across, place // across))
        jitter = rng.uniform(-0.1, 0.1, 2) * r
        m.add_body(
            f"ball{k + 1}", mass, shape.inertia(mass), pose=((x + jitter[0], y + jitter[1], r + 2.4 * r * layer), UPRIGHT), shapes=(shape,)
        )
    return m


register(
    Scene(
        name="spheres-in-bin",
        summary="a hundred balls fall into a bin; they have no rolling friction, and some roll on slowly",
        build=spheres_in_bin,
        h=H,
        t_end=8.0,
        stepper=STEPPER,
        chaotic=True,
        options={"law": "cone"},  # exact Coulomb takes three times as many factorisations where so many balls roll
        check=comes_to_rest(1e-3, 0.1, 4.0),
    )
)


def logs(n: int = 22, seed: int = 1, name: str = "logs") -> Model:
    """n logs of 10 cm radius, 1 m and 20 kg fall between four posts, crosswise to them, in layers of four."""
    r, length, mass, friction = 0.1, 0.8, 20.0, 0.4
    m, rng = ground(name, friction), np.random.default_rng(seed)
    half = 0.48
    for side in (-1, 1):
        for y in (-0.25, 0.25):
            m.add_shape("world", Box((0.08, 0.08, 1.6), position=(side * (half + 0.04), y, 0.8), friction=friction))
    shape = Capsule(r, length, friction=friction)
    for k in range(n):
        layer, place = divmod(k, 4)
        x = -0.33 + 0.22 * place + (0.02 if layer % 2 else -0.02) + rng.uniform(-0.005, 0.005)
        m.add_body(f"log{k + 1}", mass, shape.inertia(mass), pose=((x, 0, 0.12 + 0.24 * layer), about(0, 0.5 * np.pi)), shapes=(shape,))
    return m


register(
    Scene(
        name="logs",
        summary="logs fall between posts and come to rest as a pile",
        build=logs,
        h=H,
        t_end=8.0,
        stepper=STEPPER,
        chaotic=True,
        references=("lacoursiere2007",),
        check=comes_to_rest(1e-6, 0.1, 5.0),
    )
)
