"""Dynamics of imported robots: MuJoCo is the judge for MJCF, Pinocchio for URDF; then whole trajectories against MuJoCo's Runge-Kutta."""

import mujoco
import numpy as np
import pinocchio
import pytest

import dalembert as dal

GYMNASIUM = ["humanoid", "ant", "half_cheetah", "swimmer"]
DM_CONTROL = ["cartpole", "acrobot", "humanoid", "quadruped", "walker", "cheetah"]
MJCF = [("gymnasium", n) for n in GYMNASIUM] + [("dm_control", n) for n in DM_CONTROL]
URDF = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "talos": ("talos_data/robots/talos_reduced.urdf", True),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),
}


def bare(path):
    """The MuJoCo model without what is not carried over: contacts, limits, dry friction, tendons, fluid, actuators."""
    mj = mujoco.MjModel.from_xml_path(str(path))
    off = mujoco.mjtDisableBit
    mj.opt.disableflags |= int(off.mjDSBL_CONTACT | off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION | off.mjDSBL_AUTORESET)
    mj.tendon_stiffness[:] = 0.0
    mj.tendon_damping[:] = 0.0
    mj.opt.density = mj.opt.viscosity = 0.0
    return mj


def rates(model, q):
    """T with qvel = T v."""
    return np.stack([model.to_mujoco(q, e)[1] for e in np.eye(model.nv)], axis=1)


def to_qacc(model, q, v, a):
    """MuJoCo's accelerations: those of a free joint are in world axes, so the turning of the axes adds omega x v."""
    qacc = rates(model, q) @ a
    for j in model.joints:
        if j.kind == "free":
            s = model.v_slices()[j.name]
            extra = np.zeros(model.nv)
            extra[s] = np.concatenate([np.zeros(3), np.cross(v[s][:3], v[s][3:])])
            qacc = qacc + rates(model, q) @ extra
    return qacc


@pytest.mark.parametrize(("where", "name"), MJCF)
def test_mass_matrix_and_accelerations_are_those_of_mujoco(places, load, where, name):
    path = getattr(places, where) / f"{name}.xml"
    model, mj = load(path), bare(path)
    data, rng = mujoco.MjData(mj), np.random.default_rng(7)
    M = np.zeros((mj.nv, mj.nv))
    for _ in range(3):
        q, v, a = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        data.qpos[:], data.qvel[:] = model.to_mujoco(q, v)
        mujoco.mj_forward(mj, data)
        mujoco.mj_fullM(mj, data, M)
        T = rates(model, q)
        expected = T.T @ M @ T
        np.testing.assert_allclose(model.mass_matrix(q), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        found = to_qacc(model, q, v, model.forward_dynamics(q, v))
        np.testing.assert_allclose(found, data.qacc, rtol=0, atol=1e-10 * np.abs(data.qacc).max())
        data.qacc[:] = to_qacc(model, q, v, a)
        force = np.zeros(mj.nv)
        mujoco.mj_rne(mj, data, 1, force)
        armature = mj.dof_armature * data.qacc
        expected = T.T @ (force + armature - data.qfrc_passive)
        np.testing.assert_allclose(model.inverse_dynamics(q, v, a), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("name", URDF)
def test_dynamics_are_those_of_pinocchio(places, load, name):
    file, floating = URDF[name]
    path = places.robots / file
    model = load(path, floating_base=floating, package_dirs=[places.share])
    without = model.without(("damping", "armature", "loops"))  # Pinocchio does not couple mimic joints
    pin = pinocchio.buildModelFromUrdf(str(path), *((pinocchio.JointModelFreeFlyer(),) if floating else ()))
    pin.armature[:] = 0.0
    data, rng = pin.createData(), np.random.default_rng(8)
    P = np.stack([model.to_pinocchio(model.neutral(), e)[1] for e in np.eye(model.nv)], axis=1)  # v_pin = P v: a permutation
    for _ in range(3):
        q, v, a, tau = model.random(rng), *rng.normal(size=(3, model.nv))
        pq, pv = model.to_pinocchio(q, v)
        M = pinocchio.crba(pin, data, pq)
        M = P.T @ (np.triu(M) + np.triu(M, 1).T) @ P
        np.testing.assert_allclose(without.mass_matrix(q), M, rtol=0, atol=1e-10 * np.abs(M).max())
        expected = P.T @ pinocchio.rnea(pin, data, pq, pv, P @ a)
        np.testing.assert_allclose(without.inverse_dynamics(q, v, a), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        expected = P.T @ pinocchio.aba(pin, data, pq, pv, P @ tau)
        np.testing.assert_allclose(without.forward_dynamics(q, v, tau), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("where", "name", "h"), [("gymnasium", "humanoid", 2e-4), ("dm_control", "quadruped", 1e-4), ("gymnasium", "ant", 2e-4)]
)
def test_trajectories_are_those_of_mujoco(places, load, where, name, h):
    """Falling and turning without contact for 0.2 s: MuJoCo's RK4 at a small step against mk8 at rtol 1e-10. RK4's own error is O(h^4)."""
    path = getattr(places, where) / f"{name}.xml"
    model, mj = load(path), bare(path)
    mj.opt.timestep, mj.opt.integrator = h, mujoco.mjtIntegrator.mjINT_RK4
    data, rng = mujoco.MjData(mj), np.random.default_rng(9)
    q, v = model.neutral(), 0.5 * rng.normal(size=model.nv)
    data.qpos[:], data.qvel[:] = model.to_mujoco(q, v)
    mujoco.mj_step(mj, data, round(0.2 / h))
    traj = dal.simulate(model, "mk8", h=0.01, t_end=0.2, q0=q, v0=v, rtol=1e-10, atol=1e-12, ignore=("limits", "joint friction", "contact"))
    qpos, qvel = model.to_mujoco(traj.q[-1], traj.v[-1])
    np.testing.assert_allclose(qpos, data.qpos, rtol=0, atol=1e-7)
    np.testing.assert_allclose(qvel, data.qvel, rtol=0, atol=1e-5 * max(1.0, np.abs(data.qvel).max()))


def test_ur5_swings_as_by_scipy_and_pinocchio(places, load):
    """DOP853 on Pinocchio's aba against mk8, one second of free swinging."""
    from scipy.integrate import solve_ivp

    path = places.robots / URDF["ur5"][0]
    model = load(path, floating_base=False, package_dirs=[places.share])
    ignore = ("contact", "limits", "joint friction")
    pin = pinocchio.buildModelFromUrdf(str(path))
    data, n = pin.createData(), model.nv
    q0 = np.array([0.3, -1.0, 0.8, -0.4, 0.2, 0.1])
    damping = np.array([j.damping for j in model.joints if j.kind == "revolute"])

    def rate(t, y):
        return np.concatenate([y[n:], pinocchio.aba(pin, data, y[:n], y[n:], -damping * y[n:])])

    expected = solve_ivp(rate, (0, 1), np.concatenate([q0, np.zeros(n)]), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    traj = dal.simulate(model, "mk8", h=0.01, t_end=1.0, q0=q0, rtol=1e-11, atol=1e-13, ignore=ignore)
    np.testing.assert_allclose(np.concatenate([traj.q[-1], traj.v[-1]]), expected, rtol=0, atol=1e-8 * np.abs(expected).max())
