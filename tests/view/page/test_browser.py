"""Pages in a real browser: they open from disk, ask nothing of the network, move, and follow the theme."""

import io

import numpy as np
import pytest
from PIL import Image

import dalembert as dal
from dalembert import scenes
from dalembert.view.page.replay import frame_html


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), dtype=float)


def player(seen, what):
    return seen.page.evaluate(f"() => document.querySelector('.player').player.{what}")


@pytest.fixture
def chain(look, chain_page):
    seen = look(chain_page)
    seen.seek(0.0)
    return seen


def test_a_page_opens_from_disk_without_errors_and_without_the_network(chain, chain_page):
    chain.seek(0.5)
    assert chain.errors == []
    assert chain.requests == [chain_page.as_uri()]
    assert player(chain, "gl.getError()") == 0
    assert chain.page.title() == "pendulum-chain: mk4"


def test_the_replay_moves(chain):
    before = pixels(chain.canvas())
    chain.seek(0.5)
    after = pixels(chain.canvas())
    assert before.shape == after.shape
    assert (np.abs(before - after).max(axis=2) > 40).mean() > 0.003  # rods elsewhere
    chain.seek(0.0)
    assert np.abs(pixels(chain.canvas()) - before).mean() < 0.5  # and back


def test_play_runs_and_pause_stops(chain):
    chain.page.click("button.play")
    chain.page.wait_for_function("() => document.querySelector('.player').player.time > 0.05")
    assert player(chain, "isPlaying")
    chain.page.click("button.play")
    stopped = player(chain, "time")
    chain.page.wait_for_function("() => !document.querySelector('.player').player.waiting")
    assert player(chain, "time") == stopped and not player(chain, "isPlaying")


def test_the_slider_acts_and_the_clock_says_so(chain):
    chain.page.locator(".line input").fill("0.5")
    assert player(chain, "time") == pytest.approx(0.5, abs=1e-9)
    chain.page.wait_for_function("() => document.querySelector('.clock').textContent === 't = 0.500 s'")


def test_the_keyboard_steps_and_plays(chain):
    chain.page.focus(".stage canvas")
    chain.page.keyboard.press("ArrowRight")
    assert player(chain, "time") == pytest.approx(0.002, abs=1e-9)  # a node
    chain.page.keyboard.press(" ")
    assert player(chain, "isPlaying")
    chain.page.keyboard.press(" ")
    assert not player(chain, "isPlaying")


def test_dragging_turns_and_the_wheel_zooms_after_a_click(chain):
    start = player(chain, "azimuth")
    box = chain.page.locator(".stage canvas").bounding_box()
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.3 * box["height"]
    chain.page.mouse.move(x, y)
    chain.page.mouse.wheel(0, 100)
    assert player(chain, "zoom") == 1  # the page scrolls
    chain.page.evaluate("() => scrollTo(0, 0)")
    chain.page.mouse.down()
    chain.page.mouse.move(x + 60, y)
    chain.page.mouse.up()
    assert player(chain, "azimuth") == pytest.approx(start - 0.48, abs=1e-6)
    chain.page.mouse.wheel(0, 100)
    chain.page.wait_for_function("() => document.querySelector('.player').player.zoom > 1")
    chain.page.dblclick(".stage canvas", position={"x": 10, "y": 80})
    assert player(chain, "azimuth") == pytest.approx(start) and player(chain, "zoom") == 1


def test_a_body_is_named_below_the_pointer(chain):
    found = chain.page.evaluate(
        """() => { const p = document.querySelector('.player').player, s = p.stage, seen = new Set();
        for (let x = 0; x < s.clientWidth; x += 11) for (let y = 0; y < s.clientHeight; y += 7) {
          const b = p.bodyAt(x, y); if (b >= 0) seen.add(p.data.bodies[b]);
        }
        return [...seen].sort(); }"""
    )
    assert found == ["rod1", "rod2", "rod3"]


def test_trails_can_be_switched_off(chain):
    chain.seek(0.9)
    drawn = pixels(chain.canvas())
    chain.page.uncheck("input.trails")
    chain.seek(0.9)
    assert np.abs(drawn - pixels(chain.canvas())).max() > 60


def test_diagrams_are_there_and_follow_the_replay(chain):
    plots = chain.page.locator(".plot svg")
    assert plots.count() >= 6
    for i in range(plots.count()):
        assert plots.nth(i).bounding_box()["height"] > 150
    assert "Joint angles" in chain.page.locator(".plots").inner_text()
    chain.seek(0.5)
    places = chain.page.evaluate("() => [...document.querySelectorAll('.span i')].map(e => [e.style.left, +e.style.opacity])")
    assert len(places) >= 5 and all(left == "50%" and shown > 0 for left, shown in places)
    chain.page.locator(".span").first.scroll_into_view_if_needed()
    box = chain.page.locator(".span").first.bounding_box()
    chain.page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 0.5 * box["height"])
    assert player(chain, "time") == pytest.approx(0.25, abs=0.02)


