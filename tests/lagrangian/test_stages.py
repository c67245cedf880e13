"""The discrete equations as formulas, beside the hand-written kernels, on every kind of joint, with loads, loops and rolling.

Nodes of compiled runs, under random controls, satisfy the formulas: momenta of size 1 to 10, steps converged to 1e-13 of the velocity,
so residuals below 1e-11. Derivatives of L_d itself (automatic) are what the stages write out, to round-off.
"""

import casadi as ca
import numpy as np
import pytest

import dalembert as dal
from dalembert.lagrangian import stages
from dalembert.lagrangian.row_formulas import RowFormula
from dalembert.lagrangian.tree_formulas import TreeFormula

LEVEL = (1.0, 0.0, 0.0, 0.0)
KINDS = ("free", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar", "translation")
STEPS, H = 25, 0.02


def machine(kind):
    """Two bodies, springs, dampers, drag and wrenches; the upper one free, the lower one by a joint of this kind."""
    m = dal.Model(kind, gravity=(0.5, -1.0, -4.0))
    m.add_body("upper", 1.5, (0.08, 0.06, 0.05), com=(0.05, 0.02, -0.2), pose=((0, 0, 0), LEVEL))
    m.add_body("lower", 1.0, (0.05, 0.07, 0.04), com=(-0.1, 0.05, -0.3), pose=((0, 0, -0.6), (0.8, 0, 0.6, 0)))
    m.add_joint("root", "free", "world", "upper")
    if kind == "translation":
        m.add_particle("bead", 0.3, (0.4, 0.1, 0.2))
        m.add_force(dal.Spring("bead", "upper", stiffness=4.0, rest_length=0.3))
    if kind not in ("free", "translation"):
        more = {"universal": {"axis2": (0.6, 0, -0.8)}}.get(kind, {})
        soft = {"stiffness": 3.0} if kind in ("revolute", "prismatic", "spherical") else {}
        axis = (0.8, 0, 0.6) if kind != "planar" else (0, 1, 0)
        m.add_joint("joint", kind, "upper", "lower", (0, 0, -0.5), axis, armature=0.01, damping=0.2, **soft, **more)
    m.add_force(dal.Spring("upper", "world", (0.1, 0, 0), (1, 0, 1), stiffness=5.0, rest_length=0.5, damping=0.3))
    m.add_force(dal.Damper("lower", angular=0.02, linear=0.1))
    m.add_force(dal.Wrench("lower", force=(0.3, 0, 0), torque=(0, 0.02, 0), point=(0.1, 0, 0)))
    m.add_force(dal.Wrench("upper", force=(0, 0.2, 0.1), frame="world"))
    rng = np.random.default_rng(KINDS.index(kind) + 1)
    return m.frozen(), m.integrate(m.neutral(), 0.4 * rng.uniform(-1, 1, m.nv)), rng.uniform(-1, 1, m.nv), rng


def residuals(f, name, traj, u, push=None):
    q, p, v, tau = (ca.SX.sym(x, n) for x, n in zip("qpvt", (f.nq, f.nv, f.nv, f.nv), strict=True))
    found = ca.Function("stage", [q, p, v, tau], list(stages.stage(name)(f, q, p, v, tau, H)))
    worst = np.zeros(3)
    for k in range(STEPS):
        before, after = (f.momentum_of(traj.q[i], traj.v[i]) for i in (k, k + 1))
        a, b, c = (np.array(x).ravel() for x in found(traj.q[k], before, traj.v_interval[k], u[k]))
        worst = np.maximum(worst, [np.abs(a - traj.q[k + 1]).max(), np.abs(b - after).max(), np.abs(c).max()])
    return worst


@pytest.mark.parametrize("name", stages.STAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_nodes_of_the_kernels_satisfy_the_formulas(kind, name):
    m, q0, v0, rng = machine(kind)
    u = rng.normal(size=(STEPS, m.nv))
    traj = dal.simulate(m, name, h=H, t_end=STEPS * H, q0=q0, v0=v0, control=u)
    assert residuals(TreeFormula(m), name, traj, u).max() < 1e-11


@pytest.mark.parametrize("name", ["midpoint", "trapezoidal", "symplectic-euler"])
@pytest.mark.parametrize("kind", ["free", "spherical", "universal"])
def test_stages_are_the_derivatives_of_the_discrete_lagrangian(kind, name):
    m, q0, v0, _ = machine(kind)
    m = m.without(("damping", "wrench"))
    f = TreeFormula(m.frozen())
    q, v, zero = ca.SX(q0), ca.SX(v0), ca.SX.zeros(m.nv)
    found = stages.stage(name)(f, q, zero, v, zero, H)
    left, right = stages.momenta(f, name, q, found.q, H)
    np.testing.assert_allclose(np.array(ca.evalf(left)), np.array(ca.evalf(found.equation)), atol=1e-12)
    np.testing.assert_allclose(np.array(ca.evalf(right)), np.array(ca.evalf(found.p)), atol=1e-12)


@pytest.mark.parametrize("scene", ["four-bar", "andrews", "bricard", "hooke-joint", "homokinetic-joint", "rolling-disk", "snakeboard"])
def test_rows_of_constraints_agree_with_the_kernels(scene):
    """Residuals of the model, and G along random motions: the same numbers as the kernels give, to round-off."""
    m = dal.scenes.find(scene).build()
    m = m.without(("contact", "limits")).frozen()
    rows, rng = RowFormula(TreeFormula(m)), np.random.default_rng(1)
    q = m.integrate(m.neutral(), 0.05 * rng.normal(size=m.nv))
    if rows.holonomic:
        np.testing.assert_allclose(np.array(rows.residual(q)).ravel(), m.constraint_errors(q[None])[0][: rows.holonomic], atol=1e-13)
    v, e = rng.normal(size=m.nv), 1e-5
    ahead, behind = (np.array(rows.residual(m.integrate(q, s * e * v))).ravel() for s in (1, -1))
    np.testing.assert_allclose((ahead - behind) / (2 * e), (rows.matrix(q) @ v)[: rows.holonomic], atol=2e-8)  # e^2 and round-off/e


def test_energies_are_those_of_the_model():
    m, q0, v0, _ = machine("spherical")
    f = TreeFormula(m)
    swept = f.sweep(ca.SX(q0), ca.SX(v0))
    assert abs(float(ca.evalf(f.kinetic(swept, ca.SX(v0)))) - m.kinetic_energy(q0, v0)) < 1e-13
    assert abs(float(ca.evalf(f.potential(swept, ca.SX(q0)))) - m.potential_energy(q0)) < 1e-13


def test_poses_are_those_of_the_model():
    m, q0, _, _ = machine("universal")
    f, poses = TreeFormula(m), m.poses(q0)
    for i, body in enumerate(m.bodies):
        R, x = (np.array(ca.evalf(e)) for e in f.pose(ca.SX(q0), body.name))
        np.testing.assert_allclose(R, poses[i][:3, :3], atol=1e-13)
        np.testing.assert_allclose(x.ravel(), poses[i][:3, 3], atol=1e-13)


def test_a_force_without_a_formula_is_refused_by_name():
    m = dal.Model("pushed")
    m.add_body("ball", 1.0, (1, 1, 1))
    m.add_force(lambda t, q, v: 0.0 * v)
    with pytest.raises(dal.UnsupportedError, match="has no formula"):
        TreeFormula(m.frozen())
