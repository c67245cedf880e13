"""What a notebook shows for a trajectory."""

import base64
import html
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

import dalembert as dal
from dalembert import scenes
from dalembert.view import notebook
from dalembert.view.notebook import trajectory_html


class Balance(HTMLParser):
    """Fails on tags that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def traj():
    return scenes.find("lagrange-top-medium").simulate(t_end=2.0)


def tags(text):
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    return parser.seen


def test_shows_summary_verdict_and_report(traj):
    text = traj._repr_html_()
    assert text == trajectory_html(traj)
    for words in ("lagrange-top-medium", "1 body", "cayley", "0.01 s", "201 nodes", traj.report().verdict):
        assert words in text
    assert traj.report().text.splitlines()[-1] in text
    assert {"table", "pre", "img"} <= set(tags(text))


def test_shows_the_error_curves(traj):
    data = re.search(r'src="data:image/png;base64,([^"]+)"', traj._repr_html_()).group(1)
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        assert image.format == "PNG"
        assert image.size == (800, 260)
        assert np.asarray(image.convert("L"), dtype=float).std() > 10


def test_shows_the_motion_in_a_frame_that_may_do_nothing_else(traj):
    text = traj._repr_html_()
    frame = re.search(r"<iframe ([^>]*)>", text).group(1)
    assert 'sandbox="allow-scripts"' in frame
    inside = html.unescape(re.search(r'srcdoc="([^"]*)"', frame).group(1))
    assert inside.startswith("<!DOCTYPE html>") and 'id="data-replay"' in inside


def test_a_lagrangian_has_no_frame():
    text = scenes.find("kepler").simulate(t_end=1.0)._repr_html_()
    assert "iframe" not in text and "left out" not in text
    assert {"table", "pre", "img"} <= set(tags(text))


def test_stays_within_its_budget(traj, monkeypatch):
    assert len(traj._repr_html_()) < 300_000 < notebook.BUDGET
    monkeypatch.setattr(notebook, "BUDGET", 100_000)
    text = traj._repr_html_()
    assert len(text) < 100_000
    assert "The replay is left out: it would take 0." in text and "iframe" not in text


def test_names_cannot_inject_html():
    m = dal.Model("<script>alert('x')</script>")
    m.add_body("b", 1.0, (1, 1, 1))
    text = dal.simulate(m, t_end=0.1)._repr_html_()
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "script" not in tags(text)


def test_failed_run_says_why():
    def refuse(t, q, v):
        raise ValueError("no control today")

    text = scenes.find("free-body").simulate(control=refuse, on_fail="return")._repr_html_()
    assert "no control today" in text
    assert "1 node" in text
    tags(text)
