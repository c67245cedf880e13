"""One pendulum, ten methods: what becomes of its energy and of its rod.

    python examples/pendulum_ten_methods.py [folder for the picture]

A point of 1 kg on a rod of 1 m under 10 m/s^2, released level, 400 steps of 1/60 s: the experiments of Lacoursiere (2007, chapter 6). Two
methods use the angle; the others step the point (x, y) and must hold |q| = 1 in their own way. The energy is 0 at the start, and -10 J for
a pendulum that has come to rest.
Check: each method does what its theory says. Variational ones keep the energy in a band; projection, penalties and BDF formulas lose it;
Baumgarte's gains a little in every step; SPOOK violates the rod by (1 + 2 tau/h) h^2 v^2/4 and takes a little energy.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as dal

G, H, STEPS = 10.0, 1 / 60, 400
EXACT = dal.verification.Pendulum(1.0, G, np.pi / 2)


@dataclass(frozen=True)
class Row:
    """A method, its options, whether it uses the angle, and whether its velocities belong to the intervals between nodes."""

    stepper: str
    how: str
    options: dict[str, Any] = field(default_factory=dict)
    angle: bool = False
    staggered: bool = False


ROWS = {
    1: Row("lsoda", "the angle, adaptive multistep method", {"rtol": 1e-6, "atol": 1e-6}, angle=True),
    2: Row("verlet", "the angle, variational", angle=True),
    3: Row("penalty-implicit", "a spring of 1e4 N/m as rod, implicit Euler", {"stiffness": 1e4}),
    4: Row("penalty-midpoint", "the same spring, trapezoidal rule, damped", {"stiffness": 1e4, "damping": 1.0}),
    5: Row("projection", "step freely, then back to the circle", staggered=True),
    6: Row("shake", "variational, rod kept at the nodes"),
    7: Row("implicit-euler", "BDF of order 1, rod kept at the nodes", staggered=True),
    8: Row("ggl", "BDF of order 2, positions and velocities kept"),
    9: Row("baumgarte", "rod differentiated twice, fed back, Runge-Kutta 4"),
    10: Row("spook", "rod regularised and damped, one linear solve", {"epsilon": 1e-6, "tau": 2.0}, staggered=True),
    11: Row("rattle", "variational, positions and velocities kept"),
    12: Row("rk4", "rod differentiated twice, Runge-Kutta 4"),
}


def systems() -> tuple[dal.Lagrangian, dal.Lagrangian]:
    """By its angle, and as a point on a rod."""
    angle = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + G * np.cos(q[0]), name="pendulum")
    rod = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) - G * q[1], holonomic=lambda q: [0.5 * (q @ q - 1)], name="pendulum on a rod")
    return angle, rod


def run(row: Row, t_end: float) -> tuple[dal.Trajectory, np.ndarray]:
    """The run, and the points (x, y) of its nodes."""
    angle, rod = systems()
    s, q0 = (angle, [np.pi / 2]) if row.angle else (rod, [1.0, 0.0])
    traj = dal.simulate(s, row.stepper, h=H, t_end=t_end, q0=q0, **row.options)
    place = np.column_stack([np.sin(traj.q[:, 0]), -np.cos(traj.q[:, 0])]) if row.angle else traj.q
    return traj, place


def energy(row: Row, traj: dal.Trajectory) -> np.ndarray:
    """Nodal; with velocities of intervals the potential energy is that of the middle of the interval."""
    if not row.staggered:
        return np.asarray(traj.energy)
    lift = 0.5 * G * (traj.q[:-1, 1] - traj.q[1:, 1])
    return np.asarray(traj.energy + np.concatenate([[0.0], lift]))


def rod_error(place: np.ndarray) -> float:
    """Largest (|q|^2 - 1)/2."""
    return float(np.abs(0.5 * (np.sum(place**2, axis=1) - 1)).max())


def check(E: dict[int, np.ndarray], rod: dict[int, float], late: dict[int, float]) -> None:
    """What the methods must do; bounds are twice what theory or a measurement at the same step gives, or half of it."""
    assert 0 < np.abs(E[1]).max() < 1e-3  # creeps with the tolerance
    for n in (2, 6, 11):  # variational: a band of (h omega)^2 = 0.0028 of 20 J, and no trend
        first, last = E[n][: len(E[n]) // 2], E[n][len(E[n]) // 2 :]
        assert np.abs(E[n]).max() < 0.055
        assert abs(np.ptp(last) - np.ptp(first)) < 0.05 * np.ptp(first)
    for n in (3, 5, 7):  # of order 1: what they lose is gone in a few swings
        assert E[n][-1] < -7
        assert E[n].max() < 1e-9
    assert -0.3 < E[4][-1] < -0.05
    assert -0.3 < E[8][-1] < -0.05
    assert 3e-4 < E[9][-1] < 1.5e-3  # drifts upwards
    assert -0.5 < E[10][-1] < 0
    assert abs(E[12][-1]) < 1e-2
    for n in (1, 2, 5, 6, 7, 8, 11):
        assert rod[n] < 1e-12
    assert rod[9] < 5e-5
    law = (1 + 2 * 2.0) * H**2 * 2 * G / 4  # of SPOOK, at the fastest point
    assert 0.9 * law < rod[10] < 1.1 * law
    assert max(late[n] for n in (1, 2, 6, 11)) < 0.03


def main(t_end: float = STEPS * H, out: Path | None = None) -> None:
    """Run all, print the table, check it."""
    E, rod, late, places = {}, {}, {}, {}
    print(f"pendulum, h = 1/60 s, {round(t_end / H)} steps, exact period {EXACT.period:.6f} s")
    print(f"{'':3}{'stepper':18}{'energy at the end':>18}{'lowest':>10}{'highest':>10}{'rod':>10}{'place':>10}   how")
    for n, row in ROWS.items():
        traj, places[n] = run(row, t_end)
        E[n], rod[n] = energy(row, traj), rod_error(places[n])
        late[n] = float(np.abs(places[n] - EXACT.position(traj.t)).max())
        print(f"{n:2} {row.stepper:18}{E[n][-1]:18.5f}{E[n].min():10.4f}{E[n].max():10.4f}{rod[n]:10.1e}{late[n]:10.1e}   {row.how}")
    check(E, rod, late)
    if out is not None:
        draw(out, E, traj.t)


def draw(out: Path, E: dict[int, np.ndarray], t: np.ndarray) -> None:
    """Energies, at two scales."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), constrained_layout=True)
    for n, row in ROWS.items():
        for ax in (left, right):
            ax.plot(t, E[n], lw=1, color=plt.get_cmap("tab20")(n - 1), label=f"{n} {row.stepper}")
    left.set(xlabel="t (s)", ylabel="energy (J)", title="pendulum, h = 1/60 s; at rest: -10 J")
    right.set(xlabel="t (s)", ylim=(-0.25, 0.06), title="the same, enlarged")
    left.legend(fontsize=8, ncols=2)
    figure.savefig(out / "pendulum_ten_methods.png", dpi=80)
    plt.close(figure)
    print("picture in", out / "pendulum_ten_methods.png")


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
