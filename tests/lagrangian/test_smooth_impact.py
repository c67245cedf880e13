"""Smooth impacts (lacoursiere2007, chapter 9): spring and damper while q < 0, as a Lagrangian with a switched potential and drag.

Restitution r = exp(-pi zeta / sqrt(1 - zeta^2)) while the contact holds until q = 0; tolerances follow from order 1 at the switches.
"""

import casadi as ca
import numpy as np
import pytest

import dalembert as dal
from dalembert.verification import SmoothImpact, damping_ratio, restitution

CONTACT = dal.Lagrangian(
    1,
    lambda q, v, p: 0.5 * p.mass * v[0] ** 2 - 0.5 * p.k * ca.fmin(q[0], 0.0) ** 2,
    force=lambda q, v, p: [ca.if_else(q[0] < 0.0, -p.b * v[0], 0.0)],
    params={"mass": 1.0, "k": 1.0, "b": 0.0},
    name="ball on spring and damper",
)


def system(mass, k, zeta):
    return CONTACT.with_params(mass=mass, k=k, b=2 * zeta * np.sqrt(k * mass))


def bounce(stepper, zeta, mass=1.0, k=1e4, speed=1.0, steps=400, height=0.0):
    """A run from q = height downwards that ends well after the contact, and the closed form."""
    exact = SmoothImpact(mass, k, 2 * zeta * np.sqrt(k * mass), speed)
    duration = exact.duration if zeta < 1 else 20 / exact.omega
    h = duration / steps
    t_end = h * round((1.3 * duration + height / speed) / h)
    traj = dal.simulate(system(mass, k, zeta), stepper, h=h, t_end=t_end, q0=[height], v0=[-speed])
    return traj, exact


@pytest.mark.parametrize("stepper", ["midpoint", "verlet", "trapezoidal", "galerkin4"])
@pytest.mark.parametrize("zeta", [0.0, 0.1, 0.5, 0.8])
def test_restitution(stepper, zeta):
    """Exit speed r v_0 within 2 % at 400 steps per contact, and four times closer with 1,600 (the exit falls inside a step: order 1)."""
    r = restitution(zeta)
    for steps, allowed in ((400, 0.02), (1600, 0.005)):
        traj, exact = bounce(stepper, zeta, steps=steps)
        assert traj.q[-1, 0] > 0
        assert traj.v[-1, 0] == pytest.approx(r, abs=allowed * max(r, 0.05))
        assert traj.q[:, 0].min() == pytest.approx(-exact.penetration, rel=allowed)


def test_motion_during_the_contact():
    """Before the exit the run is the closed form to the order of the method: order 2 in the middle of the contact."""
    for zeta in (0.1, 0.5):
        errors = []
        for steps in (100, 200, 400, 800):
            traj, exact = bounce("midpoint", zeta, steps=steps)
            inside = traj.t < 0.9 * exact.duration
            errors.append(np.abs(traj.q[inside, 0] - exact.state(traj.t[inside])[0]).max())
        assert np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2).max() < 0.1


def test_restitution_depends_on_zeta_alone():
    """Not on speed, nor on stiffness or mass at the same zeta; penetration ~ v_0/omega, duration pi/(omega sqrt(1 - zeta^2))."""
    found = []
    for mass, k, speed in ((1.0, 1e4, 1.0), (1.0, 1e4, 7.0), (1.0, 1e6, 1.0), (3.0, 1e4, 1.0)):
        traj, exact = bounce("midpoint", 0.2, mass, k, speed)
        found.append(traj.v[-1, 0] / speed)
        assert traj.q[:, 0].min() / (speed / exact.omega) == pytest.approx(-exact.penetration * exact.omega / speed, rel=1e-3)
        leaves = traj.t[np.nonzero(traj.q[:, 0] < 0)[0].max()]
        assert leaves == pytest.approx(np.pi / (exact.omega * np.sqrt(1 - 0.2**2)), rel=2 / 400)
    assert np.ptp(found) < 1e-9
    assert found[0] == pytest.approx(restitution(0.2), rel=0.02)


def test_spring_dampers_depend_on_the_mass():
    """The thesis' complaint: the same spring and damper give other restitutions to other masses, zeta = b / (2 sqrt(k m))."""
    b, k, found = 20.0, 1e4, []
    for mass in (0.5, 1.0, 4.0):
        exact = SmoothImpact(mass, k, b, 1.0)
        assert exact.zeta == pytest.approx(b / (2 * np.sqrt(k * mass)), rel=1e-15)
        traj, _ = bounce("midpoint", exact.zeta, mass, k)
        assert traj.v[-1, 0] == pytest.approx(exact.restitution, rel=0.02)
        found.append(traj.v[-1, 0])
    assert found[0] < found[1] - 0.05 < found[2] - 0.1


def test_inverse():
    """zeta = -ln r / sqrt(pi^2 + ln^2 r) makes a run bounce with the wanted r."""
    for r in (0.2, 0.5, 0.9):
        traj, _ = bounce("midpoint", damping_ratio(r))
        assert traj.v[-1, 0] == pytest.approx(r, rel=0.02)


@pytest.mark.parametrize("zeta", [1.0, 2.0])
def test_critical_and_overdamped_contacts_never_leave(zeta):
    """zeta = 1: deepest v_0/(omega e) at s = 1; zeta > 1: by the closed form; both stay below q = 0 for good."""
    traj, exact = bounce("midpoint", zeta, steps=2000)
    assert (traj.q[1:, 0] < 0).all()
    assert np.abs(traj.q[:, 0] - exact.state(traj.t)[0]).max() < 1e-4 * exact.penetration
    if zeta == 1.0:
        assert traj.q[:, 0].min() == pytest.approx(-1 / (exact.omega * np.e), rel=(exact.omega * traj.h) ** 2)
        assert traj.t[traj.q[:, 0].argmin()] == pytest.approx(1 / exact.omega, abs=traj.h)


def test_falling_ball():
    """From a height: the entry also falls inside a step; r within 2 % at 400 steps per contact."""
    traj, _ = bounce("midpoint", 0.3, steps=400, height=0.013)
    assert traj.v[-1, 0] == pytest.approx(restitution(0.3), rel=0.02)


def test_the_contact_pulls_before_it_ends():
    """Adhesive near the exit: the force -(k q + b v) turns negative at 2 s*, before q = 0."""
    traj, exact = bounce("midpoint", 0.3)
    q, v = traj.q[:, 0], traj.v[:, 0]
    force = -(exact.stiffness * q + exact.damping * v)
    pulls = traj.t[(q < 0) & (force < 0)]
    assert pulls.min() == pytest.approx(exact.pull_time, abs=2 * traj.h)
    assert pulls.max() == pytest.approx(exact.duration, abs=2 * traj.h)
