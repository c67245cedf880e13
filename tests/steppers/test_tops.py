"""The tops of lacoursiere2007, 15.8: inertias (1, 1, 2) about the centre of mass, l = 4, g = 10, tilted by 10 degrees, spin omega3.

The mass is not printed; m = 1/6 fits "stays upright above omega3 = 5" (threshold 4.944), m = 1 gives the degraded run. Judges: the closed
form of Lagrange's top and its turning points; the numbers were measured independently with the plain 4x4 eigenproblem and 3x3 solve of the
thesis.
"""

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import SimulationError, UnsupportedError
from dalembert.kernels.rigid_body import layout as at
from dalembert.kernels.status import OK
from dalembert.registry import find
from dalembert.runs.plan import Plan
from dalembert.verification.lagrange_top import LagrangeTop

LENGTH, GRAVITY, TILT, I3 = 4.0, 10.0, np.radians(10.0), 2.0
LIGHT, HEAVY = 1.0 / 6.0, 1.0
Q0 = np.array([np.cos(0.5 * TILT), np.sin(0.5 * TILT), 0.0, 0.0])
SPINS = (0.1, 2.0, 20.0)
SECOND_ORDER = [s.name for s in dal.steppers(system="rigid-body", order=2)]


def top(mass=LIGHT):
    m = dal.Model("top", gravity=(0.0, 0.0, -GRAVITY))
    m.add_body("rotor", mass, (1.0, 1.0, 2.0), com=(0.0, 0.0, LENGTH))
    m.add_joint("tip", "spherical", "world", "rotor")
    return m


def inertia(mass):
    return np.array([1.0 + mass * LENGTH**2, 1.0 + mass * LENGTH**2, I3])


def exact(omega3, mass=LIGHT):
    return LagrangeTop(inertia(mass)[0], I3, mass * GRAVITY * LENGTH, TILT, omega3)


def simulate(stepper, omega3, h=0.01, T=10.0, mass=LIGHT, **options):
    return dal.simulate(top(mass), stepper, h=h, t_end=T, q0=Q0, v0=(0.0, 0.0, omega3), **options)


def axis(q):
    """R(q) e3"""
    w, x, y, z = q.T
    return np.column_stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


def spatial(q, p):
    """R(q) p"""
    s, v = q[:, :1], q[:, 1:]
    return p + 2.0 * np.cross(v, np.cross(v, p) + s * p)


def interval_energy(q, omega, mass):
    """Kinetic energy of the interval velocities and the mean potential of their two nodes: the energy of a staggered method."""
    z = axis(q)[:, 2]
    return 0.5 * omega**2 @ inertia(mass) + 0.5 * mass * GRAVITY * LENGTH * (z[1:] + z[:-1])


def position_error(q, t, omega3, mass=LIGHT):
    """Largest component of the error of the centre of mass x = l R e3."""
    return LENGTH * np.abs(axis(q) - axis(exact(omega3, mass).attitude(t))).max()


# slow, middle, fast ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("omega3", "lowest", "degrees", "E0"), [(0.1, -0.9992, 177.7, 6.5754), (2.0, -0.6757, 132.5, 10.5654), (20.0, 0.9838, 10.32, 406.5654)]
)
def test_exact_facts(omega3, lowest, degrees, E0):
    """Turning point and energy as printed; the run starts with the same energy."""
    closed = exact(omega3)
    assert np.cos(closed.turning_points[1]) == pytest.approx(lowest, abs=5e-5)
    assert np.degrees(closed.turning_points[1]) == pytest.approx(degrees, abs=0.05 if degrees > 100 else 0.005)
    assert closed.energy == pytest.approx(E0, abs=5e-5)
    assert simulate("cayley", omega3, T=0.01).energy[0] == pytest.approx(closed.energy, rel=1e-14)
    beta, lam, z0 = 2 * LIGHT * GRAVITY * LENGTH / inertia(LIGHT)[0], I3 * omega3 / inertia(LIGHT)[0], np.cos(TILT)
    roots = np.roots([-beta, lam**2, beta - lam**2 * z0])  # beta (1 - u^2) = lam^2 (z0 - u)
    assert np.cos(closed.turning_points[1]) == pytest.approx(roots.min(), abs=1e-12)


def test_sleeping_threshold():
    assert exact(1.0).sleeping_threshold == pytest.approx(4.944, abs=5e-4)
    assert exact(1.0, HEAVY).sleeping_threshold == pytest.approx(26.08, abs=5e-3)


