"""mk5 and mk8: internal steps by error control."""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import OptionError, SimulationError
from dalembert.kernels.status import NOT_CONVERGED
from dalembert.registry import find
from dalembert.runs.plan import Plan
from dalembert.verification import free_body

CASES = json.loads((Path(__file__).parents[2] / "data" / "double_pendulum.json").read_text())["cases"]
ADAPTIVE = ["mk5", "mk8"]
J, OMEGA = (1.0, 2.0, 2.5), (0.3, 1.0, 0.4)
GROWTH = {"both": 1000.0, "Potra": 150.0, "regular": 20.0}  # of an error per step of the double pendulum in 10 s
TOLERANCES = 10.0 ** -np.arange(4, 13)


def body():
    m = dal.Model("free body", gravity=(0, 0, 0))
    m.add_body("body", 1.5, J)
    return m


def pendulum(case):
    """Two points on massless rods: q_1 is the angle of the first from the vertical, q_2 that of the second from the first.

    Inertias of 1e-20 are lost when they are added to m l^2 = 1.
    """
    m = dal.Model("double pendulum", gravity=(0, 0, -float(case["g"])))
    for k in (1, 2):
        m.add_body(f"bob{k}", 1.0, (1e-20, 1e-20, 1e-20), pose=((0, 0, -k), (1, 0, 0, 0)))
    m.add_joint("first", "revolute", "world", "bob1", anchor=(0, 0, 0), axis=(0, 1, 0))
    m.add_joint("second", "revolute", "bob1", "bob2", anchor=(0, 0, -1), axis=(0, 1, 0))
    return m


def engine_of(model, stepper, h, **options):
    method = find("tree", stepper)
    return Plan.bare(model, method, h, **options).engine()


@pytest.mark.parametrize("stepper", ADAPTIVE)
def test_error_follows_the_tolerance(stepper):
    """Free body over 20 s in four steps against the elliptic functions: the error is proportional to rtol and below it (the estimate is
    that of the lower order, which is larger). Slope 1 over eight decades, within 0.15: the first ones have 20 internal steps only."""
    omega, attitude = free_body(J, OMEGA, np.array([20.0]))
    errors, work = [], []
    for rtol in TOLERANCES:
        traj = dal.simulate(body(), stepper, h=5.0, t_end=20.0, v0=[*OMEGA, 0.5, -0.2, 0.1], rtol=rtol, atol=rtol / 100)
        errors.append(max(np.abs(traj.q[-1, 3:] - attitude[0]).max(), np.abs(traj.v[-1, :3] - omega[0]).max()))
        work.append(traj.solver["iterations"].sum())
    assert (np.array(errors) < TOLERANCES).all()
    assert abs(np.polyfit(np.log(TOLERANCES), np.log(errors), 1)[0] - 1) < 0.15
    # internal steps grow like rtol^(-1/k)
    assert abs(np.polyfit(np.log(TOLERANCES[2:]), np.log(work[2:]), 1)[0] + 1 / {"mk5": 5, "mk8": 8}[stepper]) < 0.03


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"].split()[0])
@pytest.mark.parametrize(("stepper", "rtol"), [("mk5", 1e-11), ("mk8", 1e-13)])
def test_double_pendulum(case, stepper, rtol):
    """Against a reference of 256 bits, up to t = 10 s. Errors grow by what the motion multiplies them with in that time."""
    growth = GROWTH[case["name"].split()[0]]
    samples = [s for s in case["samples"] if float(s["t"]) <= 10.0]
    t, theta, omega = (np.array([s[key] for s in samples], dtype=float) for key in ("t", "theta", "omega"))
    at = np.rint(t / 0.1).astype(int)
    np.testing.assert_allclose(t, 0.1 * at, rtol=0, atol=1e-12)
    q0 = [theta[0, 0], theta[0, 1] - theta[0, 0]]
    traj = dal.simulate(pendulum(case), stepper, h=0.1, t_end=10.0, q0=q0, v0=[0.0, 0.0], rtol=rtol, atol=rtol)
    assert np.abs(np.cumsum(traj.q[at], axis=1) - theta).max() < growth * rtol
    assert np.abs(np.cumsum(traj.v[at], axis=1) - omega).max() < 5 * growth * rtol


