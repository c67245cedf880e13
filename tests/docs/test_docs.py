"""The documentation is true: its code runs and prints what the pages show, its lists are complete, its links lead somewhere."""

import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest

import dalembert as dal
from dalembert import registry
from dalembert.model import forces

ROOT = Path(__file__).parents[2]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
PAGES = sorted(p.name for p in DOCS.glob("*.md"))
# shorter than the examples' own times; each still holds what its check needs (a turn of the racket, the fall of the top, ...)
SHORT = {
    "tennis_racket": 4.0,
    "spinning_top": 2.0,
    "driven_satellite": 20.0,
    "own_stepper": 50.0,
    "robots_without_drift": 20.0,
    "four_bar": 4.0,
    "arnold_cat": 2.0,
    "lagrangian_double_pendulum": 5.0,
    "rolling_disk": 10.0,
    "slider_crank": 5.0,
    "pendulum_ten_methods": 20 / 3,
    "friction_isotropy": 1.0,
    "friction_laws": 0.4,
    "pyramid_beside_mujoco": 0.2,
    "tippe_top": 4.0,
    "chain_in_a_box": 300.0,
    "swing_up": 3.0,
    "magnetic_basins": 30.0,
    "solvable_steps": 0.2,
    "uncertain_arm": 2.5,
}


def tool(name):
    """A Python file of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


blocks, generate = tool("blocks"), tool("generate")


@pytest.fixture(autouse=True)
def clean_registry():
    """Pages and examples register steppers and forces of their own."""
    registry.load_all()
    before, known = dict(registry._steppers), forces.kinds()
    yield
    forces.REGISTERED.clear()
    forces.REGISTERED.update(known)
    registry._steppers.clear()
    registry._steppers.update(before)


def runnable():
    """Pages with Python blocks; the one that checks contracts takes longer than ten seconds."""
    found = [p for p in PAGES if blocks.blocks(DOCS / p)]
    return [pytest.param(p, marks=[pytest.mark.slow] if p == "add-a-stepper.md" else []) for p in found]


@pytest.mark.parametrize("page", runnable())
def test_code_of_a_page_prints_what_the_page_shows(page):
    wrong = [found for block, printed in blocks.run(DOCS / page) if (found := blocks.differs(block, printed))]
    assert not wrong, "\n\n".join(wrong)


def test_the_pages_that_teach_have_code():
    assert len(blocks.blocks(DOCS / "tutorial.md")) >= 10
    assert "dal.check_stepper" in blocks.blocks(DOCS / "add-a-stepper.md")[0].code


def block(output, loose=False):
    return blocks.Block("page", 1, "", output, loose, (0, 0))


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("momentum 3.5e-16: pass", "momentum 8.8e-15: pass", True),  # both round-off
        ("energy 1.00e-4: pass", "energy 1.03e-4: pass", True),
        ("energy 1.0e-4: pass", "energy 2.0e-4: pass", False),
        ("energy 1.0e-4: pass", "energy 1.0e-4: fail", False),
        ("momentum 3.5e-16: pass", "momentum 1e-3: pass", False),
        ("h2 = 1", "h3 = 1", False),  # digits inside a name are not numbers
        (None, "something", False),
    ],
)
def test_outputs_are_compared(shown, printed, same):
    assert (blocks.differs(block(shown), printed) == "") is same


def test_where_times_vary_only_words_count():
    assert blocks.differs(block("CPU 1.0 s", loose=True), "CPU 2.0 s") == ""
    assert blocks.differs(block("CPU 1.0 s", loose=True), "CPU 2.0 h") != ""


def test_every_stepper_is_described():
    pages = generate.pages()
    assert len(dal.steppers()) >= 10
    for s in dal.steppers():
        formula = s.system == "lagrangian"
        table, sections = ("lagrangian-table.md", "lagrangian-steppers.md") if formula else ("stepper-table.md", "steppers.md")
        assert f"[{s.name}](#{generate.anchor(s)})" in pages[table]
        assert f"({generate.anchor(s)})=\n### {s.name}\n" in pages[sections]
        assert all(f"`{key}`" in pages[sections] for key in s.references)


def test_sections_of_steppers_have_names_of_their_own():
    names = [generate.anchor(s) for s in dal.steppers()]
    assert len(set(names)) == len(names)


def test_every_scene_composition_and_peer_is_described():
    from dalembert.peers import PEERS
    from dalembert.steppers.compose import COMPOSITIONS

    pages = generate.pages()
    assert all(f"| `{name}` |" in pages["scenes.md"] for name in dal.scenes.names())
    assert all(f"| `{name}` |" in pages["compositions.md"] for name in COMPOSITIONS)
    assert all(f"| `{name}` |" in pages["peers.md"] for name in PEERS)


def test_every_method_of_complementarity_and_model_of_friction_is_described():
    from dalembert.complementarity import MEANING, methods
    from dalembert.complementarity.friction import models

    pages, page = generate.pages(), (DOCS / "complementarity.md").read_text()
    assert all(f"| `{m.name}` |" in pages["lcp-methods.md"] for m in methods())
    assert all(f"| `{m.name}` |" in pages["friction-models.md"] for m in models())
    assert all(f"| `{word}` |" in page for word in MEANING)  # statuses
    assert all(f"`{m.name}`" in page for m in [*methods(), *models()])


def test_every_command_and_option_is_described():
    import typer

    from dalembert.cli import app

    text = generate.pages()["commands.md"]
    found = generate.every_command(typer.main.get_command(app))
    assert {"run", "lcp solve", "lcp make"} <= {name for name, _ in found}
    for name, command in found:
        assert f"## dalembert {name}\n" in text
        assert all(f"`{option}`" in text for p in command.params if p.param_type_name == "option" for option in p.opts)


def test_every_public_name_is_described():
    text = generate.pages()["api.md"]
    for name in dal.__all__:
        if name != "__version__":
            assert f"(api-{name.lower()})=\n## {name}\n" in text
            assert generate.first_line(generate.public(name)), f"{name} has no documentation"


def test_table_cells_keep_their_columns():
    row = generate.table(("a", "b"), [("|x| < 1", "two\nlines")]).splitlines()[-1]
    assert row == r"| \|x\| < 1 | two lines |"


def test_variables_of_a_file_are_described():
    from dalembert.runs.recording import variables

    def written(kind):
        m = dal.Model(gravity=(0, 0, 0))
        m.add_body("b", 1.0, (1, 2, 2.5))
        m.add_joint("j", kind, "world", "b", damping=0.1 if kind == "revolute" else 0.0)
        return {v.name for v in variables(dal.simulate(m, h=0.1, t_end=0.2))}

    rows = [line for line in (DOCS / "files.md").read_text().splitlines() if line.startswith("| `")]
    described = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert described == written("free") | written("revolute")


def links(path):
    """Targets of the Markdown links of a file that are not addresses."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [t for t in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", t)]


