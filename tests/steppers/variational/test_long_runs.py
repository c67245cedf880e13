"""Long easy runs: what a step notes for the next one stays bounded, and a checkpoint whose notes are useless goes on all the same."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.families.variational import NOTES
from dalembert.kernels.tree.variational.convergence import STALE
from dalembert.kernels.tree.variational.layout import HISTORY, state_places

METHODS = ("midpoint", "trapezoidal", "symplectic-euler", "null-space")


@pytest.fixture(scope="module")
def pendulum():
    m = dal.Model("pendulum")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    return m.frozen()


def notes(traj):
    """The numbers that a state holds beside q, p, the interval velocities and the control, by name: one row per node."""
    n, _ = state_places(traj.model.nq, traj.model.nv)
    return {name: traj.states[:, getattr(n, name)] for name in NOTES}


@pytest.mark.parametrize("method", METHODS)
def test_a_pendulum_swings_through_forty_thousand_easy_steps(pendulum, method):
    """One correction suffices in each; a rate of convergence that ages by 5 percent per step would be infinite after 15,000."""
    traj = dal.simulate(pendulum, method, h=0.0005, t_end=20.0, q0=[1.0], every=100)
    assert traj.status == "ok"
    found = notes(traj)
    assert np.isfinite(traj.states).all()
    assert found["rate"].max() <= STALE
    assert found["known"].max() <= HISTORY
    assert found["noise"].max() <= 1e-6


@pytest.mark.parametrize("number", [np.inf, np.nan, 1e308, -1.0])
@pytest.mark.parametrize("note", ["rate", "rate_misfit", "known", "noise", "misfit"])
def test_a_checkpoint_with_a_useless_note_is_resumed(pendulum, tmp_path, note, number):
    """The motion is that of an uninterrupted run to the tolerance of the steps, 1e-13 each."""
    path = tmp_path / "run.h5"
    usual = dal.simulate(pendulum, h=0.01, t_end=2.0, q0=[1.0])
    traj = dal.simulate(pendulum, h=0.01, t_end=1.0, q0=[1.0])
    traj.states[-1, getattr(state_places(pendulum.nq, pendulum.nv)[0], note)] = number
    traj.save(path)
    found = dal.resume(path, 2.0)
    assert found.status == "ok"
    np.testing.assert_allclose(found.q, usual.q, atol=1e-10)


def test_usable_notes_are_kept_as_they_are(pendulum, tmp_path):
    """Bit for bit."""
    path = tmp_path / "run.h5"
    usual = dal.simulate(pendulum, h=0.01, t_end=2.0, q0=[1.0])
    dal.simulate(pendulum, h=0.01, t_end=1.0, q0=[1.0], save=path)
    np.testing.assert_array_equal(dal.resume(path, 2.0).states, usual.states)
