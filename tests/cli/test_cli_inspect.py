"""`dalembert inspect`."""

import json
from pathlib import Path

MODELS = Path(__file__).parents[1] / "data" / "models"


def test_a_file_shows_its_tree_joints_motors_and_what_is_missing(call):
    out = call("inspect", MODELS / "gripper.xml").output
    assert "gripper: 5 bodies, 2 massless frames, 1.81591 kg, nq = 15, nv = 13" in out
    assert "└─ ball  0.3 kg  [fly: free]" in out
    assert "tip  0.00" in out
    for words in ("-0.3 ... 0.2", "turn", "-10 ... 15", "keyframes: home", "Not carried over", "tendons (1): both"):
        assert words in out
    assert "warning" not in call("inspect", MODELS / "gripper.xml").stderr


def test_base_and_packages(call):
    fixed = call("inspect", MODELS / "rover.urdf").output
    assert "chassis  12.5 kg  [chassis_fixed: fixed]" in fixed and "although it has mass" in fixed
    out = call("inspect", MODELS / "rover.urdf", "--floating-base", "--package-dir", MODELS).output
    assert "chassis  12.5 kg  [root_joint: free]" in out
    assert "missing" not in out


def test_scenes_too(call):
    out = call("inspect", "heavy-top").output
    assert "rotor" in out and "spherical" in out and "carried over" not in out


def test_json(call):
    data = json.loads(call("inspect", MODELS / "gripper.xml", "--json").output)
    assert data["nv"] == 13
    assert [m["name"] for m in data["motors"]] == ["turn", "raise", "close"]
    assert any("held (weld)" in line for line in data["not carried over"])


def test_errors_are_one_sentence(call):
    assert "does not exist" in call("inspect", "gone.urdf", code=2).stderr
    assert "heavy-top" in call("inspect", "heavy-tpo", code=2).stderr
