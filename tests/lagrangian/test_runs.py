"""Runs of Lagrangians: simulate, save, load, resume, Simulation, control, tables, pictures; as for models made of bodies."""

import copy
import json
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import dalembert as dal
from dalembert.runs import monitors
from dalembert.runs.recording import journal_path

TURN = ((0.0, -1.0), (1.0, 0.0))
START = {"q0": (1.0, 0.0), "v0": (0.1, 1.1)}


def kepler(**more):
    def L(q, v, p):
        return 0.5 * (v @ v) + p.mu / np.sqrt(q @ q)

    return dal.Lagrangian(2, L, params={"mu": 1.0}, symmetries={"rotation": TURN}, names=("x", "y"), name="kepler", **more)


def spherical_pendulum(**more):
    def L(q, v):
        return 0.5 * (v @ v) - 9.81 * q[2]

    return dal.Lagrangian(3, L, holonomic=lambda q: [0.5 * (q @ q - 1)], name="spherical pendulum", **more)


def rolling_disk():
    def L(q, v):
        return 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.25 * v[2] ** 2 + 0.125 * v[3] ** 2

    return dal.Lagrangian(4, L, pfaffian=lambda q: [[1, 0, -np.cos(q[3]), 0], [0, 1, -np.sin(q[3]), 0]], name="disk")


PENDULUM_START = {"q0": (0.6, 0.0, -0.8), "v0": (0.0, 1.5, 0.0)}


def test_importing_the_package_does_not_import_casadi():
    code = "import sys, dalembert; dalembert.__version__; sys.exit('casadi' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert "Lagrangian" in dir(dal)


def test_a_run_has_what_runs_of_models_have():
    s = kepler()
    traj = dal.simulate(s, "midpoint", h=0.01, t_end=2.0, **START)
    assert traj.t.shape == (201,)
    assert traj.q.shape == traj.v.shape == (201, 2)
    assert traj.v_interval.shape == (200, 2)
    assert traj.momentum.shape == traj.impulse.shape == (201, 1)
    assert np.allclose(traj.q[1:], traj.q[:-1] + 0.01 * traj.v_interval, atol=1e-15)
    assert np.allclose(traj.energy, s.energy(traj.q, traj.v), atol=1e-14)
    assert np.allclose(traj.energy, traj.kinetic + traj.potential)
    assert set(traj.solver) == {"iterations", "max_iterations", "residual", "substeps"}
    assert "kepler" in repr(traj)


def test_between_nodes_the_motion_is_straight():
    traj = dal.simulate(kepler(), h=0.1, t_end=1.0, **START)
    q, v = traj.at(0.25)
    assert np.allclose(q, 0.5 * (traj.q[2] + traj.q[3]))
    assert np.allclose(v, 0.5 * (traj.v[2] + traj.v[3]))
    with pytest.raises(dal.OptionError, match="outside"):
        traj.at(2.0)


def test_what_needs_bodies_says_so(tmp_path):
    traj = dal.simulate(kepler(), h=0.1, t_end=1.0, **START)
    with pytest.raises(dal.UnsupportedError, match="no bodies"):
        traj.poses  # noqa: B018
    with pytest.raises(dal.UnsupportedError, match="no bodies"):
        traj.animate(tmp_path / "x.gif")
    with pytest.raises(dal.UnsupportedError, match="no bodies"):
        traj.view()
    with pytest.raises(dal.UnknownNameError, match="holonomic, pfaffian"):
        traj.reaction("knee")
    with pytest.raises(dal.UnsupportedError, match="no step sizes are proved"):
        dal.advise(kepler())
    with pytest.raises(dal.UnsupportedError, match="proved"):
        dal.simulate(kepler(), h="auto", t_end=1.0, **START)


# constraints ------------------------------------------------------------------------------------------------------------------------


def test_residuals_and_forces_of_a_holonomic_constraint():
    """Multipliers of rattle against the index-1 equations: they belong to the interval, so they agree within its length, 5 h |rate|."""
    s = spherical_pendulum()
    traj = dal.simulate(s, "rattle", h=0.001, t_end=1.0, **PENDULUM_START)
    assert traj.constraint.shape == (1001, 1)
    assert np.abs(traj.constraint).max() < 1e-14
    force = traj.multipliers["holonomic"]
    assert force.shape == (1000, 1)
    assert traj.multipliers["pfaffian"].shape == (1000, 0)
    exact = s.numbers.multipliers(traj.q, traj.v)
    rate = np.abs(np.diff(exact, axis=0)).max()
    assert np.abs(force - exact[1:]).max() < 2.0 * rate
    assert np.abs(traj.reaction("holonomic") - exact).max() < 1e-12 * np.abs(exact).max()
    assert (force < 0).all()  # the rod pulls: towards smaller |q|


