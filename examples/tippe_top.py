"""A tippe top: a ball with its centre of mass below the middle, spun fast, slides, rises and stands on its head.

    python examples/tippe_top.py [folder for the picture and the animation]

Friction does it: while the point of contact slides, its force turns the axis over, and the spin pays for the height.
Check: it turns over, its centre of mass rises, the energy falls all the way, and Jellett's integral stays: the momentum about the contact
along the line to the centre of mass, which friction cannot change.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dalembert as dal
from dalembert.scenes.contact_tops import TIPPE


def jellett(traj: dal.Trajectory) -> np.ndarray:
    """Angular momentum about the centre of mass times the vector from the contact to it, of a ball."""
    R = traj.poses[:, 0, :3, :3]
    inertia = traj.model.bodies[0].inertia
    L = np.einsum("nij,jk,nk->ni", R, inertia, traj.v[:, :3])
    arm = np.array([0.0, 0.0, TIPPE["radius"]]) - TIPPE["low"] * R[:, :, 2]
    return np.einsum("ni,ni->n", L, arm)


def main(t_end: float = 5.0, out: Path | None = None) -> None:
    """Run, check, draw."""
    traj = dal.scenes.find("tippe-top").simulate(t_end=t_end)
    lean = np.degrees(np.arccos(np.clip(traj.poses[:, 0, 2, 2], -1, 1)))
    J = jellett(traj)
    height = traj.poses[:, 0, 2, 3] - TIPPE["low"] * traj.poses[:, 0, 2, 2]
    rose = height[-1] - height[0]
    print(f"leans by {lean[0]:.0f} degrees at the start, {lean[-1]:.0f} at the end; its centre of mass rose by {1e3 * rose:.1f} mm")
    print(f"energy {1e3 * traj.energy[0]:.1f} -> {1e3 * traj.energy[-1]:.1f} mJ")
    print(f"Jellett's integral within {100 * np.ptp(J) / abs(J[0]):.1f} %")
    assert lean[-1] > 130
    assert rose > 0.005
    assert traj.energy[-1] < 0.7 * traj.energy[0]
    assert np.ptp(J) < 0.05 * abs(J[0])
    if out is not None:
        traj.plot(out / "tippe_top.png")
        traj.animate(out / "tippe_top.gif")
        print("pictures in", out)


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
