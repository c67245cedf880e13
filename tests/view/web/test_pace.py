"""Soft real time: steps that are due, and what happens where a machine is too slow."""

import math

import pytest

from dalembert.view.web.pace import LAG, Pace


def test_as_many_steps_are_due_as_time_has_passed():
    pace, done = Pace(), 0
    for k in range(601):
        due = pace.due(k / 60.0, 1.0, 0.01)
        pace.did(due, 0.01, 1e-4)
        done += due
        pace.tick(k / 60.0, done * 0.01, 1.0, 0.01)
    assert done in (999, 1000)
    assert pace.ratio == pytest.approx(1.0, abs=0.02)


def test_twice_the_speed_is_twice_as_many_steps():
    pace = Pace()
    pace.due(0.0, 2.0, 0.01)
    assert pace.due(0.1, 2.0, 0.01) == 20


def test_a_slow_machine_slows_time_and_piles_up_nothing():
    """A step takes 0.04 s of wall time for 0.01 s: a quarter of real time, however long it goes on."""
    pace, now, t = Pace(), 0.0, 0.0
    for _ in range(500):
        assert pace.due(now, 1.0, 0.01) <= round((LAG + 0.04) / 0.01) + 1
        now += 0.04
        t += 0.01
        pace.did(1, 0.01, 0.04)
        pace.tick(now, t, 1.0, 0.01)
    assert pace.ratio == pytest.approx(0.25, rel=0.02)
    assert pace.percentiles() == pytest.approx((0.04, 0.04, 0.04))


def test_a_pause_is_not_caught_up():
    pace = Pace()
    pace.due(0.0, 1.0, 0.01)
    pace.rest()
    assert pace.due(100.0, 1.0, 0.01) == 0
    assert math.isnan(pace.ratio)


def test_a_reset_does_not_count_as_going_back():
    pace = Pace()
    for now, t in ((0.0, 5.0), (0.5, 5.5), (1.0, 0.0), (1.5, 0.5)):
        pace.tick(now, t, 1.0, 0.01)
    assert pace.ratio == pytest.approx(1.0)