def test_forces_at_the_nodes_under_a_control():
    """A push along the rod, u = 2 q/|q|, is taken up by the rod alone: mu of g = (|q|^2 - 1)/2 changes by -u . q / q . q."""
    s = spherical_pendulum()
    traj = dal.simulate(s, "rattle", h=0.01, t_end=0.1, control=lambda t, q, v: 2.0 * q / np.linalg.norm(q), **PENDULUM_START)
    without = s.numbers.multipliers(traj.q, traj.v)
    u = np.vstack([traj.control, traj.control[-1:]])
    expected = without[:, 0] - np.sum(u * traj.q, axis=1) / np.sum(traj.q * traj.q, axis=1)
    np.testing.assert_allclose(traj.reaction("holonomic")[:, 0], expected, rtol=1e-12)


def test_forces_of_a_pfaffian_constraint():
    """A disk on a circle of radius v / w needs the force m v w towards the centre."""
    s = rolling_disk()
    q0, v0 = s.assemble((0, 0, 0, 0), (1.0, 0, 1.0, 0.5))
    traj = dal.simulate(s, "alpha", h=0.01, t_end=2.0, q0=q0, v0=v0)
    force = traj.multipliers["pfaffian"][1:]
    assert force.shape == (199, 2)
    assert np.allclose(np.linalg.norm(force, axis=1), abs(v0[0] * 0.5), rtol=1e-4)  # h^2 w^2 = 2.5e-5


def test_residuals_of_constraints_that_depend_on_time_use_the_time_of_the_node():
    def L(q, v):
        return 0.5 * (v @ v) - 9.81 * q[1]

    s = dal.Lagrangian(2, L, holonomic=lambda q, t: [(q[0] - 0.1 * np.sin(3 * t)) ** 2 + q[1] ** 2 - 1])
    q0, v0 = s.assemble((0.0, -1.0), (0.0, 0.0))
    traj = dal.simulate(s, "rattle", h=0.01, t_end=2.0, q0=q0, v0=v0)
    assert np.abs(traj.constraint).max() < 1e-13
    assert np.abs(s.constraint_errors(traj.q)).max() > 0.01  # at t = 0 they would not hold


# files ------------------------------------------------------------------------------------------------------------------------------


def test_saved_and_loaded_bit_for_bit(tmp_path):
    path = tmp_path / "run.h5"
    traj = dal.simulate(kepler(), h=0.01, t_end=2.0, save=path, **START)
    again = dal.load(path)
    for name in ("t", "q", "v", "v_interval", "energy", "momentum", "work", "impulse", "states"):
        assert (getattr(again, name) == getattr(traj, name)).all(), name
    assert again.model.to_dict() == traj.model.to_dict()
    assert again.model.params == {"mu": 1.0}
    assert again.report().to_dict() == traj.report().to_dict()
    with pytest.raises(dal.ArchiveError, match="overwrite=True"):
        traj.save(path)


def test_a_file_needs_no_code_of_the_user(tmp_path):
    path = tmp_path / "run.h5"
    dal.simulate(kepler(), h=0.01, t_end=1.0, save=path, **START)
    code = f"import dalembert as dal; t = dal.resume({str(path)!r}, 2.0); print(repr(t.q[-1].tolist()), t.report().verdict)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    whole = dal.simulate(kepler(), h=0.01, t_end=2.0, **START)
    numbers, verdict = found.rsplit(" ", 1)
    assert json.loads(numbers) == whole.q[-1].tolist()
    assert verdict.strip() == "pass"


@pytest.mark.parametrize("compose", [None, "suzuki4"])
@pytest.mark.parametrize(("make", "stepper", "start"), [(kepler, "midpoint", START), (spherical_pendulum, "rattle", PENDULUM_START)])
def test_resumed_runs_equal_uninterrupted_ones_bit_for_bit(tmp_path, make, stepper, start, compose):
    path = tmp_path / "run.h5"
    dal.simulate(make(), stepper, h=0.01, t_end=1.0, save=path, every=2, compose=compose, **start)
    resumed = dal.resume(path, 2.0)
    whole = dal.simulate(make(), stepper, h=0.01, t_end=2.0, every=2, compose=compose, **start)
    assert (resumed.states == whole.states).all()
    assert (dal.load(path).q == whole.q).all()
    with pytest.raises(dal.OptionError, match="already"):
        dal.resume(path, 0.5)


