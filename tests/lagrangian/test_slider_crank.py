"""Slider crank of lacoursiere2007, chapter 7, with m = l = 1, J = 1/12, gravity 9.8: RATTLE and SPOOK through and at its singularity.

Both bars in absolute coordinates, five constraints that lose one rank at phi1 = -pi/2, phi2 = pi/2. Released at pi/4.
"""

import numpy as np
import pytest

import dalembert as dal
from dalembert.verification import SliderCrank, slider_crank_configuration, slider_crank_constraint, slider_crank_jacobian

J, GRAVITY, H = 1 / 12, 9.8, 1 / 60
INVERSE_MASS = np.diag([1, 1, 1 / J, 1, 1, 1 / J])
EXACT = SliderCrank(np.pi / 4)
Q0 = slider_crank_configuration(np.pi / 4)
SPOOK = {"epsilon": 1e-6, "tau": 2.0}


def lagrangian(q, v):
    kinetic = 0.5 * (v[0] ** 2 + v[1] ** 2 + v[3] ** 2 + v[4] ** 2) + 0.5 * J * (v[2] ** 2 + v[5] ** 2)
    return kinetic - GRAVITY * (q[1] + q[4])


def joints(q):
    """Pin at the ground, pin between the bars, slider (7.7, 7.9, 7.14)."""
    c1, s1, c2, s2 = 0.5 * np.cos(q[2]), 0.5 * np.sin(q[2]), 0.5 * np.cos(q[5]), 0.5 * np.sin(q[5])
    return [q[0] - c1, q[1] - s1, q[0] + c1 - q[3] + c2, q[1] + s1 - q[4] + s2, q[4] + s2]


CRANK = dal.Lagrangian(6, lagrangian, holonomic=joints, name="slider crank")
DRAGGED = dal.Lagrangian(6, lagrangian, holonomic=joints, force=lambda q, v: [-0.3 * x for x in v], name="slider crank with drag")


def run(stepper, h=H, t_end=10.0, system=CRANK, **options):
    return dal.simulate(system, stepper, h=h, t_end=t_end, q0=Q0, v0=np.zeros(6), **options)


def before_crossing(traj):
    """Times of the last nodes before phi1 passes -pi/2."""
    ahead = traj.q[:, 2] > -np.pi / 2
    return traj.t[:-1][ahead[1:] != ahead[:-1]]


def schur(q, Sigma=0.0):
    G = slider_crank_jacobian(q)
    return G @ INVERSE_MASS @ G.T + Sigma * np.eye(5)


# the model -------------------------------------------------------------------------------------------------------------------------------


def test_formulas_agree_with_the_jacobian_of_the_thesis():
    """(7.20), last row with v^T J1 R2 u (7.19 corrected)."""
    rng = np.random.default_rng(2)
    for q in rng.normal(size=(5, 6)):
        assert np.abs(CRANK.constraint_errors(q) - slider_crank_constraint(q)).max() < 1e-15
        assert np.abs(CRANK.numbers.rows(q) - slider_crank_jacobian(q)).max() < 1e-15


def test_rank():
    """Row 4 + row 5 - row 2 = (0, 0, l cos phi1, 0, 0, l cos phi2): rank 4 exactly at +-pi/2, 5 elsewhere."""
    for phi in (np.pi / 2, -np.pi / 2):
        assert np.linalg.svd(slider_crank_jacobian(slider_crank_configuration(phi)))[1][-1] < 1e-16 * 10
    for phi in np.linspace(-1.5, 1.5, 31):
        G = slider_crank_jacobian(slider_crank_configuration(phi))
        assert np.linalg.matrix_rank(G) == 5
        assert G[3] + G[4] - G[1] == pytest.approx([0, 0, np.cos(phi), 0, 0, np.cos(phi)], abs=1e-15)


def test_times_of_the_reduced_system():
    assert EXACT.quarter_time == pytest.approx(0.88303, abs=5e-6)
    assert EXACT.period == pytest.approx(3.53211, abs=5e-6)


# run 1: through the singularity ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("h", "times", "violation"), [
    (1 / 60, [0.867, 2.60, 4.30], 7.7e-3),
    (1 / 240, None, 5.4e-4),
    (1 / 960, [0.8823, 2.648, 4.4146], 6.8e-5),
])  # fmt: skip
def test_spook_swings_through(h, times, violation):
    """Crossings of -pi/2, |phi1 + phi2| < 6e-4 (stays on its branch), largest |g|."""
    traj = run("spook", h, **SPOOK)
    if times is not None:
        assert before_crossing(traj)[:3] == pytest.approx(times, abs=6e-4)
    assert np.abs(traj.q[:, 2] + traj.q[:, 5]).max() < 6e-4
    assert np.abs(traj.constraint).max() == pytest.approx(violation, rel=0.01)
    assert np.abs(traj.q[:, 0]).max() < 0.504


