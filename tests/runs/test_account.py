"""The account of trees: change of energy = work, change of momentum = impulse, for every force and control; and forces given as functions.

Judges: the forced discrete Noether theorem (round-off), closed forms of work, SciPy, and broken accounts that must fail.
"""

import copy
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.report.symmetries import ties
from dalembert.runs.trajectory import Trajectory

VARIATIONAL = ("midpoint", "trapezoidal", "symplectic-euler")


def machine(base, **more):
    """Three bodies under wrenches, dampers and springs, on a base of any kind."""
    m = dal.Model(f"on {base}")
    m.add_body("a", 2.0, (0.1, 0.2, 0.15), com=(0.02, 0.01, 0.1), pose=((0, 0, 1), (1, 0, 0, 0)))
    m.add_body("b", 1.0, (0.05, 0.06, 0.07), com=(0, 0.1, 0.1), pose=((0, 0, 1.5), (1, 0, 0, 0)))
    m.add_body("c", 0.5, (0.02, 0.03, 0.025), com=(0, 0, 0.1), pose=((0, 0.3, 1.8), (1, 0, 0, 0)))
    if base != "free":
        m.add_joint("root", base, "world", "a", anchor=(0.1, 0.2, 1), axis=(0, 0, 1), damping=0.2, **more)
    m.add_joint("j1", "revolute", "a", "b", anchor=(0, 0, 1.5), axis=(1, 0, 0), damping=0.1)
    m.add_joint("j2", "spherical", "b", "c", anchor=(0, 0.3, 1.8))
    m.add_force(dal.Wrench("b", force=(0.3, 0.2, 0.1), torque=(0.1, 0, 0.2), point=(0.1, 0.1, 0)))
    m.add_force(dal.Wrench("c", force=(0.3, 0.2, 0.1), torque=(0.1, 0, 0.2), frame="world"))
    m.add_force(dal.Damper("a", angular=0.1, linear=0.2))
    m.add_force(dal.Spring("a", "c", stiffness=5.0, rest_length=0.3, damping=0.1))
    m.add_force(dal.Spring("b", "world", point_b=(1, 1, 1), stiffness=3.0, rest_length=0.3, damping=0.1))
    return m


BASES = {
    "free": {},
    "revolute": {"stiffness": 1.0},
    "spherical": {"stiffness": 1.0},
    "planar": {},
    "cylindrical": {},
    "prismatic": {},
    "universal": {"axis2": (1, 0, 0)},
}


def push(t, q, v):
    return 0.2 * np.sin(np.arange(len(v)) + t)


def run(m, stepper="midpoint", h=0.01, t_end=0.5, control=push, **more):
    v0 = 0.5 * np.random.default_rng(1).normal(size=m.nv)
    return dal.simulate(m, stepper, h=h, t_end=t_end, v0=v0, control=control, **more)


def changed(traj, **arrays):
    other = copy.copy(traj)
    other.__dict__.update(arrays)
    return other


# balances -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("stepper", VARIATIONAL)
def test_momentum_of_a_tree_changes_by_the_impulse_to_round_off(base, stepper):
    """Along every motion that the base allows, under wrenches, drag, springs, damping, stiffness and a control at once."""
    m = machine(base, **BASES[base])
    traj = run(m, stepper)
    twists = np.concatenate([s.twists for s in ties(m)])
    assert len(twists) == {"free": 6, "revolute": 1, "spherical": 3, "planar": 3, "cylindrical": 2, "prismatic": 1, "universal": 1}[base]
    left = (traj.momentum - traj.momentum[0] - traj.impulse) @ twists.T
    scale = np.abs(traj.momentum @ twists.T).max() + np.abs(traj.impulse @ twists.T).max()
    assert np.abs(left).max() < 1e-12 * scale  # 50 steps of round-off and of Newton's tolerance
    assert np.abs(traj.impulse @ twists.T).max() > 0.01


@pytest.mark.parametrize(("stepper", "order"), [("midpoint", 2), ("trapezoidal", 2), ("symplectic-euler", 1), ("mk4", 4), ("cf3", 3)])
def test_energy_of_a_tree_changes_by_the_work_within_the_order(stepper, order):
    """All kinds of force act; a smooth control held over the step has no order of its own in the balance."""
    m = machine("free")
    errors = []
    for h in (0.02, 0.01, 0.005, 0.0025):
        traj = run(m, stepper, h=h)
        errors.append(abs(traj.energy[-1] - traj.energy[0] - traj.work[-1]))
    assert np.log2(errors[0] / errors[-1]) / 3 > order - 0.4


