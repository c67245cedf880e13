"""Symmetric compositions of the self-adjoint rules: orders 4, 6 and 8 on trees, and what they keep.

Step sizes are chosen so that errors lie between 1e-3 and 1e-11, above the reference (1e-13) and the Newton tolerance (1e-12).
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.errors import UnsupportedError

DATA = Path(__file__).parents[2] / "data"
METHODS = ("midpoint", "trapezoidal", "null-space")
# composition: declared order, how far below and above the observed order may be
CASES = {"suzuki4": (4, 0.1, 0.1), "yoshida6": (6, 0.3, 0.3), "kahan-li8": (8, 0.5, 1.0)}
# steps in T: the spring of the pinned chain swings at 10 rad/s
STEPS = {
    ("chain", "suzuki4"): (20, 28, 40, 56, 80),
    ("chain", "yoshida6"): (40, 48, 56, 68, 80),
    ("chain", "kahan-li8"): (12, 14, 16, 19, 22),
    ("pinned", "suzuki4"): (40, 56, 80, 112, 160),
    ("pinned", "yoshida6"): (80, 96, 112, 136, 160),
    ("pinned", "kahan-li8"): (24, 28, 32, 38, 44),
}
T = 2.0


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("machine", ["chain", "pinned"])
def test_order(request, slopes, machine, method, name):
    order, below, above = CASES[name]
    found, errors = slopes(request.getfixturevalue(machine), method, T / np.array(STEPS[machine, name]), T, compose=name, rescue=False)
    assert errors.min() > 1e-12, errors
    assert (found > order - below).all(), (found, errors)
    assert (found < order + above).all(), (found, errors)


@pytest.mark.parametrize(("name", "steps"), [("suzuki4", (45, 60, 90, 120, 180)), ("kahan-li8", (8, 9, 10, 12, 14))])
@pytest.mark.parametrize("method", METHODS)
def test_order_with_a_loop(method, name, steps):
    """A four-bar through its flat position up to t = 1 s; the physical pendulum theta'' = 6 g/5 sin(theta) is the judge."""
    c = 9.81 * 2.0 / (2 / 3 + 1)
    y = solve_ivp(lambda t, y: [y[1], c * np.sin(y[0])], (0, 1), [0.0, 1.0], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    errors = []
    for n in steps:
        traj = dal.scenes.find("four-bar").simulate(stepper=method, h=1 / n, t_end=1.0, compose=name, rescue=False)
        errors.append(max(abs(traj.q[-1, 0] - y[0]), abs(traj.v[-1, 0] - y[1])))
    order, below, above = CASES[name]
    found = np.polyfit(np.log(1 / np.array(steps)), np.log(errors), 1)[0]
    assert found > order - below, errors
    assert order == 8 or found < order + above, errors  # 8: errors fall to 1e-13 so fast that higher terms still rule


@pytest.mark.parametrize("method", METHODS)
def test_order_with_rolling(method):
    """A disk that rolls for 3 s: place of its centre and spin."""
    samples = json.loads((DATA / "nonholonomic.json").read_text())["rolling_disk"]["samples"]
    s = next(s for s in samples if float(s["t"]) == 3.0)
    errors, steps = [], (60, 80, 120, 160, 240)
    for n in steps:
        traj = dal.scenes.find("rolling-disk").simulate(stepper=method, h=3 / n, t_end=3.0, compose="suzuki4", rescue=False)
        errors.append(np.linalg.norm([*(traj.q[-1, :2] - np.array(s["centre_xy"], dtype=float)), traj.v[-1, 2] - float(s["w"][2])]))
    assert abs(np.polyfit(np.log(1 / np.array(steps)), np.log(errors), 1)[0] - 4) < 0.1, errors


@pytest.mark.parametrize("method", METHODS)
def test_momentum_and_attitude_stay_exact(chain, run, method):
    """1000 steps of 17 substeps: round-off of 17000 steps."""
    traj = run(chain, method, 0.1, 100.0, compose="kahan-li8")
    reach = 1.0 + np.linalg.norm(traj.q[:, :3], axis=1).max()
    assert np.abs(traj.momentum - traj.momentum[0]).max() < 1e-12 * reach
    assert np.abs(np.linalg.norm(traj.q[:, 3:7], axis=1) - 1).max() < 1e-15


@pytest.mark.parametrize("method", METHODS)
def test_energy_error_falls_by_orders(chain, run, method):
    plain, composed = (np.ptp(run(chain, method, 0.1, 20.0, compose=c).energy) for c in (None, "suzuki4"))
    assert composed < 0.02 * plain


def test_symplectic_euler_and_dissipation_are_refused(chain, forced_tree):
    with pytest.raises(UnsupportedError, match="not self-adjoint"):
        dal.simulate(chain[0], "symplectic-euler", h=0.1, t_end=0.1, compose="suzuki4")
    with pytest.raises(UnsupportedError, match="dissipative"):
        dal.simulate(forced_tree[0], "midpoint", h=0.1, t_end=0.1, compose="suzuki4")


def test_a_damped_spring_is_dissipative_too(tree):
    m = tree[0].copy()
    m.add_force(dal.Spring("hinge", "bolt", stiffness=1.0, rest_length=1.0, damping=0.5))
    with pytest.raises(UnsupportedError, match="dissipative"):
        dal.simulate(m, "midpoint", h=0.1, t_end=0.1, q0=tree[1], compose="suzuki4")
