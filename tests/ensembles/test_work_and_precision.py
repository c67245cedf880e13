"""Errors over many samples: orders of the methods, errors of each sample, samples that are too sensitive."""

import numpy as np
import pytest
from tests.ensembles.machines import double_pendulum, oscillator

import dalembert as dal
from dalembert.ensembles import precision

HS = (0.04, 0.02, 0.01, 0.005)


def test_orders_and_errors_of_an_oscillator_are_those_of_closed_forms():
    """q = q0 cos(w t). The midpoint rule has the frequency (2/h) atan(h w/2): its error is known to round-off."""
    w, q0 = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, -1.0])
    found = precision(oscillator(), {"k": w**2, "q0": q0[:, None]}, ["midpoint", "rk4"], HS, t_end=2.0)
    assert abs(found.orders["midpoint"] - 2) < 0.1 and abs(found.orders["rk4"] - 4) < 0.1
    for h in HS:
        exact = np.abs(q0 * np.cos(2.0 * (2 / h) * np.arctan(h * w / 2)) - q0 * np.cos(2.0 * w))
        np.testing.assert_allclose(found.errors["midpoint", h], exact, rtol=1e-5, atol=1e-10)
    assert all(row["seconds"] > 0 and row["failed"] == 0 for row in found.table) and "observed orders: midpoint 2.0" in found.text
    best = [row for row in found.table if row["h"] == 0.005]
    assert best[0]["median"] <= best[0]["high"] <= best[0]["largest"]


def test_a_machine_with_uncertain_numbers_and_a_composition(tmp_path):
    """Values of the machine differ, so each sample has a reference of its own. compose raises the order to 4."""
    rng = np.random.default_rng(3)
    samples = {"upper.mass": rng.uniform(0.8, 1.2, 12), "q0": rng.uniform(-1, 1, (12, 2))}
    found = precision(double_pendulum(), samples, ["midpoint", "midpoint+suzuki4"], HS, t_end=0.4)
    assert abs(found.orders["midpoint"] - 2) < 0.1 and abs(found.orders["midpoint+suzuki4"] - 4) < 0.2
    assert (found.uncertainty < 1e-10).all()
    found.plot(tmp_path / "work.png")
    assert (tmp_path / "work.png").stat().st_size > 10_000


def test_motions_that_are_too_sensitive_are_left_out_and_counted():
    """Two fine runs of a double pendulum that falls from above are apart after 40 s; those of one that hangs are not."""
    samples = {"q0": [[3.0, 1.0], [0.1, 0.0]]}
    found = precision(double_pendulum(), samples, ["midpoint"], [0.02], t_end=40.0, reference="midpoint")
    assert found.uncertainty[0] > 1e-3 > found.uncertainty[1]
    assert np.isnan(found.errors["midpoint", 0.02][0]) and np.isfinite(found.errors["midpoint", 0.02][1])
    assert "1 of 2 samples are too sensitive" in found.text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"system": 3}, "Model or a Lagrangian"),
        ({"steppers": []}, "steppers"),
        ({"hs": 0.1}, "hs"),
        ({"samples": []}, "at least one"),
        ({"samples": {"h": [0.1]}}, "without h"),
        ({"steppers": ["nothing"]}, "nothing"),
        ({"hs": [0.3]}, "whole number"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(given, said):
    with pytest.raises(dal.DalembertError, match=said):
        precision(**{"system": oscillator(), "samples": {"q0": [[1.0]]}, "steppers": ["midpoint"], "hs": [0.1], "t_end": 1.0, **given})
