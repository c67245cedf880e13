"""`sim.switch`: another stepper, or other options, between two steps, at the same time."""

import pickle

import numpy as np
import pytest

import dalembert as dal

OMEGA = 3.0


def rod(**joint):
    m = dal.Model("rod")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), pose=((0, 0, -0.5), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "world", "rod", anchor=(0, 0, 0), axis=(0, 1, 0), **joint)
    return m


def driven():
    """A crank that follows a function of time, and a rod that hangs from it."""
    m = rod(drive=lambda t: np.sin(OMEGA * t))
    m.add_body("lower", 0.5, (0.02, 0.02, 0.002), pose=((0, 0, -1.25), (1, 0, 0, 0)))
    m.add_joint("knee", "revolute", "rod", "lower", anchor=(0, 0, -1), axis=(0, 1, 0))
    return m


def pushed(t, q, v):
    """A force that depends on time."""
    return np.array([2.0 * np.sin(OMEGA * t)])


def test_there_and_back_is_the_run_that_never_left():
    """Of second order in h: the nodes differ from those of one method by what the methods differ."""
    h, n = 1e-3, 300
    sim = dal.Simulation(rod(), "midpoint", h=h, q0=[0.5], control=pushed)
    for name in ("mk4", "midpoint", "trapezoidal"):
        sim.step(n)
        before = sim.state
        sim.switch(name)
        assert sim.state.t == pytest.approx(before.t, abs=1e-14) and sim.stepper.name == name
        assert np.allclose(sim.state.q, before.q, rtol=0, atol=1e-14) and np.allclose(sim.state.v, before.v, rtol=0, atol=1e-12)
    sim.step(n)
    alone = dal.simulate(rod(), "midpoint", h=h, t_end=4 * n * h, q0=[0.5], control=pushed, progress=False)
    assert sim.state.q == pytest.approx(alone.q[-1], abs=1e-5)
    assert sim.state.v == pytest.approx(alone.v[-1], abs=1e-4)


def test_segments_have_their_steppers_and_times():
    sim = dal.Simulation(rod(), "midpoint", h=0.01, q0=[0.5])
    sim.step(10)
    sim.switch("mk4")
    sim.step(5)
    assert [(s.stepper.name, len(s)) for s in sim.segments] == [("midpoint", 11), ("mk4", 6)]
    assert [tuple(np.round(s.t[[0, -1]], 12)) for s in sim.segments] == [(0.0, 0.1), (0.1, 0.15)]
    assert sim.reset().t == 0.0 and sim.state.q == [0.5] and sim.stepper.name == "mk4"


def test_other_options_of_the_same_stepper():
    sim = dal.Simulation(rod(), "midpoint", h=0.01, q0=[0.5], ignore=("limits",), tol=1e-6)
    sim.step(10)
    sim.switch(max_iterations=7)
    assert sim.options["max_iterations"] == 7 and sim.options["tol"] == 1e-6
    assert sim.step().t == pytest.approx(0.11)
    sim.switch("midpoint")
    assert sim.options["max_iterations"] != 7, "a stepper that is named has its own"


def test_a_pickle_goes_on_with_the_stepper_that_runs():
    sim = dal.Simulation(rod(), "midpoint", h=0.01, q0=[0.5])
    sim.step(10)
    sim.switch("mk4", compose=None)
    sim.step(3)
    again = pickle.loads(pickle.dumps(sim))
    assert again.stepper.name == "mk4"
    assert again.step().t == sim.step().t and np.array_equal(again.state.q, sim.state.q)


def test_what_was_applied_acts_after_the_switch():
    """An impulse of 0.1 N m s over one step, on the inertia 0.1 + 1 * 0.5^2 about the hinge; gravity does nothing where the rod hangs."""
    sim = dal.Simulation(rod(), "midpoint", h=0.01, keep=0)
    sim.apply_force(tau=[10.0])
    sim.switch("trapezoidal")
    assert sim.step().v == pytest.approx([0.1 / 0.35], rel=1e-2)


