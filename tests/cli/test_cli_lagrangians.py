"""The command line with scenes and files that are Lagrangians."""

import json

import numpy as np
import pytest

import dalembert as dal


@pytest.fixture
def saved(call):
    call("run", "kepler", "--t-end", 2, "-o", "k.h5")
    return "k.h5"


def test_the_scene_moves_as_keplers_equation_says():
    """h^2 Omega^2 = 0.01 at the pericentre; here h is an eighth of the scene's."""
    scene = dal.scenes.find("kepler")
    traj = scene.simulate(h=scene.h / 8, t_end=6.0)
    assert np.abs(traj.q - scene.exact(traj.t)).max() < 1e-3
    assert traj.report().verdict == "pass"


def test_run_check_plot_and_cite(call, saved, tmp_path):
    assert "momentum of rotation conserved" in call("check", saved).output
    data = json.loads(call("check", saved, "--json").output)
    assert data["verdict"] == "pass"
    call("plot", saved)
    assert (tmp_path / "k.png").exists()
    assert "@article{casadi" in call("cite", saved).output
    assert dal.load(tmp_path / saved).model.name == "kepler"


def test_what_needs_bodies_ends_with_one_sentence(call, saved):
    assert "no bodies" in call("plot", saved, "--gif", "k.gif", code=2).stderr
    assert "no step sizes are proved" in call("advise", "kepler", code=2).stderr
    assert "only for machines made of bodies" in call("compare", "kepler", "--gravity", 0, code=2).stderr
    assert "only for machines made of bodies" in call("compare", "kepler", "--smooth", code=2).stderr
    assert "mujoco" in call("compare", "kepler", "--methods", "mujoco:rk4:0.01", code=2).stderr
    assert ".png" in call("compare", "kepler", "--out", "k.gif", code=2).stderr


def test_starts_by_name_and_options(call):
    out = call("run", "kepler", "--q0", "x=1", "--v0", "y=1", "--t-end", 1, "--stepper", "verlet", "--compose", "suzuki4").output
    assert "verlet + suzuki4" in out
    assert "unknown coordinate 'z'" in call("run", "kepler", "--q0", "z=1", code=2).stderr
    assert "expected one number" in call("run", "kepler", "--q0", "x=1,2", code=2).stderr


def test_inspect(call):
    out = call("inspect", "kepler").output
    for words in ("2 coordinates", "x, y", "mu = 1", "rotation (affine in q)", "midpoint"):
        assert words in out
    data = json.loads(call("inspect", "kepler", "--json").output)
    assert data["coordinates"] == ["x", "y"]
    assert "verlet" in data["methods"]


def test_compare(call, tmp_path):
    out = call("compare", "kepler", "--methods", "midpoint:0.02,scipy:rk45:0.02:1e-6", "--t-end", 5, "--out", "c.png").output
    assert "scipy:rk45 (1e-06)" in out
    assert (tmp_path / "c.png").exists()
    assert "midpoint" in call("compare", "kepler", "--t-end", 2).output  # methods by default
    rows = json.loads(call("compare", "kepler", "--h", 0.01, "--methods", "midpoint,verlet", "--t-end", 1, "--json").output)["rows"]
    assert [r["label"] for r in rows] == ["midpoint", "verlet"]


def test_lists_tell_the_kind_of_system(call):
    steppers = json.loads(call("list", "steppers", "--json").output)
    assert {("midpoint", "lagrangian"), ("midpoint", "tree"), ("cayley", "rigid-body")} <= {(s["name"], s["system"]) for s in steppers}
    scenes = {s["name"]: s["system"] for s in json.loads(call("list", "scenes", "--json").output)}
    assert scenes["kepler"] == "lagrangian"
    assert scenes["free-body"] == "rigid-body"
    assert "lagrangian" in call("list", "steppers").output


def test_a_lagrangian_in_a_json_file(call, tmp_path):
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + np.cos(q[0]), names=("angle",), name="pendulum")
    (tmp_path / "p.json").write_text(json.dumps(s.to_dict()))
    assert "pendulum: midpoint" in call("run", "p.json", "--q0", "angle=1", "--t-end", 1).output
    assert "angle" in call("inspect", "p.json").output
    assert "midpoint" in call("compare", "p.json", "--methods", "midpoint:0.01", "--q0", "angle=1", "--t-end", 1).output
    (tmp_path / "bad.json").write_text(json.dumps({"kind": "lagrangian", "n": 1}))
    assert "not a model" in call("run", "bad.json", code=2).stderr