@pytest.mark.parametrize("stepper", SECOND_ORDER)
@pytest.mark.parametrize("omega3", SPINS)
def test_lowest_point(stepper, omega3):
    """h = 0.01, T = 10: within 1e-3 of the root. Between two nodes the top sinks less than 1e-4 further."""
    z = axis(simulate(stepper, omega3).q)[:, 2]
    assert z.min() == pytest.approx(np.cos(exact(omega3).turning_points[1]), abs=1e-3)


@pytest.mark.parametrize("omega3", SPINS)
def test_variational_step_keeps_both_momenta(omega3):
    """L3 in the body and Lz in space: 1e-11 is asked, 1e-13 is kept."""
    traj = simulate("quaternion", omega3)
    scale = max(1.0, I3 * omega3)
    assert np.abs(I3 * traj.v[:, 2] - exact(omega3).L3).max() < 1e-13 * scale
    assert np.abs(traj.momentum[:, 2] - exact(omega3).Lz).max() < 1e-13 * scale


@pytest.mark.parametrize(("omega3", "least", "most"), [(0.1, 6.5753, 6.5786), (2.0, 10.5654, 10.5698)])
def test_energy_range_of_the_variational_step(omega3, least, most):
    """h = 0.01, T = 10: the energy of the intervals, E0 included, to the printed digits."""
    traj = simulate("quaternion", omega3)
    E = np.append(interval_energy(traj.q, traj.v_interval, LIGHT), traj.energy[0])
    assert abs(E.min() - least) < 0.51e-4
    assert abs(E.max() - most) < 0.51e-4


# Bobenko and Suris -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("h", "printed", "unit"), [(0.01, 1.4e-4, 1e-5), (0.005, 3.4e-5, 1e-6)])
def test_bobenko_suris_error(h, printed, unit):
    """omega3 = 2, T = 2."""
    traj = simulate("bobenko-suris", 2.0, h, 2.0)
    assert abs(position_error(traj.q, traj.t, 2.0) - printed) < 0.51 * unit


@pytest.mark.parametrize("omega3", SPINS)
@pytest.mark.parametrize("h", [0.01, 0.1])
def test_bobenko_suris_invariants(omega3, h):
    """|a|, M . e3, M . a and |M|^2/(2 I1) + k a.e3 + (h k/2 I1) e3.(a x M), M before the kick of its node: round-off over 1000 steps.

    Relative to the largest value: M is of size 2 omega3 + 10, the energy of size omega3^2 + 10.
    """
    traj = simulate("bobenko-suris", omega3, h, 1000 * h)
    I1, k = inertia(LIGHT)[0], LIGHT * GRAVITY * LENGTH
    a, e3 = axis(traj.q), np.array([0.0, 0.0, 1.0])
    node = spatial(traj.q, inertia(LIGHT) * traj.v)
    M = node - 0.5 * h * k * np.cross(e3, a)
    size = 2 * omega3 + 10.0
    assert np.abs(np.linalg.norm(a, axis=1) - 1.0).max() < 1e-14
    assert np.ptp(M @ e3) < 1e-13 * size
    assert np.ptp(np.sum(M * a, axis=1)) < 1e-13 * size
    modified = np.sum(M * M, axis=1) / (2 * I1) + k * a[:, 2] + h * k / (2 * I1) * np.cross(a, M) @ e3
    assert np.ptp(modified) < 1e-13 * (omega3**2 + 10.0)
    plain = np.sum(M * M, axis=1) / (2 * I1) + k * a[:, 2]
    assert np.ptp(plain) > 1e-4  # without its third term it is not conserved


def test_bobenko_suris_refuses_an_asymmetric_top():
    m = dal.Model("top", gravity=(0, 0, -GRAVITY))
    m.add_body("rotor", 1.0, (1.0, 1.1, 2.0), com=(0, 0, LENGTH))
    m.add_joint("tip", "spherical", "world", "rotor")
    with pytest.raises(UnsupportedError, match="symmetric top"):
        dal.simulate(m, "bobenko-suris", h=0.01, t_end=0.1)


# the linear step -------------------------------------------------------------------------------------------------------------------


