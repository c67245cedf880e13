"""Elastic bounces of bodies that spin: an impact keeps energy, and what swings between bounces is the free rotation's own."""

import numpy as np
import pytest
from contact_laws import G, Steps, add_box, floor

SIZES = {"uneven": (0.4, 0.2, 0.1), "cube": (0.2, 0.2, 0.2)}


def box(seed, h, size, restitution=1.0):
    """A box thrown at a smooth floor, turning by some 7 rad/s; velocities of nodes are those of the interval before."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=4)
    m = floor(0.0, restitution)
    at = (0, 0, 0.3 + 0.1 * rng.random())
    add_box(m, "b", at, SIZES[size], friction=0.0, restitution=restitution, quat=tuple(q / np.linalg.norm(q)))
    s = Steps(m, h=h, v=(0, 0, -2 + 0.5 * G * h))
    s.omega[0] = 4.0 * rng.normal(size=3)
    return s


def energy(s):
    """At a node: of the velocity half a kick behind."""
    v, I = s.v[0] - (0, 0, 0.5 * G * s.h), s.machine.bodies.inertia[0]
    return 0.5 * v @ v + 0.5 * s.omega[0] @ I @ s.omega[0] + G * s.x[0, 2]


def jump(seed, h, size):
    """Relative change of the energy in the step of the first bounce."""
    s = box(seed, h, size)
    start = energy(s)
    while s.t < 0.5:
        before = energy(s)
        s.step()
        if s.machine.impacts.times:
            return (energy(s) - before) / start
    raise AssertionError("it did not bounce")


def test_a_bounce_keeps_the_energy_of_an_uneven_box_to_order_three():
    """Inertia, angular velocity and gyroscopic acceleration at the instant of the impact; order one without the latter."""
    hs = (1 / 120, 1 / 240, 1 / 480, 1 / 960)
    errors = [np.sqrt(np.mean([jump(seed, h, "uneven") ** 2 for seed in range(16)])) for h in hs]
    assert errors[-1] < 2e-6
    assert np.polyfit(np.log(hs), np.log(errors), 1)[0] > 2.5


def test_a_bounce_keeps_the_energy_of_a_cube_at_any_step():
    """It has no gyroscopic acceleration; what is lost is the 1e-5 of the restitution that compliance takes."""
    assert max(abs(jump(seed, 1 / 60, "cube")) for seed in range(8)) < 2e-5


def test_between_bounces_the_energy_of_an_uneven_box_swings_by_order_two():
    """The linear quaternion step (15.59) by itself, before the first bounce."""
    hs, errors = (1 / 60, 1 / 120, 1 / 240, 1 / 480), []
    for h in hs:
        worst = 0.0
        for seed in range(4):
            s = box(seed, h, "uneven")
            s.x[0, 2] += 5.0
            start = energy(s)
            s.run(0.5)
            worst = max(worst, abs(energy(s) / start - 1.0))
        errors.append(worst)
    assert np.polyfit(np.log(hs), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.25)


def test_the_account_of_bounces_of_spinning_boxes_closes():
    s = box(3, 1 / 60, "uneven", 0.7)
    total = lambda: s.kinetic + G * s.x[0, 2]  # noqa: E731
    start = total()
    for _ in range(120):
        s.step()
        assert total() - start == pytest.approx(s.machine.account.sum(), abs=1e-11 * start)
