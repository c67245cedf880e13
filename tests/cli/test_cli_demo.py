"""`dalembert demo`: the whole way, with short animations."""

import re

import dalembert as dal
from dalembert.cli import demo


def test_demo_writes_runs_pictures_and_a_report(call, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "FRAMES", 3)
    out = call("demo", "--out", "a/demo").output
    where = tmp_path / "a" / "demo"
    report = (where / "report.md").read_text()
    assert out.rstrip().endswith("a/demo/report.md")
    for scene in demo.SCENES:
        assert f"{scene}.gif" in out and f"{scene}.png" in out
        assert f"## {scene}" in report
        for method in demo.METHODS:
            traj = dal.load(where / f"{scene}-{method}.h5")
            assert traj.meta["stepper"] == method and traj.status == "ok"
    links = re.findall(r"\]\(([^)]+)\)", report)
    assert len(links) == 3 * len(demo.SCENES)
    assert all((where / link).stat().st_size > 1000 for link in links)
    assert report.count("verdict: ") == len(demo.SCENES) * len(demo.METHODS)
    assert "@incollection{kobilarov2014" in report


def test_demo_into_something_that_is_no_directory(call, tmp_path):
    (tmp_path / "file").write_text("")
    assert call("demo", "--out", "file/demo", code=2).stderr.startswith("error: --out file/demo")
