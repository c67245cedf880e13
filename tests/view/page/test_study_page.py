"""The page of a study."""

import re

import numpy as np
import pytest

import dalembert as dal
from dalembert import scenes
from dalembert.view.page.study import columns, study_html


@pytest.fixture(scope="module")
def study():
    scene = scenes.find("heavy-top")
    samples = {"rotor.mass": np.array([*np.linspace(0.9, 1.1, 10), -1.0])}
    return dal.ensemble(
        scene.model(), samples, scene.stepper, h=scene.h, t_end=20 * scene.h, q0=scene.q0, v0=scene.v0,
        observe={"speed": lambda run: float(np.abs(run.v).max()), "end": lambda run: run.q[-1]}, workers=1,
    )  # fmt: skip


@pytest.fixture(scope="module")
def text(study):
    return study_html(study)


def test_statuses_are_counted(study, text):
    rows = re.search(r'id="statuses".*?</section>', text, flags=re.DOTALL).group(0)
    assert "<td>ok</td><td>10</td>" in rows and "<td>refused</td><td>1</td>" in rows


def test_failures_have_their_sentences(study, text):
    rows = re.search(r'id="failures".*?</section>', text, flags=re.DOTALL).group(0)
    assert "<td>10</td><td>refused</td>" in rows
    assert "expected a finite number &gt; 0" in rows and "rotor.mass = -1" in rows


def test_statistics_are_those_of_the_numbers(study, text):
    rows = re.search(r'id="observed".*?</section>', text, flags=re.DOTALL).group(0)
    speed = study.observed[next(name for name in study.observed if name.startswith("speed"))]
    known = speed[np.isfinite(speed)]
    assert len(known) == 10
    assert f"<td>10</td><td>{known.mean():.5g}</td><td>{known.std():.5g}</td><td>{known.min():.5g}</td>" in rows


def test_histograms_are_drawn_of_what_varies(text):
    rows = re.search(r'id="histograms".*?</section>', text, flags=re.DOTALL).group(0)
    assert rows.count("<svg") >= 1 and "median" in rows


def test_a_study_in_which_all_fails_and_an_empty_column_have_a_page():
    scene = scenes.find("heavy-top")
    bad = dal.ensemble(scene.model(), {"rotor.mass": np.array([-1.0, -2.0])}, scene.stepper, h=scene.h, t_end=scene.h, workers=1)
    assert "Histograms" not in study_html(bad)


def test_arrays_are_told_by_their_first_entries():
    found = list(columns({"x": np.zeros((5, 40)), "n": np.arange(5), "word": np.array(["a"] * 5)}))
    assert [name for name, _ in found] == [*(f"x[{i}]" for i in range(8)), "n"]


def test_a_page_opens_without_errors(study, look, tmp_path):
    seen = look(study.page(tmp_path / "study.html"))
    assert seen.errors == [] and len(seen.requests) == 1
    assert seen.page.locator("h1").text_content() == study.meta["title"]
