"""Derivatives of steps of Lagrangians: every stepper that is a program of formulas."""

import casadi as ca
import numpy as np
import pytest

import dalembert as dal
from dalembert.registry import load_all, steppers

load_all()
STEPPERS = sorted({s.name for s in steppers(system="lagrangian") if s.program is not None and s.engine_name == "compiled"})
PLAIN = [
    s for s in STEPPERS if s not in ("verlet", "baumgarte", "ggl", "projection", "penalty-implicit", "penalty-midpoint", "rattle", "shake")
]


def arm(**params):
    """Two coordinates, a mass matrix that varies, damping, a force of time."""

    def L(q, v, p):
        return 0.5 * (p["m"] * v[0] ** 2 + (1 + 0.3 * ca.cos(q[0] - q[1])) * v[1] ** 2) - p["g"] * (ca.cos(q[0]) + 2 * ca.cos(q[1]))

    values = {"m": 1.3, "g": 9.8, **params}
    return dal.Lagrangian(
        2, L, rayleigh=lambda q, v, p: 0.05 * ca.dot(v, v), force=lambda q, v, t, p: ca.vertcat(ca.sin(9 * t), 0), params=values
    )


def pendulum():
    return dal.Lagrangian(2, lambda q, v: 0.5 * ca.dot(v, v) - 9.81 * q[1], holonomic=lambda q: ca.dot(q, q) - 1)


@pytest.mark.parametrize("stepper", PLAIN)
def test_each_stepper_by_differences_of_itself(stepper, simulated):
    s = arm()
    q, v, tau = np.random.default_rng(1).standard_normal((3, 2))
    try:
        found = dal.derivatives(s, q, v, tau, 0.02, stepper, params=("m", "g"))
    except dal.UnsupportedError:
        assert stepper in ("spook",)  # of constraints alone
        return
    judge = simulated(s, q, v, tau, 0.02, stepper)
    assert np.abs(np.hstack([found.A, found.B]) - judge).max() < 1e-9  # differences over 1e-3 of numbers known to 1e-15
    at = [dal.derivatives(arm(m=1.3 + d), q, v, tau, 0.02, stepper) for d in (1e-4, -1e-4, 2e-4, -2e-4)]
    ends = [np.concatenate([x.q_next, x.v_next]) for x in at]
    assert np.abs(found.C[:, 0] - (8 * (ends[0] - ends[1]) - ends[2] + ends[3]) / 12e-4).max() < 1e-8


@pytest.mark.parametrize("stepper", ["rattle", "shake", "ggl", "projection", "baumgarte", "spook"])
def test_constraints(stepper, simulated):
    s, q, v, tau = pendulum(), np.array([0.6, -0.8]), np.array([0.8, 0.6]), np.array([0.1, 0.2])
    found = dal.derivatives(s, q, v, tau, 0.01, stepper)
    assert found.tangent.shape == (4, 2)
    columns = np.zeros((6, 4))
    columns[:4, :2], columns[4:, 2:] = found.tangent, np.eye(2)
    judge = simulated(s, q, v, tau, 0.01, stepper, columns, size=1e-4)
    assert np.abs(np.hstack([found.A, found.B]) @ columns - judge).max() < 1e-8


def test_verlet_on_an_oscillator_by_its_closed_form():
    h, k = 0.1, 4.0
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * k * q[0] ** 2)
    found = dal.derivatives(s, [0.3], [0.7], None, h, "verlet")
    a = 1 - 0.5 * h * h * k
    assert np.allclose(found.A, [[a, h], [-h * k * (1 - 0.25 * h * h * k), a]], rtol=1e-13)
    assert np.allclose(found.B, [[0.5 * h * h], [0.5 * h * (1 + a)]], rtol=1e-13)


def test_midpoint_is_that_of_the_machine():
    """A pendulum as a tree and as a formula."""
    m = dal.Model("pendulum")
    m.add_body("bob", 0.7, (0.02, 0.02, 0.02), com=(0, 0, -0.8))
    m.add_joint("pin", "revolute", "world", "bob", axis=(0, 1, 0))
    I = 0.02 + 0.7 * 0.8**2
    s = dal.Lagrangian(1, lambda q, v: 0.5 * I * v[0] ** 2 + 0.7 * 9.81 * 0.8 * ca.cos(q[0]))
    for stepper in ("midpoint", "trapezoidal", "symplectic-euler"):
        tree, formula = (dal.derivatives(x, [0.5], [1.0], [0.3], 0.02, stepper) for x in (m, s))
        assert np.allclose(tree.A, formula.A, rtol=1e-11) and np.allclose(tree.B, formula.B, rtol=1e-11)


def test_time_of_the_step():
    s, q, v = arm(), [0.1, 0.2], [0.3, -0.1]
    first, later = dal.derivatives(s, q, v, None, 0.02, t=0.0), dal.derivatives(s, q, v, None, 0.02, t=0.1)
    run = dal.simulate(s, "midpoint", h=0.02, t_end=0.02, q0=q, v0=v)
    assert np.allclose(first.q_next, run.q[-1], atol=1e-14)
    assert abs(later.v_next[0] - first.v_next[0]) > 1e-3  # sin(9 t) pushes


def test_names_of_parameters():
    with pytest.raises(dal.UnknownNameError, match="unknown parameter 'mass'"):
        dal.derivatives(arm(), params="mass")
    assert dal.derivatives(arm(), params=("g",)).parameters == ("g",)


@pytest.mark.parametrize("stepper", ["midpoint", "galerkin4", "galerkin6"])
@pytest.mark.parametrize("at", [0.3, 1.0, 2.9, 1000.0])
@pytest.mark.parametrize("h", [0.1, 0.03, 0.01, 1e-4])
def test_what_rests_has_derivatives(stepper, at, h):
    """A pendulum that is held and a weight that is held: v is what round-off of the force leaves, 1e-16 m/s, and no other solution."""
    held = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + 9.81 * ca.cos(q[0]))
    weight = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 9.81 * q[0])
    spring = dal.Lagrangian(2, lambda q, v: 0.5 * ca.dot(v, v) - 5e5 * (q[0] - q[1] - 0.1) ** 2)
    for s, q, tau in ((held, [at], [9.81 * np.sin(at)]), (weight, [at], [9.81]), (spring, [at, at - 0.1], None)):
        found = dal.derivatives(s, q, None, tau, h, stepper)
        assert np.allclose(found.q_next, q, rtol=1e-12)


def test_another_solution_of_the_equations_is_refused():
    """Steps of a third of a period of a pendulum that turns over: Newton's method from another guess ends elsewhere."""
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + 9.81 * ca.cos(q[0]))
    with pytest.raises(dal.SimulationError, match="several solutions"):
        dal.derivatives(s, [-0.75], [5.0], None, 1.0)
