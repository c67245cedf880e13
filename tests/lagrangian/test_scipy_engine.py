"""SciPy's LSODA and DOP853 as steppers: one solver for the whole run, dense output at nodes, controls held, failures told."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.registry import find
from dalembert.runs.plan import Plan
from dalembert.verification import Pendulum

METHODS = ("lsoda", "dop853")
REDUCED = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + 10.0 * np.cos(q[0]), name="pendulum")
EXACT = Pendulum(1.0, 10.0, np.pi / 2)


def run(system, method, h=0.1, t_end=5.0, q0=(np.pi / 2,), **options):
    return dal.simulate(system, method, h=h, t_end=t_end, q0=list(q0), **options)


def engine(method, h=0.1, system=REDUCED, control=None, **options):
    stepper = find("lagrangian", method)
    return Plan.bare(system, stepper, h, **options).engine(control)


@pytest.mark.parametrize("tol", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("method", METHODS)
def test_error_follows_the_tolerance(method, tol):
    """At all nodes of two periods, to 3,000 tolerances: error control acts on single steps."""
    traj = run(REDUCED, method, rtol=tol, atol=tol)
    phi, rate = EXACT.state(traj.t)
    assert max(np.abs(traj.q[:, 0] - phi).max(), np.abs(traj.v[:, 0] - rate).max()) < 3e3 * tol


@pytest.mark.parametrize("method", METHODS)
def test_one_solver_serves_all_nodes(method):
    """Effort depends on the motion, not on how many nodes are read from it, and so do its states."""
    effort, ends = [], []
    for n in (10, 100, 5000):
        e = engine(method, h=5.0 / n)
        e.start(np.array([1.0]), np.array([0.0]))
        e.advance(n, n)
        effort.append(e.rhs.evaluations)
        ends.append(e.observe()[0][0])
    assert max(effort) < 1.3 * min(effort)
    assert np.ptp(ends) < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_nodes_are_those_of_solve_ivp(method):
    """The same solver on an independent right-hand side, to the tolerance (first steps differ)."""
    traj = run(REDUCED, method, rtol=1e-10, atol=1e-10)
    other = solve_ivp(lambda t, y: [y[1], -10 * np.sin(y[0])], (0, 5), [np.pi / 2, 0], method.upper(), traj.t, rtol=1e-10, atol=1e-10)
    assert np.abs(traj.q[:, 0] - other.y[0]).max() < 1e-7
    assert np.abs(traj.v_interval - np.diff(traj.q, axis=0) / 0.1).max() < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_chunks_do_not_show(method):
    whole, parts = engine(method), engine(method)
    for e in (whole, parts):
        e.start(np.array([1.0]), np.array([0.0]))
    states = whole.advance(50, 1).states
    assert (states == np.concatenate([parts.advance(n, 1).states for n in (1, 2, 7, 40)])).all()
    assert (run(REDUCED, method, every=5).q == run(REDUCED, method).q[::5]).all()


@pytest.mark.parametrize("method", METHODS)
def test_two_runs_at_once(method):
    """Interleaved solvers do not disturb each other."""
    one, two = engine(method), engine(method)
    for e in (one, two):
        e.start(np.array([1.0]), np.array([0.0]))
    for _ in range(20):
        one.advance(1, 1)
        two.advance(1, 1)
    assert (one.state == two.state).all()


@pytest.mark.parametrize("kind", ["python", "compiled"])
@pytest.mark.parametrize("method", METHODS)
def test_a_control_is_held_from_node_to_node(method, kind):
    """Against SciPy, one call per interval; work by the trapezoidal rule equals the change of energy to O(h^2)."""

    def push(t, q, v, out):
        out[0] = np.cos(3 * t) - 0.2 * v[0]

    def plain(t, q, v):
        return [np.cos(3 * t) - 0.2 * v[0]]

    h, y, nodes = 0.05, np.array([1.0, 0.0]), []
    for k in range(40):
        tau = plain(k * h, y[:1], y[1:])[0]
        y = solve_ivp(lambda t, y, tau=tau: [y[1], tau - 10 * np.sin(y[0])], (0, h), y, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        nodes.append(y)
    traj = run(REDUCED, method, h, 2.0, (1.0,), control=dal.compiled(push) if kind == "compiled" else plain, rtol=1e-10, atol=1e-10)
    assert np.abs(np.column_stack([traj.q, traj.v])[1:] - nodes).max() < 1e-7
    assert np.abs(traj.energy - traj.energy[0] - traj.work).max() < 0.1


@pytest.mark.parametrize("method", METHODS)
def test_forces_of_time_from_rest(method):
    """q'' = sin t from rest: no slope at the start tells the size of the first step. Energy = work to O(h^2)."""
    pushed = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2, force=lambda q, v, t: [np.sin(t)], symmetries={"shift": [1.0]})
    traj = run(pushed, method, 0.1, 10.0, (0.0,))
    assert np.abs(traj.q[:, 0] - (traj.t - np.sin(traj.t))).max() < 2e-6
    assert np.abs(traj.energy - traj.work).max() < 0.1**2
    assert np.abs(traj.momentum - traj.impulse).max() < 0.1**2


@pytest.mark.parametrize("method", METHODS)
def test_constraints_are_differentiated(method):
    """The pendulum in x, y: drifts with the tolerance; multipliers are those of the node."""
    rod = dal.Lagrangian(2, lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) - 10 * q[1], holonomic=lambda q: [0.5 * (q[0] ** 2 + q[1] ** 2 - 1)])
    traj = run(rod, method, q0=(1.0, 0.0), rtol=1e-9, atol=1e-9)
    assert 1e-13 < np.abs(rod.constraint_errors(traj.q)).max() < 1e-6
    assert np.abs(traj.q - EXACT.position(traj.t)).max() < 3e-6
    assert np.abs(traj.multipliers["holonomic"][:, 0] - EXACT.multiplier(traj.t[1:], squared=True)).max() < 1e-4


def test_lsoda_is_quick_on_stiff_systems():
    """A damper of 1e6: its Jacobian is exact, and a few hundred evaluations do."""
    stiff = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, rayleigh=lambda q, v: 5e5 * v[0] ** 2)
    e = engine("lsoda", system=stiff)
    e.start(np.array([1.0]), np.array([0.0]))
    e.advance(1000, 1000)
    assert e.rhs.evaluations < 1000
    assert e.observe()[0][0] == pytest.approx(np.exp(-1e-4), abs=1e-7)  # q' = -q / 1e6 for 100 s


@pytest.mark.parametrize("method", METHODS)
def test_blow_up_is_told(method):
    """q'' = 4 q^3 with the start on q' = sqrt(2) q^2: infinite at t = 1 / sqrt(2)."""
    bomb = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + q[0] ** 4)
    with pytest.raises(dal.SimulationError, match=r"infinite|not converge") as caught:
        run(bomb, method, 0.1, 5.0, (1.0,), v0=[2**0.5])
    assert caught.value.traj.t[-1] == pytest.approx(0.7)
    assert np.isfinite(caught.value.traj.q).all()


