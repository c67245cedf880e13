"""Machines with constraints on velocities: blades and rolling disks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Cylinder, Model
from dalembert.scenes._base import Scene, register

STEPPER = "midpoint"

# a blade on an incline: acceleration down the slope, rate of turning
SLOPE, TURNING = 9.81 * np.sin(np.pi / 6), 2.0


def knife_edge() -> Model:
    """A body on a plane inclined by 30 degrees; x is down the slope, z across the plane, so gravity is tilted. The blade points along x."""
    m = Model("knife-edge", gravity=(SLOPE, 0, -9.81 * np.cos(np.pi / 6)))
    m.add_body("skate", 1.0, (0.1, 0.1, 0.1))
    m.add_joint("plane", "planar", "world", "skate", axis=(0, 0, 1), axis2=(1, 0, 0))
    m.add_joint("blade", "knife-edge", "world", "skate", axis=(0, 1, 0))
    return m


def knife_edge_motion(t: Any) -> Array:
    """x = g'/(2 w^2) sin^2 wt, y = g'/(2 w^2) (wt - sin(2wt)/2), angle w t: the skate climbs as far as it fell and drifts sideways."""
    t = np.asarray(t, dtype=float)
    a, k = TURNING * t, SLOPE / (2 * TURNING**2)
    return np.stack([k * np.sin(a) ** 2, k * (a - 0.5 * np.sin(2 * a)), a], axis=-1)


def chaplygin_sleigh() -> Model:
    """A body on a level plane with a blade at the frame's origin, its centre of mass 0.3 m ahead: it turns until the blade is behind."""
    m = Model("chaplygin-sleigh")
    m.add_body("sleigh", 1.0, (0.5, 0.5, 0.5), com=(0.3, 0, 0))
    m.add_joint("plane", "planar", "world", "sleigh", axis=(0, 0, 1), axis2=(1, 0, 0))
    m.add_joint("blade", "knife-edge", "world", "sleigh", axis=(0, 1, 0))
    return m


RADIUS = 0.5
TILT = 1.2707963267948966  # between the normal of the disk and the vertical


def rolling_disk() -> Model:
    """A uniform disk of 1 kg that rolls on the plane z = 0; its frame has z along the axle and sits at the centre."""
    m = Model("rolling-disk")
    turn = (np.cos(TILT / 2), np.sin(TILT / 2), 0, 0)
    I = RADIUS**2 / 4
    m.add_body("disk", 1.0, (I, I, 2 * I), pose=((0, 0, RADIUS * np.sin(TILT)), turn), shapes=(Cylinder(RADIUS, 0.01),))
    m.add_joint("ground", "rolling", "world", "disk", axis=(0, -np.sin(TILT), np.cos(TILT)), radius=RADIUS)
    return m


def rolling_disk_start() -> dict[str, tuple[float, ...]]:
    """Rates (0.1, 0.5, -4) about heading, slope and axle; the centre moves as rolling wants, v = omega x (r slope)."""
    w = (0.1, 0.5, -4.0)
    return {"disk": (*w, -w[2] * RADIUS, 0.0, w[0] * RADIUS)}


UPRIGHT = {"m": 2.0, "I": 0.5, "J": 0.3, "R": 0.7, "yaw": 1.0, "roll": 2.0}


def upright_disk() -> Model:
    """A disk that stands upright on a plane and can turn about the vertical and roll: the planar joint keeps its height."""
    m = Model("upright-disk")
    R = UPRIGHT["R"]
    m.add_frame("fork", pose=((0, 0, R), (1, 0, 0, 0)))
    m.add_body("disk", UPRIGHT["m"], (UPRIGHT["J"], UPRIGHT["I"], UPRIGHT["J"]), pose=((0, 0, R), (1, 0, 0, 0)))
    m.add_joint("plane", "planar", "world", "fork", axis=(0, 0, 1), axis2=(1, 0, 0))
    m.add_joint("axle", "revolute", "fork", "disk", (0, 0, R), (0, 1, 0))
    m.add_joint("ground", "rolling", "world", "disk", axis=(0, 1, 0), radius=R, contact=False)
    return m


def upright_disk_motion(t: Any) -> Array:
    """x = (R roll/yaw) sin(yaw t), y = (R roll/yaw) (1 - cos(yaw t)), both angles at constant rates (Caltech slides, p. 13)."""
    t = np.asarray(t, dtype=float)
    a, k = UPRIGHT["yaw"] * t, UPRIGHT["R"] * UPRIGHT["roll"] / UPRIGHT["yaw"]
    return np.stack([k * np.sin(a), k * (1 - np.cos(a)), a, UPRIGHT["roll"] * t], axis=-1)


def snakeboard() -> Model:
    """A board of half length 0.2 m with a rotor at its middle and steerable wheel pairs at its ends, each a blade across its axle.

    6 kg in all; rotor 0.072 kg m^2; board, rotor and wheel pairs together 0.24 kg m^2 = m l^2 about the middle.
    """
    m = Model("snakeboard")
    m.add_body("board", 6.0, (0.148,) * 3)
    m.add_joint("plane", "planar", "world", "board", axis=(0, 0, 1), axis2=(1, 0, 0))
    m.add_body("rotor", 0.0, (0.072,) * 3, physical=False)
    m.add_joint("twist", "revolute", "board", "rotor")
    for name, x in (("front", 0.2), ("back", -0.2)):
        m.add_body(name, 0.0, (0.01,) * 3, pose=((x, 0, 0), (1, 0, 0, 0)), physical=False)
        m.add_joint(f"steer {name}", "revolute", "board", name, (x, 0, 0))
        m.add_joint(f"{name} wheels", "knife-edge", "world", name, (x, 0, 0), (0, 1, 0))
    return m


register(
    Scene(
        name="knife-edge",
        summary="skate on an incline, spinning: it slides sideways across the slope and never down",
        build=knife_edge,
        v0={"plane": (0, 0, TURNING)},
        h=0.01,
        t_end=10.0,
        stepper=STEPPER,
        references=("caltech2008slides",),
        exact=knife_edge_motion,
    )
)
register(
    Scene(
        name="chaplygin-sleigh",
        summary="sleigh pushed blade first: it turns round and runs straight, without any damping",
        build=chaplygin_sleigh,
        v0={"plane": (-0.8, 0, 1.1)},
        h=0.01,
        t_end=10.0,
        stepper=STEPPER,
    )
)
register(
    Scene(
        name="rolling-disk",
        summary="coin that rolls and wobbles on a table without slipping",
        build=rolling_disk,
        v0=rolling_disk_start(),
        h=0.01,
        t_end=5.0,
        stepper=STEPPER,
    )
)
register(
    Scene(
        name="upright-disk",
        summary="disk that rolls upright and steers: its contact runs round a circle",
        build=upright_disk,
        v0={"plane": (UPRIGHT["R"] * UPRIGHT["roll"], 0, UPRIGHT["yaw"]), "axle": UPRIGHT["roll"]},
        h=0.01,
        t_end=10.0,
        stepper=STEPPER,
        references=("caltech2008slides",),
        exact=upright_disk_motion,
    )
)
register(
    Scene(
        name="snakeboard",
        summary="board that coasts along on steered wheels while its rotor turns: nothing pushes against the ground",
        build=snakeboard,
        q0={"steer front": 0.2, "steer back": -0.2},
        v0={"plane": (0.3, 0, 0.3 * np.tan(0.2) / 0.2), "twist": 0.7},
        h=0.01,
        t_end=10.0,
        stepper=STEPPER,
    )
)
