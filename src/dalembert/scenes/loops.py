"""Closed loops: four-bars, the Bricard linkage, Andrews' squeezing mechanism, the flyball governor.

The pins that close plane mechanisms are slots along the hinge: in the plane they are the pins, without the rows that the plane makes
redundant (`closing="revolute"` gives these too).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.model import Box, Capsule, Model, Spring, Wrench
from dalembert.scenes._base import Scene, register

STEPPER = "trapezoidal"
ROD = 1.0 / 12.0  # of 1 kg and 1 m about its middle


def n_four_bar(n: int = 10, closing: str = "slot", name: str = "n-four-bar") -> Model:
    """n squares in a row, 2 n + 1 rods of 1 kg and 1 m, in the xz plane; all rods fall into one line twice in a revolution."""
    m = Model(name)
    rod = (Capsule(0.02, 0.96, collide=False),)
    for k in range(n + 1):
        m.add_body(f"upright{k}", 1.0, (ROD, ROD, 1e-4), pose=((k, 0, 0.5), (1, 0, 0, 0)), shapes=rod)
        m.add_joint(f"foot{k}", "revolute", "world", f"upright{k}", (k, 0, 0), (0, 1, 0))
    lying = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)  # the rod's z along x
    for k in range(1, n + 1):
        m.add_body(f"bar{k}", 1.0, (ROD, ROD, 1e-4), pose=((k - 0.5, 0, 1), lying), shapes=rod)
        m.add_joint(f"left{k}", "revolute", f"upright{k - 1}", f"bar{k}", (k - 1, 0, 1), (0, 1, 0))
        m.add_loop(f"right{k}", closing, f"upright{k}", f"bar{k}", (k, 0, 1), (0, 1, 0))
    return m


def four_bar(closing: str = "slot") -> Model:
    """One square of three rods and the ground."""
    return n_four_bar(1, closing, "four-bar")


def turning(n: int) -> dict[str, float]:
    """Rates of n four-bars whose uprights turn at 1 rad/s: the bars stay level."""
    return {f"foot{k}": 1.0 for k in range(n + 1)} | {f"left{k}": -1.0 for k in range(1, n + 1)}


def bricard() -> Model:
    """Five rods of 1 kg and 1 m along the edges of a cube, closed over the ground by six hinges, each across its two rods.

    Counting says that it is rigid; it moves, because one of the five rows that close it follows from the others (trihedral linkage).
    """
    m = Model("bricard", gravity=(0, -9.81, 0))
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    edges = np.roll(corners, -1, axis=0) - corners
    turn_z_to = {0: (np.sqrt(0.5), 0, np.sqrt(0.5), 0), 1: (np.sqrt(0.5), np.sqrt(0.5), 0, 0), 2: (1, 0, 0, 0)}
    shapes = (Capsule(0.02, 0.96, collide=False),)
    for k in range(5):
        along = int(np.argmax(np.abs(edges[k])))
        m.add_body(f"rod{k + 1}", 1.0, (ROD, ROD, 1e-4), pose=(corners[k] + edges[k] / 2, turn_z_to[along]), shapes=shapes)
        axis = np.cross(edges[k - 1], edges[k])
        m.add_joint(f"hinge{k + 1}", "revolute", f"rod{k}" if k else "world", f"rod{k + 1}", corners[k], axis)
    m.add_joint("hinge6", "revolute", "world", "rod5", corners[5], np.cross(edges[4], edges[5]))
    return m


ANDREWS_START = {
    "beta": -0.0617138900142764496,
    "theta": 0.0,
    "gamma": 0.455279819163070380,
    "phi": 0.222668390165885885,
    "delta": 0.487364979543842550,
    "omega": -0.222668390165885885,
    "epsilon": 1.230547444549821192,
}


def andrews() -> Model:
    """Andrews' squeezing mechanism: seven bodies in the xy plane, driven by a constant torque, with one spring.

    Joints have the names and signs of the usual description (Hairer and Wanner, Solving Ordinary Differential Equations II, VII.7); the
    three loops hold the tip P of body 2 to bodies 3, 4 and 6.
    """
    A, B, C = np.array([-0.06934, -0.00227, 0]), np.array([-0.03635, 0.03273, 0]), (0.014, 0.072, 0)
    d, rr, e, ss, u, zf, zt = 28e-3, 7e-3, 2e-2, 35e-3, 4e-2, 2e-2, 4e-2
    m = Model("andrews", gravity=(0, 0, 0))
    # name: mass, inertia, centre of mass, pivot at q = 0, parent, joint; all angles zero: arms along x, others along -y
    parts: dict[str, tuple[Any, ...]] = {
        "K1": (0.04325, 2.194e-6, (92e-5, 0), (0, 0, 0), "world", "beta"),
        "K2": (0.00365, 4.410e-7, (-115e-4, 0), (rr, 0, 0), "K1", "theta"),
        "K3": (0.02373, 5.255e-6, (1043e-5, -1874e-5), B, "world", "gamma"),
        "K4": (0.00706, 5.667e-7, (0, -(e - 1421e-5)), A + np.array([zt, 0, 0]), "K5", "phi"),
        "K5": (0.07050, 1.169e-5, (2308e-5, 916e-5), A, "world", "delta"),
        "K6": (0.00706, 5.667e-7, (zf - 1421e-5, 0), A + np.array([0, -u, 0]), "K7", "omega"),
        "K7": (0.05498, 1.912e-5, (449e-5, -1228e-5), A, "world", "epsilon"),
    }
    for name, (mass, inertia, com, pivot, _, _) in parts.items():
        m.add_body(name, mass, (inertia,) * 3, com=(*com, 0), pose=(pivot, (1, 0, 0, 0)))
    for name, (_, _, _, pivot, parent, joint) in parts.items():
        m.add_joint(joint, "revolute", parent, name, pivot, (0, 0, 1))
    tips = {"K3": B + np.array([0, -ss, 0]), "K4": A + np.array([zt, -e, 0]), "K6": A + np.array([zf, -u, 0])}
    for name, tip in tips.items():
        m.add_loop(f"P {name}", "slot", name, "K2", tip, (0, 0, 1), point=(rr - d, 0, 0))
    m.add_force(Spring("K3", "world", (2e-2, -18e-3, 0), C, 4530.0, 7785e-5))
    m.add_force(Wrench("K1", torque=(0, 0, 33e-3)))
    return m


def flyball_governor(rigid: bool = False) -> Model:
    """Shaft, slider on it, two arms with balls of 5 kg at the tips; stiff damped springs lift the slider, or rods if rigid.

    At the reference configuration the arms are level and the slider at the foot of the shaft; positive arm angles point down.
    """
    m = Model("flyball-governor")
    m.add_body("shaft", 0.3, _box(0.3, 0.01, 0.01, 1.0), com=(0, 0, 0.5), shapes=(Box((0.005, 0.005, 0.5), position=(0, 0, 0.5)),))
    m.add_joint("spin", "revolute", "world", "shaft", axis=(0, 0, 1))
    m.add_body("slider", 3.0, _box(3.0, 0.1, 0.1, 0.1), shapes=(Box((0.05, 0.05, 0.05)),))
    m.add_joint("slide", "prismatic", "shaft", "slider", axis=(0, 0, 1))
    for side, sign in (("right", 1.0), ("left", -1.0)):
        pivot, tip = np.array([0.05 * sign, 0, 1.0]), np.array([1.05 * sign, 0, 1.0])
        arm, ball, middle = f"{side} arm", f"{side} ball", (0.5 * sign, 0, 0)
        m.add_body(arm, 0.3, _box(0.3, 1.0, 0.01, 0.01), com=middle, pose=(pivot, (1, 0, 0, 0)))
        m.add_joint(f"{side} hinge", "revolute", "shaft", arm, pivot, (0, sign, 0))
        m.add_body(ball, 5.0, (0, 0, 0), pose=(tip, (1, 0, 0, 0)), physical=False)
        m.add_joint(f"{side} weld", "fixed", arm, ball, pivot)
        if rigid:
            m.add_loop(f"{side} rod", "distance", "slider", arm, (0.05 * sign, 0, 0), point=pivot + middle, length=0.5)
        else:
            m.add_force(Spring("slider", arm, (0.05 * sign, 0, 0), middle, 8e5, 0.5, 4e4))
    return m


def _box(mass: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    return mass * (y * y + z * z) / 12, mass * (x * x + z * z) / 12, mass * (x * x + y * y) / 12


register(
    Scene(
        name="four-bar",
        summary="square of three rods and the ground that swings over its top, through singular positions",
        build=four_bar,
        v0=turning(1),
        h=0.005,
        t_end=5.0,
        stepper=STEPPER,
    )
)
register(
    Scene(
        name="n-four-bar",
        summary="ten four-bars in a row on 21 rods: ten loops with one degree of freedom",
        build=n_four_bar,
        v0=turning(10),
        h=0.005,
        t_end=5.0,
        stepper=STEPPER,
    )
)
register(
    Scene(
        name="bricard",
        summary="six hinges that move though counting says they cannot: one redundant row everywhere",
        build=bricard,
        h=0.005,
        t_end=10.0,
        stepper=STEPPER,
    )
)
register(
    Scene(
        name="andrews",
        summary="Andrews' squeezing mechanism: seven bodies and three loops, thousands of rad/s^2",
        build=andrews,
        q0=ANDREWS_START,
        h=2e-5,
        t_end=0.05,
        stepper=STEPPER,
    )
)
register(
    Scene(
        name="flyball-governor",
        summary="spinning governor whose slider hangs on springs of 8e5 N/m: stiff and damped",
        build=flyball_governor,
        q0={"slide": 0.5, "right hinge": np.pi / 6, "left hinge": np.pi / 6},
        v0={"spin": 2 * np.pi},
        h=0.001,
        t_end=10.0,
        stepper=STEPPER,
    )
)
