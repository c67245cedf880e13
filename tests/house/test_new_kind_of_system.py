"""A kind of system is one file: this one adds lattices of masses and springs on a line, with a family of arrays and a stepper of its own.

L = sum v_i^2 / 2 - sum [d_i^2 / 2 + beta d_i^4 / 4],   d_i = q_i+1 - q_i, ends fixed    (Fermi, Pasta, Ulam, Tsingou)
"""

import numpy as np
import pytest

import dalembert as dal
from dalembert import registry
from dalembert.errors import OptionError
from dalembert.families import Family, _added, add_family
from dalembert.kernels._jit import kernel
from dalembert.systems import System, _kinds


class Lattice(System, kind="lattice"):
    """n unit masses between two walls."""

    forces: tuple = ()
    momentum_names = momentum_units = ()
    momentum_meaning = "none: the walls push"

    def __init__(self, n, beta=0.0, name="lattice"):
        self.n, self.beta, self.name = n, beta, name
        self.nq = self.nv = n

    def __repr__(self):
        return f"<Lattice {self.name!r}: {self.n} masses>"

    def describe(self):
        return f"{self.n} masses on a line"

    def frozen(self):
        return self

    def check_features(self, names):
        if names:
            raise OptionError(f"ignore={names!r}: a lattice has no features to ignore.")
        return ()

    def without(self, names):
        return self

    def check_q(self, q):
        return np.zeros(self.n) if q is None else np.array(q, dtype=float)

    check_v = check_q

    def check_start(self, stepper, q, v, ignore):
        pass

    def integrate(self, q, dq):
        return q + dq

    def difference(self, a, b):
        return b - a

    def stretch(self, q):
        wall = np.zeros((*q.shape[:-1], 1))
        return np.diff(np.concatenate([wall, q, wall], axis=-1), axis=-1)

    def kinetic_energy(self, q, v):
        return 0.5 * np.sum(np.asarray(v) ** 2, axis=-1)

    def potential_energy(self, q):
        d = self.stretch(np.asarray(q))
        return np.sum(0.5 * d**2 + 0.25 * self.beta * d**4, axis=-1)

    def momentum(self, q, v):
        return np.zeros((*np.asarray(q).shape[:-1], 0))

    def constraint_errors(self, q, t=None):
        return np.zeros((len(q), 0))

    def column_names(self, which):
        return [f"x{i + 1}" for i in range(self.n)]

    def column_units(self, which):
        return ["m" if which == "q" else "m/s"] * self.n

    def to_dict(self):
        return {"kind": "lattice", "n": self.n, "beta": self.beta, "name": self.name}

    @classmethod
    def from_dict(cls, data):
        return cls(data["n"], data["beta"], data["name"])


# system: n, beta; state: q, v, held force
@kernel
def add_forces(system, state, out, weight):
    """state[out:] += weight (force of the springs and the held one)"""
    n, beta, before = int(system[0]), system[1], 0.0
    for i in range(n):
        left = state[i] - before
        right = (state[i + 1] if i + 1 < n else 0.0) - state[i]
        before = state[i]
        state[out + i] += weight * (right + beta * right**3 - left - beta * left**3 + state[2 * n + i])


@kernel
def verlet(t, h, system, state, work, info):
    """Half a push, a drift, half a push."""
    n = int(system[0])
    add_forces(system, state, n, 0.5 * h)
    for i in range(n):
        state[i] += h * state[n + i]
    add_forces(system, state, n, 0.5 * h)
    return 0


@kernel
def nodal(system, state, work, q, v):
    """q, v of the state."""
    n = int(system[0])
    for i in range(n):
        q[i], v[i] = state[i], state[n + i]


@kernel
def hold(system, state, tau):
    """Keep a force for the next step."""
    n = int(system[0])
    for i in range(n):
        state[2 * n + i] = tau[i]


@kernel
def ledger(t, h, end, system, state, work, info):
    """No account."""
    return 0


def unpack(model, system, states):
    n, none = model.n, np.full(len(states), np.nan)
    return {
        "q": states[:, :n],
        "v": states[:, n : 2 * n],
        "v_interval": states[:, n : 2 * n],
        "control": states[:, 2 * n :],
        "work": none,
        "impulse": np.zeros((len(states), 0)),
    }


def no_advice(model, q, v, stepper):
    raise dal.UnsupportedError("no step sizes are proved for lattices.")


@pytest.fixture(scope="module", autouse=True)
def lattices():
    registry.load_all()
    _kinds["lattice"] = Lattice
    add_family(
        Family(
            name="lattice",
            kind="lattice",
            of="lattice",
            fits=lambda model: True,
            features=lambda model: set(),
            system=lambda model, options: np.array([model.n, model.beta]),
            start=lambda system, q, v: np.concatenate([q, v, np.zeros_like(q)]),
            nodal=nodal,
            hold=hold,
            ledger=ledger,
            work_size=lambda system: 1,
            info_size=4,
            unpack=unpack,
            advise=no_advice,
        )
    )
    registry.register(
        name="lattice-verlet",
        summary="velocity Verlet on lattices",
        system="lattice",
        order=2,
        symplectic=True,
        self_adjoint=True,
        conserves=("energy: bounded",),
        handles=("control",),
    )(verlet)
    yield
    del registry._steppers["lattice", "lattice-verlet"], _kinds["lattice"]
    registry._version += 1
    _added.clear()


def mode(n, k=1):
    return np.sin(np.pi * k * np.arange(1, n + 1) / (n + 1))


def test_a_harmonic_lattice_swings_in_its_modes():
    """omega_k = 2 sin(pi k / (2 (n + 1))); error of Verlet in phase, omega^3 h^2 t / 24 = 4e-4 at most."""
    n, h, t_end = 8, 0.05, 40.0
    traj = dal.simulate(Lattice(n), h=h, t_end=t_end, q0=mode(n))
    omega = 2.0 * np.sin(np.pi / (2 * (n + 1)))
    bound = 2.0 * omega**3 * h**2 * t_end / 24
    assert np.abs(traj.q - np.cos(omega * traj.t)[:, None] * mode(n)).max() < bound


def test_it_has_a_report_a_file_and_a_picture(tmp_path):
    path = tmp_path / "run.h5"
    traj = dal.simulate(Lattice(16, beta=1.0), h=0.05, t_end=200.0, q0=mode(16), save=path)
    assert traj.report().verdict == "pass"
    again = dal.load(path)
    assert again.model.beta == 1.0
    np.testing.assert_array_equal(again.q, traj.q)
    further, whole = dal.resume(path, 250.0), dal.simulate(Lattice(16, beta=1.0), h=0.05, t_end=250.0, q0=mode(16))
    np.testing.assert_array_equal(further.q, whole.q)
    traj.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_it_is_stepped_and_pushed():
    sim = dal.Simulation(Lattice(4), h=0.01)
    for _ in range(100):
        sim.step(tau=np.full(4, 0.1))
    traj = dal.simulate(Lattice(4), h=0.01, t_end=1.0, control=np.full((100, 4), 0.1))
    np.testing.assert_array_equal(sim.state.q, traj.q[-1])


def test_energy_of_a_loud_lattice_stays_in_a_band_that_shrinks_with_the_square_of_h():
    spread = [np.ptp(dal.simulate(Lattice(12, beta=4.0), h=h, t_end=50.0, q0=2.0 * mode(12)).energy) for h in (0.04, 0.02)]
    assert 3.5 < spread[0] / spread[1] < 4.5