@pytest.mark.parametrize("method", METHODS)
def test_an_error_of_the_control_is_handed_on(method):
    with pytest.raises(dal.SimulationError, match=r"step 3 .*ZeroDivisionError") as caught:
        run(REDUCED, method, 0.1, 1.0, control=lambda t, q, v: [1 / (t < 0.25)])
    assert len(caught.value.traj) == 4


def test_a_run_can_be_stopped_between_two_nodes():
    """DOP853 on a stiff system takes many steps for one node; a request to stop is heard, and the run can go on."""
    stiff = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, rayleigh=lambda q, v: 5e2 * v[0] ** 2)
    e, asked = engine("dop853", h=10.0, system=stiff), []
    e.start(np.array([1.0]), np.array([0.0]))

    def stop():
        asked.append(1)
        return len(asked) == 100

    chunk = e.advance(1, 1, stop)
    assert (chunk.status, len(chunk.states), e.steps, len(asked)) == (0, 0, 0, 100)
    assert len(e.advance(1, 1).states) == 1
    assert e.observe()[0][0] == pytest.approx(np.exp(-10.0 / 1e3), abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_files_and_resuming(method, tmp_path):
    """A file holds the run bit for bit; the resumed half starts a new solver and agrees to the tolerance."""
    path = tmp_path / "run.h5"
    half = run(REDUCED, method, t_end=2.5, save=path)
    assert (dal.load(path).q == half.q).all()
    whole, resumed = run(REDUCED, method), dal.resume(path, 5.0)
    assert (resumed.q[:26] == whole.q[:26]).all()
    assert np.abs(resumed.q - whole.q).max() < 1e-5


@pytest.mark.parametrize("method", METHODS)
def test_backwards(method):
    e = engine(method, h=-0.1)
    phi, rate = EXACT.state(1.0)
    e.start(np.array([phi]), np.array([rate]))
    e.advance(10, 10)
    assert e.time == pytest.approx(-1.0)
    assert e.observe()[0][0] == pytest.approx(np.pi / 2, abs=1e-6)


@pytest.mark.parametrize(("option", "value"), [("rtol", 0.0), ("rtol", 1e-16), ("atol", -1.0), ("atol", np.inf)])
def test_tolerances_are_checked(option, value):
    with pytest.raises(dal.OptionError, match=f"option '{option}' of stepper 'dop853'"):
        run(REDUCED, "dop853", **{option: value})
