"""Spring and damper as a contact: closed forms against an integrator with events, in all regimes of damping."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dalembert.errors import OptionError
from dalembert.verification.smooth_impact import SmoothImpact, damping_ratio, restitution


def impact(zeta, mass=0.7, stiffness=900.0, speed=1.3):
    return SmoothImpact(mass, stiffness, 2 * zeta * np.sqrt(stiffness * mass), speed)


def integrate(case, end, **options):
    def rate(_, y):
        return [y[1], -(case.stiffness * y[0] + case.damping * y[1]) / case.mass]

    return solve_ivp(
        rate, (0, end), [0.0, -case.speed], "DOP853", rtol=1e-12, atol=1e-14, max_step=0.05 / (case.omega * (1 + case.zeta)), **options
    )


@pytest.mark.parametrize("zeta", [0.0, 0.05, 0.4, 0.9, 0.9999999, 1.0, 1.0000001, 1.5, 6.0])
def test_motion_and_depth(zeta):
    case = impact(zeta)
    end = min(case.duration, 10 / case.omega)
    t = np.linspace(0, end, 41)
    found = integrate(case, end, t_eval=t, events=[lambda t, y: y[1]])
    q, v = case.state(t)
    assert np.max(np.abs(q - found.y[0])) < 1e-11
    assert np.max(np.abs(v - found.y[1])) < 1e-10
    deepest = found.t_events[0][0]
    assert case.deepest_time == pytest.approx(deepest, rel=1e-8)
    assert case.penetration == pytest.approx(-found.y_events[0][0][0], rel=1e-10)
    assert np.max(np.abs(case.force(t) + case.stiffness * found.y[0] + case.damping * found.y[1])) < 1e-8


@pytest.mark.parametrize("zeta", [0.0, 0.05, 0.4, 0.8])
def test_exit(zeta):
    def leaves(t, y):
        return y[0] if t > 1e-6 else -1.0

    leaves.terminal, leaves.direction = True, 1.0
    case = impact(zeta)
    found = integrate(case, 10.0, events=[leaves])
    assert found.t[-1] == pytest.approx(case.duration, rel=1e-9)
    assert found.y[1, -1] == pytest.approx(case.restitution * case.speed, rel=1e-9)
    q, v = case.state(case.duration + np.array([0.0, 0.5]))
    assert q == pytest.approx([0.0, 0.5 * case.restitution * case.speed], abs=1e-14)
    assert v == pytest.approx(case.restitution * case.speed, rel=1e-13)
    assert case.force(case.duration + 0.5) == 0.0


@pytest.mark.parametrize("zeta", [1.0, 1.5, 6.0])
def test_strong_damping_never_lets_go(zeta):
    case = impact(zeta)
    assert case.duration == np.inf and case.restitution == 0.0
    q, _ = case.state(np.linspace(1e-3, 5.0, 200))
    assert np.all(q < 0.0)


def test_critical_depth():
    """v0 / (omega e) at s = 1, and continuous across zeta = 1."""
    case = impact(1.0)
    assert case.zeta == 1.0
    assert case.penetration == pytest.approx(case.speed / (case.omega * np.e), rel=1e-15)
    assert case.deepest_time == pytest.approx(1 / case.omega, rel=1e-15)
    for nudge in (1e-9, -1e-9):
        assert impact(1.0 + nudge).penetration == pytest.approx(case.penetration, rel=1e-9)


def test_undamped():
    case = impact(0.0)
    assert case.restitution == 1.0
    assert case.duration == pytest.approx(np.pi / case.omega, rel=1e-15)
    assert case.penetration == pytest.approx(case.speed / case.omega, rel=1e-15)
    assert case.pull_time == pytest.approx(case.duration, rel=1e-15)


def test_restitution_and_its_inverse():
    for r in (1.0, 0.9, 0.5, 0.1, 1e-6):
        assert restitution(damping_ratio(r)) == pytest.approx(r, rel=1e-12)
    for zeta in (0.0, 0.01, 0.3, 0.9):
        assert damping_ratio(restitution(zeta)) == pytest.approx(zeta, rel=1e-13)
    assert damping_ratio(0.0) == 1.0 and restitution(1.0) == restitution(7.0) == 0.0


def test_restitution_knows_neither_speed_nor_stiffness():
    cases = [impact(0.3), impact(0.3, speed=9.0), impact(0.3, stiffness=1e5), impact(0.3, mass=20.0)]
    assert [c.restitution for c in cases] == pytest.approx([restitution(0.3)] * 4, rel=1e-14)
    assert cases[1].penetration / cases[0].penetration == pytest.approx(9.0 / 1.3, rel=1e-14)
    assert cases[2].penetration / cases[0].penetration == pytest.approx(np.sqrt(900 / 1e5), rel=1e-14)
    # the same damper on another mass is another restitution
    assert SmoothImpact(1.0, 100.0, 4.0, 1.0).restitution != pytest.approx(SmoothImpact(4.0, 100.0, 4.0, 1.0).restitution, rel=0.1)


@pytest.mark.parametrize("zeta", [0.05, 0.4, 0.9, 1.0, 1.5, 6.0])
def test_contact_pulls_before_it_ends(zeta):
    """The force is zero at 2 s*, positive before, negative after; the speed there is exp(-2 zeta s*) of the first."""
    case = impact(zeta)
    assert case.pull_time < case.duration
    scale = case.stiffness * case.penetration
    assert case.force(case.pull_time) == pytest.approx(0.0, abs=1e-12 * case.damping * case.speed)
    assert case.force(0.99 * case.pull_time) > 1e-6 * scale > -1e-6 * scale > case.force(1.01 * case.pull_time)
    assert case.state(case.pull_time)[1] == pytest.approx(case.restitution_without_adhesion * case.speed, rel=1e-12)
    assert case.restitution_without_adhesion > case.restitution


def test_bad_arguments():
    with pytest.raises(OptionError, match="damping 0 or more"):
        SmoothImpact(1.0, 1.0, -1.0, 1.0)
    with pytest.raises(OptionError, match=r"r = 1\.5"):
        damping_ratio(1.5)
    with pytest.raises(OptionError, match="zeta = -1"):
        restitution(-1.0)
