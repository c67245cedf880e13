"""The closed form of a bouncing point against published times, and against what falls between impacts."""

import json
from pathlib import Path

import numpy as np
import pytest

from dalembert.errors import OptionError
from dalembert.verification import BouncingBall

CASES = json.loads((Path(__file__).parents[1] / "data" / "contact_impact.json").read_text())["bouncing_ball_zeno"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"e = {c['e']}")
def test_times_of_impact_and_of_rest_are_the_published_ones(case):
    ball = BouncingBall(float(case["drop_height"]), float(case["g"]), float(case["e"]))
    exact = np.array(case["impact_times"], dtype=float)
    assert np.allclose(ball.impact_times(len(exact)), exact, rtol=1e-14)
    assert ball.rest == pytest.approx(float(case["zeno_time"]), rel=1e-14)


@pytest.mark.parametrize("e", [0.0, 0.7, 1.0])
def test_it_falls_freely_between_impacts_and_reverses_e_of_its_speed_there(e):
    ball = BouncingBall(2.0, 9.81, e)
    t = np.linspace(0.0, 6.0, 6001)
    z, v = ball.state(t)
    assert (z >= 0.0).all() and z[0] == 2.0 and v[0] == 0.0
    hits = ball.impact_times(3)
    for hit in hits[: 1 if e == 0.0 else 3]:
        (below, above), (down, up) = ball.state(np.array([hit - 1e-9, hit + 1e-9]))
        assert max(below, above) < 1e-7 and up == pytest.approx(-e * down, abs=1e-7)
    smooth = (np.abs(t[1:-1, None] - ball.impact_times(60)[None, :]).min(axis=1) > 2e-3) & (t[1:-1] < ball.rest)
    assert np.allclose(np.gradient(v, t)[1:-1][smooth], -9.81, atol=1e-6)
    if e < 1.0:
        assert not z[t > ball.rest].any() and not v[t > ball.rest].any()


@pytest.mark.parametrize("wrong", [{"height": 0.0}, {"gravity": -1.0}, {"restitution": 1.1}, {"restitution": np.nan}])
def test_numbers_without_meaning_are_refused(wrong):
    with pytest.raises(OptionError, match="expected a height"):
        BouncingBall(**wrong)