def test_spook_converges_to_the_closed_form():
    """With compliance that goes with h^2 (the floor of epsilon = 1e-6 would stop it): order 1 from rest, first swing."""
    errors = []
    for n in (1, 2, 4, 8):
        traj = run("spook", H / n, 3.0, epsilon=1e-6 / n**2, tau=2.0)
        errors.append(np.abs(traj.q[:, 2] - EXACT.state(traj.t)[0]).max())
    assert errors[0] < 0.2
    assert np.log2(errors[-2] / errors[-1]) > 0.8


def test_conditioning_is_bounded_by_the_compliance():
    """cond(S + Sigma) <= (lambda_max + Sigma) / Sigma, Sigma = 4 epsilon / (9 h^2) = 1.6e-3: at most 5.5e3; without it beyond 1e5."""
    traj = run("spook", **SPOOK)
    Sigma = 4 * 1e-6 / (9 * H**2)
    assert Sigma == pytest.approx(1.6e-3, rel=1e-12)
    bounded = [np.linalg.cond(schur(q, Sigma)) for q in traj.q]
    assert max(bounded) == pytest.approx(5.5e3, rel=0.01)
    for q, c in zip(traj.q[::20], bounded[::20], strict=True):
        assert c <= (np.linalg.eigvalsh(schur(q))[-1] + Sigma) / Sigma * (1 + 1e-9)
    assert max(np.linalg.cond(schur(q)) for q in traj.q) > 1e5


def test_spook_loses_some_energy():
    """5 to 10 % of the swing's 16.7 J in 10 s with h = 1/60 (the linearised form dissipates)."""
    traj = run("spook", **SPOOK)
    swing = EXACT.energy + GRAVITY
    assert 0.04 < (traj.energy[0] - traj.energy[-1]) / swing < 0.10


@pytest.mark.parametrize("stepper", ["rattle", "shake"])
def test_rattle_swings_through(stepper):
    """On the branch, constraints and energy kept; period and range of the reduced system; order 2."""
    errors = []
    for n in (1, 2, 4, 8):
        traj = run(stepper, H / n)
        assert np.abs(traj.constraint).max() < 1e-14
        assert np.abs(traj.q[:, 2] + traj.q[:, 5]).max() < 1e-11
        errors.append(np.abs(traj.q[:, 2] - EXACT.state(traj.t)[0]).max())
    assert np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2).max() < 0.1
    assert (traj.q[:, 2].min(), traj.q[:, 2].max()) == pytest.approx((-5 * np.pi / 4, np.pi / 4), abs=1e-4)
    assert np.abs(traj.q[:, 0]).max() <= 0.5 + 1e-12
    assert np.abs(traj.energy - EXACT.energy).max() < 1e-3
    passes = EXACT.quarter_time * np.array([1, 3, 5])
    assert (np.abs(before_crossing(traj)[:3] - passes) <= 1.01 * H / 8).all()


def test_methods_agree_over_a_period():
    """ "Trajectories do not differ significantly over a period": x1 within .06 of its range of 1 at h = 1/60."""
    a, b = run("rattle", t_end=3.5), run("spook", t_end=3.5, **SPOOK)
    assert np.abs(a.q[:, 0] - b.q[:, 0]).max() < 0.06


# run 2: to rest at the singularity -------------------------------------------------------------------------------------------------------


def test_spook_comes_to_rest_at_the_singularity():
    """f = -0.3 v: phi1 -> -1.570797 (60 s), cond(S) to 1e17 and more while cond(S + Sigma) saturates at 5519."""
    traj = run("spook", t_end=100.0, system=DRAGGED, **SPOOK)
    assert traj.status == "ok"
    assert traj.q[3600, 2] == pytest.approx(-1.570797, abs=6e-7)
    assert traj.q[-1, 2] == pytest.approx(-np.pi / 2, abs=1e-10)
    Sigma = 4 * 1e-6 / (9 * H**2)
    nodes = traj.q[::10]
    assert max(np.linalg.cond(schur(q, Sigma)) for q in nodes) == pytest.approx(5519, abs=1)
    assert max(np.linalg.cond(schur(q)) for q in nodes) > 1e17
    assert (np.diff(traj.energy[::60]) < 1e-9).all()  # drag wins at every second


@pytest.mark.parametrize("stepper", ["rattle", "shake"])
@pytest.mark.parametrize("h", [H, H / 4])
def test_unregularised_rows_come_to_rest_at_the_singularity(stepper, h):
    """Close to it rows are nearly dependent and corrections are large though the residual is round-off: that residual decides.

    Constraints then hold to the floor of the solver, 16 eps (|q| + ...) times the sum of a row: 1e-12 is ten times the largest seen.
    """
    traj = run(stepper, h=h, t_end=60.0, system=DRAGGED)
    assert traj.status == "ok"
    assert np.abs(traj.constraint).max() < 1e-12
    assert traj.q[-1, 2] == pytest.approx(-np.pi / 2, abs=1e-4)
    spook = run("spook", h=h, t_end=60.0, system=DRAGGED, **SPOOK)
    assert np.abs(spook.q[:, 2] - traj.q[:, 2]).max() < 0.04
