"""Tree kernels against Pinocchio, against each other, against finite differences, and against published numbers."""

import numpy as np
import pinocchio
import pytest

import dalembert as dal
from dalembert.kernels.tree import group
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree.energy import gravity_energy, kinetic_energy, spatial_momentum
from dalembert.kernels.tree.kinematics import sweep, world
from dalembert.model import kinematics
from dalembert.model.dynamics import TreeDynamics
from dalembert.scenes.trees import floating_chain

KINDS = ["revolute", "prismatic", "spherical", "cylindrical", "universal", "planar", "fixed", "revolute", "spherical", "prismatic"]


def random_tree(seed, floating=True, **more):
    """One body of each kind on random parents, random axes, inertias and poses."""
    rng = np.random.default_rng(seed)
    m = dal.Model(f"tree {seed}", gravity=rng.normal(size=3) * 5)
    for i, kind in enumerate(["free" if floating else "revolute", *KINDS]):
        moments = rng.uniform(0.5, 1.0, 3)
        R = dal.so3.exp(rng.normal(size=3))
        pose = (rng.normal(size=3), dal.quat.exp(rng.normal(size=3)))
        J = R @ np.diag(moments) @ R.T
        m.add_body(f"b{i}", rng.uniform(0.5, 2), 0.5 * (J + J.T), com=0.3 * rng.normal(size=3), pose=pose)
        if i == 0 and floating:
            continue
        axis = rng.normal(size=3)
        options = {"axis2": np.cross(axis, rng.normal(size=3))} if kind in ("universal", "planar") else {}
        if kind != "fixed":
            options.update(more)
        m.add_joint(
            f"j{i}", kind, "world" if i == 0 else f"b{rng.integers(0, i)}", f"b{i}", anchor=rng.normal(size=3), axis=axis, **options
        )
    return m


@pytest.fixture(params=range(6))
def case(request):
    m = random_tree(request.param, floating=request.param % 2 == 0, armature=0.1 * (request.param % 3))
    rng = np.random.default_rng(100 + request.param)
    return m, TreeDynamics(m), m.random(rng), rng.normal(size=m.nv), rng


def test_mass_matrix_is_that_of_the_jacobians(case):
    """M = sum J^T I J with Jacobians of the NumPy kinematics, which knows nothing of links."""
    m, d, q, v, _ = case
    M = d.mass_matrix(q)
    assert pytest.approx(kinematics.mass_matrix_reference(m, q), abs=1e-11) == M
    assert 0.5 * v @ M @ v == pytest.approx(m.kinetic_energy(q, v), rel=1e-12)
    assert np.linalg.eigvalsh(M)[0] > 0


def test_forward_and_inverse_dynamics_are_inverse(case):
    m, d, q, v, rng = case
    a = rng.normal(size=m.nv)
    assert d.forward_dynamics(q, v, d.inverse_dynamics(q, v, a)) == pytest.approx(a, abs=1e-10)


def test_inverse_dynamics_is_affine_in_the_acceleration(case):
    m, d, q, v, rng = case
    a = rng.normal(size=m.nv)
    assert d.inverse_dynamics(q, v, a) - d.inverse_dynamics(q, v, 0 * a) == pytest.approx(d.mass_matrix(q) @ a, abs=1e-10)


def test_power_balance(case):
    """d/dt (kinetic + potential) = tau . v along the motion that forward dynamics gives: bias and gravity are both right."""
    m, d, q, v, rng = case
    tau = rng.normal(size=m.nv)
    a = d.forward_dynamics(q, v, tau)
    e = 1e-5

    def energy(s):
        return m.energy(m.integrate(q, s * v + 0.5 * s * s * a), v + s * a)

    rate = (8 * (energy(e) - energy(-e)) - (energy(2 * e) - energy(-2 * e))) / (12 * e)
    assert rate == pytest.approx(tau @ v, abs=1e-6 * max(1.0, abs(tau @ v)) + 1e-7 * abs(m.energy(q, v)))


def test_momenta_and_gradients(case):
    m, d, q, v, _ = case
    Mv, gradient = d.momenta(q, v)
    assert Mv == pytest.approx(d.mass_matrix(q) @ v, abs=1e-11)
    e = 1e-6
    directions = np.eye(m.nv)
    V = [(m.potential_energy(m.integrate(q, e * x)) - m.potential_energy(m.integrate(q, -e * x))) / (2 * e) for x in directions]
    assert d.gravity_gradient(q) == pytest.approx(np.array(V), abs=1e-6)
    T = [(m.kinetic_energy(m.integrate(q, e * x), v) - m.kinetic_energy(m.integrate(q, -e * x), v)) / (2 * e) for x in directions]
    # ball and free joints have an extra term of the group, S^T ad(v_joint)^T P, because v is held in body axes
    for j in m.joints:
        if j.kind in ("revolute", "prismatic", "cylindrical", "universal", "planar"):
            s = m.v_slices()[j.name]
            assert gradient[s] == pytest.approx(np.array(T)[s], abs=2e-6)