def thesis_run(stepper, mass, omega3, h, T=10.0):
    """(q, interval velocities) of a run that starts as in the thesis: the interval before t = 0 was travelled with omega(0).

    Its right momentum plus half the kick of node 0 is the node momentum. The rotation itself is given too, as the momentum cannot tell a
    turn by more than 90 degrees from a smaller one.
    """
    method = find("rigid-body", stepper)
    engine = Plan.bare(top(mass).frozen(), method, h).engine()
    engine.start(Q0, np.array([0.0, 0.0, omega3]))
    weight = -mass * GRAVITY * np.array([0.0, np.sin(TILT), np.cos(TILT)])  # body axes
    kick = 0.5 * h * np.cross([0.0, 0.0, LENGTH], weight)
    right = np.array([0.0, 0.0, I3 * np.sin(h * omega3) / h])  # (2/h) y_s I y_v of a spin about e3
    engine.state[at.ANGULAR : at.ANGULAR + 3] = right + kick
    engine.state[at.RATE : at.RATE + 3] = 0.0, 0.0, omega3
    engine.state[at.STARTED] = 1.0
    first = engine.state[None, :].copy()
    chunk = engine.advance(round(T / h), 1)
    assert chunk.status == OK
    found = engine.unpack(np.concatenate([first, chunk.states]))
    return found["q"], found["v_interval"]()[1:]


@pytest.mark.parametrize(("h", "printed", "unit"), [(0.01, 0.010, 1e-3), (0.1, 1.165, 1e-3)])
def test_linear_step_on_the_fast_top(h, printed, unit):
    """m = 1/6, omega3 = 20: no breakdown, energy kept to .04 %. The third printed error, .226 at h = 0.05, is 0.2287 here."""
    q, omega = thesis_run("quaternion-linear", LIGHT, 20.0, h)
    assert abs(position_error(q, h * np.arange(len(q)), 20.0) - printed) < 0.51 * unit
    E = interval_energy(q, omega, LIGHT)
    assert np.abs(E / exact(20.0).energy - 1.0).max() < 4e-4


def test_linear_step_on_the_fast_top_at_h_005():
    """Pinned to the plain 3x3 form of the thesis, which gives 0.2287."""
    q, _ = thesis_run("quaternion-linear", LIGHT, 20.0, 0.05)
    assert position_error(q, 0.05 * np.arange(len(q)), 20.0) == pytest.approx(0.2287, abs=0.51e-4)


@pytest.mark.parametrize(("omega3", "h", "gap"), [(0.1, 0.01, 2e-3), (2.0, 0.01, 2e-3), (20.0, 0.01, 2e-4), (20.0, 0.05, 2e-4)])
def test_linear_step_agrees_with_the_variational_step(omega3, h, gap):
    """While h omega3 <= 1 both tops are in the same place: far closer to each other than either is to the truth."""
    q4, _ = thesis_run("quaternion", LIGHT, omega3, h)
    q5, _ = thesis_run("quaternion-linear", LIGHT, omega3, h)
    difference = LENGTH * np.abs(axis(q4) - axis(q5)).max()
    assert difference < gap
    assert difference < 0.3 * position_error(q4, h * np.arange(len(q4)), omega3)


@pytest.mark.parametrize("mass", [LIGHT, HEAVY])
@pytest.mark.parametrize(("omega3", "h"), [(0.1, 0.01), (2.0, 0.01), (20.0, 0.01), (20.0, 0.05), (20.0, 0.1)])
def test_linear_step_never_blows_up(mass, omega3, h):
    q, omega = thesis_run("quaternion-linear", mass, omega3, h)
    assert interval_energy(q, omega, mass).max() < 1.01 * exact(omega3, mass).energy


def test_linear_step_degrades_on_the_heavy_fast_top():
    """m = 1, omega3 = 20, h = 0.1: E falls from 439.4 J to about 300 J (printed 312, measured 306 at the last interval, 196 at the lowest)
    and z/l sinks to -.88 instead of .155. At h = 0.05 it is mild: E 438.0 at the end."""
    closed = exact(20.0, HEAVY)
    assert closed.energy == pytest.approx(439.4, abs=0.05)
    assert np.cos(closed.turning_points[1]) == pytest.approx(0.155, abs=5e-4)
    q, omega = thesis_run("quaternion-linear", HEAVY, 20.0, 0.1)
    E = interval_energy(q, omega, HEAVY)
    assert E[-1] == pytest.approx(306.0, abs=0.5)
    assert axis(q)[:, 2].min() == pytest.approx(-0.88, abs=5.1e-3)
    q, omega = thesis_run("quaternion-linear", HEAVY, 20.0, 0.05)
    assert interval_energy(q, omega, HEAVY)[-1] == pytest.approx(438.0, abs=0.05)


def test_failure_of_the_linear_step_names_a_smaller_step():
    """h omega3 = 2: no rotation has the node momentum of the start. The error must not call a larger step provably solvable."""
    with pytest.raises(SimulationError) as failure:
        simulate("quaternion-linear", 20.0, 0.1, 1.0)
    h = float(str(failure.value).split("provably solvable here is h = ")[1].split(" s")[0])
    assert h < 0.1
