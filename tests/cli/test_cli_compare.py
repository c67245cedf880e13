"""`dalembert compare`."""

import json
from pathlib import Path

QUADRUPED = Path(__file__).parents[2] / "examples" / "quadruped.xml"


def test_a_table_with_peers_and_a_picture(call, tmp_path):
    methods = "cayley:0.01,cayley+suzuki4:0.01,mujoco:rk4:0.01,scipy:dop853:0.01:1e-9"
    out = call("compare", "free-body", "--methods", methods, "--t-end", "1", "--out", "c.png").output
    for label in ("cayley ", "cayley + suzuki4", "mujoco:rk4", "scipy:dop853 (1e-09)", "exact solution", "picture: c.png"):
        assert label in out
    assert (tmp_path / "c.png").read_bytes()[:4] == b"\x89PNG"


def test_json(call):
    data = json.loads(call("compare", "free-body", "-m", "cayley:0.05,tln:0.05", "-t", "1", "--json").output)
    assert [r["label"] for r in data["rows"]] == ["cayley", "tln"]


def test_a_chaotic_scene_has_no_reference_unless_it_is_wanted(call):
    assert "against: none" in call("compare", "asymmetric-top", "-m", "cayley:0.01", "-t", "1").output
    assert "kahan-li6" in call("compare", "asymmetric-top", "-m", "cayley:0.01", "-t", "1", "--reference", "cayley+kahan-li6").output


def test_bad_methods(call):
    assert "did you mean 'cayley'?" in call("compare", "free-body", "-m", "cayly:0.01", code=2).stderr
    assert "expected NAME:H" in call("compare", "free-body", "-m", "cayley", code=2).stderr
    assert "methods is []; expected a list" in call("compare", "free-body", "-m", ",", code=2).stderr
    assert "--methods" in call("compare", "free-body", code=2).stderr


# robots ---------------------------------------------------------------------------------------------------------------------------


def test_a_robot_is_compared_with_mujoco_by_default(call, tmp_path):
    result = call("compare", QUADRUPED, "--smooth", "--gravity", "0", "-t", "20", "--h", "0.02", "--out", "q.png")
    for text in (
        "mujoco:euler",
        "mujoco:implicitfast",
        "mujoco:rk4",
        "does not drift",
        "contact, damping, limits left out for all methods alike",
        "picture: q.png",
    ):
        assert text in result.output
    assert (tmp_path / "q.png").read_bytes()[:4] == b"\x89PNG"


def test_a_page_of_a_scene_of_several_bodies(call, tmp_path):
    out = call("compare", "pendulum-chain", "-m", "mk4,mujoco:rk4:0.002", "--h", "0.004", "-t", "1", "--out", "p.html").output
    assert "page: p.html" in out and "against: none" in out
    assert (tmp_path / "p.html").read_text().startswith("<!DOCTYPE html>")


def test_json_of_a_robot(call):
    data = json.loads(call("compare", QUADRUPED, "--smooth", "-m", "mk4", "-t", "1", "--seed", "3", "--json").stdout)
    assert data["conclusion"] and [r["label"] for r in data["rows"]] == ["mk4"]


def test_what_is_left_out_is_said_and_an_end_can_be_measured(call):
    out = call(
        "compare", QUADRUPED, "-m", "mk4,mujoco:rk4", "--h", "0.005", "-t", "0.5", "--reference", "mk8", "--gravity", "0,0,-1"
    ).output
    assert "contact, limits left out" in out and "mk8 at rtol 1e-12" in out


def test_a_start_can_be_given(call):
    args = ("compare", QUADRUPED, "--smooth", "-m", "mk4", "-t", "0.1", "--h", "0.01", "--json")
    still = json.loads(call(*args, "--gravity", "0", "--v0", "front_left_knee=0").stdout)
    assert still["rows"][0]["energy_band"] == 0.0
    assert "--seed 3" in call(*args, "--v0", "front_left_knee=1", "--seed", "3", code=2).stderr


def test_mistakes_of_robots_are_told_before_anything_runs(call):
    assert "--smooth takes away damping" in " ".join(call("compare", QUADRUPED, code=2).stderr.split())
    assert "does not exist" in call("compare", "missing.urdf", code=2).stderr
    assert "did you mean 'mujoco:rk4'?" in call("compare", QUADRUPED, "--smooth", "-m", "mujoco:rk5", code=2).stderr
    assert "expected one of .html, .gif" in call("compare", QUADRUPED, "--smooth", "--out", "a.mp4", code=2).stderr
    assert "expected one number" in call("compare", QUADRUPED, "--gravity", "1,2", code=2).stderr
    assert "--no-armature goes with --smooth" in call("compare", QUADRUPED, "--no-armature", code=2).stderr
    assert "whole number of steps" in call("compare", QUADRUPED, "--smooth", "--h", "0.3", "-t", "1", code=2).stderr


def test_the_help_shows_a_robot(call):
    out = call("compare", "--help").output
    assert "--smooth" in out and "my.urdf" in out


def test_a_body_with_contacts_is_compared_without_them_and_says_so(call, tmp_path):
    (tmp_path / "box.xml").write_text(
        '<mujoco model="box"><worldbody><geom type="plane" size="5 5 1"/>'
        '<body name="box" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>'
    )
    out = call("compare", "box.xml", "-m", "cayley:0.01,mujoco:rk4:0.01", "-t", "0.1").output
    assert "contact left out for all methods alike" in out
