"""The pages in a real browser: what is seen, clicked, dragged; browsers that come, go and crash."""

import io
import os
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

import dalembert as dal

from .conftest import PATIENCE, arm, boxes, until

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SIZE = {"width": 640, "height": 440}
PASSIVE = "passive event listener"  # what the library of the page says of every drag

if not Path(CHROMIUM).exists() and not os.environ.get("CI"):
    pytest.skip(f"there is no browser at {CHROMIUM}", allow_module_level=True)

pytestmark = pytest.mark.slow
sync_api = pytest.importorskip("playwright.sync_api") if not os.environ.get("CI") else __import__("playwright.sync_api").sync_api


@pytest.fixture(scope="module")
def playwright():
    with sync_api.sync_playwright() as p:
        yield p


def launch(playwright):
    return playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


@pytest.fixture(scope="module")
def browser(playwright):
    found = launch(playwright)
    yield found
    found.close()


@pytest.fixture
def visit(browser):
    """visit(view) -> a page that shows it, with what it complained of in `page.complaints`."""
    pages = []

    def go(view, within=None):
        before = len(view.page.server.get_clients())
        view.panel.shadows.value = False
        page = (within or browser).new_page(viewport=SIZE)
        page.set_default_timeout(1e3 * PATIENCE)
        page.complaints = []
        page.on("console", lambda m: page.complaints.append(m.text) if m.type == "error" and PASSIVE not in m.text else None)
        page.on("pageerror", lambda e: page.complaints.append(str(e)))
        page.on("request", lambda r: page.complaints.append(r.url) if foreign(r.url) else None)
        page.goto(view.url, timeout=1e3 * PATIENCE)
        page.wait_for_selector("canvas", timeout=1e3 * PATIENCE)
        wait(page, lambda: len(view.page.server.get_clients()) > before)
        pages.append(page)
        return page

    yield go
    for page in pages:
        if not page.is_closed():
            page.close()


def foreign(url):
    """Whether something is asked of another computer."""
    return urlsplit(url).scheme not in ("data", "blob") and urlsplit(url).hostname != "127.0.0.1"


def wait(page, condition):
    """`until`, while the browser goes on."""
    until(lambda: condition() or page.wait_for_timeout(30), PATIENCE)


def pixel(view, point):
    """Where a point of the world is on the page of the newest client."""
    camera = list(view.page.server.get_clients().values())[-1].camera
    forward = np.asarray(camera.look_at) - camera.position
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right = right / np.linalg.norm(right)
    way = np.asarray(point) - camera.position
    f = 0.5 * SIZE["height"] / np.tan(0.5 * camera.fov) / (way @ forward)
    return 0.5 * SIZE["width"] + f * (way @ right), 0.5 * SIZE["height"] - f * (way @ np.cross(right, forward))


def centre(view, name):
    snap = view.driver.snapshot
    return snap.model.poses(snap.q)[[b.name for b in snap.model.bodies].index(name), :3, 3]


def picture(page):
    """The lower part of the page: the machine, without words of the browser."""
    return page.screenshot(clip={"x": 0, "y": 140, "width": 640, "height": 300})


def press(page, name, done, role="button"):
    """Press a button until it has its effect: a page that is still being laid out moves under the mouse."""

    def try_once():
        if not done():
            page.get_by_role(role, name=name, exact=True).click(force=True)
            page.wait_for_timeout(1500)
        return done()

    wait(page, try_once)


def alike(*pages):
    """Whether two pages look the same, but for a shade here and there."""
    seen = []
    for page in pages:
        page.bring_to_front()
        page.wait_for_timeout(700)
        seen.append(np.asarray(Image.open(io.BytesIO(picture(page))).convert("RGB"), dtype=float))
    return seen[0].std() > 5.0 and np.abs(seen[0] - seen[1]).mean() < 1.0


def hide(page, view):
    """Fold the panel away; it lies over the machine on so small a page."""
    view.page.server.gui.main_panel.minimize()
    page.wait_for_timeout(300)


@pytest.fixture
def four(live):
    """Four boxes at rest, and the page of them."""
    return live(dal.Simulation(boxes(4), "spook", h=1 / 60, keep=0))


def test_a_page_opens_without_complaint_and_moves(live, visit):
    view = live(dal.Simulation(arm(), "midpoint", h=0.01, keep=0, q0=[1.2]))
    page = visit(view)
    first = picture(page)
    wait(page, lambda: picture(page) != first)
    t = view.driver.snapshot.t
    wait(page, lambda: view.driver.snapshot.t > t)
    press(page, "pause", lambda: not view.driver.playing)
    seen = [b"", b"."]
    wait(page, lambda: seen.append(picture(page)) or seen[-1] == seen[-2])
    page.keyboard.press("i")  # the motor, by a tenth of its 20 N m
    wait(page, lambda: view.panel.motors["motor"].value == 2.0)
    page.keyboard.press("Space")
    wait(page, lambda: view.driver.playing)
    assert page.complaints == []


def test_a_click_chooses_a_body_and_a_drag_lifts_it(four, visit):
    page = visit(four)
    hide(page, four)
    wait(page, lambda: page.mouse.click(*pixel(four, centre(four, "box1"))) or page.wait_for_timeout(300) or four.chosen == "box1")
    x, y = pixel(four, centre(four, "box2"))
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(12):
        page.mouse.move(x, y - 8 * k)
        page.wait_for_timeout(30)
    wait(page, lambda: centre(four, "box2")[2] > 0.2)
    assert four.driver.drag is not None and four.driver.drag.body == "box2"
    page.mouse.up()
    wait(page, lambda: four.driver.drag is None)
    wait(page, lambda: centre(four, "box2")[2] < 0.15)
    assert np.linalg.norm(centre(four, "box0") - [0, -0.9, 0.1]) < 0.01
    assert page.complaints == []