def test_resume_with_other_parameters_than_the_default(tmp_path):
    path = tmp_path / "run.h5"
    heavy = kepler().with_params(mu=2.0)
    dal.simulate(heavy, h=0.01, t_end=1.0, save=path, **START)
    assert dal.load(path).model.params == {"mu": 2.0}
    assert (dal.resume(path, 2.0).states == dal.simulate(heavy, h=0.01, t_end=2.0, **START).states).all()


CHILD = """
import sys
import numpy as np
import dalembert as dal

def L(q, v, p):
    return 0.5 * (v @ v) + p.mu / np.sqrt(q @ q)

s = dal.Lagrangian(2, L, params={"mu": 1.0}, symmetries={"rotation": ((0.0, -1.0), (1.0, 0.0))}, names=("x", "y"), name="kepler")
dal.simulate(s, "midpoint", h=0.001, t_end=4000.0, every=20, q0=(1.0, 0.0), v0=(0.1, 1.1), save=sys.argv[1])
"""


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_a_killed_run_is_loaded_and_resumed_bit_for_bit(tmp_path, seconds):
    path = tmp_path / "run.h5"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)])
    until = time.monotonic() + 60
    while not (path.exists() and journal_path(path).exists()) and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    child.wait()
    killed = dal.load(path)
    assert "killed" in killed.status
    t_end = killed.t[-1] + 2.0
    resumed = dal.resume(path, t_end)
    whole = dal.simulate(kepler(), "midpoint", h=0.001, t_end=t_end, every=20, **START)
    assert (resumed.states == whole.states).all()
    assert resumed.report().to_dict() == whole.report().to_dict()


def test_columns_have_the_names_of_coordinates_and_symmetries(tmp_path):
    import netCDF4

    path = tmp_path / "run.h5"
    traj = dal.simulate(kepler(), h=0.01, t_end=1.0, save=path, **START)
    assert traj.model.column_names("q") == ["x", "y"]
    with netCDF4.Dataset(path) as f:
        assert list(f["v_name"][:]) == ["dx", "dy"]
        assert list(f["momentum_name"][:]) == ["rotation"]
        assert f["momentum"].dimensions == ("time", "momentum_name")
    frame = traj.to_pandas()
    assert list(frame.columns) == ["x", "y", "dx", "dy", "energy", "kinetic", "potential", "rotation"]
    assert frame.attrs["units"]["x"] == ""
    data = traj.to_xarray()
    assert (data["momentum"].sel(momentum_name="rotation").values == traj.momentum[:, 0]).all()


def test_tables_and_files_of_constrained_runs_hold_residuals_and_forces(tmp_path):
    traj = dal.simulate(spherical_pendulum(), "rattle", h=0.01, t_end=1.0, save=tmp_path / "run.h5", **PENDULUM_START)
    data = traj.to_xarray()
    assert data["constraint"].shape == (101, 1)
    assert (data["multipliers"].values[1:] == traj.multipliers["holonomic"]).all()
    assert data["momentum"].shape == (101, 0)
    assert (dal.load(tmp_path / "run.h5").multipliers["holonomic"] == traj.multipliers["holonomic"]).all()


def test_a_large_system_is_saved(tmp_path):
    """40 coordinates: the formulas in the file are longer than 64 kB, the limit of plain HDF5 attributes."""

    def L(q, v):
        return 0.5 * (v @ v) + sum(np.cos(q[i] - q[i - 1]) * (1 + 0.1 * np.sin(q[i])) for i in range(40))

    s = dal.Lagrangian(40, L, holonomic=lambda q: [np.sin(q[i]) - q[i + 20] ** 3 for i in range(10)])
    traj = dal.simulate(s, "rattle", h=0.01, t_end=0.1, save=tmp_path / "run.h5")
    assert (dal.load(tmp_path / "run.h5").q == traj.q).all()


# control, monitors, steps by hand ---------------------------------------------------------------------------------------------------


def test_python_and_compiled_controls_agree():
    def control(t, q, v):
        return np.array([0.1 * np.cos(t), -0.2 * v[1]])

    @dal.compiled
    def compiled(t, q, v, out):
        out[0] = 0.1 * np.cos(t)
        out[1] = -0.2 * v[1]

    runs = [dal.simulate(kepler(), h=0.01, t_end=1.0, control=c, **START) for c in (control, compiled)]
    assert np.allclose(runs[0].q, runs[1].q, atol=1e-14)
    assert np.allclose(runs[0].work, runs[1].work, atol=1e-14)
    assert runs[0].work[-1] != 0.0
    assert np.abs(runs[0].q[-1] - dal.simulate(kepler(), h=0.01, t_end=1.0, **START).q[-1]).max() > 1e-3


