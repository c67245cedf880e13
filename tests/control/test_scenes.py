"""Every problem of the list is solved, is a motion of the simulator, and shows what it must."""

import functools
import inspect

import numpy as np
import pytest

import dalembert as dal
from dalembert import citations
from dalembert.control import scenes
from dalembert.control.scenes import falling_cat, rest_to_rest


@functools.cache
def solved(name):
    return scenes.find(name).build().solve()


SLOW = {"puzzle-three"}  # three pieces, each of two boxes: 20 s


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in scenes.names()])
def test_a_scene_is_solved_and_shows_what_it_must(name):
    scene, found = scenes.find(name), solved(name)
    shown = [*scenes.common(found), *scene.check(found)]
    assert found.ok, found.status
    assert all(finding.ok for finding in shown), "\n".join(map(str, shown))
    assert len(shown) > 2, "beside what every plan shows, a scene has a check of its own"
    checked = found.verify(true_motion=False)
    assert checked.ok, checked.text
    # errors of steps are enlarged on the way, by `growth` at most for each
    assert checked.free_run <= max(1e-8, 10.0 * max(1.0, checked.growth) * checked.one_step.sum()), checked.text


@pytest.mark.parametrize("name", scenes.names())
def test_a_scene_says_what_it_is(name):
    scene = scenes.find(name)
    assert scene.name == name and scene.summary and not scene.summary.endswith(".")
    assert set(scene.references) <= set(citations.bibliography())
    assert "N" in inspect.signature(scene.build).parameters


def test_an_unknown_scene_is_refused_with_the_known_ones():
    with pytest.raises(dal.UnknownNameError, match="cart-pole"):
        scenes.find("cartpole")


# checks that can fail ------------------------------------------------------------------------------------------------------------------


def test_findings_of_a_worse_plan_fail():
    """Inputs of a plan of another time are no optimum: the check of the closed form says so."""
    found = scenes.find("rest-to-rest").build(N=40).solve()
    found.cost *= 1.0 + 1e-5
    assert [finding.ok for finding in rest_to_rest.check(found)] == [False, True]
    found.inputs = found.inputs + 1e-3
    assert not rest_to_rest.check(found)[1].ok


@pytest.mark.parametrize("N", [2, 3, 7, 40])
def test_least_effort_of_a_slider_is_that_of_the_discrete_closed_form(N):
    """12 (m d)^2/(T^3 (1 - 1/N^2)): the midpoint rule solves x'' = u/m exactly where u is held."""
    found = scenes.find("rest-to-rest").build(N=N).solve()
    assert all(finding.ok for finding in rest_to_rest.check(found))


@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "null-space"])
def test_a_slider_is_the_same_for_all_rules_of_order_two(stepper):
    found = scenes.find("rest-to-rest").build(N=20, stepper=stepper).solve()
    assert found.replay.errors.max() < 1e-9 and all(finding.ok for finding in rest_to_rest.check(found))


def test_the_straight_guess_of_the_cat_fails_and_says_what_is_violated():
    """A turn as one piece bends nothing: the search does not leave it. Nothing is lost: rows by name and step, and what to try."""
    found = falling_cat.build(N=50, guess="line", max_iter=60).solve()
    assert not found.ok and found.infeasibility > 1e-3
    assert "front" in found.status and "step" in found.status and "random" in found.status


@pytest.mark.parametrize("seed", [1, 3])
def test_the_cat_turns_over_from_waves(seed):
    """Minima come in mirror images and others; whichever is found, momentum stays 0."""
    plan = falling_cat.build(N=30, seed=seed).solve()
    assert plan.ok and all(finding.ok for finding in falling_cat.check(plan))


# beside the simulator ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["satellite", "quadrotor-flip", "double-pendulum"])
def test_a_plan_runs_freely_as_it_was_planned(name):
    """The free run under the array of inputs stays on the plan as far as its growth of disturbances allows."""
    found = solved(name)
    evidence = found.verify()
    assert evidence.ok
    assert evidence.free_run < max(1e-8, 10.0 * evidence.growth * evidence.one_step.max() * len(found.h))
    assert evidence.true_motion < 0.1  # rad, m: order 2; measured 6e-4, 0.06 (it turns at 20 rad/s), 7e-3


def test_a_quadrotor_needs_to_be_told_to_turn():
    """Without the turn the goal is the start, and hovering is the least effort: (m g)^2/4 a second."""
    from dalembert.control.scenes import quadrotor

    m = quadrotor.model()
    found = dal.control.dmoc(m, 10, m.neutral(), m.neutral(), h=0.1, inputs=quadrotor.levers(), bounds={"u": (0.0, quadrotor.MOST)}).solve()
    assert found.ok and found.cost == pytest.approx((quadrotor.MASS * quadrotor.G) ** 2 / 4.0, rel=1e-7)
    assert np.abs(found.q[:, 3] - 1.0).max() < 1e-9
