"""A joint is one file: this one adds a screw of fixed pitch.

q = angle of the child about the unit axis a,  g = (pitch q a, exp(q hat(a))),  S = (a; pitch a), constant
"""

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.joints import KINDS
from dalembert.model.joints._base import VectorKind
from dalembert.model.rotation import quat_about

PITCH = 0.1  # m/rad
G = 9.81


class Screw(VectorKind):
    """A nut on a thread."""

    name = "screw"
    nq, nv = 1, 1
    limitable = True
    q_names, q_units = ("angle",), ("rad",)
    v_names, v_units = ("rate",), ("rad/s",)

    def transform(self, q, axes):
        return PITCH * q * axes.axis, quat_about(axes.axis, q)

    def subspace(self, q, axes):
        S = np.zeros((*q.shape[:-1], 6, 1))
        S[..., :3, 0] = axes.axis
        S[..., 3:, 0] = PITCH * axes.axis
        return S

    def coordinates(self, position, quaternion, axes):
        return np.asarray(position @ axes.axis)[..., None] / PITCH

    def primitives(self, axes):
        return (("screw", axes.axis, PITCH),)


@pytest.fixture(autouse=True)
def kind():
    KINDS["screw"] = Screw()
    yield
    del KINDS["screw"]


def nut():
    m = dal.Model()
    m.add_body("nut", 2.0, (0.05, 0.05, 0.08), com=(0, 0, 0.1))
    m.add_joint("thread", "screw", "world", "nut", axis=(0, 0, 1))
    return m


def arm(kind):
    """A nut on an inclined thread, off its axis, that carries a rod."""
    m = dal.Model()
    m.add_body("nut", 2.0, (0.05, 0.06, 0.08), com=(0.1, 0.05, 0.1))
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0.3, 0, 0), (1, 0, 0, 0)))
    m.add_joint("thread", kind, "world", "nut", axis=(0.6, 0, 0.8))
    m.add_joint("hinge", "revolute", "nut", "rod", anchor=(0.3, 0, 0), axis=(0, 1, 0), damping=0.05)
    return m


@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "mk4"])
def test_a_nut_runs_down_its_thread(stepper):
    """(I + m pitch^2) angle'' = -m g pitch: these rules are exact on a constant force, so round-off is left; of 1e-14 over 200 steps."""
    traj = dal.simulate(nut(), stepper, h=0.01, t_end=2.0, v0=[3.0])
    rate = -2.0 * G * PITCH / (0.08 + 2.0 * PITCH**2)
    np.testing.assert_allclose(traj.q[:, 0], 3.0 * traj.t + 0.5 * rate * traj.t**2, atol=1e-10)
    np.testing.assert_allclose(traj.poses[:, 0, 2, 3], PITCH * traj.q[:, 0], atol=1e-13)
    assert traj.report().verdict == "pass"


def test_dynamics_are_those_of_a_sleeve_whose_shift_follows_its_angle():
    """M, bias and acceleration of a cylindrical joint, projected: v = B w with B = (1, pitch; hinge)."""
    screw, sleeve = arm("screw"), arm("cylindrical")
    B = np.array([[1.0, 0.0], [PITCH, 0.0], [0.0, 1.0]])
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, w, tau = rng.normal(size=2), rng.normal(size=2), rng.normal(size=2)
        wide = np.array([q[0], PITCH * q[0], q[1]])
        M = B.T @ sleeve.mass_matrix(wide) @ B
        np.testing.assert_allclose(screw.mass_matrix(q), M, atol=1e-13)
        bias = B.T @ sleeve.inverse_dynamics(wide, B @ w, np.zeros(3))
        np.testing.assert_allclose(screw.inverse_dynamics(q, w, np.zeros(2)), bias, atol=1e-12)
        np.testing.assert_allclose(screw.forward_dynamics(q, w, tau), np.linalg.solve(M, tau - bias), atol=1e-11)


@pytest.mark.parametrize(("stepper", "order"), [("midpoint", 2), ("trapezoidal", 2), ("symplectic-euler", 1), ("mk4", 4)])
def test_steppers_have_their_order_on_it(stepper, order):
    def end(name, h):
        traj = dal.simulate(arm("screw"), name, h=h, t_end=0.64, q0=[0.3, 0.5], v0=[2.0, -1.0])
        return np.concatenate([traj.q[-1], traj.v[-1]])

    exact = end("mk4", 5e-4)
    errors = [np.linalg.norm(end(stepper, h) - exact) for h in (0.008, 0.004)]
    assert order - 0.2 < np.log2(errors[0] / errors[1]) < order + 0.2


def test_a_chain_of_screws_too_large_for_a_dense_matrix_keeps_its_energy():
    """Ten links: Newton's matrix is eliminated along the tree; the energy of the symmetric rules stays in a band of order h^2."""
    m = dal.Model()
    parent = "world"
    for i in range(10):
        m.add_body(f"b{i}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.25), pose=((0, 0, -0.5 * i), (1, 0, 0, 0)))
        axis = ((0, 1, 0), (1, 0, 0), (0, 0.6, 0.8))[i % 3]
        m.add_joint(f"j{i}", "screw" if i % 2 else "revolute", parent, f"b{i}", anchor=(0, 0, -0.5 * i), axis=axis)
        parent = f"b{i}"
    for stepper in ("midpoint", "trapezoidal"):
        drift = []
        for h in (0.004, 0.002):
            traj = dal.simulate(m, stepper, h=h, t_end=1.0, q0=np.full(10, 0.3))
            drift.append(np.ptp(traj.energy))
        assert 3.0 < drift[0] / drift[1] < 5.0


def test_it_is_saved_and_loaded(tmp_path):
    path = tmp_path / "run.h5"
    traj = dal.simulate(arm("screw"), h=0.01, t_end=0.5, q0=[0.3, 0.5], save=path)
    np.testing.assert_array_equal(dal.load(path).q, traj.q)