def anchors(path):
    """Headings as anchors, and explicit targets."""
    text = path.read_text(encoding="utf-8")
    found = set(re.findall(r"^\(([\w-]+)\)=$", text, flags=re.MULTILINE))
    return found | {
        re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    }


@pytest.mark.parametrize("path", [*(DOCS / p for p in PAGES), ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_links_lead_somewhere(path):
    for target in links(path):
        file, _, anchor = target.partition("#")
        where = path.parent / file if file else path
        assert where.exists(), f"{path.name}: {target}"
        assert not anchor or anchor in anchors(where), f"{path.name}: {target}"


def test_every_page_is_in_the_table_of_contents():
    listed = re.findall(r"^([\w-]+)$", (DOCS / "index.md").read_text(), flags=re.MULTILINE)
    assert {Path(p).stem for p in PAGES} - {"index"} <= set(listed)


def test_included_parts_are_generated():
    included = {name for p in PAGES for name in re.findall(r"\{include\} _generated/(\S+)", (DOCS / p).read_text())}
    assert included == set(generate.pages())


def test_pages_cite_known_references():
    from dalembert.citations import bibliography

    text = (DOCS / "theory.md").read_text()
    assert all(key in bibliography() for key in re.findall(r"`([a-z]+(?:19|20)\d\d\w*)`", text))


def test_every_example_is_tried():
    assert set(SHORT) == {p.stem for p in EXAMPLES.glob("*.py")}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n == "own_stepper" else []) for n in sorted(SHORT)])
def test_example_runs_and_its_check_holds(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](t_end=SHORT[name])
    assert not list(tmp_path.iterdir())  # examples write only where they are told to


def test_code_of_the_readme_runs_twice(tmp_path, monkeypatch, capsys):
    """The ten lines of the README, as they stand there; the second time in the folder of the first, with fewer images."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    exec(compile(code, "README.md", "exec"), {})
    assert "verdict: pass" in capsys.readouterr().out
    assert (tmp_path / "top.gif").stat().st_size > 10_000
    draw = dal.Trajectory.animate
    monkeypatch.setattr(dal.Trajectory, "animate", lambda self, path: draw(self, path, max_frames=2))
    exec(compile(code, "README.md", "exec"), {})
    assert "verdict: pass" in capsys.readouterr().out