def test_energy_and_momentum_kernels(case):
    m, d, q, v, _ = case
    d._state(q, v)
    sweep(d.system, d.work, d.q, d.v)
    world(d.system, d.work)
    assert kinetic_energy(d.system, d.work, d.v) == pytest.approx(m.kinetic_energy(q, v), rel=1e-12)
    assert gravity_energy(d.system, d.work) == pytest.approx(m.potential_energy(q), rel=1e-11, abs=1e-11)
    spatial_momentum(d.system, d.work, d.tau)
    assert d.work[d.tau : d.tau + 6] == pytest.approx(m.momentum(q, v), abs=1e-10)


def test_body_jacobians(case):
    """Against the NumPy Jacobians (which do not know links) and against the twists of the kinematics."""
    m, d, q, v, _ = case
    frames = kinematics.frames(m, q, v)
    for b in m.bodies:
        J = d.jacobian(b.name, q)
        assert pytest.approx(m.jacobian(b.name, q), abs=1e-12) == J
        assert J @ v == pytest.approx(np.concatenate([frames[b.name].omega, frames[b.name].velocity]), abs=1e-11)


def pinocchio_chain(seed, n=8):
    """The same serial chain of mixed joints in both libraries."""
    rng = np.random.default_rng(seed)
    ours, theirs, parent = dal.Model(gravity=(0, 0, -9.81)), pinocchio.Model(), 0
    position = np.zeros(3)
    for i in range(n):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        kind = ["revolute", "prismatic", "spherical"][i % 3]
        step = rng.normal(size=3) * 0.5
        position = position + step
        moments, com, mass = rng.uniform(0.5, 1.0, 3), 0.3 * rng.normal(size=3), rng.uniform(0.5, 2)
        ours.add_body(f"b{i}", mass, moments, com=com, pose=(position, (1, 0, 0, 0)))
        ours.add_joint(f"j{i}", kind, "world" if i == 0 else f"b{i - 1}", f"b{i}", anchor=position, axis=axis)
        joint = {
            "revolute": lambda a=axis: pinocchio.JointModelRevoluteUnaligned(a),
            "prismatic": lambda a=axis: pinocchio.JointModelPrismaticUnaligned(a),
            "spherical": lambda: pinocchio.JointModelSpherical(),
        }[kind]()
        parent = theirs.addJoint(parent, joint, pinocchio.SE3(np.eye(3), step), f"j{i}")
        theirs.appendBodyToJoint(parent, pinocchio.Inertia(mass, com, np.diag(moments)), pinocchio.SE3.Identity())
    return ours, theirs, rng


@pytest.mark.parametrize("seed", range(4))
def test_against_pinocchio(seed):
    ours, theirs, rng = pinocchio_chain(seed)
    data, d = theirs.createData(), TreeDynamics(ours)
    q, v, a, tau = ours.random(rng), *rng.normal(size=(3, ours.nv))
    q_pin = q.copy()
    for j in ours.joints:
        if j.kind == "spherical":
            s = ours.q_slices()[j.name]
            q_pin[s] = np.roll(q[s], -1)
    M = pinocchio.crba(theirs, data, q_pin)
    M = np.triu(M) + np.triu(M, 1).T
    assert d.mass_matrix(q) == pytest.approx(M, rel=1e-12, abs=1e-12)
    expected = pinocchio.aba(theirs, data, q_pin, v, tau)
    assert d.forward_dynamics(q, v, tau) == pytest.approx(expected, rel=1e-10, abs=1e-10 * np.abs(expected).max())
    expected = pinocchio.rnea(theirs, data, q_pin, v, a)
    assert d.inverse_dynamics(q, v, a) == pytest.approx(expected, rel=1e-11, abs=1e-11 * np.abs(expected).max())


def test_published_energy_and_momentum_of_the_floating_chain():
    m = floating_chain()
    q = m.check_q({"j1": 0.3, "j2": -0.2})
    v = m.check_v({"base": (0.3, 0.8, 0.5, 0.1, 0, 0.2), "j1": 0.6, "j2": -0.8})
    assert m.energy(q, v) == pytest.approx(0.9620551928, abs=5e-11)
    expected = [-0.10649214, 1.33751794, 1.50668635, 0.13746389, 0.31021882, 0.26219344]
    assert m.momentum(q, v) == pytest.approx(expected, abs=5e-9)


def test_springs_dampers_and_stiffness_do_the_work_they_should():
    """Power balance with every passive force: d/dt (kinetic + potential) = -dissipation."""
    m = random_tree(3, floating=True, stiffness=2.0, damping=0.0)
    m.add_force(dal.Spring("b1", "b4", (0.1, 0, 0), (0, 0.2, 0), stiffness=30.0, rest_length=0.4))
    m.add_force(dal.Spring("b2", "world", (0.1, 0, 0.1), (1, 1, 1), stiffness=10.0, rest_length=0.0))
    rng = np.random.default_rng(8)
    d, q, v = TreeDynamics(m), m.random(rng), rng.normal(size=m.nv)
    a = d.forward_dynamics(q, v)
    e = 1e-5

    def energy(s):
        return m.energy(m.integrate(q, s * v + 0.5 * s * s * a), v + s * a)

    rate = (8 * (energy(e) - energy(-e)) - (energy(2 * e) - energy(-2 * e))) / (12 * e)
    assert rate == pytest.approx(0.0, abs=1e-6 * abs(m.energy(q, v)))


