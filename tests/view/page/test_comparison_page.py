"""The page of a comparison."""

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import dalembert as dal
from dalembert import scenes
from dalembert.errors import OptionError
from dalembert.view.page.comparison import comparison_html, sentences


@pytest.fixture(scope="module")
def result():
    scene = scenes.find("pendulum-chain")
    return dal.compare(scene.model(), [("mk4", 0.01), ("midpoint", 0.005)], 0.5, scene.q0, scene.v0, reference="none")


@pytest.fixture(scope="module")
def path(result, tmp_path_factory):
    return result.page(tmp_path_factory.mktemp("pages") / "compare.html")


def test_a_page_has_the_table_the_conclusion_and_both_runs(result, path):
    text = path.read_text(encoding="utf-8")
    for row in result.rows:
        assert f"</i>{row.label}</td>" in text
    for line in result.conclusion:
        assert line in text
    assert re.findall(r"<h2>([^<]*)</h2>", text)[:3] == ["Replay", "What each method kept", "Errors over time"]
    assert not re.search(r"(src|href)=[\"'](?!data:|#)", text)
    scene = json.loads(re.search(r'id="data-replay">(.*?)</script>', text, flags=re.DOTALL).group(1))
    assert [run["name"] for run in scene["runs"]] == ["mk4, h = 0.01 s", "midpoint, h = 0.005 s"]
    poses = [np.frombuffer(base64.b64decode(run["poses"]), dtype="<f4") for run in scene["runs"]]
    assert poses[0].shape == poses[1].shape  # at common times
    np.testing.assert_allclose(poses[0], poses[1], atol=5e-3)


def test_runs_can_be_hidden(look, path):
    seen = look(path)
    seen.seek(0.3)
    assert seen.page.locator(".legend label").count() == 2
    both = seen.canvas()
    seen.page.locator(".legend input").first.uncheck()
    seen.seek(0.3)
    assert seen.canvas() != both
    assert seen.errors == []


def test_a_run_that_broke_down_is_replayed_as_far_as_it_went():
    scene = scenes.find("pendulum-chain")
    whole = dal.compare(scene.model(), [("mk4", 0.01), ("mk2", 0.01)], 0.5, scene.q0, scene.v0, reference="none")
    short = whole.trajectories[1]
    cut = dal.Trajectory.of_nodes(short.model, short.t[:20], short.q[:20], short.v[:20], meta=dict(short.meta))
    text = comparison_html(replace(whole, trajectories=(whole.trajectories[0], cut)))
    scene = json.loads(re.search(r'id="data-replay">(.*?)</script>', text, flags=re.DOTALL).group(1))
    poses = np.frombuffer(base64.b64decode(scene["runs"][1]["poses"]), dtype="<f4").reshape(51, 3, 7)
    assert np.isfinite(poses[:20]).all() and np.isnan(poses[20:]).all()


def test_a_lagrangian_has_a_page_without_replay(tmp_path):
    scene = scenes.find("kepler")
    found = dal.compare(scene.model(), [("midpoint", 0.05), ("verlet", 0.05)], 1.0, scene.q0, scene.v0, reference="none")
    text = found.page(tmp_path / "k.html").read_text(encoding="utf-8")
    assert "data-replay" not in text and text.count("<svg") == 2


def test_a_page_of_another_kind_is_refused(result, tmp_path):
    with pytest.raises(OptionError, match=r"expected one of \.html"):
        result.page(tmp_path / "a.mp4")


def test_sentences_name_the_step_where_one_stepper_has_two():
    scene = scenes.find("pendulum-chain")
    made = dal.compare(scene.model(), [("midpoint", 0.01), ("midpoint", 0.005)], 0.2, scene.q0, scene.v0, reference="none")
    said = sentences(made)
    assert [s.partition(": ")[0] for s in said[:2]] == ["midpoint, h = 0.01 s", "midpoint, h = 0.005 s"]
    assert said[2:] == list(made.conclusion)[2:] and all(x.split(": ")[1] in comparison_html(made) for x in said[:2])