def test_sliders_and_buttons_act(four, visit):
    page = visit(four)
    press(page, "act", lambda: page.locator('input[value="9.81"]').count() > 0, role="tab")
    field = page.locator('input[value="9.81"]').last.element_handle(timeout=1e3 * PATIENCE)
    field.fill("3.5")
    field.press("Enter")
    wait(page, lambda: np.allclose(four.sim.model.gravity, (0, 0, -3.5)))
    press(page, "add box", lambda: len(four.driver.snapshot.model.bodies) >= 5)
    for _ in range(20):
        four.add("box")
    wait(page, lambda: len(four.bodies.shared[0][0].bodies) >= 25)
    assert four.driver.said == four.driver.trouble == "" and page.complaints == []


def test_two_pages_see_the_same(four, visit):
    first, second = visit(four), visit(four)
    four.choose("box0")
    four.kick(2.0, (1, 0, 1))
    wait(first, lambda: np.linalg.norm(centre(four, "box0") - [0, -0.9, 0.1]) > 0.2)
    four.driver.play(False)
    words = [page.get_by_text("stands") for page in (first, second)]
    for page, word in zip((first, second), words, strict=True):
        word.first.wait_for(timeout=1e3 * PATIENCE)
        assert page.complaints == []
    hide(first, four)
    wait(first, lambda: alike(first, second))


def test_a_page_that_closes_and_a_browser_that_crashes_leave_the_run_alone(four, visit, playwright):
    visit(four).close()
    other = launch(playwright)
    visit(four, other)
    with pytest.raises(sync_api.Error):
        other.new_browser_cdp_session().send("Browser.crash")
    until(lambda: not four.page.server.get_clients())
    t = four.driver.snapshot.t
    until(lambda: four.driver.snapshot.t > t + 0.2)
    assert four.driver.trouble == ""
    assert visit(four).complaints == []


def test_a_page_with_a_token_opens_by_its_address_alone(live, visit, browser, monkeypatch):
    monkeypatch.setattr("dalembert.view.web.page.is_home", lambda host: False)
    view = live(dal.Simulation(arm(), "midpoint", h=0.01, keep=0))
    stranger = browser.new_page()
    assert stranger.goto(view.url.partition("?")[0]).status == 403
    stranger.close()
    page = visit(view)
    assert "token" not in page.url and page.complaints == []


def test_a_replay_plays_in_the_browser(replay, visit):
    view = replay(dal.simulate(arm(), "midpoint", h=0.01, t_end=1.0, q0=[1.2]))
    page = visit(view)
    press(page, "play", lambda: view.playing)
    wait(page, lambda: view.t > 0.2)
    press(page, "pause", lambda: not view.playing)
    assert page.complaints == []


COLOURS = """<mujoco model="colours"><option gravity="0 0 0"/><worldbody>
<body name="box0" pos="0 -0.6 0"><freejoint/><geom type="box" size="0.2 0.2 0.2" rgba="0.8 0.2 0.1 1"/></body>
<body name="box1" pos="0 0 0"><freejoint/><geom type="box" size="0.2 0.2 0.2" rgba="0.8 0.2 0.1 1"/></body>
<body name="box2" pos="0 0.6 0"><freejoint/><geom type="box" size="0.2 0.2 0.201" rgba="0.8 0.2 0.1 1"/></body>
</worldbody></mujoco>"""
NAMES = (
    "<iframe srcdoc='<img src=x onerror=\"parent.pwn=1\">'>",
    "![i](http://tracker.example.com/a.png)",
    "<b>bold</b> `code` *star*",
)


def test_names_of_models_and_bodies_are_shown_as_they_are(live, replay, visit):
    named, bodies = dal.Model(" ".join(NAMES)), [name.replace("/", ":") for name in NAMES]  # names of bodies have no slash
    for k, body in enumerate(bodies):
        named.add_body(body, 1.0, (1, 1, 1), pose=((0.0, 0.6 * k, 0.0), (1, 0, 0, 0)), shapes=boxes(1).bodies[0].shapes)
    again = replay(dal.simulate(named, "spook", h=0.01, t_end=0.05))
    page = visit(again)
    for name in NAMES:
        page.get_by_text(name, exact=False).first.wait_for()
    seen = live(dal.Simulation(named, "spook", h=0.01, keep=0))
    second = visit(seen)
    press(second, "act", lambda: second.get_by_text("Drag a body").is_visible(), role="tab")
    for body in bodies:
        seen.choose(body)
        second.get_by_text(f"Chosen: {body}", exact=False).first.wait_for()
    for opened in (page, second):
        assert opened.evaluate("() => window.pwn") is None and opened.locator("iframe").count() == 0
        assert opened.complaints == []


def test_bodies_that_share_a_mesh_have_the_colours_of_those_that_do_not(live, visit):
    m = dal.load_model(COLOURS)
    view = live(dal.Simulation(m, "spook", h=0.01, keep=0), play=False)
    page = visit(view)
    hide(page, view)

    def colour(name):
        seen = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=float)
        x, y = (round(c) for c in pixel(view, np.add(centre(view, name), [0, 0, 0.2])))
        return seen[y - 2 : y + 3, x - 2 : x + 3].mean(axis=(0, 1))

    wait(page, lambda: np.ptp(colour("box0")) > 60 and np.ptp(colour("box2")) > 60)
    page.wait_for_timeout(2000)
    assert np.abs(colour("box0") - colour("box2")).max() < 12
