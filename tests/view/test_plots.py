"""Figures hold what they say, are written as asked, and leave matplotlib as it was."""

import io
import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
import pytest
from PIL import Image

import dalembert as dal
from dalembert import registry, scenes
from dalembert.errors import OptionError
from dalembert.view.drift import energy_drift, momentum_drift
from dalembert.view.lines import strided, thin
from dalembert.view.picture import save_picture
from dalembert.view.plots import plot_conservation, plot_trajectory, residual_name, two_powers
from dalembert.view.sphere import energy_levels

PANELS = ["Energy error", "Momentum error", "Energy", "Angular velocity", "Solver effort"]


@pytest.fixture(scope="module")
def free():
    return scenes.find("free-body").simulate(t_end=5.0)


@pytest.fixture(scope="module")
def top():
    return scenes.find("lagrange-top-medium").simulate(t_end=4.0)


@pytest.fixture(scope="module")
def damped():
    return scenes.find("satellite").simulate(t_end=30.0)


@pytest.fixture
def python_stepper():
    """A plain-Python method, which keeps no ledger of work and impulse; taken out of the registry afterwards."""
    before = dict(registry._steppers)

    @dal.stepper("at-constant-velocity", order=1)
    def step(m, t, q, v, h):
        return m.integrate(q, h * v), v

    yield "at-constant-velocity"
    registry._steppers.clear()
    registry._steppers.update(before)


def panel(figure, title):
    return next(a for a in figure.axes if a.get_title(loc="left") == title)


def texts(axes):
    return " ".join(t.get_text() for t in axes.texts)


def single_node():
    def refuse(t, q, v):
        raise ValueError("no control today")

    scene = scenes.find("free-body")
    traj = scene.simulate(control=refuse, on_fail="return")
    assert len(traj) == 1
    return traj


@pytest.mark.parametrize("name", ["free", "top", "damped"])
def test_png_has_its_size_and_is_not_blank(name, request, tmp_path):
    traj = request.getfixturevalue(name)
    figure = plot_trajectory(traj, tmp_path / "run.png")
    with Image.open(tmp_path / "run.png") as image:
        assert image.format == "PNG"
        assert image.size == (1950, 1080)  # 13 x 7.2 inches at 150 dots per inch
        pixels = np.asarray(image.convert("L"), dtype=float)
    thirds = [np.array_split(row, 3, axis=1) for row in np.array_split(pixels, 2)]
    assert all(cell.std() > 10 for row in thirds for cell in row)
    assert [p for p in PANELS if p not in [a.get_title(loc="left") for a in figure.axes]] == []


def test_axes_are_labelled_with_units(free):
    figure = plot_trajectory(free)
    assert all(panel(figure, p).get_xlabel() == "t (s)" for p in PANELS)
    assert "(J)" in panel(figure, "Energy").get_ylabel()
    assert "(rad/s)" in panel(figure, "Angular velocity").get_ylabel()


def test_curves_are_those_of_the_run(free):
    figure = plot_trajectory(free)
    (line,) = panel(figure, "Energy error").get_lines()
    kinetic = 0.5 * np.sum(free.v[:, :3] ** 2 * [1, 2, 2.5], axis=1)
    assert np.allclose(line.get_ydata(), (kinetic - kinetic[0]) / kinetic.max(), atol=1e-15)
    for i, line in enumerate(panel(figure, "Angular velocity").get_lines()):
        assert np.array_equal(line.get_ydata(), free.v[:, i])


def test_the_solver_panel_says_what_its_residual_is(free, robot):
    assert residual_name(free) == "last relative residual" and residual_name(robot) == "last correction / velocity"
    assert residual_name(scenes.find("free-body").simulate(stepper="mk5", t_end=0.5)) == "error of a step / tolerance"
    assert "last relative residual" in [a.get_ylabel() for a in plot_trajectory(free).axes]


def test_vector_formats(free, tmp_path):
    for name in ("a.pdf", "a.SVG"):
        assert free.plot(tmp_path / name) is not None
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert ElementTree.parse(tmp_path / "a.SVG").getroot().tag.endswith("svg")


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_same_run_gives_the_same_file(suffix, free, tmp_path):
    files = [tmp_path / f"{k}.{suffix}" for k in "ab"]
    for file in files:
        save_picture(plot_conservation(free), file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_matplotlib_is_left_as_it_was(free, tmp_path):
    import matplotlib.pyplot as plt

    before = dict(matplotlib.rcParams)
    plot_trajectory(free, str(tmp_path / "a.png"))
    plot_conservation(free)
    assert plt.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


def test_figure_shows_itself_in_a_notebook(free):
    with Image.open(io.BytesIO(plot_trajectory(free)._repr_png_())) as image:
        assert np.asarray(image.convert("L"), dtype=float).std() > 10


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("missing/a.png", "does not exist"),
        ("a.jpeg", "expected one of .png, .pdf, .svg"),
        ("a", "suffix ''"),
        (".", "suffix"),
        (3.5, "3.5"),
    ],
)
def test_bad_paths_are_refused_and_nothing_is_made(path, words, free, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=words):
        free.plot(path)
    assert list(tmp_path.iterdir()) == []