@pytest.mark.parametrize("stepper", ["mk5", "mk8"])
@pytest.mark.parametrize("h", [0.02, 0.1])
def test_the_account_of_an_error_controlled_method_is_as_good_as_its_run(stepper, h):
    """A damped satellite, and three bodies under all kinds of force: the account is entered in each internal step, by its stages. Limits
    follow from the tolerance, 10 rtol per second; the trapezoidal rule over steps of 0.02 s misses by 1e-7 and more."""
    satellite = dal.Model("satellite", gravity=(0, 0, 0))
    satellite.add_body("bus", 90.0, (7, 12, 14))
    satellite.add_force(dal.Damper("bus", angular=0.2))
    for m, control in ((satellite, None), (machine("free"), None), (machine("free"), constants)):
        traj = run(m, stepper, h=h, t_end=1.0, control=control, rtol=1e-11, atol=1e-13)
        assert np.abs(traj.momentum - traj.momentum[0] - traj.impulse).max() < 1e-10
        assert np.abs(traj.energy - traj.energy[0] - traj.work).max() < 1e-10
        assert traj.report().verdict == "pass", traj.report().text


def constants(t, q, v):
    return 0.1 * np.arange(len(v))


def test_work_is_told_apart_by_kinds_of_force():
    """A body pushed by a constant world force along a slider with damping: F x, and -d times the integral of v^2, in closed form."""
    m = dal.Model("slider", gravity=(0, 0, 0))
    m.add_body("b", 2.0, (1, 1, 1))
    m.add_joint("rail", "prismatic", "world", "b", axis=(1, 0, 0), damping=0.5)
    m.add_force(dal.Wrench("b", force=(3.0, 0, 0), frame="world"))
    traj = dal.simulate(m, "mk4", h=0.01, t_end=2.0, control=dal.compiled(constant))
    F, d, a = 4.0, 0.5, 0.25  # both forces; a = d/m
    t = traj.t
    v, x = F / d * (1 - np.exp(-a * t)), F / d * (t - (1 - np.exp(-a * t)) / a)
    spent = F**2 / d * (t - 2 * (1 - np.exp(-a * t)) / a + (1 - np.exp(-2 * a * t)) / (2 * a))
    assert np.abs(traj.v[:, 0] - v).max() < 1e-10
    account = {name: np.concatenate([[0.0], np.cumsum(column)]) for name, column in traj.account.items() if name != "impulse"}
    for name, exact in (("wrench", 3.0 * x), ("control", 1.0 * x), ("damping", -spent), ("limits", 0 * x), ("function", 0 * x)):
        assert np.abs(account[name] - exact).max() < 1e-9, name  # (h a)^4
    assert np.abs(traj.work - sum(account.values())).max() < 1e-12
    assert traj.account["impulse"].shape == (200, 6)
    assert np.abs(traj.impulse[:, 3] - 2.0 * v).max() < 1e-9


def constant(t, q, v, out):
    out[0] = 1.0


@pytest.mark.parametrize("base", ["free", "revolute", "planar"])
@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal"])
def test_the_report_closes_the_balance_of_a_driven_machine(base, stepper):
    report = run(machine(base, **BASES[base]), stepper, h=0.002, t_end=2.0).report()
    assert report["momentum balance"].verdict == report["energy balance"].verdict == "pass", report.text
    assert report.verdict == "pass"


def test_a_broken_account_fails():
    """A force with the wrong sign, and an impulse that is off by a millionth."""
    traj = run(machine("free"), h=0.002, t_end=2.0)
    assert changed(traj, work=-traj.work).report()["energy balance"].verdict == "fail"
    assert changed(traj, impulse=traj.impulse * (1 + 1e-6)).report()["momentum balance"].verdict == "fail"


def test_the_account_sums_over_steps_that_are_not_recorded_and_survives_a_file(tmp_path):
    m = machine("free")
    every, some = run(m), run(m, every=10, save=tmp_path / "run.h5")
    assert (some.work == every.work[::10]).all() and (some.impulse == every.impulse[::10]).all()
    assert some.account["control"].shape == (5,)
    loaded = dal.load(tmp_path / "run.h5")
    assert all((loaded.account[name] == some.account[name]).all() for name in some.account)
    further = dal.resume(tmp_path / "run.h5", 1.0, control=push)
    assert (further.work == run(m, every=10, t_end=1.0).work).all()


def test_a_run_that_needs_no_account_keeps_none():
    """Gravity and springs have a potential: no work, and an impulse that nobody added up."""
    m = dal.Model("two rods")
    m.add_body("a", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "a", axis=(0, 1, 0))
    traj = dal.simulate(m, "midpoint", h=0.01, t_end=0.1, q0=[1.0])
    assert (traj.work == 0.0).all() and np.isnan(traj.impulse).all()
    assert traj.report()["energy"].verdict == "pass"


