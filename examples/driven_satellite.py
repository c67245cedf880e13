"""A satellite that tumbles is brought to rest in a wanted attitude by a compiled control law.

    python examples/driven_satellite.py [file.h5]

The law is proportional-derivative on the rotation group: torque = -kp log(R_wanted^T R) - kd omega + omega x J omega. It runs inside the
compiled loop, and may call `dal.so3` and `dal.quat` there. The run adds up the work and the impulse of the control.
Check: the satellite arrives, the change of momentum equals the impulse to round-off, the change of energy equals the work within the order
of the method.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dalembert as dal

WANTED = np.array([np.cos(0.6), 0.0, 0.0, np.sin(0.6)])  # quaternion: 1.2 rad about z
J1, J2, J3 = 7.0, 12.0, 14.0  # kg m^2
KP, KD = 1.0, 6.0  # N m, N m s
log, mul, conj = dal.quat.log, dal.quat.mul, dal.quat.conj


@dal.compiled
def steer(t, q, v, out):
    """Torque about the body axes; out[3:] is the force, which stays 0."""
    error = log(mul(conj(WANTED), q[3:7]))
    out[0] = -KP * error[0] - KD * v[0] + (J3 - J2) * v[1] * v[2]
    out[1] = -KP * error[1] - KD * v[1] + (J1 - J3) * v[2] * v[0]
    out[2] = -KP * error[2] - KD * v[2] + (J2 - J1) * v[0] * v[1]


def main(t_end: float = 60.0, save: Path | None = None) -> None:
    """Run and check."""
    m = dal.Model("satellite", gravity=(0, 0, 0))
    m.add_body("bus", mass=90.0, inertia=(J1, J2, J3), shapes=[dal.Box((0.6, 0.5, 0.8)), dal.Box((2.8, 0.45, 0.02))])
    traj = dal.simulate(m, h=0.02, t_end=t_end, v0={"bus": (0.3, -0.2, 0.4, 0, 0, 0)}, control=steer, save=save)
    report = traj.report()
    print(report.text)
    off = np.linalg.norm(log(mul(conj(WANTED), traj.q[-1, 3:])))
    print(f"attitude off by {off:.2g} rad at t = {t_end:g} s, spin {np.linalg.norm(traj.v[-1, :3]):.2g} rad/s, work {traj.work[-1]:.4g} J")
    assert traj.meta["control"] == "compiled"
    assert report["momentum balance"].verdict == report["energy balance"].verdict == "pass"
    decay = KD / (2 * J3)  # the law leaves J x'' + KD x' + KP x = 0 per axis; J3, underdamped, dies out last
    assert off < 3.0 * np.pi * np.exp(-decay * t_end)  # at most pi at the start, with room for the transient


if __name__ == "__main__":
    main(save=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
