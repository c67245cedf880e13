"""A slider crank swings through the position in which its constraints lose rank.

    python examples/slider_crank.py [folder for the picture]

Two equal bars as six coordinates and five constraints (Lacoursiere 2007, chapter 7): a pin at the ground, a pin between the bars, a slider
on y = 0. When both bars stand upright, in the middle of every swing, the five rows have rank four, and the mechanism could turn into
another one, whose rod spins about the crank's pin. `rattle` solves its small system as far as it has rank. `spook` softens the constraints
by a compliance and needs no full rank at all. With drag the mechanism comes to rest just there.
Check: both stay on the branch and pass the middle when the quadrature of the energy says (within their order); `rattle` keeps the
constraints to round-off; with drag both come to rest in the singular position.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as dal

PARAMS = {"m": 1.0, "l": 1.0, "J": 1 / 12, "g": 9.8}
PHI0 = np.pi / 4
H = 1 / 60


def slider_crank(drag: float = 0.0) -> dal.Lagrangian:
    """Coordinates x, y, angle of both bars."""

    def L(q: Any, v: Any, p: Any) -> Any:
        kinetic = 0.5 * p.m * (v[0] ** 2 + v[1] ** 2 + v[3] ** 2 + v[4] ** 2) + 0.5 * p.J * (v[2] ** 2 + v[5] ** 2)
        return kinetic - p.m * p.g * (q[1] + q[4])

    def joints(q: Any, p: Any) -> Any:
        c1, s1, c2, s2 = (0.5 * p.l * f(angle) for angle in (q[2], q[5]) for f in (np.cos, np.sin))
        return [q[0] - c1, q[1] - s1, q[0] + c1 - q[3] + c2, q[1] + s1 - q[4] + s2, q[4] + s2]

    rayleigh = (lambda q, v: 0.5 * drag * (v @ v)) if drag else None
    names = ["x1", "y1", "phi1", "x2", "y2", "phi2"]
    return dal.Lagrangian(6, L, holonomic=joints, rayleigh=rayleigh, params=PARAMS, names=names, name="slider crank")


def passages(traj: dal.Trajectory) -> np.ndarray:
    """Times at which the crank hangs straight down, by interpolation between nodes."""
    x = traj.q[:, 2] + np.pi / 2
    k = np.flatnonzero(x[:-1] * x[1:] < 0)
    return traj.t[k] + traj.h * x[k] / (x[k] - x[k + 1])


def check(traj: dal.Trajectory, exact: dal.verification.SliderCrank) -> float:
    """Largest error of the times of passage; the mechanism stays on its branch."""
    times = passages(traj)
    true = exact.quarter_time * (1 + 2 * np.arange(len(times)))
    apart = np.abs(traj.q[:, 2] + traj.q[:, 5]).max()
    late = np.abs(times - true).max()
    print(
        f"{traj.stepper.name:7} h = 1/{1 / traj.h:.0f} s: {len(times)} passages, at most {late:.1e} s off; constraints within "
        f"{np.abs(traj.constraint).max():.1e} m, phi1 + phi2 within {apart:.1e} rad, energy lost {traj.energy[0] - traj.energy[-1]:.1e} J"
    )
    assert apart < 1e-2
    return float(late)


def main(t_end: float = 10.0, out: Path | None = None) -> None:
    """Swing with both methods, then with drag."""
    exact = dal.verification.SliderCrank(PHI0, PARAMS["m"], PARAMS["l"], PARAMS["g"], PARAMS["J"])
    s, q0 = slider_crank(), dal.verification.slider_crank_configuration(PHI0)
    print(f"exact: first passage at {exact.quarter_time:.5f} s, period {exact.period:.5f} s")
    runs = {}
    for name, order, options in (("rattle", 2, {}), ("spook", 1, {"epsilon": 1e-6, "tau": 2.0})):
        late = []
        for h in (H, H / 4):
            runs[name, h] = dal.simulate(s, name, h=h, t_end=t_end, q0=q0, **options)
            late.append(check(runs[name, h], exact))
        assert late[0] / late[1] > 0.6 * 4**order  # at least as fast as the order says
    assert np.abs(runs["rattle", H].constraint).max() < 1e-12
    assert np.abs(runs["spook", H].constraint).max() < 1e-2

    damped = slider_crank(drag=0.3)
    ends = [dal.simulate(damped, name, h=H, t_end=60.0, q0=q0).q[:, 2] for name in ("rattle", "spook")]
    apart = np.abs(ends[0] - ends[1]).max()
    print(f"with drag they agree to {apart:.2f} rad and come to rest at {ends[0][-1]:.6f} and {ends[1][-1]:.6f}; -pi/2 = {-np.pi / 2:.6f}")
    assert apart < 0.1
    assert max(abs(end[-1] + np.pi / 2) for end in ends) < 1e-5
    if out is not None:
        draw(out, runs, exact)


def draw(out: Path, runs: dict[tuple[str, float], dal.Trajectory], exact: dal.verification.SliderCrank) -> None:
    """Angle and condition number of the constraints."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), sharex=True, constrained_layout=True)
    for name in ("rattle", "spook"):
        traj = runs[name, H]
        rows = [dal.verification.slider_crank_jacobian(q) for q in traj.q]
        top.plot(traj.t, traj.q[:, 2], label=name)
        bottom.semilogy(traj.t, [np.linalg.cond(G) for G in rows], label=name)
    top.plot(traj.t, exact.state(traj.t)[0], "k--", lw=0.8, label="exact")
    top.axhline(-np.pi / 2, color="0.7", lw=0.8)
    top.set(ylabel="angle of the crank (rad)", title=f"slider crank, h = 1/{1 / H:.0f} s")
    bottom.set(xlabel="t (s)", ylabel="condition number of the constraints")
    top.legend()
    figure.savefig(out / "slider_crank.png", dpi=90)
    plt.close(figure)
    print("picture in", out / "slider_crank.png")


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
