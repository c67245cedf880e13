"""Pucks that slide off in all directions, and where they stop, under each law of friction that the stepper `spook` has.

    python examples/friction_laws.py [folder for the picture]

Pucks of 1 kg on a floor, friction mu, start with 1 m/s. Coulomb's law and the cylinder stop them after v^2/(2 mu g) on their straight way,
whatever the direction a. The square of box and pyramid brakes each axis by itself: x stops after v_x^2/(2 mu g), y after v_y^2/(2 mu g),
too early and off the way. A polygon with n corners brakes too little between its corners: at a = pi/n the way is v^2/(2 mu g cos(pi/n)).
Two coefficients, mu_1 along x and mu_2 across, are physics, not an error: f = -N A^2 v/|A v|, A = diag(mu_1, mu_2), so that on the way
v_x = c v_y^((mu_1/mu_2)^2), and what slides turns into the direction of the smaller one.
Check: all of these, to the first order in h.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as dal

MU, G, H, SPEED, N = 0.4, 9.81, 1.0 / 240.0, 1.0, 24
TWO = (0.8, 0.4)
HEADINGS = 2.0 * np.pi * np.arange(N) / N
LAWS: dict[str, dict[str, Any]] = {
    "coulomb": {},
    "cylinder": {"law": "cylinder"},
    "box": {"law": "box"},
    "pyramid": {"law": "pyramid"},
    "polygon of 4": {"law": "polygon", "sides": 4},
    "polygon of 8": {"law": "polygon", "sides": 8},
}


def pucks(friction: Any = MU) -> tuple[dal.Model, dict[str, Any]]:
    """Pucks far from each other, and their velocities."""
    m, start = dal.Model("pucks"), {}
    m.add_shape("world", dal.Plane(friction=0.0))
    puck = dal.Box((0.1, 0.1, 0.01), friction=0.0)
    for k, a in enumerate(HEADINGS):
        name = f"puck{k}"
        m.add_body(name, 1.0, puck.inertia(1.0), pose=((10.0 * k, 0, 0.005), (1, 0, 0, 0)), shapes=[puck])
        m.add_contact("world", name, friction=friction, friction_axis=(1, 0, 0))
        start[name] = (0, 0, 0, SPEED * np.cos(a), SPEED * np.sin(a), 0)
    return m, start


def slide(t_end: float, friction: Any = MU, **options: Any) -> np.ndarray:
    """Ways of the pucks, (nodes, N, 2)."""
    m, start = pucks(friction)
    traj = dal.simulate(m, "spook", h=H, t_end=t_end, v0=start, contacts="none", **options)
    assert traj.solver["unsolved"].sum() == 0
    return np.asarray(traj.poses[:, :, :2, 3] - traj.poses[0, :, :2, 3])


def expected(name: str) -> np.ndarray:
    """Where pucks stop, (N, 2); NaN where the way is not a straight line or two."""
    way, far = np.column_stack([np.cos(HEADINGS), np.sin(HEADINGS)]), SPEED**2 / (2.0 * MU * G)
    if name in ("box", "pyramid"):
        return np.asarray(far * way * np.abs(way))
    if name.startswith("polygon"):
        n = LAWS[name]["sides"]
        part = np.mod(HEADINGS * n / (2.0 * np.pi), 1.0)
        corner, middle = np.minimum(part, 1.0 - part) < 1e-9, np.abs(part - 0.5) < 1e-9
        return np.asarray(np.where(corner, far, np.where(middle, far / np.cos(np.pi / n), np.nan))[:, None] * way)
    return np.asarray(far * way)


def check(t_end: float) -> dict[str, np.ndarray]:
    """Ways under every law, against the closed forms; then with two coefficients."""
    found = {}
    for name, options in LAWS.items():
        found[name] = ways = slide(t_end, **options)
        miss = np.nanmax(np.abs(ways[-1] - expected(name)))
        far = np.hypot(*ways[-1].T)
        print(f"{name:13} stops after {far.min():.4f} ... {far.max():.4f} m, {miss:.4f} m off the closed form")
        assert miss < 0.6 * SPEED * H  # the velocity of a step is that of its end: h v/2 less way
        assert (np.ptp(far) < 1e-3) == (name in ("coulomb", "cylinder"))
    found["two"] = ways = slide(t_end, TWO)
    v = np.diff(ways, axis=0)[5] / H
    both = np.abs(v).min(axis=1) > 1e-3
    slow = np.log(np.abs(v[both, 1] / np.sin(HEADINGS[both])))
    power = np.log(np.abs(v[both, 0] / np.cos(HEADINGS[both]))) / slow
    print(f"{TWO} along x, y: v_x = c v_y^{power.min():.2f} ... {power.max():.2f}; by the law {(TWO[0] / TWO[1]) ** 2:.2f}")
    assert np.abs(power - (TWO[0] / TWO[1]) ** 2).max() < 0.3  # first order: 6 of 30 to 60 steps
    np.testing.assert_allclose(np.abs(ways[-1, [0, N // 4]]).max(axis=1), SPEED**2 / (2.0 * G * np.array(TWO)), atol=0.6 * SPEED * H)
    return found


def draw(out: Path, found: dict[str, np.ndarray]) -> None:
    """Where pucks stop under the laws; ways with two coefficients."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), constrained_layout=True)
    labels = {
        "coulomb": "coulomb, cylinder",
        "pyramid": "box, pyramid",
        "polygon of 4": "polygon, 4 sides",
        "polygon of 8": "polygon, 8 sides",
    }
    for k, (name, label) in enumerate(labels.items()):
        ways = found[name]
        left.plot(*ways.transpose(2, 0, 1), color=f"C{k}", lw=0.4)
        left.plot(*np.append(ways[-1], ways[-1, :1], axis=0).T, "o-", color=f"C{k}", ms=3, lw=1.2, label=label)
    left.set(title=f"one coefficient, {MU}", xlabel="x (m)", ylabel="y (m)", aspect="equal")
    ways = found["two"]
    right.plot(*ways.transpose(2, 0, 1), color="C0", lw=0.8)
    right.plot(*np.append(ways[-1], ways[-1, :1], axis=0).T, "o-", color="C4", ms=3, lw=1.2)
    right.set(title=f"coulomb, {TWO[0]} along x and {TWO[1]} along y", xlabel="x (m)", aspect="equal")
    figure.legend(loc="outside lower center", ncols=4)
    figure.savefig(out / "friction_laws.png", dpi=80)
    plt.close(figure)
    print("picture in", out / "friction_laws.png")


def main(t_end: float = 0.4, out: Path | None = None) -> None:
    """Slide, check. t_end: the last puck stops after 0.36 s."""
    found = check(t_end)
    if out is not None:
        draw(out, found)


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
