"""A user's own method: plain Python, kernel, and the judgement of `check_stepper`."""

import numpy as np
import pytest

import dalembert as dal
from dalembert import registry


@pytest.fixture(autouse=True)
def clean_registry():
    registry.load_all()
    before = dict(registry._steppers)
    yield
    registry._steppers.clear()
    registry._steppers.update(before)


def heun(m, t, q, v, h):
    """Heun's method for one free body without forces."""
    J = m.bodies[0].inertia

    def acceleration(v):
        w, u = v[:3], v[3:]
        return np.concatenate([np.linalg.solve(J, np.cross(J @ w, w)), np.cross(u, w)])

    k1 = acceleration(v)
    k2 = acceleration(v + h * k1)
    return m.integrate(q, h * v + h * h / 2 * k1), v + h / 2 * (k1 + k2)


def test_plain_python_step_runs_and_is_judged():
    dal.stepper("heun", order=2, handles=("free",), conserves=("attitude: exactly",))(heun)
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("b", 1.0, (1, 2, 2.5))
    traj = dal.simulate(m, "heun", h=0.01, t_end=1.0, v0=(0.3, 1, 0.4, 0.1, 0.2, 0.3))
    exact = dal.simulate(m, "cayley", h=0.01, t_end=1.0, v0=(0.3, 1, 0.4, 0.1, 0.2, 0.3), compose="kahan-li6")
    assert np.abs(m.difference(traj.q[-1], exact.q[-1])).max() < 1e-4  # order 2 at h = 0.01
    assert traj.v[-1] == pytest.approx(exact.v[-1], abs=1e-4)


def test_check_stepper_accepts_an_honest_python_method():
    @dal.stepper("exact-translation", order=1, handles=("free",), conserves=("attitude: exactly",))
    def euler(m, t, q, v, h):
        """Explicit Euler in Python, for a free body or a body on a fixed point."""
        body = m.bodies[0]
        arm = body.com if m.nq == 4 else np.zeros(3)
        J = body.inertia + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        w = v[:3]
        R = m.poses(q)[0, :3, :3]
        torque = np.cross(arm, R.T @ (body.mass * m.gravity))
        a = np.linalg.solve(J, np.cross(J @ w, w) + torque)
        if m.nv == 6:
            a = np.concatenate([a, R.T @ m.gravity - np.cross(w, v[3:])])
        return m.integrate(q, h * v), v + h * a

    result = dal.check_stepper("exact-translation")
    assert result.passed, result.text


def test_check_stepper_catches_a_false_promise():
    @dal.stepper("liar", order=2, self_adjoint=True, conserves=("momentum: exactly", "attitude: exactly"), handles=("free",))
    def step(m, t, q, v, h):
        """Claims order 2, reversibility and momentum; has none of them."""
        J = m.bodies[0].inertia
        arm = np.zeros(3) if m.nv == 6 else m.bodies[0].com
        J = J + m.bodies[0].mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        w = v[:3]
        a = np.zeros_like(v)
        a[:3] = np.linalg.solve(J, np.cross(J @ w, w))
        return m.integrate(q, h * v), v + h * a

    result = dal.check_stepper("liar")
    failed = {o.name for o in result.outcomes if not o.passed}
    assert {"order", "momentum", "time reversal"} <= failed
    assert "contract broken" in result.text


def test_kernel_step_is_compiled_into_the_loop():
    from dalembert.steppers.rigid_body import cayley

    step = cayley.step

    def copy_of_cayley(t, h, system, state, work, info):
        return step(t, h, system, state, work, info)

    dal.stepper("mine", order=2, kernel=True, handles=("free",), options=(registry.TOL, registry.MAX_ITERATIONS))(copy_of_cayley)
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("b", 1.0, (1, 2, 2.5))
    kwargs = {"h": 0.01, "t_end": 1.0, "v0": (0.3, 1, 0.4, 0, 0, 0)}
    assert (dal.simulate(m, "mine", **kwargs).q == dal.simulate(m, "cayley", **kwargs).q).all()


@pytest.mark.parametrize(("kwargs", "match"), [({"name": ""}, "name"), ({"order": 0}, "order"), ({"consrves": ()}, "consrves")])
def test_bad_descriptions(kwargs, match):
    with pytest.raises(dal.OptionError, match=match):
        dal.stepper(**{"name": "x", "order": 1, **kwargs})


def test_a_python_step_that_returns_nan_stops_the_run():
    @dal.stepper("nan", order=1)
    def step(m, t, q, v, h):
        """Breaks at t = 0.05."""
        return q, v if t < 0.05 else np.full_like(v, np.nan)

    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("b", 1.0, (1, 2, 2.5))
    with pytest.raises(dal.SimulationError, match="not a number") as caught:
        dal.simulate(m, "nan", h=0.01, t_end=1.0)
    assert np.isfinite(caught.value.traj.q).all()
    assert len(caught.value.traj) == 6
