"""Bounds (32), (38), (41) and the sharper ones, as functions of constants and numbers only."""

import math

import numpy as np
import pytest

from dalembert.solvability import kantorovich as kan
from dalembert.solvability.tree_constants import Constants

BOUNDS = (kan.iterates_38, kan.newton_41, kan.newton_sharper, kan.newton_local, kan.regular_local)


def constants(n=3, m1=0.2, m2=3.0, l0=2.0, l2=1.5, c1=1.4, **more):
    return Constants("test", np.eye(n), np.eye(n), m1, m2, l0, l2, c1, **more)


def numbers(rng, c, n=3, speed=1.0, bias=2.0, force=2.5, room=None):
    """Numbers that a tree with these constants could have: m1 <= M <= m2, |dM[v]| <= l0 s."""
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    M = Q * np.linspace(c.m1 * 1.1, c.m2, n) @ Q.T
    growth = rng.normal(size=(n, n))
    growth = growth + growth.T
    growth *= 0.8 * c.l0 * speed / np.linalg.norm(growth, 2)
    return kan.Numbers(speed, bias, force, M, growth, drag=c.l4, room=room or kan.Room())


@pytest.mark.parametrize("k1", [0.0, 0.3])
@pytest.mark.parametrize("l3", [0.0, 0.4])
def test_32_is_the_root_of_its_quadratic(k1, l3):
    c, s = constants(k1=k1, l3=l3), 1.7
    h = kan.regular_32(c, s)
    quadratic = c.l2 * s**2 * h**2 + (c.l3 * s - c.k1) * h - 2.0 * c.m1
    assert abs(quadratic) < 1e-8  # the bound stays below the root by 1e-10


def test_32_without_curvature_or_speed():
    assert kan.regular_32(constants(l2=0.0), 3.0) == math.inf
    assert kan.regular_32(constants(), 0.0) == math.inf
    assert kan.regular_32(constants(l2=0.0, l3=0.5), 2.0) == pytest.approx(2.0 * 0.2 / 1.0)
    assert kan.regular_32(constants(m1=0.0), 2.0) == 0.0


def test_32_stops_at_the_end_of_the_room():
    room = kan.Room(np.array([0.1]), np.array([2.0]), np.array([1.0]))
    assert kan.regular_32(constants(), 0.01, room) == pytest.approx(0.05)
    assert kan.regular_32(constants(), 2.0, kan.Room(np.array([9.0]), np.array([2.0]), np.array([1.0]))) == kan.regular_32(constants(), 2.0)


def test_38_and_41_are_roots_of_the_corrected_polynomials():
    """Multiplied by (m1 - h L1): phi of (38) with 2 m1; psi of (41) with 3 m1^2 L1 and L5 that contains h through L3."""
    rng = np.random.default_rng(0)
    c = constants(l3=0.1, l4=0.2, l5=0.05, l6=0.3)
    x = numbers(rng, c)
    L0, L1 = kan.residual_34(c, x), c.l1 * x.speed + 0.5 * (c.l3 * x.speed + c.l4)
    h = kan.iterates_38(c, x)
    r = x.speed + 2.0 * h * L0 / (c.m1 - h * L1)
    assert c.l2 * r**2 * h**2 + c.l3 * r * h == pytest.approx(2.0 * c.m1, rel=1e-6)
    h = kan.newton_41(c, x)
    L2, L3 = 0.5 * (3.0 * c.l0 + c.l6), 0.5 * (h * c.l2 + c.l5)
    L4, L5 = (L2 + L3 * x.speed) * c.m1, 2.0 * L0 * L3 - L1 * L2 - L1 * L3 * x.speed
    psi = h**3 * (2.0 * L0 * L5 + L1**3) + h**2 * (2.0 * L0 * L4 - 3.0 * c.m1 * L1**2) + h * 3.0 * c.m1**2 * L1 - c.m1**3
    assert abs(psi) < 1e-7 * c.m1**3


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_for_every_smaller_step_and_are_ordered(seed):
    rng = np.random.default_rng(seed)
    c = constants(m1=rng.uniform(0.05, 1.0), l0=rng.uniform(0.1, 5.0), l2=rng.uniform(0.1, 5.0), k1=rng.choice([0.0, 0.2]))
    c = Constants(**{**vars(c), "c1": rng.uniform(0.3, 1.5) * c.l0, "l4": c.k1})
    x = numbers(rng, c, speed=rng.uniform(0.1, 3.0), bias=rng.uniform(0.1, 5.0), force=rng.uniform(0.1, 5.0))
    h38, h41, sharper, local, _ = (bound(c, x) for bound in BOUNDS)
    assert h41 <= sharper <= local
    assert h41 <= h38
    assert sharper <= kan.regular_32(c, x.speed)
    for bound in BOUNDS:
        assert bound(c, x) > 0.0


def test_larger_constants_and_forces_give_smaller_steps():
    rng = np.random.default_rng(3)
    base = constants()
    x = numbers(rng, base)
    for change in ({"l0": 4.0, "c1": 2.8}, {"l2": 6.0}):
        worse = constants(**change)
        for bound in (kan.newton_41, kan.newton_sharper, kan.newton_local):
            assert bound(worse, x) < bound(base, x)
    pushed = kan.Numbers(**{**vars(x), "bias": 9.0, "force": 11.0})
    for bound in (kan.newton_41, kan.newton_sharper, kan.newton_local):
        assert bound(base, pushed) < bound(base, x)


def test_no_residual_no_limit():
    rng = np.random.default_rng(4)
    c = constants()
    x = numbers(rng, c, speed=0.0, bias=0.0, force=0.0)
    for bound in (kan.newton_41, kan.newton_sharper, kan.newton_local):
        assert bound(c, x) == math.inf


def test_room_of_slides_limits_every_bound():
    rng = np.random.default_rng(5)
    c = constants(l0=1e-6, l2=1e-6, c1=1e-6)
    room = kan.Room(np.array([0.05]), np.array([1.0]), np.array([1.0]))
    x = numbers(rng, c, room=room)
    for bound in BOUNDS:
        assert bound(c, x) <= 0.05
    assert room.holds(0.05, 0.0)
    assert not room.holds(0.05, 0.1)


def test_largest_step_is_found_from_below():
    assert kan.largest_step(lambda h: h <= 0.3) == pytest.approx(0.3, rel=1e-8)
    assert kan.largest_step(lambda h: h <= 0.3) <= 0.3
    assert kan.largest_step(lambda h: False) == 0.0
    assert kan.largest_step(lambda h: True) == math.inf


def test_certificate_is_kantorovich_on_a_quadratic():
    """e(v) = v^2 g / 2 + v - y from 0: beta = 1, eta = |y|, De has Lipschitz constant g; solvable for y < 0 exactly while 2 g |y| <= 1."""
    c = constants(l0=2.0 / 3.0, l2=0.0, c1=5.0)  # gamma = h
    h = np.array([0.4, 0.49, 0.51, 2.0])
    holds = kan.certificate(c, h, np.ones(4), np.ones(4), np.zeros(4))
    assert holds.tolist() == [True, True, False, False]
    assert holds.tolist() == [1.0 - 2.0 * g >= 0.0 for g in h]