def test_directory_with_a_good_suffix_is_refused(free, tmp_path):
    (tmp_path / "a.png").mkdir()
    with pytest.raises(OptionError, match="is a directory"):
        free.plot(tmp_path / "a.png")


def test_damped_run_is_judged_by_its_balance(damped):
    """Energy falls by far more than the error of order h^2 |omega|^2 = 0.003 of the balance; momentum is balanced to round-off."""
    assert damped.energy[-1] < 0.5 * damped.energy[0]
    curve = energy_drift(damped)
    assert "W" in curve.label
    assert np.abs(curve.values).max() < 0.003
    assert momentum_drift(damped)[0].values.max() < 1e-12


def test_balance_about_a_pivot_away_from_the_origin():
    """About the pivot the torque of gravity is known, about the origin that of the pivot's force is not: round-off of 400 steps."""
    m = dal.Model("shifted")
    m.add_body("rotor", 1.0, (1, 1, 2), com=(0.5, 0, 0), pose=((1, 2, 3), (1, 0, 0, 0)))
    m.add_joint("tip", "spherical", "world", "rotor", anchor=(1, 2, 3))
    traj = dal.simulate(m, h=0.01, t_end=4, v0={"tip": (0.1, 0, 5)})
    (angular,) = momentum_drift(traj)
    assert angular.values.max() < 1e-13
    assert np.ptp(traj.momentum[:, :3], axis=0).max() > 0.1


def test_run_without_ledger_is_judged_by_symmetry(python_stepper):
    falling = scenes.find("falling-body").simulate(stepper=python_stepper)
    assert [c.label for c in momentum_drift(falling)] == ["angular, vertical", "linear, level"]
    assert energy_drift(falling).label == "(E − E₀) / max T"
    forced = scenes.find("satellite").simulate(stepper=python_stepper, t_end=10.0)
    assert energy_drift(forced) is None
    assert momentum_drift(forced) == []
    figure = plot_trajectory(forced)
    assert "not recorded" in texts(panel(figure, "Energy error"))
    assert "not recorded" in texts(panel(figure, "Momentum error"))
    assert "no equations" in texts(panel(figure, "Solver effort"))


def test_single_node_exploded_and_resting_runs_are_drawn(tmp_path):
    exploded = scenes.find("free-body").simulate(stepper="euler", h=1.0, t_end=100.0, on_fail="return")
    assert exploded.status != "ok"
    resting = scenes.find("free-body").simulate(v0=None, t_end=1.0)
    hanging = scenes.find("heavy-top").simulate(v0=None, t_end=0.1)
    for i, traj in enumerate((single_node(), exploded, resting, hanging)):
        plot_trajectory(traj, tmp_path / f"{i}.png")
        assert (tmp_path / f"{i}.png").stat().st_size > 10_000


@pytest.fixture(scope="module")
def robot():
    """A turntable about the vertical, an arm on it with a slider, and two massless frames, as imported robots have them."""
    m = dal.Model("robot")
    m.add_frame("base")
    m.add_body("table", 2.0, (0.1, 0.1, 0.2))
    m.add_body("arm", 1.0, (0.1, 0.1, 0.01), com=(0, 0, 0.5))
    m.add_body("slider", 0.5, (0.01, 0.01, 0.01), pose=((0, 0, 1), (1, 0, 0, 0)))
    m.add_frame("tool", pose=((0, 0, 1.2), (1, 0, 0, 0)))
    m.add_joint("ground", "fixed", "world", "base")
    m.add_joint("pan", "revolute", "base", "table")
    m.add_joint("lift", "revolute", "table", "arm", axis=(0, 1, 0), stiffness=20.0)
    m.add_joint("rail", "prismatic", "arm", "slider", anchor=(0, 0, 1), stiffness=200.0)
    m.add_joint("flange", "fixed", "slider", "tool", anchor=(0, 0, 1.2))
    return dal.simulate(m, h=0.01, t_end=1.0, q0={"lift": 0.5}, v0={"pan": 2.0})


def entries(axes):
    return [t.get_text() for t in axes.get_legend().get_texts()]


def test_a_machine_shows_joint_angles_and_velocities(robot):
    figure = plot_trajectory(robot)
    angles, rates = panel(figure, "Joint positions"), panel(figure, "Joint velocities")
    assert (angles.get_ylabel(), rates.get_ylabel()) == ("position (rad, m)", "velocity (rad/s, m/s)")
    for i, (a, b) in enumerate(zip(angles.get_lines(), rates.get_lines(), strict=True)):
        assert np.array_equal(a.get_ydata(), robot.q[:, i]) and np.array_equal(b.get_ydata(), robot.v[:, i])
    assert entries(rates) == ["pan", "lift", "rail"]


