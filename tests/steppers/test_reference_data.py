"""Every rigid-body stepper against high-precision motions: four free bodies (45 digits) and the heavy top (60 digits).

Nodes are compared at the sample times themselves, t = k h. The error of the attitude is the rotation angle between the two
(2 |q - q_ref| up to sign, rad); that of the angular velocity is relative to its length at the start. Both are the largest over all samples.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import UnsupportedError

DATA = Path(__file__).parents[1] / "data"
FREE = json.loads((DATA / "free_rigid_body.json").read_text())["cases"]
TOP = json.loads((DATA / "heavy_top.json").read_text())

# sample spacing D and end of the comparison, s; h = D / n
SPACING = {"box": (0.1, 1.0), "racket": (1.0, 10.0), "generic": (0.1, 2.0), "symmetric": (0.1, 1.0), "heavy top": (0.01, 0.2)}
CASES = tuple(SPACING)
STEPPERS = {s.name: s for s in dal.steppers(system="rigid-body")}
FLAT, ASYMMETRIC = {"racket", "generic"}, {"box", "racket", "generic"}
ELIGIBLE = [
    (case, name)
    for case in CASES
    for name in STEPPERS
    if not (name == "moser-veselov" and case in FLAT) and not (name == "bobenko-suris" and case in ASYMMETRIC)
]
SELF_ADJOINT = [(case, name) for case, name in ELIGIBLE if STEPPERS[name].self_adjoint]


def model_of(case):
    """(model, v0, samples, name of the angular velocity in them)"""
    if case == "heavy top":
        p = TOP["params"]
        m = dal.Model(case, gravity=(0.0, 0.0, -float(p["g"])))
        m.add_body("body", float(p["m"]), np.array(p["J_com"], dtype=float), com=np.array(p["X"], dtype=float))
        m.add_joint("tip", "spherical", "world", "body")
        return m, np.array(p["Omega0"], dtype=float), TOP["samples"], "Omega_body"
    entry = FREE[CASES.index(case)]
    m = dal.Model(case, gravity=(0.0, 0.0, 0.0))
    m.add_body("body", 1.0, np.array(entry["I"], dtype=float))
    return m, np.concatenate([np.array(entry["w0_body"], dtype=float), np.zeros(3)]), entry["samples"], "w_body"


def column(samples, key):
    return np.array([s[key] for s in samples], dtype=float)


def errors(case, stepper, n, compose=None, spacing=None, **options):
    """(attitude, rad; angular velocity, relative) of a run with h = spacing / n."""
    D, T = SPACING[case]
    D = spacing or D
    m, v0, samples, rate = model_of(case)
    t = column(samples, "t")
    at = np.rint(np.arange(round(T / D) + 1) * D / t[1]).astype(int)
    traj = dal.simulate(m, stepper, h=D / n, t_end=T, v0=v0, every=n, compose=compose, **options)
    np.testing.assert_allclose(traj.t, t[at], rtol=0, atol=1e-12)
    omega, q = column(samples, rate)[at], column(samples, "quat_wxyz")[at]
    mine = traj.q[:, -4:]
    attitude = 2.0 * np.minimum(np.linalg.norm(mine - q, axis=1), np.linalg.norm(mine + q, axis=1))
    return attitude.max(), np.linalg.norm(traj.v[:, :3] - omega, axis=1).max() / np.linalg.norm(omega[0])


def slope(ns, values):
    """Order by regression of log error over log h."""
    return -np.polyfit(np.log(ns), np.log(values), 1)[0]


def keeps_omega(case, stepper):
    """The discrete symmetric top of Bobenko and Suris turns omega about the axis by exactly the right angle when there is no torque."""
    return stepper == "bobenko-suris" and case == "symmetric"


@pytest.mark.parametrize(("case", "stepper"), ELIGIBLE)
def test_declared_order(case, stepper):
    """Four halvings. Methods of first order need small steps before their order shows: the heavy top turns 1.5 rad per 0.01 s."""
    first = {1: 128, 2: 16}[STEPPERS[stepper].order]
    ns = first * 2 ** np.arange(5)
    attitude, omega = np.array([errors(case, stepper, int(n)) for n in ns]).T
    assert abs(slope(ns, attitude) - STEPPERS[stepper].order) < 0.1
    if keeps_omega(case, stepper):
        assert omega.max() < 1e-13  # round-off of 2560 steps
    else:
        assert abs(slope(ns, omega) - STEPPERS[stepper].order) < 0.1


FIRST_4 = {"box": 4, "racket": 2, "generic": 2, "symmetric": 4, "heavy top": 8}
FIRST_6 = {"box": 2, "racket": 4, "generic": 1, "symmetric": 4, "heavy top": 4}
# tln and bobenko-suris are so accurate that they reach round-off sooner: larger steps
EARLIER_6 = {("racket", "tln"): 1, ("symmetric", "tln"): 1, ("symmetric", "bobenko-suris"): 1}


@pytest.mark.parametrize(("case", "stepper"), SELF_ADJOINT)
def test_suzuki_has_order_four(case, stepper):
    """Four halvings between about 1e-2 and 2e-12, where round-off begins to show."""
    large = (case, stepper) == ("heavy top", "bobenko-suris")
    ns = (1 if large else FIRST_4[case]) * 2 ** np.arange(5)
    attitude = [errors(case, stepper, int(n), "suzuki4", 0.05 if large else None)[0] for n in ns]
    assert abs(slope(ns, attitude) - 4) < 0.1


@pytest.mark.parametrize(("case", "stepper"), SELF_ADJOINT)
def test_kahan_li_has_order_six(case, stepper):
    """Three halvings: each gains a factor 64, so a fourth would begin before the asymptotic range or end in round-off."""
    large = (case, stepper) == ("heavy top", "bobenko-suris")
    ns = (1 if large else EARLIER_6.get((case, stepper), FIRST_6[case])) * 2 ** np.arange(4)
    attitude = [errors(case, stepper, int(n), "kahan-li6", 0.1 if large else None)[0] for n in ns]
    assert abs(slope(ns, attitude) - 6) < 0.15


@pytest.mark.parametrize(("case", "stepper"), SELF_ADJOINT)
def test_composition_reaches_round_off(case, stepper):
    """With kahan-li6 and up to 5e4 substeps only round-off is left.

    Floor: sqrt(5e4) roundings of 1e-16 in the quaternion, and the inertias and velocities themselves, rounded to 1e-16 and multiplied by
    the angle turned (up to 30 rad) and by the growth near the separatrix: 2e-13 covers them.
    """
    n = {"heavy top": 256}.get(case, 128)
    assert max(errors(case, stepper, n, "kahan-li6")) < 2e-13


@pytest.mark.parametrize("case", sorted(FLAT))
def test_direct_moser_veselov_refuses_flat_bodies(case):
    with pytest.raises(UnsupportedError, match=r"triangle inequality strictly.*moser-veselov-cayley"):
        errors(case, "moser-veselov", 4)


@pytest.mark.parametrize("case", sorted(ASYMMETRIC))
def test_bobenko_suris_refuses_asymmetric_bodies(case):
    with pytest.raises(UnsupportedError, match="symmetric top"):
        errors(case, "bobenko-suris", 4)


@pytest.mark.parametrize(
    ("case", "stepper"), [(c, s) for c, s in ELIGIBLE if c != "heavy top" and STEPPERS[s].promise("energy of the free body") == "exactly"]
)
def test_energy_and_momentum_of_the_reference(case, stepper):
    """Energy and momentum of all nodes equal the reference's own invariants: 1000 steps, round-off 1e-13."""
    m, v0, *_ = model_of(case)
    entry = FREE[CASES.index(case)]
    traj = dal.simulate(m, stepper, h=0.05, t_end=50.0, v0=v0)
    energy, L = float(entry["energy"]), np.array(entry["L_spatial"], dtype=float)
    assert np.max(np.abs(traj.energy - energy)) < 1e-13 * energy
    if STEPPERS[stepper].promise("momentum") == "exactly":
        assert np.max(np.abs(traj.momentum[:, :3] - L)) < 1e-13 * np.linalg.norm(L)