def test_a_control_equals_the_same_force_in_the_formulas():
    """A constant force: held over the step or evaluated in it is the same."""
    pushed = kepler(force=lambda q, v: [0.3, -0.1])
    a = dal.simulate(pushed, h=0.01, t_end=1.0, **START)
    b = dal.simulate(kepler(), h=0.01, t_end=1.0, control=lambda t, q, v: (0.3, -0.1), **START)
    assert np.allclose(a.q, b.q, atol=1e-13)
    assert np.allclose(a.impulse, b.impulse, atol=1e-13)


def test_resume_with_a_control(tmp_path):
    path = tmp_path / "run.h5"

    def control(t, q, v):
        return np.sin(3 * t), 0.0

    dal.simulate(kepler(), h=0.01, t_end=1.0, save=path, control=control, **START)
    with pytest.raises(dal.OptionError, match="pass control="):
        dal.resume(path, 2.0)
    resumed = dal.resume(path, 2.0, control=control)
    assert (resumed.states == dal.simulate(kepler(), h=0.01, t_end=2.0, control=control, **START).states).all()


def test_every_keeps_a_part_of_the_same_nodes():
    whole = dal.simulate(kepler(), h=0.01, t_end=1.0, **START)
    part = dal.simulate(kepler(), h=0.01, t_end=1.0, every=5, **START)
    assert (part.states == whole.states[::5]).all()
    assert part.solver["iterations"].sum() == whole.solver["iterations"].sum()


def test_monitors_watch_and_end_a_run():
    s = kepler()
    watch = monitors.Watch(lambda t, q, v: float(np.linalg.norm(q)))
    traj = dal.simulate(s, h=0.001, t_end=1000.0, every=100, monitors=[watch, lambda t, q, v: t > 5.0], **START)
    assert "ended by monitor" in traj.status
    assert 5.0 <= traj.t[-1] + 0.1 < 1000.0
    assert 0.8 < watch.latest()[1] < 2.0
    kept = dal.simulate(s, h=0.01, t_end=10.0, monitors=[monitors.energy_within(s, 0.1)], **START)
    assert kept.status == "ok"


def test_simulation_by_hand_equals_a_run():
    sim = dal.Simulation(kepler(), "midpoint", h=0.01, **START)
    sim.step(60)
    sim.step(40)
    whole = dal.simulate(kepler(), "midpoint", h=0.01, t_end=1.0, **START)
    assert (sim.trajectory().q == whole.q).all()
    assert sim.trajectory().report()["momentum of rotation"].verdict == "pass"  # a control that never pushed counts as none


def test_a_generalised_force_acts_during_the_next_call_only():
    free = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2)
    sim = dal.Simulation(free, h=0.1)
    sim.apply_force(tau=[2.0])
    sim.step(1)
    assert sim.state.v == pytest.approx([0.2])
    sim.step(5)
    assert sim.state.v == pytest.approx([0.2])
    with pytest.raises(dal.UnsupportedError, match="no bodies"):
        sim.apply_force("rotor", force=(1, 0, 0))
    with pytest.raises(dal.OptionError, match="tau"):
        sim.apply_force(tau=(1.0, 2.0))


def test_a_model_takes_generalised_forces_too():
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("b", 2.0, (1, 1, 1))
    sim = dal.Simulation(m, h=0.1)
    sim.apply_force(tau=(0, 0, 0, 1.0, 0, 0))
    sim.step()
    assert sim.state.v[3] == pytest.approx(0.05)
    with pytest.raises(dal.OptionError, match="not both"):
        sim.apply_force()


def test_a_plain_python_stepper_runs_a_lagrangian(tmp_path):
    from dalembert import registry

    registry.load_all()
    before = dict(registry._steppers)
    try:

        @dal.stepper("plain-euler", order=1)
        def step(s, t, q, v, h):
            """Explicit Euler."""
            return q + h * v, v + h * s.accelerations(q, v, t)

        traj = dal.simulate(kepler(), "plain-euler", h=0.001, t_end=1.0, save=tmp_path / "run.h5", **START)
        assert np.isnan(traj.impulse).all()
        assert traj.impulse.shape == (1001, 1)
        assert np.abs(traj.q[-1] - dal.simulate(kepler(), h=0.001, t_end=1.0, **START).q[-1]).max() < 2e-3
        assert traj.report().verdict == "pass"
        assert (dal.load(tmp_path / "run.h5").q == traj.q).all()
        with pytest.raises(dal.UnsupportedError, match="keeps no forces"):
            _ = traj.multipliers["holonomic"]
    finally:
        registry._steppers.clear()
        registry._steppers.update(before)


