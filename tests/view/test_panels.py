"""Panels by name hold what they say, say what they need, and figures have a dark theme."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

import dalembert as dal
from dalembert import scenes
from dalembert.errors import OptionError, UnknownNameError
from dalembert.view.dark import EXCHANGE, PAGE
from dalembert.view.panels import PANELS, plot_panels, scalars
from dalembert.view.picture import COLOURS, styled


@pytest.fixture(scope="module")
def swing():
    """Two hinges in a plane, driven a little."""
    m = dal.Model("swing")
    m.add_body("upper", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_body("lower", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -1), (1, 0, 0, 0)))
    m.add_joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    m.add_joint("elbow", "revolute", "upper", "lower", anchor=(0, 0, -1), axis=(0, 1, 0))
    return dal.simulate(m, "trapezoidal", h=0.01, t_end=5.0, q0=[0.5, 0.2], control=lambda t, q, v: np.array([0.0, 0.1]))


@pytest.fixture(scope="module")
def free():
    return scenes.find("free-body").simulate(t_end=3.0)


@pytest.fixture(scope="module")
def kepler():
    return scenes.find("kepler").simulate(t_end=20.0)


@pytest.fixture(scope="module")
def pile():
    from dalembert.scenes.contact_piles import heap

    return dal.simulate(heap(4), "spook", h=1 / 60, t_end=0.5)


@pytest.fixture(scope="module")
def four_bar():
    return scenes.find("four-bar").simulate(t_end=0.5)


def suitable(traj):
    return [name for name, panel in PANELS.items() if not panel.needs(traj)]


@pytest.mark.parametrize("name", ["swing", "free", "kepler", "pile", "four_bar"])
def test_every_panel_that_suits_a_run_is_drawn(name, request, tmp_path):
    traj = request.getfixturevalue(name)
    names = suitable(traj)
    figure = traj.plot(tmp_path / "a.png", panels=names)
    titles = [t for a in figure.axes if (t := a.get_title(loc="left"))]
    assert len(titles) == len(names) == len(set(titles))
    assert Image.open(tmp_path / "a.png").size[0] > 1500


def test_all_panels_suit_some_run(swing, free, kepler, pile, four_bar):
    assert set().union(*(suitable(traj) for traj in (swing, free, kepler, pile, four_bar))) == set(PANELS)


def test_phase_portrait_is_rate_over_value(swing):
    (axes,) = swing.plot(panels="phase:elbow").axes
    line = axes.get_lines()[0]
    assert np.array_equal(line.get_xdata(), swing.q[:, 1]) and np.array_equal(line.get_ydata(), swing.v[:, 1])


def test_section_shows_the_other_coordinate_where_the_first_passes(kepler):
    """x = 0 upwards on an ellipse with its focus at 0: |y| is the semi-latus rectum L^2 / (G M). The method turns the ellipse a little in
    each round: |y| is off by 4e-3 e at h = 0.02 in the third, and by (1/10)^2 of that at h = 0.002."""
    fine = scenes.find("kepler").simulate(t_end=20.0, h=0.002)
    (axes,) = fine.plot(panels="section:x").axes
    y = axes.get_lines()[0].get_xdata()
    assert len(y) == 3 and np.allclose(np.abs(y), float(fine.momentum[0, 0]) ** 2, rtol=2e-4)
    (shifted,) = kepler.plot(panels="section:x=-1.0:x").axes
    assert np.allclose(shifted.get_lines()[0].get_xdata(), -1.0, atol=1e-9)


def test_energy_panel_shows_the_limit_of_the_report(kepler):
    (axes,) = kepler.plot(panels=["energy-error"]).axes
    item = next(i for i in kepler.report().items if i.name == "energy")
    assert axes.get_title(loc="left") == f"Energy error: {item.verdict}"
    band = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert band.height == pytest.approx(item.limit, rel=1e-9)


def test_control_panel_shows_what_was_held(swing):
    (axes,) = swing.plot(panels="control").axes
    assert np.allclose(axes.get_lines()[1].get_ydata(), 0.1)


def test_scalars_of_a_machine_are_its_joints(swing, kepler):
    assert list(scalars(swing)) == ["shoulder", "elbow"] and list(scalars(kepler)) == ["x", "y"]


@pytest.mark.parametrize(
    ("panels", "words"),
    [
        ("enrgy", "did you mean 'energy'"),
        (("energy", 3), "unknown panel 3"),
        ((), "panels are none"),
        (3, "panels = 3"),
        ("momentum-sphere", "needs one free body; panels of this run: energy"),
        ("contact-forces", "needs contacts"),
        ("phase:knee", "unknown coordinate 'knee'.* Known: shoulder, elbow"),
        ("section:elbow=x", "'x' is no number"),
        ("energy:elbow", "takes nothing behind a colon"),
    ],
)
def test_panels_that_cannot_be_are_told(panels, words, swing, tmp_path):
    with pytest.raises((OptionError, UnknownNameError), match=words):
        swing.plot(tmp_path / "a.png", panels=panels)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["swing", "free", "kepler", "pile"])
def test_dark_figures_are_dark_and_keep_their_curves(name, request, tmp_path):
    traj = request.getfixturevalue(name)
    light, dark = traj.plot(tmp_path / "light.png"), traj.plot(tmp_path / "dark.png", theme="dark")
    means = [np.asarray(Image.open(tmp_path / f"{k}.png").convert("L"), dtype=float).mean() for k in ("light", "dark")]
    assert means[0] > 200 and means[1] < 70
    corner = np.asarray(Image.open(tmp_path / "dark.png").convert("RGB"))[-1, -1]
    assert to_hex(corner / 255.0) == PAGE
    for a, b in zip(light.axes, dark.axes, strict=True):
        for one, other in zip(a.get_lines(), b.get_lines(), strict=True):
            assert np.array_equal(one.get_xdata(), other.get_xdata(), equal_nan=True)
            if to_hex(one.get_color()) in COLOURS:
                assert to_hex(other.get_color()) == EXCHANGE[to_hex(one.get_color())]


def test_unknown_theme_is_told(swing):
    with pytest.raises(UnknownNameError, match="did you mean 'dark'"):
        swing.plot(theme="drak")


def test_title_and_subtitle_of_a_narrow_figure_do_not_overlap():
    run = scenes.find("pendulum-chain").simulate(t_end=0.1)
    with styled():
        figure = plot_panels(run, "energy")
        figure.draw_without_rendering()
        first, second = (text.get_window_extent() for text in figure.texts)
    assert not first.overlaps(second)
    assert min(first.y0, second.y0) >= figure.axes[0].title.get_window_extent().y1
