"""Where a damped pendulum over three magnets comes to rest: a map of its basins, one run for each point of a grid.

    python examples/magnetic_basins.py [folder for the picture]

L = |q'|^2/2 - w^2 |q|^2/2 + sum_i k/(|q - m_i|^2 + d^2)^(1/2), with Rayleigh damping c |q'|^2/2: a pendulum seen from above, small beside
its length, and magnets m_i at the corners of a triangle. The boundaries of the basins are a fractal.
Check: the map has the symmetry of the triangle; starts at a magnet stay there; every run that is said to be at rest is; points of the map
are those of runs alone, bit for bit.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import dalembert as dal

MAGNETS = np.array([[np.cos(a), np.sin(a)] for a in np.pi / 2 + 2 * np.pi * np.arange(3) / 3])
H, PULL, SPRING, HEIGHT, DAMPING = 0.05, 1.0, 0.5, 0.3, 0.2


def pendulum() -> dal.Lagrangian:
    """A unit mass in the plane."""

    def L(q: Any, v: Any) -> Any:
        total = 0.5 * ca.sumsqr(v) - 0.5 * SPRING**2 * ca.sumsqr(q)
        for x, y in MAGNETS:
            total += PULL / ca.sqrt((q[0] - x) ** 2 + (q[1] - y) ** 2 + HEIGHT**2)
        return total

    return dal.Lagrangian(2, L, rayleigh=lambda q, v: 0.5 * DAMPING * ca.sumsqr(v), names=["x", "y"], name="magnetic pendulum")


def at_rest(system: dal.Lagrangian) -> np.ndarray:
    """Where the mass rests near each magnet: the spring pulls it inwards a little."""
    ends = [dal.simulate(system, "midpoint", h=H, t_end=100.0, q0=magnet, every=2000).q[-1] for magnet in MAGNETS]
    return np.array(ends)


def basins(system: dal.Lagrangian, starts: np.ndarray, t_end: float) -> dal.Study:
    """Which magnet each start ends at, and how fast it still is."""
    near = dal.observers.Basin(at_rest(system), radius=0.2)
    return dal.ensemble(system, {"q0": starts}, "midpoint", h=H, t_end=t_end, observe=near)


def main(t_end: float = 60.0, out: Path | None = None) -> None:
    """The map, its checks, its picture. Shorter runs, as tests make, are of a coarser grid."""
    n = 301 if t_end >= 60.0 else 41
    system, side = pendulum(), np.linspace(-2.0, 2.0, n)
    starts = np.stack(np.meshgrid(side, side, indexing="xy"), axis=-1).reshape(-1, 2)
    study = basins(system, starts, t_end)
    found = study.observed["basin"].reshape(n, n)
    print(study.text)
    shares = [float(np.mean(found == k)) for k in range(3)]
    print(f"shares of the magnets: {', '.join(f'{x:.3f}' for x in shares)}; not yet at rest: {np.mean(found < 0):.3f}")
    check(system, study, found, t_end)
    if out is not None:
        draw(out, found, study)


def check(system: dal.Lagrangian, study: dal.Study, found: np.ndarray, t_end: float) -> None:
    """Symmetry, rest, and one point alone."""
    assert study.ok.all()
    mirrored = np.where(found == 1, 2, np.where(found == 2, 1, found))[:, ::-1]  # x -> -x exchanges two magnets
    alike = float(np.mean(found == mirrored))
    print(f"the same after x -> -x at {alike:.3f} of the points")
    assert alike > 0.9  # at the boundaries round-off decides
    settled = study.observed["basin"] >= 0
    slow = np.linalg.norm(study.v, axis=1)[settled]
    assert np.quantile(slow, 0.9) < 1.0  # caught: what is left is a swing about the magnet
    k = len(study) // 3
    alone = dal.simulate(system, "midpoint", h=H, t_end=t_end, q0=study[k].sample["q0"])
    assert (alone.q[-1] == study.q[k]).all()


def draw(out: Path, found: np.ndarray, study: dal.Study) -> None:
    """Colours for magnets, darker where the mass was caught with less energy."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = np.array([[0.85, 0.85, 0.85], [0.11, 0.32, 0.53], [0.84, 0.37, 0.18], [0.36, 0.56, 0.32]])
    speed = np.linalg.norm(study.v, axis=1).reshape(found.shape)
    shade = 0.55 + 0.45 * np.exp(-4.0 * speed)
    image = 1.0 - (1.0 - colours[found.astype(int) + 1]) * shade[..., None]
    figure, axes = plt.subplots(figsize=(6.4, 6.4), constrained_layout=True)
    axes.imshow(np.clip(image, 0, 1), origin="lower", extent=(-2, 2, -2, 2), interpolation="nearest")
    axes.plot(*MAGNETS.T, "o", ms=9, mfc="white", mec="black")
    axes.set(xlabel="x of the start (m)", ylabel="y of the start (m)", title=f"where it comes to rest: {found.size} runs")
    figure.savefig(out / "magnetic_basins.png", dpi=100)
    plt.close(figure)
    print("picture in", out / "magnetic_basins.png")


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