def test_the_dark_theme_is_dark(look, chain_page):
    means = {}
    for theme in ("light", "dark"):
        seen = look(chain_page, theme)
        seen.seek(0.5)
        means[theme] = [pixels(seen.canvas()).mean(), pixels(seen.page.locator(".plot").first.screenshot()).mean()]
        assert seen.errors == []
    assert min(means["light"]) > 200 and max(means["dark"]) < 70


def test_the_theme_may_change_while_the_page_is_open(chain):
    chain.page.emulate_media(color_scheme="dark")
    chain.page.wait_for_function("() => document.querySelector('.player').player.isDark")
    chain.seek(0.5)
    assert pixels(chain.canvas()).mean() < 70


def test_events_are_marked(look, struck_run, tmp_path):
    (tmp_path / "ball.html").write_text(frame_html(struck_run, 10**6), encoding="utf-8")
    seen = look(tmp_path / "ball.html")
    seen.seek(0.0)
    assert seen.page.locator(".line .mark").count() == len(struck_run.events.rows)
    assert "impact" in seen.page.locator(".line .mark title").first.text_content()
    assert seen.errors == []


def test_contacts_are_drawn_with_their_forces(look, touching_run, tmp_path):
    (tmp_path / "block.html").write_text(frame_html(touching_run, 10**6), encoding="utf-8")
    seen = look(tmp_path / "block.html")
    seen.seek(0.5)
    drawn = pixels(seen.canvas())
    seen.page.uncheck("input.contacts")
    seen.seek(0.5)
    assert (np.abs(drawn - pixels(seen.canvas())).max(axis=2) > 60).sum() > 50  # arrows
    assert seen.errors == []


def test_names_stay_names(look, hostile_page):
    seen = look(hostile_page)
    seen.seek(0.2)
    assert seen.errors == [] and len(seen.requests) == 1
    assert seen.page.evaluate("() => window.broken") is None
    assert player(seen, "data.bodies")[0] == "<!--<script>window.broken=1"
    assert seen.page.locator("h1").text_content() == "</script><script>window.broken=3</script>"


def test_a_page_without_bodies_has_no_player_and_no_errors(look, tmp_path):
    seen = look(scenes.find("kepler").simulate(t_end=1.0).page(tmp_path / "kepler.html"))
    assert seen.page.locator(".player").count() == 0 and seen.page.locator(".plot svg").count() == 6
    assert seen.errors == []


def test_without_webgl_the_page_says_so(look, chain_page):
    seen = look(chain_page)
    seen.page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    seen.page.reload()
    assert "no WebGL 2" in seen.page.locator(".excuse").text_content()
    seen.page.locator(".span").first.click()
    assert seen.errors == []


def test_the_frame_of_a_notebook_plays(look, chain_run, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><meta charset='utf-8'><body>{chain_run._repr_html_()}", encoding="utf-8")
    seen = look(path)
    frame = seen.page.frame_locator("iframe")
    frame.locator("button.play").click()
    frame.locator(".clock").filter(has_not_text="t = 0.000 s").wait_for()
    assert seen.errors == []


@pytest.mark.parametrize("at", [3.0, 1e3, 1e6])
def test_a_machine_far_from_the_origin_looks_as_one_near_it(look, tmp_path, at):
    drawn = {}
    for x in (0.0, at):
        m = dal.Model("links")
        for k in (0, 1):
            m.add_body(f"rod{k}", 1.0, (1e-3, 1e-3, 1e-3), pose=((x, 0, -0.05 * (k + 0.5)), (1, 0, 0, 0)))
        m.add_joint("top", "revolute", "world", "rod0", anchor=(x, 0, 0), axis=(0, 1, 0))
        m.add_joint("low", "revolute", "rod0", "rod1", anchor=(x, 0, -0.05), axis=(0, 1, 0))
        run = dal.simulate(m, "midpoint", h=0.01, t_end=0.2, q0=[1.0, 0.2])
        seen = look(run.page(tmp_path / f"links{x:g}.html"))
        seen.seek(0.1)
        drawn[x] = pixels(seen.canvas())
        assert seen.errors == []
    body = (np.ptp(drawn[0.0], axis=2) > 40).mean()
    assert body > 0.005
    assert (np.ptp(drawn[at], axis=2) > 40).mean() == pytest.approx(body, rel=0.1)
