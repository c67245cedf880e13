"""Bad input, limits, files and resumed runs of the stepper `collision`."""

import pickle

import numpy as np
import pytest
from tests.collision.conftest import ball

import dalembert as dal
from dalembert.errors import ModelError, OptionError, SimulationError, UnsupportedError


def test_bodies_that_overlap_at_the_start_are_refused_by_name():
    with pytest.raises(OptionError, match=r"'ball' and wall 0 overlap by 0.05 m"):
        dal.simulate(ball(0.0, 1.0), "collision", h=0.01, t_end=1, q0=[0, 0, 0.05])


def test_friction_is_refused_until_it_is_left_out():
    m = dal.Model("rough")
    m.add_shape("world", dal.Plane(friction=0.5))
    m.add_particle("ball", 1.0, position=(0, 0, 1), shapes=[dal.Sphere(0.1, friction=0)])
    with pytest.raises(UnsupportedError, match=r"friction 0.5.*smooth=True"):
        dal.simulate(m, "collision", h=0.01, t_end=0.1)
    assert dal.simulate(m, "collision", h=0.01, t_end=0.1, smooth=True).status == "ok"
    m.add_contact("ball", "world", friction=0)
    assert dal.simulate(m, "collision", h=0.01, t_end=0.1).status == "ok"


@pytest.mark.parametrize("e", [-0.5, 1.5, np.nan, "much"])
def test_restitution_out_of_range_is_refused(e):
    with pytest.raises(OptionError, match="restitution"):
        dal.simulate(ball(1.0, 1.0), "collision", h=0.01, t_end=0.1, restitution=e)
    if isinstance(e, float) and not np.isnan(e):
        with pytest.raises(ModelError, match="restitution"):
            dal.Sphere(0.1, restitution=e)


def test_shapes_that_it_does_not_know_are_refused_by_name():
    m = ball(1.0, 1.0)
    m.add_body("can", 1.0, (1, 1, 1), shapes=[dal.Cylinder(0.1, 0.2, friction=0)], pose=((2, 0, 1), (1, 0, 0, 0)))
    with pytest.raises(UnsupportedError, match=r"'can'.*'cylinder'.*spook"):
        dal.simulate(m, "collision", h=0.01, t_end=0.1)


def test_a_hull_of_one_point_is_refused():
    m = ball(1.0, 1.0)
    m.add_body("dot", 1.0, (1, 1, 1), shapes=[dal.Convex(np.zeros((4, 3)), friction=0)], pose=((2, 0, 1), (1, 0, 0, 0)))
    with pytest.raises(UnsupportedError, match="'dot' is one point"):
        dal.simulate(m, "collision", h=0.01, t_end=0.1)


def test_flat_hulls_bounce():
    m = dal.Model("sheet", gravity=(0, 0, -9.81))
    m.add_shape("world", dal.Plane(friction=0, restitution=1.0))
    sheet = dal.Convex([(-0.1, -0.1, 0), (0.1, -0.1, 0), (0.1, 0.1, 0), (-0.1, 0.1, 0)], friction=0, restitution=1.0)
    m.add_body("sheet", 1.0, (0.01, 0.01, 0.02), shapes=[sheet], pose=((0, 0, 1), (1, 0, 0, 0)))
    traj = dal.simulate(m, "collision", h=0.01, t_end=1, q0=[0, 0, 1, *dal.quat.exp([0.2, 0.1, 0])])
    assert len(traj.events.rows) >= 1 and traj.report().verdict == "pass"


def test_too_many_impacts_in_a_step_end_the_run_with_their_log():
    with pytest.raises(SimulationError, match=r"more impacts within one step.*last impacts: t = \d.*'world' and 'ball'") as caught:
        dal.simulate(ball(1.0, 0.9), "collision", h=0.5, t_end=20, max_impacts=3)
    assert len(caught.value.traj.t) > 2  # nothing is lost


@pytest.mark.parametrize("v0", [[0, 0, np.nan], [0, 0, 1e200]])
def test_starts_that_are_no_numbers_or_huge_end_with_a_sentence(v0):
    with pytest.raises((OptionError, ModelError, SimulationError)):
        dal.simulate(ball(1.0, 1.0), "collision", h=0.01, t_end=1, v0=v0)


@pytest.mark.parametrize(("e", "t_half"), [(1.0, 2.0), (0.5, 1.34), (0.5, 3.0)])
def test_a_run_is_resumed_bit_for_bit(tmp_path, e, t_half):
    """Before, among and after the bounces that end in rest."""
    whole = dal.simulate(ball(1.0, e), "collision", h=0.02, t_end=5)
    path = tmp_path / "ball.h5"
    dal.simulate(ball(1.0, e), "collision", h=0.02, t_end=t_half, save=path)
    resumed = dal.resume(path, 5.0)
    assert resumed.q.tobytes() == whole.q.tobytes() and resumed.v.tobytes() == whole.v.tobytes()
    assert np.array_equal(resumed.events.rows, whole.events.rows)
    assert dal.load(path).report().verdict == "pass"


@pytest.mark.parametrize("every", [3, 7])
def test_what_is_recorded_does_not_change_the_run(every):
    whole = dal.simulate(ball(1.0, 0.7), "collision", h=0.02, t_end=4.2)
    some = dal.simulate(ball(1.0, 0.7), "collision", h=0.02, t_end=4.2, every=every)
    assert some.q.tobytes() == np.ascontiguousarray(whole.q[::every]).tobytes()
    assert np.array_equal(some.events.rows, whole.events.rows) and some.events.counts.sum() == len(whole.events.rows)


def test_simulations_step_and_are_pickled():
    whole = dal.simulate(ball(1.0, 0.5), "collision", h=0.02, t_end=3)
    sim = dal.Simulation(ball(1.0, 0.5), "collision", h=0.02)
    sim.step(80)
    sim = pickle.loads(pickle.dumps(sim))
    sim.step(70)
    assert sim.state.q.tobytes() == whole.q[-1].tobytes() and np.array_equal(sim.trajectory().events.rows, whole.events.rows)


def test_a_machine_without_shapes_moves_as_by_the_base_step():
    m = dal.Model("pendulum")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    a = dal.simulate(m, "collision", h=0.01, t_end=5, q0=[1.0])
    b = dal.simulate(m, "null-space", h=0.01, t_end=5, q0=[1.0])
    assert a.q.tobytes() == b.q.tobytes()
