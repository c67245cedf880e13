"""Arnol'd's cat: a shape in phase space, carried along by an oscillator, and how large each method leaves it.

    python examples/arnold_cat.py [folder for the picture]

A motion with a Lagrangian keeps areas of phase space (Liouville). Each of several hundred points of a cat's face is the start (x, v) of an
oscillator, twenty of which make a system, L = v.v/2 - x.x/2. Four methods step them at h omega = 1/5 and 1. In one step the area is
multiplied by

    Verlet 1,   implicit midpoint 1,   Runge-Kutta of order 2: 1 + (h omega)^4 / 4,   implicit Euler: 1 / (1 + (h omega)^2)

so the explicit method blows the cat up, the implicit one shrinks it, and the two variational methods may bend it but not change its size.
Check: these factors, to round-off.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np

import dalembert as dal

OUTLINE, PUPIL, TOGETHER = 320, 24, 20
FACTOR = {
    "verlet": lambda x: 1.0,
    "midpoint": lambda x: 1.0,
    "rk2": lambda x: 1 + x**4 / 4,
    "implicit-euler": lambda x: 1 / (1 + x**2),
}
# right half of the face from the chin to the crown; the left half is its mirror image
HALF = [(0, -0.78), (0.35, -0.7), (0.65, -0.45), (0.82, -0.1), (0.8, 0.25), (0.86, 0.95), (0.4, 0.62), (0, 0.66)]


def cat() -> tuple[np.ndarray, list[np.ndarray]]:
    """Outline (points, 2) at equal distances, and what is drawn inside: eyes, nose, whiskers."""
    corners = np.array([*HALF, *((-x, y) for x, y in HALF[-2::-1])])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
    s = np.linspace(0, along[-1], OUTLINE, endpoint=False)
    outline = np.column_stack([np.interp(s, along, corners[:, k]) for k in (0, 1)])
    a = np.linspace(0, 2 * np.pi, PUPIL)
    eyes = [np.column_stack([side * 0.34 + 0.13 * np.cos(a), 0.15 + 0.17 * np.sin(a)]) for side in (-1, 1)]
    nose = [np.array([(-0.1, -0.18), (0.1, -0.18), (0, -0.3), (-0.1, -0.18)])]
    whiskers = [np.array([(side * 0.2, -0.35), (side * 1.0, y)]) for side in (-1, 1) for y in (-0.25, -0.4, -0.55)]
    return outline, eyes + nose + whiskers


def area(points: np.ndarray) -> np.ndarray:
    """Area inside a polygon (..., points, 2)."""
    x, y = points[..., 0], points[..., 1]
    return 0.5 * np.abs(np.sum(x * np.roll(y, -1, axis=-1) - y * np.roll(x, -1, axis=-1), axis=-1))


def carried(method: str, h: float, t_end: float, points: np.ndarray) -> np.ndarray:
    """Where a method takes the points: (nodes, points, 2)."""
    runs = []
    for some in np.array_split(points, np.ceil(len(points) / TOGETHER)):
        traj = dal.simulate(oscillators(len(some)), method, h=h, t_end=t_end, q0=some[:, 0], v0=some[:, 1])
        runs.append(np.stack([traj.q, traj.v], axis=-1))
    return np.concatenate(runs, axis=1)


@cache
def oscillators(n: int) -> dal.Lagrangian:
    """n of them, independent."""
    return dal.Lagrangian(n, lambda q, v: 0.5 * (v @ v) - 0.5 * (q @ q), name="oscillators")


def draw(out: Path, cats: dict[tuple[float, str], np.ndarray], lengths: list[int]) -> None:
    """One panel per method and step: the cat about once per radian."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(13, 6.6), sharex="row", sharey="row", constrained_layout=True)
    for ax, ((h, method), nodes) in zip(axes.flat, cats.items(), strict=True):
        shown = range(0, len(nodes), round(1 / h))
        for i, k in enumerate(shown):
            parts = np.split(nodes[k], np.cumsum(lengths)[:-1])
            colour = plt.get_cmap("viridis")(0.9 * i / len(shown))
            ax.fill(*parts[0].T, facecolor=(*colour[:3], 0.25), edgecolor=colour, lw=1)
            for part in parts[1:]:
                ax.plot(*part.T, color=colour, lw=0.7)
        size = area(nodes[:, : lengths[0]])
        ax.set_title(f"{method}, h$\\omega$ = {h:g}\narea after {len(nodes) - 1} steps: {size[-1] / size[0]:.3g}", fontsize=10)
        ax.set(aspect="equal", xlabel="x", ylabel="v")
    figure.savefig(out / "arnold_cat.png", dpi=80)
    plt.close(figure)


def main(t_end: float = 5.0, out: Path | None = None) -> None:
    """Carry the cat and check its area."""
    outline, inside = cat()
    parts = [outline, *inside] if out is not None else [outline]
    points = np.concatenate(parts) + np.array([2.6, 0.0])
    cats = {}
    for h in (0.2, 1.0):
        for method, factor in FACTOR.items():
            nodes = cats[h, method] = carried(method, h, t_end, points)
            size = area(nodes[:, :OUTLINE])
            per_step = (size[-1] / size[0]) ** (1 / (len(size) - 1))
            print(
                f"h omega = {h:3g}  {method:15} area {size[0]:.3f} -> {size[-1]:.3f}, per step {per_step:.12f}, expected {factor(h):.12f}"
            )
            expected = size[0] * factor(h) ** np.arange(len(size))
            assert np.abs(size / expected - 1).max() < 1e-12  # round-off of a sum of 320 terms, far from the origin
    if out is not None:
        draw(out, cats, [len(p) for p in parts])
        print("picture in", out / "arnold_cat.png")


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
