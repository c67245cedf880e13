"""`dalembert compare`."""

import json


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
    assert "no methods" in call("compare", "free-body", "-m", ",", code=2).stderr
    assert "--methods" in call("compare", "free-body", code=2).stderr
