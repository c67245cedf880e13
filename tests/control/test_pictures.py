"""Pictures of plans."""

import functools

import matplotlib.pyplot
import numpy as np
import pytest

import dalembert as dal
from dalembert.control import scenes
from dalembert.control.scenes import rest_to_rest


@functools.cache
def plan(name):
    return scenes.find(name).build(N=40).solve()


def panels(picture):
    return {ax.get_title(loc="left") or ax.get_title(): ax for ax in picture.axes}


def test_a_picture_shows_coordinates_velocities_inputs_and_their_bounds(tmp_path):
    found = plan("cart-pole")
    picture = found.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    shown = panels(picture)
    assert {"Coordinates", "Velocities", "Inputs", "Energy", "One step of the simulator from every node"} <= set(shown)
    assert np.allclose(shown["Coordinates"].lines[1].get_ydata(), found.q[:, 1])
    assert np.allclose(shown["Velocities"].lines[0].get_ydata(), found.v[:, 0])
    held = shown["Inputs"].lines[0]
    assert held.get_drawstyle() == "steps-post" and np.allclose(held.get_ydata()[:-1], found.inputs[:, 0])
    levels = {round(float(line.get_ydata()[0]), 9) for line in shown["Inputs"].lines[1:]}
    assert levels == {-20.0, 20.0}
    words = " ".join(t.get_text() for t in picture.texts)
    assert "cart-pole" in words and f"{found.cost:.6g}" in words and "solved" in words


def test_of_what_floats_angular_momentum_is_shown():
    shown = panels(plan("falling-cat").plot())
    axes = shown["Angular momentum (centre of mass)"]
    assert len(axes.lines) == 3
    assert max(np.nanmax(line.get_ydata()) for line in axes.lines) < 1e-9


@pytest.mark.parametrize("name", ["brachistochrone", "double-pendulum", "satellite", "quadrotor-flip"])
@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_pictures_of_all_kinds_of_machines_can_be_written(name, suffix, tmp_path):
    plan(name).plot(tmp_path / f"plan.{suffix}")
    assert (tmp_path / f"plan.{suffix}").stat().st_size > 5_000


def test_of_many_curves_those_that_move_most_have_names():
    m = dal.Model("row", gravity=(0, 0, 0))
    for i in range(12):
        m.add_body(f"b{i}", 1.0, (1, 1, 1))
        m.add_joint(f"j{i}", "prismatic", "world", f"b{i}", axis=(1, 0, 0))
    found = dal.control.dmoc(m, 5, np.zeros(12), np.arange(12.0), h=0.1).solve()
    axes = panels(found.plot())["Coordinates"]
    assert len(axes.lines) == 12
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [f"j{i}.shift" for i in range(4, 12)]


def test_a_plan_that_failed_is_drawn_too(tmp_path):
    found = dal.control.dmoc(rest_to_rest.model(0.01), 10, [0.0], [2.0], h=0.1).solve()
    assert not found.ok
    assert "infeasible" in " ".join(t.get_text() for t in found.plot(tmp_path / "failed.png").texts)


def test_a_machine_without_inputs_is_drawn():
    found = dal.control.dmoc(rest_to_rest.model(), 5, ([0.0], [1.0]), None, h=0.1, inputs=[]).solve()
    assert "Inputs" in panels(found.plot())


def test_bad_paths_are_refused_and_nothing_of_matplotlib_is_left(tmp_path):
    with pytest.raises(dal.OptionError, match="suffix"):
        plan("cart-pole").plot("plan.jpg")
    with pytest.raises(dal.OptionError, match="directory"):
        plan("cart-pole").plot(tmp_path / "nowhere" / "plan.png")
    assert not matplotlib.pyplot.get_fignums()
