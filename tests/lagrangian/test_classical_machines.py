"""Pendulum and slider crank under classical methods: the numbers of lacoursiere2007, chapters 6 and 7, h = 1/60, start horizontal at rest.

The thesis' pictures have no numbers; those here were measured by independent programs. Energies are judged to their last digit given.
"""

from itertools import pairwise

import numpy as np
import pytest

import dalembert as dal
from dalembert.verification import SliderCrank, slider_crank_configuration, slider_crank_jacobian

H, STEPS, GRAVITY = 1 / 60, 400, 10.0


def weight(q, v):
    return 0.5 * (v[0] ** 2 + v[1] ** 2) - GRAVITY * q[1]


LENGTH = dal.Lagrangian(2, weight, holonomic=lambda q: [np.sqrt(q[0] ** 2 + q[1] ** 2) - 1], name="pendulum")
SQUARE = dal.Lagrangian(2, weight, holonomic=lambda q: [0.5 * (q[0] ** 2 + q[1] ** 2 - 1)], name="pendulum, squared")
REDUCED = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + GRAVITY * np.cos(q[0]), name="reduced pendulum")


def run(system, stepper, steps=STEPS, **options):
    q0 = [np.pi / 2] if system is REDUCED else [1.0, 0.0]
    return dal.simulate(system, stepper, h=H, t_end=steps * H, q0=q0, **options)


def symmetric_energy(traj):
    """(6.16): E_k = |v_k|^2 / 2 + g (y_k + y_k-1) / 2, v_k the velocity of the interval."""
    return 0.5 * (traj.v_interval**2).sum(axis=1) + 0.5 * GRAVITY * (traj.q[1:, 1] + traj.q[:-1, 1])


def energy_with_springs(traj, stiffness):
    return traj.energy + 0.5 * stiffness * LENGTH.constraint_errors(traj.q)[:, 0] ** 2


def periods(traj):
    """Times between every other passage through the lowest point, interpolated."""
    phi = np.arctan2(traj.q[:, 0], -traj.q[:, 1])
    k = np.flatnonzero(phi[:-1] * phi[1:] < 0)
    passages = traj.t[k] + H * phi[k] / (phi[k] - phi[k + 1])
    return np.diff(passages[::2])


@pytest.mark.parametrize(("tol", "low", "high"), [(1e-4, 1e-3, 5e-2), (1e-6, 1e-4, 5e-4), (1.5e-8, -2e-6, 2e-6)])
def test_p1_lsoda_creeps(tol, low, high):
    """Energy after 400 nodes: +1.3e-2, +2.4e-4, -3e-7. Sign and size depend on the steps that LSODA happens to take: a band, not digits."""
    assert low < run(REDUCED, "lsoda", rtol=tol, atol=tol).energy[-1] < high


def test_p3_penalty_with_implicit_euler():
    """Energy with that of the spring after 100, 200, 400 steps, periods 2.177 and 2.089; the lowest point is passed within (.583, .600)."""
    traj = run(LENGTH, "penalty-implicit", stiffness=1e4)
    assert energy_with_springs(traj, 1e4)[[100, 200, 400]] == pytest.approx((-3.87, -6.04, -8.08), abs=5e-3)
    assert periods(traj)[:2] == pytest.approx((2.177, 2.089), abs=5e-4)
    assert traj.t[np.argmax(traj.q[:, 0] < 0)] == pytest.approx(0.600, abs=1e-12)
    stiffer = run(LENGTH, "penalty-implicit", stiffness=1e6)
    assert energy_with_springs(stiffer, 1e6)[[100, 200, 400]] == pytest.approx((-3.877, -6.038, -8.077), abs=1e-3)  # h damps, not k
    assert np.abs(LENGTH.constraint_errors(stiffer.q)).max() < 31 / 1e6  # tension up to 3 m g


@pytest.mark.parametrize(("damping", "energy"), [(1.0, -0.134), (200.0, -7.18)])
def test_p4_penalty_with_midpoint(damping, energy):
    """b = 1, as in the figure's caption; b = 200 is the damping ratio 1 of the text, and would have stopped it."""
    traj = run(LENGTH, "penalty-midpoint", stiffness=1e4, damping=damping)
    assert energy_with_springs(traj, 1e4)[-1] == pytest.approx(energy, abs=5e-3 if damping > 1 else 5e-4)
    if damping == 1.0:
        assert periods(traj)[:2] == pytest.approx((2.349, 2.347), abs=6e-4)


def test_p5_projection_comes_to_rest():
    traj = run(LENGTH, "projection", steps=800)
    energy = symmetric_energy(traj)
    assert energy[[99, 199, 399, 799]] == pytest.approx((-3.84, -6.02, -8.03, -9.47), abs=5.1e-3)
    assert (np.diff(energy) < 0).all()
    assert periods(traj)[:2] == pytest.approx((2.175, 2.087), abs=5e-4)
    assert np.abs(np.linalg.norm(traj.q, axis=1) - 1).max() < 1e-15


def test_p5_projection_scales_to_the_length_and_loses_what_the_formula_says():
    """q_k+1 = q~ / |q~|; dE = (a - 1) / (2 a h^2) (1 - q_k+1 . q_k-1), a = 1 / |q~| ((6.17) corrected)."""
    traj = run(LENGTH, "projection")
    q = traj.q
    free = 2 * q[1:-1] - q[:-2] - H**2 * np.array([0.0, GRAVITY])
    size = np.linalg.norm(free, axis=1)
    assert np.abs(q[2:] - free / size[:, None]).max() < 1e-14
    loss = (1 / size - 1) * size / (2 * H**2) * (1 - (q[2:] * q[:-2]).sum(axis=1))
    assert np.abs(np.diff(symmetric_energy(traj)) - loss).max() < 1e-10  # differences of q over h^2