def test_legends_of_a_machine_are_outside_and_without_massless_frames(robot, tmp_path):
    figure = plot_trajectory(robot, tmp_path / "a.png")
    assert entries(panel(figure, "Angular velocity")) == ["table", "arm", "slider"]
    for title in ("Joint velocities", "Angular velocity"):
        axes = panel(figure, title)
        assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1
        assert axes.get_legend().get_window_extent().x1 <= figure.bbox.x1 + 1.0  # not cut off


def test_a_machine_shows_the_momentum_that_is_judged(robot):
    """L_z about the axis of the table, with the error that the report states."""
    item = next(i for i in robot.report().items if i.name == "momentum")
    (curve,) = momentum_drift(robot)
    assert curve.label in item.text and "L_z" in curve.label
    assert curve.values.max() == pytest.approx(item.measured, rel=1e-12)
    assert entries(panel(plot_trajectory(robot), "Momentum error")) == [curve.label]
    assert energy_drift(robot).label == "(E − E₀) / max T"  # springs have a potential


def test_a_driven_machine_shows_the_balance_that_is_judged():
    m = dal.Model("turntable")
    m.add_body("table", 2.0, (0.1, 0.1, 0.2))
    m.add_body("arm", 1.0, (0.1, 0.1, 0.01), com=(0, 0, 0.5))
    m.add_joint("pan", "revolute", "world", "table")
    m.add_joint("lift", "revolute", "table", "arm", axis=(0, 1, 0))
    traj = dal.simulate(m, h=0.01, t_end=1.0, control=lambda t, q, v: np.array([np.sin(3 * t), 0.1]))
    item = next(i for i in traj.report().items if i.name == "momentum balance")
    (curve,) = momentum_drift(traj)
    assert curve.label == "L_z about the axis of 'pan' − impulse"
    assert curve.values.max() == pytest.approx(item.measured, rel=1e-12)


def test_a_machine_without_symmetry_says_so():
    m = dal.Model("pendulum")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    figure = plot_trajectory(dal.simulate(m, h=0.01, t_end=1.0, q0=[1.0]))
    assert "no symmetry" in texts(panel(figure, "Momentum error"))
    assert panel(figure, "Joint angles").get_ylabel() == "angle (rad)"


def test_a_mechanism_shows_how_its_loops_close():
    axes = panel(plot_trajectory(scenes.find("four-bar").simulate(t_end=0.5)), "Closing of the loops")
    assert entries(axes) == ["right1"] and axes.get_yscale() == "log"


def test_thinning_keeps_the_peaks():
    t = np.linspace(0, 1, 100_000)
    y = np.sin(50 * t)
    y[12_345], y[77_777], y[50] = 9.0, -8.0, np.nan
    u, z = thin(t, y, 1000)
    assert len(u) <= 1000
    assert np.all(np.diff(u) > 0)
    assert (np.nanmax(z), np.nanmin(z), u[0], u[-1]) == (9.0, -8.0, 0.0, 1.0)
    assert thin(t[:10], y[:10])[0] is not None
    assert len(thin(t, y, 200_000)[0]) == len(t)
    assert len(strided(y[:, None], 100)) == 100


def test_level_curves_lie_on_sphere_and_ellipsoid():
    """Linear interpolation on a grid of 2 and 1.5 degrees: errors of 1/8 of its square, 1.5e-4, relative."""
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    J = turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T
    curves = list(energy_levels(J))
    assert sum(special for _, special in curves) >= 2
    for line, special in curves:
        value = np.einsum("ni,ij,nj->n", line, np.linalg.inv(J), line)
        assert np.allclose(np.linalg.norm(line, axis=1), 1.0)
        assert np.ptp(value) < 1e-3
        if special:
            assert abs(value.mean() - 1 / 2.0) < 1e-3
    assert list(energy_levels(np.eye(3))) == []


def test_path_on_the_momentum_sphere_is_the_body_momentum(free):
    """Where the line is clear it is the front of the path, where faint the back; together they are J omega / |J omega|."""
    figure = plot_trajectory(free)
    sphere = next(a for a in figure.axes if a.name == "3d")
    d = free.v[:, :3] * [1, 2, 2.5]
    d /= np.linalg.norm(d, axis=1).max()
    parts = [np.array(line.get_data_3d()) for line in sphere.get_lines() if len(line.get_data_3d()[0]) == len(free)]
    drawn = np.nansum(parts, axis=0)
    assert np.allclose(drawn.T, d, atol=1e-12)


@pytest.mark.parametrize(("low", "high"), [(2e-15, 9e-15), (5e-16, 5e-15), (1e-18, 1e-14), (3.0, 1e5), (1e-3, 1e-3)])
def test_a_logarithmic_axis_has_two_powers_of_ten_or_more(low, high):
    a, b = two_powers(low, high)
    assert a <= low and b >= high
    assert np.floor(np.log10(b) + 1e-9) - np.ceil(np.log10(a) - 1e-9) >= 1
