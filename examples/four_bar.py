"""A four-bar linkage swings over its top, through the positions in which all its rods lie in one line.

    python examples/four_bar.py [folder for the picture and the animation]

A square of three rods and the ground, closed by a pin. Where the rods lie in one line it could fold into another branch, and the
rows of the loop lose rank; its momentum carries it through. As long as the uprights stay parallel it is a pendulum of inertia
2 m l^2/3 + m l^2 and weight 2 m g l/2 + m g l, so the time of a revolution from the top, at the rate w, is an integral:

    T = int_0^2pi dx / sqrt(w^2 + 12/5 g/l (1 - cos x))

Check: the loop stays closed to round-off, the uprights stay parallel, each revolution takes T within the order of the method, and at the
top either pin carries half of m (g - l w^2).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.integrate import quad

import dalembert as dal

RATE, G = 1.0, 9.81  # rad/s at the top; rods of 1 kg and 1 m
ROD = (1 / 12, 1 / 12, 1e-4)
LYING = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)  # z of the rod along x


def build() -> dal.Model:
    """Crank, rocker and coupler at the top; the last joint finds its child on a parent already, so it closes the loop."""
    m = dal.Model("four-bar")
    shapes = (dal.Capsule(0.02, 0.96, collide=False),)  # for pictures: the rods pass each other
    m.add_body("crank", 1.0, ROD, pose=((0, 0, 0.5), (1, 0, 0, 0)), shapes=shapes)
    m.add_body("rocker", 1.0, ROD, pose=((1, 0, 0.5), (1, 0, 0, 0)), shapes=shapes)
    m.add_body("coupler", 1.0, ROD, pose=((0.5, 0, 1), LYING), shapes=shapes)
    m.add_joint("left foot", "revolute", "world", "crank", (0, 0, 0), (0, 1, 0))
    m.add_joint("right foot", "revolute", "world", "rocker", (1, 0, 0), (0, 1, 0))
    m.add_joint("left pin", "revolute", "crank", "coupler", (0, 0, 1), (0, 1, 0))
    m.add_joint("right pin", "revolute", "rocker", "coupler", (1, 0, 1), (0, 1, 0))
    return m


def revolution() -> float:
    """Time of one revolution, s."""
    return float(quad(lambda x: 1 / np.sqrt(RATE**2 + 2.4 * G * (1 - np.cos(x))), 0, 2 * np.pi, epsabs=1e-12)[0])


def late(traj: dal.Trajectory) -> float:
    """By which part of a revolution the last whole one ends late, per revolution."""
    angle = traj.q[:, 0]
    turns = int(angle[-1] // (2 * np.pi))
    return float(np.interp(2 * np.pi * turns, angle, traj.t) / (turns * revolution()) - 1)


def main(t_end: float = 20.0, out: Path | None = None) -> None:
    """Run at two step sizes and check."""
    m = build()
    q0, v0 = m.assemble(None, {"left foot": RATE}, fixed=["left foot"])
    print(m.redundant_constraints(q0))
    errors = []
    for h in (0.01, 0.005):
        traj = dal.simulate(m, h=h, t_end=t_end, q0=q0, v0=v0)
        apart = np.abs(traj.q[:, 0] - traj.q[:, 1]).max()
        errors.append(late(traj))
        print(f"h = {h:g} s: revolutions of {revolution():.4f} s off by {errors[-1]:.1e}; uprights parallel to {apart:.0e} rad")
        assert traj.report().verdict == "pass"
        assert np.abs(traj.constraint).max() < 1e-11
        assert apart < 1e-9
    print(traj.report())
    up = traj.reaction("right pin")[0, 2]
    print(f"the right pin lifts the coupler by {up:.4f} N at the top, (g - l w^2) m/2 = {(G - RATE**2) / 2:.4f} N")
    assert 3.5 < errors[0] / errors[1] < 4.5  # order 2; interpolation between nodes adds less than a tenth
    assert abs(up - (G - RATE**2) / 2) < 1e-6
    if out is not None:
        traj.plot(out / "four_bar.png")
        traj.animate(out / "four_bar.gif")
        print("pictures in", out)


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
