"""How hard a block must be pushed until it slides, and where a sliding disc stops, for each model of friction and every direction.

    python examples/friction_isotropy.py [folder for the picture]

Dry friction has no preferred direction: whatever is pushed with less than mu N sticks. Models that are linear, so that pivoting methods
solve them exactly, replace the disc of tangential forces by a square (box, pyramid) or a polygon with n corners, and what they hold then
depends on the angle a between the push and the first tangent. In units of mu N the largest push that sticks is

    cone, cylinder 1      box, pyramid 1 / max(|cos a|, |sin a|)      polygon cos(pi / n) / cos(b - pi / n),  b = a mod 2 pi / n

that is 1, 1.0824, 1.4142 for the square at 0, 22.5 and 45 degrees, 1, 0.7654, 0.7071 for four corners, 1, 0.9239, 1 for eight. A disc that
slides off at 2 m/s then stops too early or too late, and on a bent path.
Check: these thresholds, found by bisection, at every direction; the discs of the cone stop on a circle, those of the others do not.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.complementarity.friction import solve_friction

MU, G, H, SPEED = 0.5, 9.8, 1.0 / 60.0, 2.0
MODELS: dict[str, dict[str, Any]] = {
    "cone": {"model": "cone"},
    "cylinder": {"model": "cylinder"},
    "box": {"model": "box"},
    "pyramid": {"model": "pyramid"},
    "polygon of 4": {"model": "polygon", "directions": 4},
    "polygon of 8": {"model": "polygon", "directions": 8},
}
HEADINGS = np.arange(17) * np.pi / 64  # 0 ... 45 degrees; all models are mirror images about these two directions
TABLE = {
    "cone": (1.0, 1.0, 1.0),
    "cylinder": (1.0, 1.0, 1.0),
    "box": (1.0, 1.0824, 1.4142),
    "pyramid": (1.0, 1.0824, 1.4142),
    "polygon of 4": (1.0, 0.7654, 0.7071),
    "polygon of 8": (1.0, 0.9239, 1.0),
}


def expected(name: str, a: np.ndarray) -> np.ndarray:
    """The closed forms above."""
    if name in ("box", "pyramid"):
        return np.asarray(1.0 / np.maximum(np.abs(np.cos(a)), np.abs(np.sin(a))))
    if name.startswith("polygon"):
        n = MODELS[name]["directions"]
        return np.asarray(np.cos(np.pi / n) / np.cos(np.mod(a, 2.0 * np.pi / n) - np.pi / n))
    return np.ones_like(a)


def contact(name: str, tangential: np.ndarray) -> np.ndarray:
    """Tangential velocity after one impulse: a body of 1 kg on the ground that falls with G, in units in which one step is one second."""
    found = solve_friction(np.eye(3), np.r_[-G, tangential], MU, **MODELS[name])
    assert found.solved, (name, tangential, found.status)
    return np.asarray(found.velocities[0, 1:])


def threshold(name: str, a: float) -> float:
    """Largest push at the angle a that sticks, in units of mu N, to 1e-7."""
    unit = MU * G * np.array([np.cos(a), np.sin(a)])
    low, high = 0.5, 2.0
    while high - low > 1e-7:
        middle = 0.5 * (low + high)
        sticks = np.abs(contact(name, middle * unit)).max() < 1e-9
        low, high = (middle, high) if sticks else (low, middle)
    return 0.5 * (low + high)


def slide(name: str, a: float, t_end: float) -> np.ndarray:
    """Path of a disc that slides off at the angle a, until it rests or t_end: (nodes, 2)."""
    v, places = SPEED * np.array([np.cos(a), np.sin(a)]), [np.zeros(2)]
    for _ in range(round(t_end / H)):
        v = contact(name, v / H) * H
        places.append(places[-1] + H * v)
        if np.abs(v).max() < 1e-12:
            break
    return np.array(places)


def check_thresholds() -> dict[str, np.ndarray]:
    """Bisection against the closed forms, and against the table at three directions."""
    found = {}
    for name in MODELS:
        pushes = found[name] = np.array([threshold(name, a) for a in HEADINGS])
        three = pushes[[0, 8, 16]]
        print(f"{name:13} sticks up to {three[0]:.4f}, {three[1]:.4f}, {three[2]:.4f} mu N at 0, 22.5, 45 degrees")
        assert np.abs(three - TABLE[name]).max() < 1e-4  # the table has four decimals
        assert np.abs(pushes - expected(name, HEADINGS)).max() < 1e-6  # the bisection ends at 1e-7, sticking is judged at 1e-9
    return found


def check_stops(t_end: float) -> dict[str, list[np.ndarray]]:
    """Discs under the cone stop on a circle, those under the others do not."""
    paths = {}
    for name in MODELS:
        paths[name] = [slide(name, a, t_end) for a in HEADINGS[::4]]
        far = np.array([np.hypot(*path[-1]) for path in paths[name]])
        turned = np.array([np.arctan2(p[-1, 1], p[-1, 0]) - a for p, a in zip(paths[name], HEADINGS[::4], strict=True)])
        print(f"{name:13} stops after {far.min():.4f} ... {far.max():.4f} m, up to {np.degrees(np.abs(turned).max()):.1f} degrees off")
        round_ = name in ("cone", "cylinder")
        assert (np.ptp(far) < 1e-8) == round_  # the judge's 1e-9 for each of 25 steps
        assert (np.abs(turned).max() < 1e-8) == round_
        if round_:
            assert abs(far[0] - H * sum(SPEED - k * MU * G * H for k in range(1, 25))) < 1e-8  # the sum of the speeds of 24 steps
    return paths


def draw(out: Path, pushes: dict[str, np.ndarray], paths: dict[str, list[np.ndarray]]) -> None:
    """Thresholds over the direction, and the paths of the discs, completed by mirror images."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 5.2), constrained_layout=True)
    left, right = figure.add_subplot(1, 2, 1, projection="polar"), figure.add_subplot(1, 2, 2)
    quarter = np.concatenate([HEADINGS[:-1], np.pi / 2 - HEADINGS[:0:-1]])
    around = np.append(np.concatenate([quarter + k * np.pi / 2 for k in range(4)]), 2 * np.pi)
    for k, name in enumerate(n for n in MODELS if n not in ("cylinder", "box")):  # the laws of cone and pyramid
        label = {"cone": "cone, cylinder", "pyramid": "box, pyramid"}.get(name, name)
        half = pushes[name]
        values = np.append(np.tile(np.concatenate([half[:-1], half[:0:-1]]), 4), half[0])
        left.plot(around, values, color=f"C{k}", label=label)
        both = [*paths[name], *(path[:, ::-1] for path in paths[name][-2::-1])]
        for path in both:
            right.plot(*path.T, color=f"C{k}", lw=0.7)
        right.plot(*np.array([path[-1] for path in both]).T, "o-", color=f"C{k}", ms=4, lw=1.5, label=label)
    left.set_title(r"largest push that sticks, in units of $\mu N$")
    left.set_ylim(0, 1.5)
    left.set_yticks([0.5, 1.0])
    right.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", title=f"discs that slide off at {SPEED:g} m/s, and where they stop")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(out / "friction_isotropy.png", dpi=80)
    plt.close(figure)
    print("picture in", out / "friction_isotropy.png")


def main(t_end: float = 1.0, out: Path | None = None) -> None:
    """Push, slide, check. t_end: at most so long a disc slides, which takes 0.6 s."""
    pushes = check_thresholds()
    paths = check_stops(t_end)
    if out is not None:
        draw(out, pushes, paths)


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