@pytest.mark.parametrize("there", ["spook", "midpoint"])
def test_a_drive_sees_the_true_time(there):
    other = "midpoint" if there == "spook" else "spook"
    sim = dal.Simulation(driven(), other, h=1e-3)
    sim.step(400)
    sim.switch(there)
    assert sim.state.t == pytest.approx(0.4)
    sim.step(300)
    exact = 1e-12 if there == "midpoint" else 1e-4  # springs of rows give way
    assert sim.state.q[0] == pytest.approx(np.sin(OMEGA * 0.7), abs=exact)


def test_a_loop_that_springs_held_is_closed():
    m = dal.Model("four bars")
    rod_of = (0.01, 0.01, 0.001)
    m.add_body("left", 1.0, rod_of, pose=((0, 0, 0.25), (1, 0, 0, 0)))
    m.add_body("right", 1.0, rod_of, pose=((1, 0, 0.25), (1, 0, 0, 0)))
    m.add_body("top", 1.0, rod_of, pose=((0.5, 0, 0.5), (1, 0, 0, 0)))
    m.add_joint("a", "revolute", "world", "left", anchor=(0, 0, 0), axis=(0, 1, 0))
    m.add_joint("b", "revolute", "world", "right", anchor=(1, 0, 0), axis=(0, 1, 0))
    m.add_joint("c", "revolute", "left", "top", anchor=(0, 0, 0.5), axis=(0, 1, 0))
    m.add_loop("d", "revolute", "right", "top", anchor=(1, 0, 0.5), axis=(0, 1, 0))
    q0, v0 = m.assemble([0.1, 0.1, -0.1])
    sim = dal.Simulation(m, "spook", h=1e-3, q0=q0, v0=v0, eps=1e-6)
    sim.step(300)
    before = sim.state
    sim.switch("midpoint")
    assert sim.state.t == before.t and np.allclose(sim.state.q, before.q, atol=1e-2)
    sim.step(100)
    assert sim.gauges().violation < 1e-9 and sim.state.t == pytest.approx(0.4)


def test_a_formula_switches_too():
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2)
    sim = dal.Simulation(s, "midpoint", h=0.01, q0=[1.0])
    sim.step(100)
    for name in ("dop853", "energy-time"):
        sim.switch(name)
        assert sim.stepper.name == name and sim.state.t == pytest.approx(1.0 if name == "dop853" else 2.0, abs=1e-9)
        sim.step(100)
    assert sim.state.q == pytest.approx([np.cos(sim.state.t)], abs=1e-3)


@pytest.mark.parametrize(
    ("name", "options", "words"), [("midpoin", {}, "midpoint"), (None, {"nonsense": 1}, "nonsense"), ("cayley", {}, "cayley")]
)
def test_a_refusal_leaves_all_as_it_was(name, options, words):
    sim = dal.Simulation(rod(), "midpoint", h=0.01, q0=[0.5])
    sim.step(10)
    before = sim.state
    with pytest.raises(dal.DalembertError, match=words):
        sim.switch(name, **options)
    assert sim.state is before and sim.stepper.name == "midpoint" and len(sim.segments) == 1
    assert sim.step().t == pytest.approx(0.11)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"h": 0.005}, r"sim\.h = 0\.005"),
        ({"call": "me"}, "unknown option of stepper '.*' 'call'"),
        ({"control": None}, r"sim\.edit\(control"),
        ({"keep": 3}, "keep is 3"),
        ({"system": 1}, "unknown option of stepper '.*' 'system'"),
        ({"cls": 1}, "unknown option of stepper '.*' 'cls'"),
    ],
)
def test_what_is_no_option_is_refused_with_the_way_that_there_is(options, words):
    sim = dal.Simulation(rod(), "midpoint", h=0.01, q0=[0.5])
    for given in ((), ("mk4",)):
        with pytest.raises((dal.OptionError, dal.UnknownNameError), match=words):
            sim.switch(*given, **options)
    assert sim.stepper.name == "midpoint" and sim.step(1).t == 0.01