@pytest.mark.parametrize("system", [LENGTH, SQUARE], ids=lambda s: s.name)
@pytest.mark.parametrize(("order", "energy", "digits"), [(1, -7.35, 5e-3), (2, -0.13, 5e-3)])
def test_p8_ggl(system, order, energy, digits):
    traj = run(system, "ggl", order=order)
    assert traj.energy[-1] == pytest.approx(energy, abs=digits)
    assert np.abs(system.constraint_errors(traj.q)).max() < 1e-15
    assert np.abs(system.velocity_errors(traj.q, traj.v)).max() < 1e-14


def test_p9_baumgarte_drifts_upwards():
    """E = +7.1e-4 and |g| = 2.48e-5 in 400 steps, 2.0e-6 per step, .0404 after 20,000."""
    traj = run(SQUARE, "baumgarte", steps=20_000)
    assert traj.energy[400] == pytest.approx(7.1e-4, abs=5e-6)
    assert np.abs(SQUARE.constraint_errors(traj.q[:401])).max() == pytest.approx(2.48e-5, abs=5e-8)
    assert traj.energy[-1] == pytest.approx(0.0404, abs=5e-5)
    assert np.polyfit(np.arange(20_001), traj.energy, 1)[0] == pytest.approx(2.0e-6, abs=5e-8)
    assert np.abs(SQUARE.constraint_errors(traj.q)).max() < 3e-5


# slider crank -----------------------------------------------------------------------------------------------------------------------

MASSES = np.array([1.0, 1.0, 1 / 12] * 2)


def crank_energy(q, v):
    return 0.5 * sum(m * x**2 for m, x in zip(MASSES, v, strict=True)) - 9.8 * (q[1] + q[4])


def crank_rows(q):
    c1, s1, c2, s2 = 0.5 * np.cos(q[2]), 0.5 * np.sin(q[2]), 0.5 * np.cos(q[5]), 0.5 * np.sin(q[5])
    return [q[0] - c1, q[1] - s1, q[0] + c1 - q[3] + c2, q[1] + s1 - q[4] + s2, q[4] + s2]


CRANK = dal.Lagrangian(6, crank_energy, holonomic=crank_rows, name="slider crank")
DRAGGED = dal.Lagrangian(6, crank_energy, holonomic=crank_rows, force=lambda q, v: -0.3 * v, name="slider crank with drag")
CRANK_EXACT = SliderCrank(np.pi / 4)


def swing(system, rk, h=H, t_end=6.0):
    return dal.simulate(system, "baumgarte", h=h, t_end=t_end, q0=slider_crank_configuration(np.pi / 4), rk=rk)


def crossings(traj):
    phi = traj.q[:, 2] + np.pi / 2
    k = np.flatnonzero(phi[:-1] * phi[1:] < 0)
    return traj.t[k] + traj.h * phi[k] / (phi[k] - phi[k + 1])


def conditions(q):
    rows = np.array([slider_crank_jacobian(x) for x in q])
    return np.linalg.cond(rows @ (rows / MASSES).transpose(0, 2, 1))


def test_slider_crank_passes_its_singularity_with_rk4():
    """Quarter periods at .88303, 2.64908, 4.41514 and x1 over a period; the branch phi2 = -phi1 is kept."""
    traj = swing(CRANK, 4)
    assert crossings(traj) == pytest.approx(CRANK_EXACT.quarter_time * np.array([1, 3, 5]), abs=3e-4)
    period = traj.t < CRANK_EXACT.period
    assert np.abs(traj.q[period, 0] - CRANK_EXACT.configuration(traj.t[period])[:, 0]).max() < 2e-4
    assert np.abs(traj.q[:, 2] + traj.q[:, 5]).max() < 1e-10
    assert np.abs(CRANK.constraint_errors(traj.q)).max() < 5e-5
    finer = swing(CRANK, 4, h=H / 4)
    assert crossings(finer) == pytest.approx(CRANK_EXACT.quarter_time * np.array([1, 3, 5]), abs=2e-5)
    assert conditions(traj.q).max() > 1e4  # it does come near the singularity


def test_slider_crank_with_rk2():
    """Gains energy and is late: by .063 s after three quarters of a period, by less than half of that at half the step."""
    late = [crossings(swing(CRANK, 2, h))[1] - 3 * CRANK_EXACT.quarter_time for h in (H, H / 2, H / 4, H / 8)]
    assert late[0] == pytest.approx(0.063, abs=5e-4)
    assert all(0 < fine < 0.5 * coarse for coarse, fine in pairwise(late))
    traj = swing(CRANK, 2)
    assert np.abs(crossings(traj) - CRANK_EXACT.quarter_time * np.array([1, 3, 5])).max() < 0.25
    assert np.abs(traj.q[:, 2] + traj.q[:, 5]).max() < 1e-10
    assert np.abs(CRANK.constraint_errors(traj.q)).max() < 1.5e-3


@pytest.mark.parametrize("rk", [2, 4])
def test_slider_crank_with_drag_settles_on_its_singularity(rk):
    """phi -> -pi/2, where rank falls to 4 and the condition number of G M^-1 G^T passes 1e15: the dependent row is left out there."""
    traj = swing(DRAGGED, rk, t_end=120.0)
    assert traj.q[-1, [2, 5]] == pytest.approx((-np.pi / 2, np.pi / 2), abs=1e-5)
    assert np.abs(traj.v[-1]).max() < 1e-4
    assert conditions(traj.q).max() > 1e15
    assert np.abs(DRAGGED.constraint_errors(traj.q[-2000:])).max() < 1e-12
