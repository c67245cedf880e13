"""Noether's theorem, discrete: the momentum of every declared symmetry is constant to round-off (lacoursiere2007, 3.42-3.47)."""

import numpy as np
import pytest

import dalembert as dal

ROT = np.array([[0.0, -1.0], [1.0, 0.0]])
MASSES = np.array([1.0, 2.0, 0.7])
PLANE = {
    "x": np.tile([1.0, 0.0], 3),
    "y": np.tile([0.0, 1.0], 3),
    "turn": np.kron(np.eye(3), ROT),
}


def particles(q, v):
    """Three masses and forces between them: springs and a softened attraction."""
    x, u = [q[2 * i : 2 * i + 2] for i in range(3)], [v[2 * i : 2 * i + 2] for i in range(3)]
    L = sum(0.5 * m * (w @ w) for m, w in zip(MASSES, u, strict=True))
    for i, j in ((0, 1), (1, 2), (0, 2)):
        d = x[i] - x[j]
        L = L - 0.5 * (d @ d) + 1.0 / np.sqrt(d @ d + 0.3)
    return L


def central(q, v):
    """Polar coordinates, an angle that does not occur, a mass that varies."""
    return 0.5 * (v[0] ** 2 + q[0] ** 2 * v[1] ** 2) + 1 / q[0]


THREE = dal.Lagrangian(6, particles, symmetries=PLANE, name="three masses")
POLAR = dal.Lagrangian(2, central, symmetries={"turn": [0.0, 1.0]}, name="Kepler, polar")
Q0, V0 = np.array([0.0, 0.1, 1.0, 0.0, 0.3, 0.9]), np.array([0.3, -0.2, 0.1, 0.5, -0.6, 0.2])
METHODS = [
    ("midpoint", {}),
    ("trapezoidal", {}),
    ("verlet", {}),
    ("alpha", {"alpha": 0.0}),
    ("alpha", {"alpha": 0.3}),
    ("galerkin4", {"points": "gauss"}),
    ("galerkin4", {"points": "lobatto"}),
    ("galerkin6", {"points": "gauss"}),
    ("galerkin6", {"points": "lobatto"}),
]


@pytest.mark.parametrize(("stepper", "options"), METHODS)
def test_linear_and_angular_momentum(stepper, options):
    """2,000 steps, round-off a random walk: 2 eps times the size of the terms times sqrt(steps)."""
    traj = dal.simulate(THREE, stepper, h=0.05, t_end=100.0, q0=Q0, v0=V0, **options)
    turn = sum(m * (a @ ROT.T) @ b for m, a, b in zip(MASSES, Q0.reshape(3, 2), V0.reshape(3, 2), strict=True))
    assert traj.status == "ok"
    assert traj.momentum[0] == pytest.approx([MASSES @ V0[::2], MASSES @ V0[1::2], turn], abs=1e-15)
    change = np.abs(traj.momentum - traj.momentum[0]).max(axis=0)
    size = np.abs(np.repeat(MASSES, 2) * traj.v).sum(axis=1).max() * np.array([1.0, 1.0, np.abs(traj.q).max()])
    assert (change < 4.4e-16 * size * np.sqrt(2000)).all()
    assert np.abs(traj.energy / traj.energy[0] - 1).max() > 1e-9 or stepper == "galerkin6"  # while energy is not exact


@pytest.mark.parametrize(("stepper", "options"), [m for m in METHODS if m[0] != "verlet"])
def test_cyclic_coordinate_with_variable_mass(stepper, options):
    traj = dal.simulate(POLAR, stepper, h=0.02, t_end=40.0, q0=[1.0, 0.0], v0=[0.1, 1.1], **options)
    assert np.abs(traj.momentum[:, 0] - 1.1).max() < 1e-13 * 2


def test_discrete_momentum_of_the_linear_symmetry_is_that_of_differences():
    """(3.47): sum m (q_1 - q_0) / h is the same in every interval."""
    traj = dal.simulate(THREE, "midpoint", h=0.05, t_end=50.0, q0=Q0, v0=V0)
    P = np.einsum("i,kij->kj", MASSES, traj.v_interval.reshape(-1, 3, 2))
    assert np.ptp(P, axis=0).max() < 1e-13


@pytest.mark.parametrize("stepper", ["shake", "rattle"])
def test_internal_constraints_leave_momenta_alone(stepper):
    """A rigid triangle with masses of its own: forces of constraints act along the sides."""

    def sides(q):
        x = [q[2 * i : 2 * i + 2] for i in range(3)]
        return [0.5 * ((x[i] - x[j]) @ (x[i] - x[j]) - 1.0) for i, j in ((0, 1), (1, 2), (0, 2))]

    rigid = dal.Lagrangian(6, particles, holonomic=sides, symmetries=PLANE, name="rigid triangle")
    q, v = rigid.assemble(Q0, V0)
    traj = dal.simulate(rigid, stepper, h=0.05, t_end=100.0, q0=q, v0=v)
    assert np.abs(traj.momentum - traj.momentum[0]).max() < 2e-13
    assert np.abs(traj.constraint).max() < 1e-14


def test_torque_changes_the_momentum_by_its_impulse():
    """A force along the symmetry: J(t) - J(0) = traj.impulse, exactly for a constant push."""
    pushed = dal.Lagrangian(6, particles, force=lambda q, v: [0.1, 0.0] * 3, symmetries={"x": PLANE["x"]}, name="pushed")
    for stepper in ("midpoint", "verlet", "galerkin4"):
        traj = dal.simulate(pushed, stepper, h=0.05, t_end=20.0, q0=Q0, v0=V0)
        assert np.abs(traj.momentum[:, 0] - traj.momentum[0, 0] - 0.3 * traj.t).max() < 1e-13, stepper
        assert np.abs(traj.impulse[:, 0] - 0.3 * traj.t).max() < 1e-13
