"""Pages that several tests look at, and a real browser for those that must be seen to work."""

import os
from pathlib import Path

import pytest

import dalembert as dal
from dalembert import scenes

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 60_000  # ms: a loaded machine draws slowly


def absent(reason):
    """Skip; where continuous integration runs, fail instead: there the browser is expected."""
    if os.environ.get("CI"):
        pytest.fail(f"CI is set, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM.exists():
        absent(f"there is no browser at {CHROMIUM}")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("playwright is not installed")
    with sync_playwright() as p:
        made = p.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS, timeout=PATIENCE)
        yield made
        made.close()


class Seen:
    """A page in the browser with all that it said and asked for."""

    def __init__(self, page):
        self.page, self.errors, self.requests = page, [], []
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: self.errors.append(str(e)))
        page.on("request", lambda r: self.requests.append(r.url))

    def seek(self, t):
        """Move the replay to a time and wait until it is drawn."""
        self.page.evaluate("t => document.querySelector('.player').player.seek(t)", t)
        self.page.wait_for_function(
            "() => { const p = document.querySelector('.player').player; return p.seen && !p.dirty && !p.waiting; }"
        )

    def canvas(self):
        """The picture of the replay, PNG."""
        return self.page.locator(".stage canvas").screenshot(timeout=PATIENCE)


@pytest.fixture
def look(browser):
    """look(path, theme) -> Seen"""
    opened = []

    def open_page(path, theme="light", **more):
        page = browser.new_page(viewport={"width": 1100, "height": 800}, color_scheme=theme, **more)
        opened.append(page)
        seen = Seen(page)
        page.goto(Path(path).as_uri(), timeout=PATIENCE)
        return seen

    yield open_page
    for page in opened:
        page.close()


@pytest.fixture(scope="session")
def chain_run():
    """A run of three hinged rods."""
    return scenes.find("pendulum-chain").simulate(t_end=1.0)


@pytest.fixture(scope="session")
def chain_page(chain_run, tmp_path_factory):
    return chain_run.page(tmp_path_factory.mktemp("pages") / "chain.html")


@pytest.fixture(scope="session")
def struck_run():
    """A ball that bounces: impacts are events."""
    return scenes.find("bouncing-ball").simulate(t_end=2.0)


@pytest.fixture(scope="session")
def touching_run():
    """A block on an incline, with contacts."""
    scene = scenes.find("block-on-incline")
    return scene.simulate(t_end=40 * scene.h)


@pytest.fixture(scope="session")
def hostile_run():
    """Names that would break out of a page, or that matplotlib would take for formulas."""
    names = ["<!--<script>window.broken=1", '<img src=x onerror="window.broken=2">', r"a$\foo{$b", "quote\"' & ü ]]>"]
    m = dal.Model("</script><script>window.broken=3</script>")
    parent = "world"
    for i, name in enumerate(names):
        m.add_body(name, 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -1.0 * i), (1, 0, 0, 0)))
        m.add_joint(f"joint of {name}", "revolute", parent, name, anchor=(0, 0, -1.0 * i), axis=(0, 1, 0))
        parent = name
    return dal.simulate(m, "midpoint", h=0.01, t_end=0.5, q0=[1.0, 0.2, 0.1, 0.3])


@pytest.fixture(scope="session")
def hostile_page(hostile_run, tmp_path_factory):
    return hostile_run.page(tmp_path_factory.mktemp("pages") / "hostile.html")
