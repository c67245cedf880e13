"""A tennis racket spun about its middle axis turns over again and again; the times at which it does are known exactly.

    python examples/tennis_racket.py [folder for the picture and the animation]

Compares when the computed racket turns over with the exact solution, for two methods of order 2 and one of order 4.
Check: each is as late as its order allows, and momentum is kept to round-off.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dalembert as dal

INERTIA, OMEGA = (0.0015, 0.0164, 0.0175), (0.01, 6.0, 0.01)
# largest error of the turning times in s at h = 0.005 s: second order, and what is left at fourth order
ALLOWED = {None: 0.05, "suzuki4": 1e-6}


def turning_times(t: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Times at which the spin about the middle axis changes its sign, by linear interpolation."""
    w = omega[:, 1]
    k = np.flatnonzero(w[:-1] * w[1:] < 0)
    return t[k] - w[k] * (t[k + 1] - t[k]) / (w[k + 1] - w[k])


def main(t_end: float = 20.0, out: Path | None = None) -> None:
    """Run, compare, check."""
    m = dal.Model("racket", gravity=(0, 0, 0))
    m.add_body("racket", mass=0.33, inertia=INERTIA)
    for stepper, compose in (("cayley", None), ("quaternion", None), ("quaternion", "suzuki4")):
        traj = dal.simulate(m, stepper, h=0.005, t_end=t_end, v0={"racket": (*OMEGA, 0, 0, 0)}, compose=compose)
        exact, _ = dal.verification.free_body(INERTIA, OMEGA, traj.t)
        found, wanted = turning_times(traj.t, traj.v), turning_times(traj.t, exact)
        late = np.abs(found - wanted).max()
        print(f"{traj.meta['method']:22} {len(found)} turns, off by at most {1e3 * late:.3g} ms; verdict {traj.report().verdict}")
        assert len(found) == len(wanted) >= 1
        assert late < ALLOWED[compose], f"{traj.meta['method']}: {late} s"
        assert traj.report()["momentum"].verdict == "pass"
        if out is not None and compose:
            traj.plot(out / "tennis_racket.png")
            traj.animate(out / "tennis_racket.gif")
            print("pictures in", out)


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
