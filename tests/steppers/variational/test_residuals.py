"""One step against its definition: momenta at both nodes are derivatives of the discrete Lagrangian, taken by differences.

    p_k = -D1 L_d(q_k, q_k+1) - F_left,      p_k+1 = D2 L_d(q_k, q_k+1) + F_right          discrete Lagrange-d'Alembert principle

The judge knows energies of the model, q_k+1 = q_k tau(h v) and nothing of dtau^-1, mass matrices or elimination. Derivatives are along
q exp(e d), in fourth order: truncation e^4 = 1e-12 and round-off 1e-16/e = 1e-13, both times numbers of order 10.
"""

import numpy as np
import pytest

import dalembert as dal

METHODS = ("symplectic-euler", "midpoint", "trapezoidal")
STEP = 1e-3
LIMIT = 1e-9


def slope(f, n):
    """Gradient of f at zero, n components; f takes stacks of points (..., n)."""
    d = STEP * np.eye(n)
    a, b, c, e = f(np.stack([d, -d, 2 * d, -2 * d]))
    return (8 * (a - b) - (c - e)) / (12 * STEP)


def interval_velocity(model, q0, q1, h, retraction):
    """tau^-1(q_0^-1 q_1)/h from the logarithm, joint by joint."""
    x = model.difference(q0, q1)
    if retraction == "cay":
        for joint in model.joints:
            at = model.v_slices()[joint.name]
            if joint.kind == "spherical":
                x[..., at] = dal.so3.cay_inv(dal.so3.exp(x[..., at]))
            elif joint.kind == "free":
                x[..., at] = dal.se3.cay_inv(dal.se3.exp(x[..., at]))
    return x / h


def middle(model, q0, q1):
    return model.integrate(q0, 0.5 * model.difference(q0, q1))


def discrete_lagrangian(model, method, h, q0, q1, retraction):
    v = interval_velocity(model, q0, q1, h, retraction)

    def L(q):
        return model.kinetic_energy(q, v) - model.potential_energy(q)

    if method == "symplectic-euler":
        return h * L(q0)
    return h * L(middle(model, q0, q1)) if method == "midpoint" else 0.5 * h * (L(q0) + L(q1))


def outer_forces(model, q, v, tau):
    """Control, joint damping, wrenches and dampers of bodies through their Jacobians."""
    f = np.array(tau, dtype=float)
    for joint in model.joints:
        f[model.v_slices()[joint.name]] -= joint.damping * v[model.v_slices()[joint.name]]
    for force in model.forces:
        if force.kind == "spring":
            continue
        J = model.jacobian(force.body, q)
        if force.kind == "damper":
            x = model.body(force.body).com
            twist = J @ v
            push, turn = -force.linear * (twist[3:] + np.cross(twist[:3], x)), -force.angular * twist[:3]
        else:
            x = np.array(force.point)
            R = np.eye(3) if force.frame == "body" else model.poses(q)[[b.name for b in model.bodies].index(force.body), :3, :3]
            push, turn = R.T @ force.force, R.T @ force.torque
        f += J.T @ np.concatenate([turn + np.cross(x, push), push])
    return f


def node_forces(model, method, h, q0, q1, retraction, tau):
    """Impulses of the outer forces at both nodes: virtual work at the place of the quadrature."""
    v = interval_velocity(model, q0, q1, h, retraction)
    if method == "symplectic-euler":
        return h * outer_forces(model, q0, v, tau), np.zeros(model.nv)
    if method == "trapezoidal":
        return tuple(0.5 * h * outer_forces(model, q, v, tau) for q in (q0, q1))
    q = middle(model, q0, q1)
    f = h * outer_forces(model, q, v, tau)
    first = slope(lambda d: model.difference(q, middle(model, model.integrate(q0, d), q1)), model.nv)
    second = slope(lambda d: model.difference(q, middle(model, q0, model.integrate(q1, d))), model.nv)
    return first @ f, second @ f


def momenta(model, method, h, q0, q1, retraction, tau):
    """p_k and p_k+1 that the definition asks for."""

    def moved(a, b):
        return discrete_lagrangian(model, method, h, model.integrate(q0, a), model.integrate(q1, b), retraction)

    zero, n = np.zeros(model.nv), model.nv
    left, right = node_forces(model, method, h, q0, q1, retraction, tau)
    return -slope(lambda d: moved(d, zero), n) - left, slope(lambda d: moved(zero, d), n) + right


def check_run(machine, method, h, retraction="cay", tau=None, steps=3):
    model = machine[0]
    held = np.zeros(model.nv) if tau is None else tau
    more = {} if tau is None else {"control": lambda t, q, v: held}
    traj = dal.simulate(model, method, h=h, t_end=steps * h, q0=machine[1], v0=machine[2], retraction=retraction, rescue=False, **more)
    for k in range(steps):
        q0, q1 = traj.q[k], traj.q[k + 1]
        expected = momenta(model, method, h, q0, q1, retraction, held)
        for q, v, p in zip((q0, q1), traj.v[k : k + 2], expected, strict=True):
            np.testing.assert_allclose(model.mass_matrix(q) @ v, p, rtol=0, atol=LIMIT)
        np.testing.assert_allclose(traj.v_interval[k], interval_velocity(model, q0, q1, h, retraction), rtol=0, atol=1e-12 / h)
    assert traj.v[0] == pytest.approx(machine[2], abs=1e-14)


@pytest.mark.parametrize("retraction", ["cay", "exp"])
@pytest.mark.parametrize("method", METHODS)
def test_floating_chain(chain, method, retraction):
    check_run(chain, method, 0.1, retraction)


@pytest.mark.parametrize("retraction", ["cay", "exp"])
@pytest.mark.parametrize("method", METHODS)
def test_every_joint_with_gravity_springs_and_armature(tree, method, retraction):
    check_run(tree, method, 0.05, retraction, steps=2)


