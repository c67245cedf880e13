"""The page of a run, as text."""

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert import scenes
from dalembert.errors import OptionError
from dalembert.runs.as_bodies import as_bodies
from dalembert.view.page import explain, figures
from dalembert.view.page.events import events_section
from dalembert.view.page.provenance import snippet
from dalembert.view.page.replay import replay_of
from dalembert.view.page.run import run_html
from dalembert.view.page.ticks import Plain, Powers

SOURCES = Path(explain.__file__).parents[2]
VOID = {"meta", "link", "input", "br", "hr", "img"}


def sections(text):
    return re.findall(r"<h2>([^<]*)</h2>", text)


def scene_of(text):
    """The data of the replay."""
    return json.loads(re.search(r'id="data-replay">(.*?)</script>', text, flags=re.DOTALL).group(1))


def array(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


class Balance(HTMLParser):
    """Fails on tags that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def chain_text(chain_page):
    return chain_page.read_text(encoding="utf-8")


def test_a_page_has_all_parts_in_order_and_closes_its_tags(chain_text):
    assert sections(chain_text) == ["Replay", "Verdict", "Diagrams", "Model", "Where this comes from"]
    parser = Balance()
    parser.feed(chain_text)
    assert parser.open == []


def test_the_header_says_what_ran(chain_text, chain_run):
    head = re.search(r"<header>.*?</header>", chain_text, flags=re.DOTALL).group(0)
    for words in ("pendulum-chain", "mk4", "0.002 s", "500", "501", chain_run.report().verdict):
        assert words in head


def test_every_item_of_the_report_is_in_the_table_with_its_meaning(chain_text, chain_run):
    for item in chain_run.report().items:
        assert f"<b>{item.name}</b>" in chain_text
        assert explain.words_of(item).split("'")[0] in chain_text
        assert explain.meaning(item).split("'")[0] in chain_text


def test_every_item_that_reports_can_have_is_explained():
    found = {name for f in (SOURCES / "report").glob("*.py") for name in re.findall(r"\bitem\(\s*\"([a-z ]+)\"", f.read_text())}
    found |= {name for f in (SOURCES / "report").glob("*.py") for name in re.findall(r"_judged\(facts, \"([a-z ]+)\"", f.read_text())}
    assert len(found) > 15
    assert found <= explain.MEANING.keys()


def test_nothing_of_the_page_is_elsewhere(chain_text):
    assert not re.search(r"(src|href)=[\"'](?!data:|#)", chain_text)
    assert "default-src &#x27;none&#x27;" in chain_text


def test_the_replay_has_the_poses_of_the_run(chain_text, chain_run):
    scene = scene_of(chain_text)
    times, poses = array(scene["times"], "<f8"), array(scene["runs"][0]["poses"], "<f4").reshape(-1, 3, 7)
    np.testing.assert_array_equal(times, chain_run.t)
    np.testing.assert_allclose(poses[:, :, :3], chain_run.poses[:, :, :3, 3], atol=1e-6)
    assert scene["bodies"] == ["rod1", "rod2", "rod3"]
    assert {body for body, _ in scene["parts"]} == {0, 1, 2}


def test_equal_solids_are_stored_once():
    scene = scenes.find("heap")
    found = replay_of([scene.simulate(t_end=2 * scene.h)]).data
    assert len(found["solids"]) < len(found["parts"])


def test_contacts_have_their_forces(touching_run):
    scene = replay_of([touching_run]).data
    rows, counts = array(scene["contacts"]["rows"], "<f4").reshape(-1, 6), array(scene["contacts"]["counts"], "<u4")
    assert counts.sum() == len(rows) and len(counts) == len(touching_run)
    last = rows[len(rows) - int(counts[-1]) :, 3:].sum(axis=0)
    model = touching_run.model
    np.testing.assert_allclose(last, -model.total_mass * model.gravity, atol=1e-2 * model.total_mass * 9.81)  # the incline bears the block


def test_events_are_told_and_marked(struck_run):
    text = events_section(struck_run)
    assert sections(text) == ["Events"]
    assert f"{len(struck_run.events.rows)} in all" in text and "impact" in text
    marks = replay_of([struck_run]).data["marks"]
    np.testing.assert_allclose([t for t, _ in marks], struck_run.events["t"])


def test_many_events_are_told_by_the_first_and_the_last():
    scene = scenes.find("billiards-100")
    run = scene.simulate(t_end=40 * scene.h)
    assert len(run.events.rows) > 18
    text = events_section(run)
    rows = text.count("<tr>")
    assert rows == 1 + 12 + 1 + 6
    assert f"{len(run.events.rows)} in all" in text


def test_names_cannot_break_out(hostile_page):
    text = hostile_page.read_text(encoding="utf-8")
    assert len(re.findall(r"<script", text)) == 2  # data and program
    assert "<img" not in text
    assert "&lt;/script&gt;&lt;script&gt;window.broken=3" in text
    parser = Balance()
    parser.feed(re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL))
    assert parser.open == []


def test_a_lagrangian_has_a_page_without_replay(tmp_path):
    text = scenes.find("kepler").simulate(t_end=2.0).page(tmp_path / "k.html").read_text(encoding="utf-8")
    assert sections(text) == ["Verdict", "Diagrams", "Model", "Where this comes from"]
    assert 'id="data-replay"' not in text and text.count("<svg") == 6


def test_a_run_of_one_node_has_a_page():
    def refuse(t, q, v):
        raise ValueError("no control today")

    run = scenes.find("free-body").simulate(control=refuse, on_fail="return")
    text = run_html(run)
    assert "no control today" in text
    assert "Replay" not in sections(text) and "Diagrams" not in sections(text)


def test_an_exploded_run_is_replayed_as_far_as_it_goes():
    m = scenes.find("pendulum-chain").model()
    n = 30
    q = np.zeros((n, m.nq))
    q[20:] = np.nan
    run = dal.Trajectory.of_nodes(m, np.arange(n) * 0.1, q, np.zeros((n, m.nv)), meta={"family": "tree"})
    scene = replay_of([run]).data
    assert len(array(scene["times"], "<f8")) == 20


def test_a_wheel_about_its_centre_has_a_replay():
    m = dal.Model("wheel")
    m.add_body("disk", 1.0, (1.0, 1.0, 2.0))
    m.add_joint("axle", "revolute", "world", "disk")
    scene = replay_of([dal.simulate(m, h=0.1, t_end=1.0, v0=[1.0])]).data
    assert len(scene["parts"]) == 2  # the disk and its hinge


def test_an_explosion_is_no_mistake_of_the_page():
    m = dal.Model("free")
    m.add_body("b", 1.0, (1, 1, 1))
    q = np.zeros((50, 7))
    q[:, 0], q[:, 3] = np.logspace(0, 300, 50), 1.0
    run = dal.Trajectory.of_nodes(m, 0.1 * np.arange(50), q, np.zeros((50, 6)), meta={"family": "tree"})
    assert 0 < len(array(replay_of([run]).data["times"], "<f8")) < 50


def test_a_machine_in_directors_has_a_replay():
    scene = scenes.find("four-bar")
    run = dal.simulate(scene.model(), "null-space", h=0.01, t_end=0.1, q0=scene.q0, v0=scene.v0)
    assert replay_of([as_bodies(run)]) is not None


def test_curves_keep_their_extremes():
    t = np.linspace(0.0, 1.0, 100_000)
    y = np.sin(400 * t)
    y[54_321], y[77_777] = 7.0, -5.0
    kept = {}

    def draw(ax):
        ax.plot(t, y)
        kept["axes"] = ax

    made = figures.svg_of(figures.Panel(draw))
    x, values = kept["axes"].lines[0].get_data()
    assert len(x) <= figures.POINTS and values.max() == 7.0 and values.min() == -5.0
    assert len(made) < 100_000


def test_diagrams_follow_the_theme(chain_text):
    svg = re.search(r"<svg.*?</svg>", chain_text, flags=re.DOTALL).group(0)
    assert "var(--ink)" in svg and "var(--c0)" in svg and "var(--font)" in svg
    assert "#22303f" not in svg


def test_powers_on_axes_are_plain_text():
    powers, plain = Powers(), Plain()
    powers.create_dummy_axis()
    powers.set_locs([1e-3, 1e-2, 1e-1])
    assert [powers(x) for x in (1e-3, 1e12)] == ["10⁻³", "10¹²"]
    plain.create_dummy_axis()
    plain.set_locs([1e-8, 2e-8, 3e-8])
    assert plain.get_offset() == "×10⁻⁸" and plain(2e-8) == "2"


def test_a_long_run_has_a_small_page():
    m = scenes.find("pendulum-chain").model()
    n = 100_001
    t = 0.001 * np.arange(n)
    q = np.stack([np.sin((1 + i) * t) for i in range(3)], axis=1)
    run = dal.Trajectory.of_nodes(m, t, q, np.zeros((n, 3)), meta={"family": "tree"})
    text = run_html(run)
    assert len(text) < 2_000_000
    assert "2,000 of 100,001 nodes" in text


@pytest.mark.parametrize("name", ["pendulum-chain", "heap", "kepler"])
def test_the_snippet_repeats_the_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scene = scenes.find(name)
    run = scene.simulate(t_end=10 * scene.h)
    run.save("run.h5")
    found = {}
    exec(snippet(run).replace("print(", "str("), found)
    np.testing.assert_array_equal(found["traj"].q, run.q)


def test_paths_that_cannot_be(chain_run, tmp_path):
    with pytest.raises(OptionError, match=r"expected one of \.html"):
        chain_run.page(tmp_path / "a.png")
    with pytest.raises(OptionError, match="does not exist"):
        chain_run.page(tmp_path / "missing" / "a.html")
