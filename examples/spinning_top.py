"""A spinning top, and how fast it must spin to stay up.

    python examples/spinning_top.py

Two tops are released half a degree from upright, one a tenth below the critical spin and one a tenth above. The first falls, the second
"sleeps".
Check: the tilt follows the exact solution (elliptic functions), and the vertical angular momentum is kept to round-off.
"""

from __future__ import annotations

import numpy as np

import dalembert as dal

MASS, LENGTH, TILT = 0.5, 0.05, np.radians(0.5)
ACROSS, ALONG = 2e-4, 4e-4  # inertias about the centre of mass, kg m^2
I1 = ACROSS + MASS * LENGTH**2  # about the tip


def build() -> dal.Model:
    """A symmetric body on a ball joint, centre of mass above it."""
    m = dal.Model("top")
    m.add_body("rotor", MASS, (ACROSS, ACROSS, ALONG), com=(0, 0, LENGTH), shapes=[dal.Cylinder(0.04, 0.01, position=(0, 0, LENGTH))])
    m.add_joint("tip", "spherical", "world", "rotor")
    return m


def tilt(traj: dal.Trajectory) -> np.ndarray:
    """Angle between the axis of the top and the vertical, rad."""
    axis = traj.poses[:, 0, :3, 2]
    return np.arctan2(np.hypot(axis[:, 0], axis[:, 1]), axis[:, 2])


def main(t_end: float = 3.0) -> None:
    """Run both tops and check them."""
    m, mgl = build(), MASS * 9.81 * LENGTH
    critical = dal.verification.sleeping_threshold(I1, ALONG, mgl)
    print(f"critical spin: {critical:.4g} rad/s")
    q0 = {"tip": (np.cos(TILT / 2), np.sin(TILT / 2), 0, 0)}
    for share in (0.9, 1.1):
        spin = share * critical
        traj = dal.simulate(m, "bobenko-suris", h=0.0005, t_end=t_end, q0=q0, v0={"tip": (0, 0, spin)}, compose="suzuki4")
        exact = dal.verification.LagrangeTop(I1=I1, I3=ALONG, mgl=mgl, theta0=TILT, omega3=spin)
        error = np.abs(tilt(traj) - exact.theta(traj.t)).max()
        print(f"spin {spin:6.2f} rad/s: tilts up to {np.degrees(tilt(traj).max()):5.1f} degrees, error {error:.1e} rad")
        assert error < 1e-5
        assert (np.degrees(tilt(traj).max()) > 10) == (share < 1)
        assert traj.report()["momentum"].verdict == "pass"
    print(traj.report().text)


if __name__ == "__main__":
    main()