def test_a_control_that_never_pushes_is_none():
    m = dal.Model("free pair", gravity=(0, 0, 0))
    m.add_body("a", 1.0, (0.1, 0.1, 0.2))
    m.add_body("b", 1.0, (0.1, 0.1, 0.2), pose=((0, 0, 1), (1, 0, 0, 0)))
    m.add_joint("j", "revolute", "a", "b", anchor=(0, 0, 0.5), axis=(1, 0, 0))
    silent = dal.simulate(m, "midpoint", h=0.01, t_end=0.5, v0=np.arange(7.0) / 7, control=lambda t, q, v: np.zeros(7)).report()
    assert silent["momentum"].verdict == silent["energy"].verdict == "pass"
    inner = dal.simulate(m, "midpoint", h=0.01, t_end=0.5, v0=np.arange(7.0) / 7, control=lambda t, q, v: np.array([0.0] * 6 + [0.3]))
    assert np.abs(inner.impulse).max() == 0.0  # a motor inside pushes nothing from outside
    assert inner.report()["momentum balance"].verdict == "pass"


def test_limits_that_are_not_reached_do_not_hide_the_energy():
    m = dal.Model("limited")
    m.add_body("a", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "a", axis=(0, 1, 0), limits=(-2.0, 2.0))
    free = dal.simulate(m, "midpoint", h=0.005, t_end=2.0, q0=[1.0])
    assert free.report()["energy"].verdict == "pass"
    bounced = dal.simulate(m, "midpoint", h=0.001, t_end=2.0, q0=[1.9], v0=[4.0])
    assert bounced.account["limits"].any()
    assert "energy balance" in {i.name for i in bounced.report().items}
    assert abs(bounced.energy[-1] - bounced.energy[0] - bounced.work[-1]) < 1e-2 * bounced.kinetic.max()  # (h sqrt(k/J))^2


# functions ----------------------------------------------------------------------------------------------------------------------------


def rods(*forces, stiffness=0.0):
    m = dal.Model("two rods")
    m.add_body("a", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_body("b", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -1), (1, 0, 0, 0)))
    m.add_joint("j1", "revolute", "world", "a", axis=(0, 1, 0))
    m.add_joint("j2", "revolute", "a", "b", anchor=(0, 0, -1), axis=(0, 1, 0), stiffness=stiffness)
    for f in forces:
        m.add_force(f)
    return m


def spring(t, q, v):
    """Hardens, and is shaken."""
    return np.array([0.0, -5.0 * q[1] ** 3 + np.sin(3.0 * t)])


def spring_machine_code(t, q, v, out):
    out[0] = 0.0
    out[1] = -5.0 * q[1] ** 3 + np.sin(3.0 * t)


START = {"q0": [1.0, 0.5], "v0": [0.0, 0.0]}


@pytest.fixture(scope="module")
def reference():
    m = rods()

    def rate(t, y):
        return np.concatenate([y[2:], m.forward_dynamics(y[:2], y[2:], spring(t, y[:2], y[2:]))])

    return solve_ivp(rate, (0, 1), [1.0, 0.5, 0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


@pytest.mark.parametrize(
    ("stepper", "compose", "order"),
    [("midpoint", None, 2), ("trapezoidal", None, 2), ("midpoint", "suzuki4", 4), ("mk4", None, 4), ("cf3", None, 3)],
)
def test_a_function_of_time_and_position_keeps_the_order_of_the_method(reference, stepper, compose, order):
    """Against SciPy's DOP853."""
    m = rods(dal.compiled(spring_machine_code))
    errors = []
    for h in (0.04, 0.02, 0.01, 0.005):
        traj = dal.simulate(m, stepper, h=h, t_end=1.0, compose=compose, **START)
        errors.append(np.abs(np.concatenate([traj.q[-1], traj.v[-1]]) - reference).max())
    assert abs(np.log2(errors[0] / errors[-1]) / 3 - order) < 0.2
    assert traj.report().verdict == "pass", traj.report().text


def test_an_adaptive_method_calls_a_function_at_its_own_times(reference):
    traj = dal.simulate(rods(spring), "mk8", h=0.1, t_end=1.0, rtol=1e-12, atol=1e-12, **START)
    assert np.abs(np.concatenate([traj.q[-1], traj.v[-1]]) - reference).max() < 1e-9


def test_a_function_of_python_is_the_compiled_one():
    one = dal.simulate(rods(spring), "midpoint", h=0.01, t_end=0.5, **START)
    two = dal.simulate(rods(dal.compiled(spring_machine_code)), "midpoint", h=0.01, t_end=0.5, **START)
    assert np.abs(one.q - two.q).max() < 1e-12


def test_functions_add_up():
    half = dal.compiled(half_a_spring)
    one = dal.simulate(rods(half, half), "mk4", h=0.01, t_end=0.5, **START)
    two = dal.simulate(rods(half, lambda t, q, v: np.array([0.0, -q[1]])), "mk4", h=0.01, t_end=0.5, **START)
    assert np.abs(one.q - two.q).max() < 1e-13
    control = dal.simulate(rods(half), "mk4", h=0.01, t_end=0.5, control=lambda t, q, v: np.array([0.0, 0.1]), **START)
    assert control.account["control"].any() and control.account["function"].any()


def half_a_spring(t, q, v, out):
    out[0] = 0.0
    out[1] = -q[1]


@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "mk4"])
def test_a_function_equals_the_stiffness_of_a_joint(stepper):
    """The same spring as data and as a function: the same run, to Newton's tolerance."""
    data = dal.simulate(rods(stiffness=8.0), stepper, h=0.01, t_end=1.0, **START)
    function = dal.simulate(rods(lambda t, q, v: np.array([0.0, -8.0 * q[1]])), stepper, h=0.01, t_end=1.0, **START)
    assert np.abs(data.q - function.q).max() < 1e-10
    assert np.abs(function.potential + function.kinetic - function.work - function.energy[0]).max() < 0.05 * function.kinetic.max()