@pytest.mark.parametrize("stepper", ADAPTIVE)
def test_hint_is_kept_between_steps(chain, stepper):
    """After the first steps nearly every internal step is accepted: the size is not searched anew in every step."""
    model, q0, v0 = chain
    engine = engine_of(model, stepper, 0.5, rtol=1e-10, atol=1e-12)
    engine.start(q0, v0)
    assert engine.state[model.nq + model.nv] == 0.0
    chunk = engine.advance(8, 1)
    sizes = chunk.states[:, model.nq + model.nv]
    assert (sizes > 0).all()
    smallest = np.ceil(0.5 / sizes)
    assert (chunk.log[1:, 0] <= 2 * smallest[1:] + 3).all()


@pytest.mark.parametrize("stepper", ADAPTIVE)
def test_step_does_not_limit_accuracy(chain, stepper):
    """The same motion in 1 step of 2 s and in 100 steps of 0.02 s, each to its tolerance."""
    model, q0, v0 = chain
    coarse, fine = (dal.simulate(model, stepper, h=h, t_end=2.0, q0=q0, v0=v0, rtol=1e-10, atol=1e-12) for h in (2.0, 0.02))
    assert np.abs(model.difference(coarse.q[-1], fine.q[-1])).max() < 1e-8
    assert np.abs(coarse.v[-1] - fine.v[-1]).max() < 1e-8


@pytest.mark.parametrize("stepper", ADAPTIVE)
def test_backwards(chain, stepper):
    """h < 0: back to the start within the tolerance, not exactly."""
    model, q0, v0 = chain
    there = engine_of(model, stepper, 0.5, rtol=1e-11, atol=1e-12)
    there.start(q0, v0)
    there.advance(4, 4)
    back = engine_of(model, stepper, -0.5, rtol=1e-11, atol=1e-12)
    back.restart(there.state, 0)
    back.advance(4, 4)
    q, v = back.observe()
    assert 0 < np.abs(model.difference(q0, q)).max() < 1e-8
    assert 0 < np.abs(v - v0).max() < 1e-8


@pytest.mark.parametrize("stepper", ADAPTIVE)
def test_resumed_run_is_bit_for_bit(tmp_path, chain, stepper):
    model, q0, v0 = chain
    whole = dal.simulate(model, stepper, h=0.25, t_end=3.0, q0=q0, v0=v0)
    dal.simulate(model, stepper, h=0.25, t_end=1.25, q0=q0, v0=v0, save=tmp_path / "run.h5")
    resumed = dal.resume(tmp_path / "run.h5", 3.0)
    assert (resumed.q == whole.q).all()
    assert (resumed.v == whole.v).all()


def test_a_body_at_rest_stays_at_rest():
    """Nothing moves: no error, no division by zero, one internal step per step."""
    traj = dal.simulate(body(), "mk8", h=1.0, t_end=5.0, v0=np.zeros(6))
    assert (traj.q == traj.q[0]).all()
    assert (traj.solver["iterations"] == 1).all()


@pytest.mark.parametrize("stepper", ADAPTIVE)
def test_too_many_internal_steps_fail_by_name(chain, stepper):
    model, q0, v0 = chain
    with pytest.raises(SimulationError, match=stepper) as problem:
        dal.simulate(model, stepper, h=2.0, t_end=4.0, q0=q0, v0=v0, rtol=1e-12, atol=1e-12, max_substeps=3)
    assert problem.value.traj is not None


def test_a_step_too_small_fails_with_its_error():
    """A state from which nothing finite follows: the internal step shrinks until it is given up, and the error is reported."""
    model = body()
    engine = engine_of(model, "mk5", 1.0)
    engine.start(model.neutral(), np.array([1e200, 1e200, -1e200, 0, 0, 0]))
    before = engine.state.copy()
    assert engine.advance(1, 1).status == NOT_CONVERGED
    assert not engine.info[1] <= 1.0
    assert (engine.state == before).all()


@pytest.mark.parametrize(("option", "value"), [("rtol", 0.0), ("rtol", 1e-16), ("atol", -1.0), ("max_substeps", 0)])
def test_options_are_checked(option, value):
    with pytest.raises(OptionError, match=option):
        dal.simulate(body(), "mk5", h=1.0, t_end=1.0, **{option: value})
