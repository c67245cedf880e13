"""Largest steps that pass, beside a limit that is known in closed form."""

import numpy as np
import pytest
from tests.ensembles.machines import double_pendulum, oscillator

import dalembert as dal
from dalembert.ensembles import thresholds

K = np.array([1.0, 4.0, 16.0, 100.0])


def bounded(study):
    return np.abs(study.q[:, 0]) < 10.0


def test_verlet_is_stable_below_two_over_omega():
    """q'' = -k q by leapfrog: bounded if h sqrt(k) < 2, at 2 it grows with time; the steps of the list are 9 % apart."""
    samples = {"k": K, "q0": np.ones((4, 1)), "v0": np.ones((4, 1))}
    found = thresholds(oscillator(), samples, "verlet", h=(0.05, 3.0), t_end=300.0, passes=bounded, per_doubling=8)
    limit = 2.0 / np.sqrt(K)
    assert (found.h < limit).all() and (found.fails >= limit).all()
    np.testing.assert_array_less(found.fails / found.h, 2 ** (1.5 / 8))
    scanned = thresholds(oscillator(), samples, "verlet", h=(0.05, 3.0), t_end=300.0, passes=bounded, per_doubling=8, scan=True)
    np.testing.assert_array_equal(scanned.h, found.h)
    assert found.runs < 0.25 * scanned.runs and np.isfinite(scanned.passed).all()
    assert "median" in found.text and list(found.to_pandas().columns) == ["k", "q0[0]", "v0[0]", "h", "fails"]


def test_an_error_of_order_two_asks_for_a_step_as_its_square_root():
    """Energy error of the midpoint rule ~ h^2, so an error a hundredth as large needs a tenth of the step."""
    change = dal.observers.EnergyChange()
    samples = {"q0": np.random.default_rng(0).uniform(0.5, 1.0, (6, 2))}
    found = [
        thresholds(
            double_pendulum(),
            samples,
            "midpoint",
            h=(5e-4, 0.1),
            t_end=0.4,
            observe=change,
            passes=lambda study, most=most: study.observed["energy_change"] < most,
            per_doubling=4,
        ).h
        for most in (1e-2, 1e-4)
    ]
    np.testing.assert_allclose(np.log10(found[0] / found[1]), 1.0, atol=0.15)  # two steps of the list, and terms of h^4


@pytest.mark.parametrize("scan", [False, True])
def test_ctrl_c_keeps_what_is_known(scan):
    """What is told encloses what the whole search finds; before the first answer there is nothing to tell."""
    samples = {"k": K, "q0": np.ones((4, 1)), "v0": np.ones((4, 1))}
    given = {"stepper": "verlet", "h": (0.05, 3.0), "t_end": 30.0, "per_doubling": 8, "scan": scan}
    whole, calls = thresholds(oscillator(), samples, passes=bounded, **given), []

    def impatient(study, most):
        calls.append(len(study))
        if len(calls) > most:
            raise KeyboardInterrupt
        return bounded(study)

    found = thresholds(oscillator(), samples, passes=lambda study: impatient(study, 5), **given)
    assert found.interrupted and "interrupted" in found.text and found.runs < whole.runs
    known = np.isfinite(found.passed)
    np.testing.assert_array_equal(found.passed[known], whole.passed[known])
    assert known.any(axis=1).all()
    assert np.all((found.h <= whole.h) | np.isnan(found.h)) and np.all((found.fails >= whole.fails) | np.isnan(found.fails))
    assert not whole.interrupted and np.isfinite(found.h).any() | np.isfinite(found.fails).any()
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        thresholds(oscillator(), samples, passes=lambda study: impatient(study, 0), **given)


def test_all_pass_and_none_passes():
    samples = {"q0": [[1.0], [2.0]]}
    found = thresholds(oscillator(), samples, "midpoint", h=(0.1, 0.5), t_end=1.0)
    assert (found.h == 0.5).all() and np.isnan(found.fails).all()
    found = thresholds(oscillator(), samples, "midpoint", h=(0.1, 0.5), t_end=1.0, passes=lambda study: np.zeros(2, dtype=bool))
    assert np.isnan(found.h).all() and (found.fails == 0.1).all() and "2 with none" in found.text
    bad = thresholds(oscillator(), [{"q0": [1.0]}, {"q0": [np.nan]}], "midpoint", h=(0.1, 0.5), t_end=1.0)
    assert bad.h[0] == 0.5 and np.isnan(bad.h[1])
    assert len(thresholds(oscillator(), [], "midpoint", h=(0.1, 0.5), t_end=1.0).h) == 0


def test_one_step_alone_is_a_list_too():
    assert thresholds(oscillator(), {"q0": [[1.0]]}, "midpoint", h=(0.1, 0.1), t_end=1.0).h[0] == 0.1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"h": 0.1}, "least, most"),
        ({"h": (0.2, 0.1)}, "least <= most"),
        ({"h": (-1, 0.1)}, "least, most"),
        ({"h": (0.1, 20.0)}, "t_end"),
        ({"per_doubling": 0}, "per_doubling"),
        ({"passes": 3}, "function of a study"),
        ({"passes": lambda study: 1.0}, "truths"),
        ({"passes": lambda study: study.nothing}, "AttributeError"),
        ({"save": "x.h5"}, "save"),
        ({"samples": {"h": [0.1]}}, "neither"),
        ({"samples": {"kk": [0.1]}}, "kk"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(more, said):
    given = {"samples": {"q0": [[1.0]]}, "h": (0.1, 0.5), **more}
    with pytest.raises(dal.DalembertError, match=said):
        thresholds(oscillator(), stepper="midpoint", t_end=1.0, **given)
