"""Exponents beside closed forms of the discrete motion, and by two ways."""

import numpy as np
import pytest
from tests.ensembles.machines import double_pendulum

import dalembert as dal
from dalembert.ensembles import Lyapunov

H, K = 0.05, np.array([1.0, 4.0])


def saddle():
    return dal.Lagrangian(1, lambda q, v, p: 0.5 * v[0] ** 2 + 0.5 * p["k"] * q[0] ** 2, params={"k": 1.0})


@pytest.mark.parametrize("by", ["derivatives", "differences"])
def test_an_inverted_oscillator_has_the_exponent_of_its_steps(by):
    """q'' = k q by the midpoint rule multiplies by (1 + s)/(1 - s), s = h sqrt(k)/2, in a step: exponent 2 atanh(s)/h. The disturbance may
    begin with a part 50 times as large in the direction that decays: of the order of 50 exp(-8) when counting begins, seen over 36 s."""
    study = dal.ensemble(saddle(), {"k": K}, "midpoint", h=H, t_end=40.0, observe=Lyapunov(by=by), every=4)
    exact = 2 * np.arctanh(H * np.sqrt(K) / 2) / H
    np.testing.assert_allclose(study.observed["lyapunov"], exact, atol=50 * np.exp(-8.0) / 36)


def test_exact_exponents_of_an_inverted_oscillator_are_plus_and_minus():
    """The step keeps areas of (q, v): the sum is 0 to round-off. 720 nodes of round-off in logarithms, over 36 s."""
    study = dal.ensemble(saddle(), {"k": K}, "midpoint", h=H, t_end=40.0, observe=Lyapunov(by="derivatives", count=2))
    found, exact = study.observed["lyapunov"], 2 * np.arctanh(H * np.sqrt(K) / 2) / H
    np.testing.assert_allclose(found[:, 1], -exact, atol=50 * np.exp(-8.0) / 36)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=720 * 1e-14 / 36)


def test_derivatives_and_differences_agree_on_a_double_pendulum():
    """On one chaotic run. A difference is exact to its size, 1e-6, times second derivatives of the order of 10; nodes are 0.05 s apart."""
    found = [
        dal.ensemble(double_pendulum(), {"q0": [[2.5, 1.0]]}, "midpoint", h=0.01, t_end=10.0, observe=Lyapunov(by=by), every=5)
        for by in ("derivatives", "differences")
    ]
    exact, near = (study.observed["lyapunov"][0] for study in found)
    assert exact > 1.0 and abs(exact - near) < 10 * 1e-6 / 0.05


def test_all_exponents_of_a_double_pendulum_tell_how_the_step_keeps_volumes():
    """Volumes of (q, p) are kept, those of (q, v) change as det M does: the sum over the counted time is log det M(first)/det M(last)."""
    m = double_pendulum()
    study = dal.ensemble(m, {"q0": [[2.0, 0.5]]}, "midpoint", h=0.01, t_end=4.0, observe=Lyapunov(by="derivatives", count=4), every=2)
    run = dal.simulate(m, "midpoint", h=0.01, t_end=4.0, q0=[2.0, 0.5], every=2)
    sizes = [np.log(np.linalg.det(m.mass_matrix(run.q[k]))) for k in (20, 200)]
    assert study.observed["lyapunov"][0].sum() * 3.6 == pytest.approx(sizes[0] - sizes[1], abs=1e-8)
    largest, *_, least = study.observed["lyapunov"][0]
    assert largest > 1.0 and least < -1.0  # the two between them are near 0: along the flow, and of the energy


def test_a_pendulum_is_regular_and_a_double_pendulum_is_not():
    m = dal.Model("pendulum", gravity=(0, 0, -9.81))
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    quick = Lyapunov(by="differences")
    regular = dal.ensemble(m, {"q0": [[1.0]]}, "midpoint", h=0.02, t_end=40.0, observe=quick)
    chaotic = dal.ensemble(double_pendulum(), {"q0": [[2.5, 1.0]]}, "midpoint", h=0.01, t_end=20.0, observe=quick, every=5)
    assert abs(regular.observed["lyapunov"][0]) < 0.2  # log(T)/T of a shear
    assert chaotic.observed["lyapunov"][0] > 1.0


def test_a_stepper_without_derivatives_goes_by_differences_and_says_so_where_it_may_not():
    given = {"stepper": "mk4", "h": 0.02, "t_end": 1.0}
    auto = dal.ensemble(double_pendulum(), {"q0": [[2.5, 1.0]]}, observe=Lyapunov(), **given)
    near = dal.ensemble(double_pendulum(), {"q0": [[2.5, 1.0]]}, observe=Lyapunov(by="differences"), **given)
    assert auto.observed["lyapunov"][0] == near.observed["lyapunov"][0]
    told = dal.ensemble(double_pendulum(), {"q0": [[2.5, 1.0]]}, observe=Lyapunov(by="derivatives"), **given)
    assert told.status[0] == "raised" and "mk4" in told.error[0]


def test_a_closed_loop_has_exponents_of_changes_that_keep_it():
    """A four-bar with one freedom that swings: regular, so exponents near 0; changes that open the loop would be something else."""
    scene = dal.scenes.find("four-bar")
    study = dal.ensemble(
        scene.model(), [{}], "midpoint", h=0.01, t_end=2.0, q0=scene.q0, v0=scene.v0, observe=Lyapunov(by="derivatives"), every=2
    )
    assert study.ok.all(), study.text
    assert abs(study.observed["lyapunov"][0]) < 3.0 / 1.8  # a shear of at most exp(3) over the time that is counted


@pytest.mark.parametrize("given", [{"size": 1.0}, {"size": "x"}, {"by": "magic"}, {"count": 0}, {"count": 1.5}])
def test_numbers_that_are_none(given):
    with pytest.raises(dal.DalembertError):
        Lyapunov(**given)


def test_more_exponents_than_there_are_is_a_sentence():
    told = dal.ensemble(double_pendulum(), {"q0": [[1.0, 0.0]]}, "midpoint", h=0.01, t_end=0.2, observe=Lyapunov(count=9))
    assert told.status[0] == "raised" and "has 4 exponents" in told.error[0]