def test_wrenches_and_drag_have_their_power():
    m = random_tree(4, floating=True)
    wrench = dal.Wrench("b3", force=(1, -2, 3), torque=(0.5, 0.1, -0.2), point=(0.2, 0.1, -0.3), frame="world")
    body_wrench = dal.Wrench("b5", force=(3, 1, 0.3), torque=(0.1, 0.4, 0.2), point=(0, 0.1, 0))
    drag = dal.Damper("b6", angular=0.7, linear=1.3)
    for force in (wrench, body_wrench, drag):
        m.add_force(force)
    rng = np.random.default_rng(9)
    d, q, v = TreeDynamics(m), m.random(rng), rng.normal(size=m.nv)
    a = d.forward_dynamics(q, v)
    e = 1e-5

    def energy(s):
        return m.energy(m.integrate(q, s * v + 0.5 * s * s * a), v + s * a)

    rate = (8 * (energy(e) - energy(-e)) - (energy(2 * e) - energy(-2 * e))) / (12 * e)
    frames = kinematics.frames(m, q, v)
    power = 0.0
    for force in (wrench, body_wrench):
        f = frames[force.body]
        R = dal.quat.to_matrix(f.quaternion)
        turn = R.T if force.frame == "world" else np.eye(3)
        power += turn @ force.force @ (f.velocity + np.cross(f.omega, force.point)) + turn @ force.torque @ f.omega
    f = frames["b6"]
    v_com = f.velocity + np.cross(f.omega, m.body("b6").com)
    power -= 0.7 * f.omega @ f.omega + 1.3 * v_com @ v_com
    assert rate == pytest.approx(power, abs=1e-6 * max(1.0, abs(m.energy(q, v))))


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.4, 0.6, 2.0, 3.0])
def test_group_kernels(size):
    """move and dexp_inv against the Model and against se3/so3 of the library."""
    m = random_tree(0)
    rng = np.random.default_rng(int(1000 * size))
    d, q, dq, v = TreeDynamics(m), m.random(rng), rng.normal(size=m.nv), rng.normal(size=m.nv)
    for j in m.joints:
        s = m.v_slices()[j.name]
        n = 3 if j.kind in ("free", "spherical") else s.stop - s.start
        if n == 0:
            continue
        dq[s.start : s.start + n] *= size / np.linalg.norm(dq[s.start : s.start + n])
    d._state(q, dq)
    group.move(d.system, d.work, d.q, d.v, d.q)
    assert m.difference(m.integrate(q, dq), d.work[d.q : d.q + m.nq]) == pytest.approx(np.zeros(m.nv), abs=2e-14)
    d.work[d.tau : d.tau + m.nv] = v
    group.dexp_inv(d.system, d.work, d.v, d.tau, d.acc)
    found = d.work[d.acc : d.acc + m.nv]
    for j in m.joints:
        s = m.v_slices()[j.name]
        if j.kind == "free":
            expected = dal.se3.dexp_inv(-dq[s]) @ v[s]
        elif j.kind == "spherical":
            expected = dal.so3.dexp_inv(-dq[s]) @ v[s]
        else:
            expected = v[s]
        assert found[s] == pytest.approx(expected, abs=2e-13 * max(1.0, np.abs(expected).max(initial=0.0)))


def test_links_of_compound_joints():
    m = random_tree(1, floating=False)
    d = TreeDynamics(m)
    # revolute root, revolute, prismatic, spherical, cylindrical (2), universal (2), planar (3), fixed (0), revolute, spherical, prismatic
    assert int(d.system[at.LINKS]) == 1 + 1 + 1 + 1 + 2 + 2 + 3 + 0 + 1 + 1 + 1


def test_a_joint_without_inertia_is_named_as_an_error():
    m = dal.Model()
    m.add_body("a", 1, (1, 1, 1))
    with pytest.raises(dal.OptionError, match=r"expected \(6,\)"):
        TreeDynamics(m).forward_dynamics(m.neutral(), np.zeros(3))


def test_model_functions_follow_changes_of_the_model():
    m = random_tree(2)
    q, v = m.random(0), np.ones(m.nv)
    before = m.forward_dynamics(q, v)
    assert m.forward_dynamics(q, v, m.inverse_dynamics(q, v, 0 * v)) == pytest.approx(0 * v, abs=1e-10)
    assert m.mass_matrix(q) == pytest.approx(m.mass_matrix(q).T, abs=1e-12)
    m.add_force(dal.Wrench("b3", force=(100, 0, 0)))
    assert np.abs(m.forward_dynamics(q, v) - before).max() > 1.0
