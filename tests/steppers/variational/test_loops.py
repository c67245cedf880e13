"""Closed loops: constraints on both levels, reference data of 30 digits, redundant rows, singular positions, momentum."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.scenes import loops

DATA = Path(__file__).parents[2] / "data"
SECOND = ("midpoint", "trapezoidal")
METHODS = (*SECOND, "symplectic-euler")
LEVEL = (1.0, 0.0, 0.0, 0.0)
HALVINGS = 2.0 ** -np.arange(4)


def reference(name):
    return json.loads((DATA / f"{name}.json").read_text())["samples"]


def start(name, model=None):
    s = dal.scenes.find(name)
    m = (s.model() if model is None else model).frozen()
    return m, m.check_q(s.q0), m.check_v(s.v0)


def four_bars(n, closing="slot"):
    m = loops.n_four_bar(n, closing).frozen()
    return m, m.neutral(), m.check_v(loops.turning(n))


def rigid_governor():
    m = loops.flyball_governor(rigid=True).frozen()
    q, v = m.assemble({"slide": 0.5, "right hinge": np.pi / 6, "left hinge": np.pi / 6}, m.check_v({"spin": 2 * np.pi}))
    return m, q, v


def floating_four_bar():
    """A four-bar whose ground is a free body, without gravity."""
    m = dal.Model("floating four-bar", gravity=(0, 0, 0))
    m.add_body("ground", 2.0, (0.3, 0.4, 0.2), com=(0.4, 0.1, 0))
    m.add_joint("root", "free", "world", "ground")
    for k in range(2):
        m.add_body(f"upright{k}", 1.0, (0.08, 0.08, 0.01), pose=((k, 0, 0.5), LEVEL))
        m.add_joint(f"foot{k}", "revolute", "ground", f"upright{k}", (k, 0, 0), (0, 1, 0))
    m.add_body("bar", 1.0, (0.01, 0.08, 0.08), pose=((0.5, 0, 1), LEVEL))
    m.add_joint("left", "revolute", "upright0", "bar", (0, 0, 1), (0, 1, 0))
    m.add_loop("right", "slot", "upright1", "bar", (1, 0, 1), (0, 1, 0))
    v = m.check_v({"root": (0.3, -0.5, 0.4, 0.1, 0.2, -0.1), "foot0": 1.0, "foot1": 1.0, "left": -1.0})
    return m.frozen(), m.neutral(), v


# on the constraints -------------------------------------------------------------------------------------------------------------------

MACHINES = {
    "four-bar": (lambda: four_bars(1), 0.005, 5.0),
    "four-bar, redundant": (lambda: four_bars(1, "revolute"), 0.005, 5.0),
    "ten four-bars": (lambda: four_bars(10), 0.005, 5.0),
    "bricard": (lambda: start("bricard"), 0.005, 10.0),
    "andrews": (lambda: start("andrews"), 2e-5, 0.03),
    "rigid governor": (rigid_governor, 0.001, 2.0),
    "floating four-bar": (floating_four_bar, 0.01, 10.0),
}


@pytest.fixture(scope="module", params=MACHINES)
def case(request):
    make, h, t_end = MACHINES[request.param]
    return make(), h, t_end


@pytest.mark.parametrize("method", METHODS)
def test_loops_stay_closed_on_both_levels(case, run, closure, method):
    """1e-12 m and rad; velocities to 1e-12 of the largest rate."""
    machine, h, t_end = case
    traj = run(machine, method, h, t_end)
    gap, rate = closure(traj)
    assert gap < 1e-12
    assert rate < 1e-12 * max(10.0, np.abs(traj.v).max())
    assert not traj.solver["substeps"].any()


@pytest.mark.parametrize("method", SECOND)
def test_time_reversal(case, there_and_back, method):
    """100 steps and back: round-off, times the growth of neighbouring motions, which is below 1e3 here."""
    machine, h, _ = case
    q, v = there_and_back(machine, method, h, 100)
    assert q < 1e-11
    assert v < 1e-11 * max(1.0, 1 / h / 10)


# order --------------------------------------------------------------------------------------------------------------------------------


def pendulum(n, t):
    """Angle and rate of n four-bars: theta'' = g (3 n + 1)/2 sin(theta) / ((n + 1)/3 + n) from upright with 1 rad/s."""
    c = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    return solve_ivp(lambda t, y: [y[1], c * np.sin(y[0])], (0, t), [0.0, 1.0], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 10])
def test_four_bars_against_their_reference(end, method, n):
    """One turn through both flat positions: place and speed of the left end of the first bar at t = 1.8."""
    sample = next(s for s in reference(f"four_bar_N{n}") if float(s["t"]) == 1.8)
    x, y, rate = (float(sample[k]) for k in ("x", "y", "theta_dot"))
    errors, machine = [], four_bars(n)
    order = 1 if method == "symplectic-euler" else 2
    hs = (0.01 if order == 2 else 0.002) * HALVINGS
    for h in hs:
        q, v = end(machine, method, h, 1.8)
        errors.append(np.abs([np.sin(q[0]) - x, np.cos(q[0]) - y, v[0] - rate]).max())
    assert abs(np.polyfit(np.log(hs), np.log(errors), 1)[0] - order) < 0.1, errors


@pytest.mark.parametrize("method", SECOND)
def test_forty_four_bars_pass_their_flat_position(run, closure, method):
    """81 rods, 40 loops, all rods in one line at t = 0.65: order 2 over one halving, and no rod leaves the others.

    Near the line the rows are dependent: round-off of 1e-15 moves rods against each other by its ratio to the distance from there, 1e-7.
    """
    angle, rate = pendulum(40, 1.0)
    errors = []
    for h in (0.02, 0.01):
        traj = run(four_bars(40), method, h, 1.0)
        assert np.ptp(traj.q[-1, :41]) < 1e-8
        assert closure(traj)[0] < 1e-12
        assert not traj.solver["substeps"].any()
        errors.append(max(abs(traj.q[-1, 0] - angle), abs(traj.v[-1, 0] - rate)))
    assert abs(np.log2(errors[0] / errors[1]) - 2) < 0.1


@pytest.mark.parametrize("method", METHODS)
def test_redundant_rows_change_nothing(run, method):
    """A hinge closes the loop with three rows too many: the motion is that of the slot."""
    slot, hinge = (run(four_bars(1, closing), method, 0.005, 2.0) for closing in ("slot", "revolute"))
    np.testing.assert_allclose(hinge.q, slot.q, atol=1e-10)
    np.testing.assert_allclose(hinge.v, slot.v, atol=1e-9)


@pytest.mark.parametrize("method", SECOND)
def test_andrews_against_its_reference(slopes, method):
    sample = next(s for s in reference("andrews") if float(s["t"]) == 0.01)
    expected = tuple(np.array(sample[k], dtype=float) for k in ("q", "v"))
    found, errors = slopes(start("andrews"), method, 5e-5 * HALVINGS, 0.01, reference=expected)
    assert np.abs(found - 2).max() < 0.1, errors


@pytest.mark.parametrize("method", SECOND)
@pytest.mark.parametrize("name", ["bricard", "rigid governor"])
def test_order_two_against_index_one(slopes, descriptor, method, name):
    machine = MACHINES[name][0]()
    found, errors = slopes(machine, method, 0.01 * HALVINGS, 0.5, reference=descriptor(machine, 0.5))
    assert np.abs(found - 2).max() < 0.1, errors


@pytest.mark.parametrize("method", SECOND)
def test_stiff_governor_against_its_reference(end, method):
    """Springs of 8e5 N/m with dampers of 4e4 N s/m (rates of 1e4/s) at h = 1 ms: the smooth motion to second order, up to t = 0.5 s."""
    sample = next(s for s in reference("flyball_governor") if float(s["t"]) == 0.5)
    machine, errors = start("flyball-governor"), []
    hs = 0.002 * HALVINGS
    for h in hs:
        q, _ = end(machine, method, h, 0.5, rescue=False)
        found = dict(zip(("spin", "slide", "right hinge", "left hinge"), q, strict=True))
        errors.append(max(abs(found[a] - float(sample[b])) for a, b in (("spin", "phi"), ("slide", "s"), ("right hinge", "alpha"))))
    assert errors[1] < 1e-4
    assert abs(np.polyfit(np.log(hs), np.log(errors), 1)[0] - 2) < 0.2, errors


# what is kept -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("retraction", ["cay", "exp"])
def test_floating_loop_keeps_its_momentum(run, method, retraction):
    """1000 steps, numbers up to |x||p| = 30."""
    traj = run(floating_four_bar(), method, 0.01, 10.0, retraction=retraction)
    assert np.abs(traj.momentum - traj.momentum[0]).max() < 1e-12


@pytest.mark.parametrize("method", SECOND)
@pytest.mark.parametrize("name", ["four-bar", "floating four-bar", "rigid governor"])
def test_energy_does_not_drift(run, drift, method, name):
    """20000 steps; the band is of second order, and a chaotic motion (the floating one) wanders in it."""
    make, h, _ = MACHINES[name]
    machine = make()
    traj = run(machine, method, h, 20000 * h, every=10)
    assert drift(traj.energy) < 0.2
    assert np.ptp(traj.energy) < 1e-3 * traj.kinetic.max()
