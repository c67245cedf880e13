"""Machines, runs and observed orders that these tests share."""

from typing import NamedTuple

import numpy as np
import pytest

import dalembert as dal

LEVEL = (1.0, 0.0, 0.0, 0.0)


class Machine(NamedTuple):
    """A model with a state to start from."""

    model: dal.Model
    q0: np.ndarray
    v0: np.ndarray


def scene(name):
    s = dal.scenes.find(name)
    m = s.model().frozen()
    return Machine(m, m.check_q(s.q0), m.check_v(s.v0))


@pytest.fixture(scope="session")
def chain():
    """The floating chain of three bodies without any force."""
    return scene("floating-chain")


@pytest.fixture(scope="session")
def pinned():
    """A spatial chain on a fixed base under gravity: ball joint, slide on a spring, hinge."""
    m = dal.Model("pinned chain")
    for k, name in enumerate(("upper", "rod", "bob")):
        m.add_body(name, 1.0, (0.04, 0.05, 0.03), com=(0.02, -0.03, -0.25), pose=((0, 0, -0.5 * k), LEVEL))
    m.add_joint("ball", "spherical", "world", "upper")
    m.add_joint("slide", "prismatic", "upper", "rod", (0, 0, -0.5), (0, 0, 1), stiffness=80.0)
    m.add_joint("hinge", "revolute", "rod", "bob", (0, 0, -1.0), (0, 1, 0))
    q0 = m.integrate(m.neutral(), np.array([0.5, 0.3, 0.2, -0.2, 0.4]))
    return Machine(m.frozen(), q0, np.array([0.3, -0.4, 0.8, 0.1, 0.5]))


def _branched(forced):
    m = dal.Model("every joint", gravity=(0, 0, -3.0))
    more = {"damping": 0.1} if forced else {}
    places = {
        "trunk": (0, 0, 0),
        "tail": (0, 0, 0.2),
        "ball": (0, 0, -1),
        "slider": (1, 0, 0),
        "hinge": (1, 0, -1),
        "cross": (0, 1, 0),
        "bolt": (0, 1, -1),
        "plate": (-1, 0, 0),
    }
    for name, place in places.items():
        m.add_body(name, 1.0, (0.05, 0.07, 0.09), com=(0.1, -0.05, -0.3), pose=(place, LEVEL))
    m.add_joint("root", "free", "world", "trunk")
    m.add_joint("weld", "fixed", "trunk", "tail", anchor=(0, 0, 0.1))
    m.add_joint("shoulder", "spherical", "trunk", "ball", anchor=(0, 0, -0.5), stiffness=2.0, **more)
    m.add_joint("rail", "prismatic", "trunk", "slider", anchor=(0.5, 0, 0), axis=(1, 0, 1), stiffness=5.0)
    m.add_joint("knee", "revolute", "slider", "hinge", anchor=(1, 0, -0.5), axis=(0, 1, 0), armature=0.02, **more)
    m.add_joint("cardan", "universal", "trunk", "cross", anchor=(0, 0.5, 0), axis=(1, 0, 0), axis2=(0, 0, 1), **more)
    m.add_joint("screw", "cylindrical", "cross", "bolt", anchor=(0, 1, -0.5), axis=(0, 0, 1), stiffness=4.0)
    m.add_joint("table", "planar", "trunk", "plate", anchor=(-0.5, 0, 0), axis=(0, 0, 1), **more)
    m.add_force(dal.Spring("ball", "plate", (0, 0, -0.3), (0.1, 0, 0), 3.0, 0.7))
    if forced:
        m.add_force(dal.Wrench("hinge", force=(0.5, -0.3, 0.4), torque=(0.1, 0.2, -0.1), point=(0.2, 0, 0.1), frame="world"))
        m.add_force(dal.Wrench("bolt", force=(-0.2, 0.4, 0.3), torque=(0.05, -0.1, 0.2), point=(0, 0.1, 0)))
    rng = np.random.default_rng(7)
    return Machine(m.frozen(), m.integrate(m.neutral(), 0.3 * rng.uniform(-1, 1, m.nv)), 0.8 * rng.uniform(-1, 1, m.nv))


@pytest.fixture(scope="session")
def tree():
    """A branched tree with every kind of joint under gravity; springs in joints and between bodies, no dissipation."""
    return _branched(False)


@pytest.fixture(scope="session")
def forced_tree():
    """The same with damping in joints and wrenches fixed in the world and in a body."""
    return _branched(True)