@pytest.mark.parametrize("retraction", ["cay", "exp"])
@pytest.mark.parametrize("method", METHODS)
def test_every_joint_with_damping_wrenches_and_held_control(forced_tree, method, retraction):
    tau = 0.5 * np.random.default_rng(3).uniform(-1, 1, forced_tree[0].nv)
    check_run(forced_tree, method, 0.05, retraction, tau, steps=2)


@pytest.mark.parametrize("method", METHODS)
def test_drag_on_bodies(pinned, method):
    m = pinned[0].copy()
    m.add_force(dal.Damper("bob", angular=0.2, linear=0.3))
    check_run((m.frozen(), pinned[1], pinned[2]), method, 0.05, steps=2)


@pytest.mark.parametrize("method", METHODS)
def test_control_of_a_model_without_passive_forces(chain, method):
    """A held control acts though no joint has a spring or damper."""
    check_run(chain, method, 0.05, tau=np.array([0.1, -0.2, 0.3, 0.2, 0.1, -0.3, 0.4, -0.2]), steps=2)


def test_wrong_quadrature_is_seen(chain):
    """The judge tells the methods apart: steps of one do not fulfil the definition of another (difference of order h^2)."""
    model = chain[0]
    traj = dal.simulate(model, "midpoint", h=0.1, t_end=0.1, q0=chain[1], v0=chain[2])
    p, _ = momenta(model, "trapezoidal", 0.1, traj.q[0], traj.q[1], "cay", np.zeros(model.nv))
    assert np.abs(model.mass_matrix(traj.q[0]) @ traj.v[0] - p).max() > 1e-4


# the equations as they are printed ----------------------------------------------------------------------------------------------------


def three_links():
    m = dal.Model("three links", gravity=(0, -9.81, 0))
    for k in range(3):
        m.add_body(f"rod{k}", 1.0, (1e-3, 1 / 12, 1 / 12), com=(0.5, 0, 0), pose=((k, 0, 0), (1, 0, 0, 0)))
        m.add_joint(f"j{k}", "revolute", f"rod{k - 1}" if k else "world", f"rod{k}", (k, 0, 0), (0, 0, 1), damping=0.1)
    return m.frozen()


def test_trapezoidal_equation_of_a_fixed_base():
    """Kobilarov (24) with f = -0.1 v, and its start: - M(q0) v0 instead of the terms of the interval before, half the gradient of V."""
    m, h = three_links(), 0.05
    q0, v0 = np.array([-0.3, 0.5, -0.4]), np.array([1.0, -2.0, 1.5])
    traj = dal.simulate(m, "trapezoidal", h=h, t_end=2 * h, q0=q0, v0=v0)
    (a, b), c = traj.v_interval, 0.1
    M = [m.mass_matrix(q) for q in traj.q]

    def quadratic(q, v):
        return slope(lambda d: 2 * m.kinetic_energy(q + d, v), 3)

    def gradient(q):
        return slope(lambda d: m.potential_energy(q + d), 3)

    first = 0.5 * (M[0] + M[1]) @ a - M[0] @ v0 - h / 4 * quadratic(traj.q[0], a) + h / 2 * gradient(traj.q[0]) + h / 2 * c * a
    second = 0.5 * (M[1] + M[2]) @ b - 0.5 * (M[0] + M[1]) @ a + h * gradient(traj.q[1]) + h / 2 * c * (a + b)
    second -= h / 4 * (quadratic(traj.q[1], a) + quadratic(traj.q[1], b))
    np.testing.assert_allclose(first, 0, atol=LIMIT)
    np.testing.assert_allclose(second, 0, atol=LIMIT)
    np.testing.assert_allclose(traj.q[1:], traj.q[:-1] + h * traj.v_interval, atol=1e-15)


def test_trapezoidal_equation_of_a_floating_base(chain):
    """Kobilarov (62)-(64) with (55) and the corrected (54): momenta at the inner node from both sides."""
    model, h = chain[0], 0.1
    traj = dal.simulate(model, "trapezoidal", h=h, t_end=2 * h, q0=chain[1], v0=chain[2])

    def M(r):
        return model.mass_matrix(np.concatenate([model.neutral()[:7], r]))  # does not depend on the pose of the base

    kinetic = model.kinetic_energy

    def shape_term(r, v):
        level = model.neutral()[:7]
        return np.concatenate(
            [np.zeros(6), h / 2 * slope(lambda d: kinetic(np.concatenate([level + 0 * d[..., :1], r + d], axis=-1), v), 2)]
        )

    def pulled(x, p):
        return np.concatenate([dal.se3.dcay_inv(x).T @ p[:6], p[6:]])

    r, (a, b) = traj.q[:, 7:], traj.v_interval
    left = [pulled(h * v[:6], 0.5 * (M(r[k]) + M(r[k + 1])) @ v) - shape_term(r[k], v) for k, v in enumerate((a, b))]
    right = pulled(-h * a[:6], 0.5 * (M(r[0]) + M(r[1])) @ a) + shape_term(r[1], a)
    np.testing.assert_allclose(left[0], M(r[0]) @ chain[2], atol=LIMIT)
    np.testing.assert_allclose(left[1], right, atol=LIMIT)
    np.testing.assert_allclose(M(r[1]) @ traj.v[1], right, atol=LIMIT)
    for k, v in enumerate((a, b)):
        X, Y = (np.block([[dal.quat.to_matrix(q[3:7]), q[:3, None]], [np.zeros((1, 3)), np.ones((1, 1))]]) for q in traj.q[k : k + 2])
        np.testing.assert_allclose(X @ dal.se3.cay(h * v[:6]), Y, atol=1e-14)