def test_an_exception_in_a_function_ends_the_run_with_what_was_computed():
    def brittle(t, q, v):
        if t > 0.1:
            raise ValueError("snap")
        return np.zeros(2)

    with pytest.raises(dal.SimulationError, match="ValueError: snap") as caught:
        dal.simulate(rods(brittle), "midpoint", h=0.01, t_end=1.0, **START)
    assert len(caught.value.traj) == 11
    with pytest.raises(dal.SimulationError, match=r"brittle|shape \(3,\)"):
        dal.simulate(rods(lambda t, q, v: np.zeros(3)), "mk4", h=0.01, t_end=1.0, **START)


def test_a_stepper_that_holds_a_function_says_so():
    """Steppers of one rigid body kick with the force of the node before: order 1, warned of, and not chosen unless it is named."""
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("b", 1.5, (1, 2, 2.5))
    m.add_force(lambda t, q, v: np.array([0, 0, 0, -q[0], 0, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "function" in dal.simulate(m, h=0.01, t_end=0.1).stepper.handles
    with pytest.warns(UserWarning, match=r"'cayley' holds force .* of model 'body' over each step: the run is of order 1, not 2"):
        traj = dal.simulate(m, "cayley", h=0.01, t_end=0.1)
    item = traj.report()["functions"]
    assert item.verdict == "warn" and "order 1" in item.text
    with pytest.raises(dal.UnsupportedError, match="order stays 1"):
        dal.simulate(m, "cayley", h=0.01, t_end=0.1, compose="suzuki4")


@pytest.mark.parametrize("stepper", ["euler", "stabilized-euler", "moser-veselov-explicit", "spook", "symplectic-euler"])
def test_a_stepper_of_order_one_that_holds_a_function_loses_nothing(stepper):
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("b", 1.5, (1, 2, 2.5))
    m.add_force(lambda t, q, v: np.array([0, 0, 0, -q[0], 0, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traj = dal.simulate(m, stepper, h=0.01, t_end=0.1, v0=(0.1, 0.2, 0.3, 0, 0, 0))
    assert "not 1" not in traj.report().text


def test_a_composition_refuses_a_function_that_takes_energy():
    with pytest.raises(dal.UnsupportedError, match=r"suzuki4.*takes energy at v"):
        dal.simulate(rods(lambda t, q, v: -0.1 * v), "midpoint", h=0.01, t_end=0.1, compose="suzuki4", **START)


def test_interactive_runs_call_functions_too():
    sim = dal.Simulation(rods(spring), "mk4", h=0.01, **START)
    sim.step(50)
    traj = dal.simulate(rods(spring), "mk4", h=0.01, t_end=0.5, **START)
    assert np.abs(sim.state.q - traj.q[-1]).max() < 1e-14


def test_a_loaded_run_with_functions_is_judged_by_its_account(tmp_path):
    """A file cannot hold the function, but it holds what that did."""
    traj = dal.simulate(rods(spring), "midpoint", h=0.005, t_end=2.0, save=tmp_path / "run.h5", **START)
    loaded = dal.load(tmp_path / "run.h5")
    assert isinstance(loaded, Trajectory)
    assert loaded.report()["energy balance"].verdict == traj.report()["energy balance"].verdict == "pass"
    assert loaded.report()["momentum balance"].verdict == "pass"