@pytest.fixture(scope="session")
def run():
    """run(machine, stepper, h, t_end, **arguments of simulate) -> trajectory."""

    def simulate(machine, stepper, h, t_end, **more):
        return dal.simulate(machine[0], stepper, h=h, t_end=t_end, q0=machine[1], v0=machine[2], **more)

    return simulate


@pytest.fixture(scope="session")
def end(run):
    """q and v of the last node."""

    def last(machine, stepper, h, t_end, **more):
        traj = run(machine, stepper, h, t_end, every=round(t_end / h), **more)
        return traj.q[-1], traj.v[-1]

    return last


@pytest.fixture(scope="session")
def truth(end):
    """truth(machine, t_end): q and v by the adaptive Munthe-Kaas method of order 8 at 1e-14; made once for each machine."""
    known = {}

    def reference(machine, t_end, **more):
        key = id(machine), t_end
        if key not in known:
            known[key] = machine, end(machine, "mk8", t_end / 4, t_end, rtol=1e-14, atol=1e-15, **more)  # kept: its id stays its own
        return known[key][1]

    return reference


@pytest.fixture(scope="session")
def slopes(end, truth):
    """slopes(machine, stepper, hs, t_end): observed orders of configuration and velocity at the last node, and the errors."""

    def observed(machine, stepper, hs, t_end, reference=None, **more):
        q, v = reference if reference is not None else truth(machine, t_end)
        errors = []
        for h in hs:
            found = end(machine, stepper, h, t_end, **more)
            errors.append((np.linalg.norm(machine[0].difference(q, found[0])), np.linalg.norm(found[1] - v)))
        return np.polyfit(np.log(hs), np.log(errors), 1)[0], np.array(errors)

    return observed


@pytest.fixture(scope="session")
def closure():
    """closure(traj): largest residual of the constraints on positions and of those on velocities, over at most 200 nodes."""

    def largest(traj):
        every = max(1, len(traj) // 200)
        gap = rate = 0.0
        for q, v in zip(traj.q[::every], traj.v[::every], strict=True):
            g, G = traj.model.constraint_rows(q)
            gap = max(gap, float(np.abs(g).max(initial=0.0)))
            rate = max(rate, float(np.abs(G @ v).max(initial=0.0)))
        return gap, rate

    return largest


@pytest.fixture(scope="session")
def drift():
    """drift(y): change of the regression line of y over the whole run, in parts of the band of y. A drift fills the band: it gives 1."""

    def judge(y):
        return abs(float(np.polyfit(np.linspace(0, 1, len(y)), y, 1)[0])) / float(np.ptp(y))

    return judge


@pytest.fixture(scope="session")
def descriptor():
    """descriptor(machine, t_end): q and v of a machine with constraints, all its joints of one degree of freedom, by DOP853 at 1e-10 on

    M a - G^T lambda = f,   G a = -dG/dt v       dG/dt by differences along the motion; redundant rows by least squares.
    """
    from scipy.integrate import solve_ivp

    def rate(m, t, y):
        q, v = y[: m.nq], y[m.nq :]
        G = m.constraint_rows(q)[1]

        def central(h):
            return (m.constraint_rows(q + h * v)[1] - m.constraint_rows(q - h * v)[1]) @ v / (2 * h)

        h = 3e-4 / max(1.0, np.abs(v).max())
        bias = (4 * central(h) - central(2 * h)) / 3
        M, f = m.mass_matrix(q), -m.inverse_dynamics(q, v, np.zeros(m.nv))
        free, across = np.linalg.solve(M, f), np.linalg.solve(M, G.T)
        push = np.linalg.lstsq(G @ across, -bias - G @ free, rcond=1e-9)[0]
        return np.concatenate([v, free + across @ push])

    def reference(machine, t_end):
        m, q, v = machine
        assert m.nq == m.nv
        y = solve_ivp(lambda t, y: rate(m, t, y), (0, t_end), np.concatenate([q, v]), method="DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
        return y[: m.nq], y[m.nq :]

    return reference


@pytest.fixture(scope="session")
def there_and_back():
    """there_and_back(machine, stepper, h, steps): how far the start is missed after as many steps with -h, in q and v."""
    from dalembert.contracts.runs import end_state, engine_of
    from dalembert.registry import find

    def miss(machine, name, h, steps, **options):
        stepper = find("tree", name)
        there = engine_of(stepper, machine, h, options=options)
        end_state(there, steps)
        back = engine_of(stepper, machine, -h, options=options)
        back.restart(there.state, 0)
        q, v = end_state(back, steps)
        return np.abs(machine[0].difference(machine[1], q)).max(), np.abs(v - machine[2]).max()

    return miss
