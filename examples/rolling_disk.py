"""A disk that rolls upright, and where in the step its constraint should hold.

    python examples/rolling_disk.py [folder for the picture]

L = m (x'^2 + y'^2)/2 + J phi'^2/2 + I theta'^2/2 with x' = R cos(phi) theta', y' = R sin(phi) theta': constraints on velocities that no
constraint on positions replaces. The stepper `alpha` asks them, by the discrete principle of d'Alembert and Pontryagin, at a share alpha of
the step. The true path is a circle at constant energy. In each step the rate of roll is multiplied by

    (I + m R^2 cos((1 - alpha) h W)) / (I + m R^2 cos(alpha h W)),      W the rate of turning

so that the energy is kept for alpha = 1/2 alone: the disk slows down for smaller alpha, and runs away for larger. A force shows that
alpha = 1/2 has order 2, the others 1.
Check: this factor at every step, the circle of alpha = 1/2, and the orders.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as dal

PARAMS = {"m": 2.0, "I": 0.5, "J": 0.3, "R": 0.7}
TURN, ROLL, H = 1.0, 2.0, 0.1
START = [PARAMS["R"] * ROLL, 0.0, TURN, ROLL]
ALPHAS = (0.0, 0.5, 1.0)


def disk(force: Any = None) -> dal.Lagrangian:
    """Coordinates x, y, heading phi, roll theta."""

    def L(q: Any, v: Any, p: Any) -> Any:
        return 0.5 * p.m * (v[0] ** 2 + v[1] ** 2) + 0.5 * p.J * v[2] ** 2 + 0.5 * p.I * v[3] ** 2

    def rolling(q: Any, p: Any) -> Any:
        return [[1, 0, 0, -p.R * np.cos(q[2])], [0, 1, 0, -p.R * np.sin(q[2])]]

    return dal.Lagrangian(4, L, pfaffian=rolling, force=force, params=PARAMS, names=["x", "y", "phi", "theta"], name="rolling disk")


def check_free(alpha: float, t_end: float) -> dal.Trajectory:
    """The free disk against the closed form of the scheme."""
    traj = dal.simulate(disk(), "alpha", h=H, t_end=t_end, v0=START, alpha=alpha)
    exact = dal.verification.DiscreteDisk(H, alpha, PARAMS["m"], PARAMS["I"], PARAMS["R"], ROLL, TURN)
    k = np.arange(len(traj))
    rate = exact.roll_rate(k[:-1])
    print(f"alpha = {alpha:3}: rate of roll {rate[0]:.4f} -> {traj.v_interval[-1, 3]:.4f} rad/s, factor per step {exact.factor:.8f}")
    assert np.abs(traj.v_interval[:, 3] / rate - 1).max() < 1e-11  # round-off of each factor, times the number of steps
    assert np.abs(traj.q[:, :2] - exact.position(k)).max() < 1e-10 * (1 + np.abs(exact.position(k)).max())
    return traj


def check_circle(traj: dal.Trajectory) -> None:
    """alpha = 1/2: all points on one circle, of radius (h R v/2) / sin(h W/2)."""
    exact = dal.verification.DiscreteDisk(H, 0.5, PARAMS["m"], PARAMS["I"], PARAMS["R"], ROLL, TURN)
    x, y = traj.q[:, 0], traj.q[:, 1]
    a, b, c = np.linalg.lstsq(np.column_stack([2 * x, 2 * y, np.ones_like(x)]), x**2 + y**2, rcond=None)[0]
    far = np.hypot(x - a, y - b)
    print(
        f"alpha = 0.5: circle of {far.mean():.8f} m, round to {np.ptp(far):.0e} m; scheme {exact.circle:.8f}, truth {PARAMS['R'] * ROLL:g}"
    )
    assert abs(np.sqrt(c + a**2 + b**2) - exact.circle) < 1e-10
    assert np.ptp(far) < 1e-10


def check_orders() -> None:
    """Steered and driven by forces, against `alpha` = 1/2 at a step 32 times finer, whose own error is 1000 times smaller."""

    def force(q: Any, v: Any, t: Any) -> Any:
        return [0, 0, 0.4 * np.cos(t), 0.3 * np.sin(2 * t) + 0.2]

    s = disk(force)
    best = dal.simulate(s, "alpha", h=0.05 / 64, t_end=4.0, v0=START).q[-1]
    for alpha in ALPHAS:
        errors = [np.abs(dal.simulate(s, "alpha", h=h, t_end=4.0, v0=START, alpha=alpha).q[-1] - best).max() for h in (0.05, 0.025)]
        order = np.log2(errors[0] / errors[1])
        print(f"alpha = {alpha:3}: with forces, error {errors[1]:.1e} at h = 0.025 s, order {order:.2f}")
        assert abs(order - (2 if alpha == 0.5 else 1)) < 0.1


def main(t_end: float = 50.0, out: Path | None = None) -> None:
    """Roll, compare, check."""
    runs = {alpha: check_free(alpha, t_end) for alpha in ALPHAS}
    check_circle(runs[0.5])
    check_orders()
    if out is not None:
        draw(out, runs)


def draw(out: Path, runs: dict[float, dal.Trajectory]) -> None:
    """Paths and energies."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), constrained_layout=True)
    for alpha, traj in runs.items():
        left.plot(traj.q[:400, 0], traj.q[:400, 1], ".-", ms=2, lw=0.7, label=rf"$\alpha$ = {alpha:g}")
        right.semilogy(traj.t, traj.energy, label=rf"$\alpha$ = {alpha:g}")
    left.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", title=f"contact point, h = {H:g} s")
    right.set(xlabel="t (s)", ylabel="energy (J)", title="constant only for 1/2")
    left.legend()
    figure.savefig(out / "rolling_disk.png", dpi=90)
    plt.close(figure)
    print("picture in", out / "rolling_disk.png")


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
