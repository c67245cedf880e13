"""What happens to a step that cannot be solved: line search, smaller parts, a flag, or an error that says what to do; never a NaN."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError, SimulationError

SECOND = ("midpoint", "trapezoidal")
METHODS = (*SECOND, "symplectic-euler")
LEVEL = (1.0, 0.0, 0.0, 0.0)


def whip(n, spatial, length=1.0):
    """n rods of 1 kg in a row, level, hinges across it; spatial: every second one vertical."""
    m = dal.Model(f"whip of {n} rods")
    inertia = length**2 / 12
    for k in range(n):
        m.add_body(f"rod{k}", 1.0, (1e-3, inertia, inertia), com=(length / 2, 0, 0), pose=((k * length, 0, 0), LEVEL))
        axis = (0, 0, 1) if spatial and k % 2 else (0, 1, 0)
        m.add_joint(f"j{k}", "revolute", f"rod{k - 1}" if k else "world", f"rod{k}", (k * length, 0, 0), axis)
    return m.frozen()


def finite(traj):
    return all(np.isfinite(x).all() for x in (traj.q, traj.v, traj.v_interval, traj.energy))


# rescue -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SECOND)
def test_a_step_that_fails_is_done_in_parts_and_flagged(method):
    """A step of a second is too much for the pendulum chain: powers of two of parts; energy to a fifth of what the fall can give."""
    m = dal.scenes.find("pendulum-chain").model()
    traj = dal.simulate(m, method, h=1.0, t_end=5.0, q0={"j1": 1.5, "j2": 0.4})
    parts = traj.solver["substeps"]
    assert parts.any()
    assert set(parts) <= {0.0} | {2.0**k for k in range(1, 9)}
    assert finite(traj)
    assert np.abs(traj.energy - traj.energy[0]).max() < 0.2 * 2 * 9.81 * (0.25 + 0.75 + 1.25)
    with pytest.raises(
        SimulationError, match=rf"step \d at t = .* s with h = 1 s \({method}\).*did not converge.*(smaller h|solvable|can be solved)"
    ):
        dal.simulate(m, method, h=1.0, t_end=5.0, q0={"j1": 1.5, "j2": 0.4}, rescue=False)


@pytest.mark.parametrize("method", METHODS)
def test_a_step_of_sixty_turns_is_done_in_a_thousand_parts_or_more(method):
    """Two rods at 400 and -200 rad/s, seconds as steps. Each of the three keeps the balance of energy to a tenth (trust.SHARE)."""
    traj = dal.simulate(whip(2, False), method, h=1.0, t_end=3.0, q0=[0.3, 1.0], v0=[400.0, -600.0])
    assert traj.solver["substeps"].max() >= 1024
    assert finite(traj) and np.abs(traj.energy / traj.energy[0] - 1.0).max() < 1.1**3 - 1.0
    assert traj.report().verdict == "warn"  # steps were split


@pytest.mark.parametrize("method", METHODS)
def test_easy_steps_are_not_touched(chain, run, method):
    """With and without rescue the same bits, and no flag."""
    with_rescue, without = (run(chain, method, 0.1, 10.0, rescue=r) for r in (True, False))
    np.testing.assert_array_equal(with_rescue.q, without.q)
    assert not with_rescue.solver["substeps"].any()


@pytest.mark.parametrize("method", METHODS)
def test_without_rescue_the_error_tells_step_time_and_remedy(chain, method):
    m, q, v = chain
    with pytest.raises(SimulationError, match=rf"step 0 at t = 0 s with h = 0.1 s \({method}\): the step did not converge") as caught:
        dal.simulate(m, method, h=0.1, t_end=1.0, q0=q, v0=v, max_iterations=1, rescue=False)
    error = caught.value
    assert any(words in str(error) for words in ("smaller h", "solvable", "can be solved"))
    assert "rescue=True" in str(error)
    assert error.facts["step"] == 0 and error.facts["h"] == 0.1 and error.facts["residual"] > 1e-13
    assert len(error.traj) == 1
    np.testing.assert_array_equal(error.traj.q[0], q)


def test_a_failed_step_leaves_the_state_as_it_was(chain):
    """What was computed before equals a run that ends there."""
    m, q, v = chain
    calls = []

    def control(t, q, v):
        calls.append(t)
        return np.full(8, np.inf) if t > 0.45 else np.zeros(8)

    traj = dal.simulate(m, "midpoint", h=0.1, t_end=1.0, q0=q, v0=v, control=control, on_fail="return")
    assert len(traj) == 6 and "finite" in traj.status
    np.testing.assert_array_equal(traj.q, dal.simulate(m, "midpoint", h=0.1, t_end=0.5, q0=q, v0=v, control=lambda *a: np.zeros(8)).q)


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("method", SECOND)
def test_a_whip_of_a_hundred_rods_swings_for_ten_seconds(method, spatial):
    """h = 0.01 s; energy to 2 percent of the largest kinetic energy, that of 100 kg falling by 50 m."""
    traj = dal.simulate(whip(100, spatial), method, h=0.01, t_end=10.0)
    assert traj.status == "ok" and finite(traj)
    assert np.abs(traj.energy - traj.energy[0]).max() < 0.02 * 100 * 9.81 * 50
    assert np.count_nonzero(traj.solver["substeps"]) < 20


@pytest.mark.slow
@pytest.mark.parametrize("spatial", [False, True])
def test_a_fine_whip_survives(spatial):
    """Rods of 0.1 m at h = 0.01 s, whose own swings are faster than the step: most steps are split. Under the midpoint rule kinetic energy
    stays below twice what gravity gives (100 kg falling by 5 m)."""
    traj = dal.simulate(whip(100, spatial, 0.1), "midpoint", h=0.01, t_end=10.0)
    assert traj.status == "ok" and finite(traj)
    assert traj.kinetic.max() < 2 * 100 * 9.81 * 5 * 2


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("nudge", [0.0, 1e-9, 2e-9])
def test_a_whip_too_fine_for_forces_at_nodes_is_run_or_refused(spatial, nudge):
    """There the trapezoidal rule is unstable, and whether a run meets the ceiling of energy is a matter of round-off: rows are numbers, and
    energy is below what the ceiling allows or the run has ended with words about it."""
    traj = dal.simulate(whip(30, spatial, 0.1), "trapezoidal", h=0.01, t_end=5.0, q0={"j0": nudge}, on_fail="return")
    assert finite(traj)
    assert traj.status == "ok" or "kinetic energy has grown" in traj.status
    assert traj.report()["energy"].verdict != "pass"


@pytest.mark.parametrize("method", METHODS)
def test_rescue_holds_a_floating_chain_at_a_step_of_a_second(chain, run, method):
    """Rates of 1 rad/s: parts of 1/16 s are easy for every method."""
    traj = run(chain, method, 1.0, 20.0)
    assert traj.status == "ok" and finite(traj)
    assert np.abs(traj.momentum - traj.momentum[0]).max() < 1e-11


# the answer of the solver -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("machine", ["chain", "pinned", "tree", "forced_tree"])
@pytest.mark.parametrize("retraction", ["cay", "exp"])
def test_the_tolerance_is_met(request, run, method, machine, retraction):
    """One step from rest of the history: the velocity does not move by more than 1e-11 of it when the tolerance goes down to 1e-15."""
    machine = request.getfixturevalue(machine)
    usual, sharp = (run(machine, method, 0.05, 0.5, retraction=retraction, **o).v_interval for o in ({}, {"tol": 1e-15}))
    assert np.abs(usual[0] - sharp[0]).max() < 1e-11 * np.abs(sharp[0]).max()
    assert np.abs(usual - sharp).max() < 1e-9 * np.abs(sharp).max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["four-bar", "bricard", "rolling-disk", "upright-disk", "chaplygin-sleigh", "snakeboard"])
def test_the_tolerance_is_met_with_constraints(method, name):
    s = dal.scenes.find(name)
    usual, sharp = (s.simulate(stepper=method, h=0.05, t_end=0.15, **o).v_interval for o in ({}, {"tol": 1e-15}))
    assert np.abs(usual - sharp).max() < 1e-11 * np.abs(sharp).max()


@pytest.mark.parametrize("method", METHODS)
def test_a_machine_at_rest_stays_there(chain, method):
    traj = dal.simulate(chain[0], method, h=0.1, t_end=1.0)
    assert not traj.v.any() and traj.status == "ok"


# what cannot be ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_control_that_is_no_number(chain, method, value):
    m, q, v = chain
    with pytest.raises(SimulationError, match=r"control returned .*expected finite") as caught:
        dal.simulate(m, method, h=0.01, t_end=0.1, q0=q, v0=v, control=lambda t, q, v: np.full(8, value if t > 0.055 else 0.0))
    assert len(caught.value.traj) == 7 and finite(caught.value.traj)


@pytest.mark.parametrize("method", METHODS)
def test_compiled_control_that_is_no_number(chain, method):
    m, q, v = chain

    @dal.compiled
    def control(t, q, v, out):
        for i in range(out.shape[0]):
            out[i] = np.nan if t > 0.055 else 0.0

    with pytest.raises(SimulationError, match=r"step 6 at t = 0.06 s") as caught:
        dal.simulate(m, method, h=0.01, t_end=0.1, q0=q, v0=v, control=control)
    assert len(caught.value.traj) == 7 and finite(caught.value.traj)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("factor", [1e2, 1e4, 1e8, 1e160])
def test_huge_velocities_give_a_run_or_an_error(chain, method, factor):
    m, q, v = chain
    traj = dal.simulate(m, method, h=0.01, t_end=0.05, q0=q, v0=factor * v, on_fail="return")
    assert np.isfinite(traj.q).all() and np.isfinite(traj.v).all()
    assert traj.status == "ok" or "step" in traj.status


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("h", [1e1, 1e3, 1e6, 1e200])
def test_huge_steps_give_a_run_or_an_error(pinned, method, h):
    m, q, v = pinned
    traj = dal.simulate(m, method, h=h, t_end=2 * h, q0=q, v0=v, on_fail="return")
    assert finite(traj)
    assert traj.status == "ok" or "step" in traj.status


@pytest.mark.parametrize("method", METHODS)
def test_a_link_without_inertia_is_named_an_error(method):
    m = dal.Model("massless tip")
    m.add_body("arm", 1.0, (0.1, 0.1, 0.1))
    m.add_frame("tip")
    m.add_joint("shoulder", "revolute", "world", "arm", axis=(0, 1, 0))
    m.add_joint("wrist", "revolute", "arm", "tip", (1, 0, 0), (0, 1, 0))
    with pytest.raises(DalembertError, match="singular"):
        dal.simulate(m, method, h=0.01, t_end=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_a_point_mass_on_a_ball_joint_is_an_error_not_a_nan(method):
    """Turning about the line to the mass meets no inertia."""
    m = dal.Model("point mass")
    m.add_body("bob", 1.0, (0, 0, 0), physical=False)
    m.add_joint("ball", "spherical", "world", "bob", anchor=(0, 0, 1))
    with pytest.raises(DalembertError, match="singular"):
        dal.simulate(m, method, h=0.01, t_end=0.1, v0=[0.1, 0.2, 0.3])