# pictures ---------------------------------------------------------------------------------------------------------------------------


def titles(picture):
    return [a.get_title(loc="left") for a in picture.axes if a.get_title(loc="left")]


def test_picture_of_one_coordinate_has_a_phase_portrait(tmp_path):
    pendulum = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + np.cos(q[0]), names=("angle",))
    picture = dal.simulate(pendulum, h=0.05, t_end=5.0, q0=2.0).plot(tmp_path / "p.png")
    assert (tmp_path / "p.png").stat().st_size > 10_000
    assert titles(picture) == ["Energy error", "Momentum error", "Phase portrait", "Coordinates", "Energy", "Solver effort"]
    lines = picture.axes[2].lines
    assert lines[0].get_xdata()[0] == 2.0


def test_picture_of_a_constrained_run_shows_residuals(tmp_path):
    picture = dal.simulate(spherical_pendulum(), "rattle", h=0.01, t_end=2.0, **PENDULUM_START).plot(tmp_path / "p.svg")
    assert titles(picture)[-1] == "Constraints"
    assert titles(picture)[2] == "Path"


def test_notebooks_show_a_table_and_the_report():
    html = dal.simulate(spherical_pendulum(), "rattle", h=0.01, t_end=2.0, **PENDULUM_START)._repr_html_()
    assert "3 coordinates, 1 constraint on positions" in html
    assert "holonomic constraints hold" in html
    assert "data:image/png" in html


def test_runs_are_cited():
    text = dal.cite(dal.simulate(kepler(), "midpoint", h=0.1, t_end=1.0, **START))
    assert "@article{casadi" in text
    assert "marsden2001" in text


def test_constraints_and_forces_can_be_left_out():
    """Without its rod a pendulum falls freely, at the nodes too."""
    s = dal.Lagrangian(
        2, lambda q, v: 0.5 * (v @ v) - 10 * q[1], holonomic=lambda q: [0.5 * (q @ q - 1)], force=lambda q, v: [-v[0], -v[1]], name="rod"
    )
    traj = dal.simulate(s, "midpoint", h=0.01, t_end=1, q0=[1, 0], ignore=("holonomic", "force"))
    assert traj.q[-1] == pytest.approx([1, -5], abs=1e-12)
    assert traj.v[-1] == pytest.approx([0, -10], abs=1e-12)
    assert s.without(()) is s


def test_what_cannot_be_left_out_is_not_offered():
    s = dal.Lagrangian(1, lambda q, v: 0.5 * (1 + q[0] ** 2) * v[0] ** 2)
    with pytest.raises(dal.UnsupportedError, match=r"variable mass of .*stepper 'midpoint' does") as caught:
        dal.simulate(s, "verlet", h=0.1, t_end=1)
    assert "ignore" not in str(caught.value)
    with pytest.raises(dal.UnknownNameError, match=r"feature to ignore 'variable mass'.*damping, force, holonomic, nonholonomic"):
        dal.simulate(s, "verlet", h=0.1, t_end=1, ignore=("variable mass",))


def test_a_saved_run_without_its_constraint_is_read_again(tmp_path):
    """Velocities of the nodes are made by the code of the reduced system, which must live until they are."""
    s = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) - 10 * q[1], holonomic=lambda q: [0.5 * (q @ q - 1)], name="rod")
    traj = dal.simulate(s, "midpoint", h=0.01, t_end=1, q0=[1, 0], ignore=("holonomic",), save=tmp_path / "free.h5")
    again = dal.load(tmp_path / "free.h5")
    assert (again.q == traj.q).all() and (again.v == traj.v).all()


def test_pickled_and_copied_systems_move_alike():
    s = dal.Lagrangian(
        1, lambda q, v, p: 0.5 * p.m * v[0] ** 2 - np.cos(q[0]), params={"m": 2.0}, symmetries=(), names=["angle"], name="pendulum"
    ).with_params(m=3.0)
    runs = [dal.simulate(x, "midpoint", h=0.1, t_end=2, q0=[1.0]) for x in (s, pickle.loads(pickle.dumps(s)), copy.deepcopy(s))]
    assert runs[0].model.params == runs[1].model.params == runs[2].model.params == {"m": 3.0}
    assert (runs[0].q == runs[1].q).all() and (runs[0].q == runs[2].q).all()
