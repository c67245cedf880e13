"""What was decided in many places is decided in one."""

import re
from pathlib import Path

import dalembert

SOURCE = Path(dalembert.__file__).parent
FILES = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in SOURCE.rglob("*.py")}


def places(pattern, outside=()):
    """file:line of code that matches, comments apart."""
    return [
        f"{name}:{number}"
        for name, text in FILES.items()
        if not name.startswith(outside)
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line.partition("#")[0])
    ]


def test_nobody_outside_asks_which_kind_of_system_it_has():
    assert (
        places(
            r"isinstance\([^)]*\b(Lagrangian|Model)\b|is_lagrangian|\.kind == \"(model|lagrangian)\"",
            ("model/", "lagrangian/", "directors/"),
        )
        == []
    )


def test_families_are_not_told_apart_by_name():
    names = "lagrangian|rigid-body|variational|tree"
    assert places(rf"(family\"\]|family|family\.name|family_name) == \"({names})\"") == []


def test_engines_are_made_in_one_place():
    assert [place.split(":")[0] for place in places(r"_engine_class\(\)\(")] == ["runs/plan.py"]
    assert {place.split(":")[0] for place in places(r"\b(CompiledEngine|PythonEngine|ScipyEngine)\(")} <= {
        "runs/engines/compiled.py",
        "runs/engines/python.py",
        "runs/engines/scipy.py",
    }


def test_kernels_of_variational_trees_read_their_places_by_name():
    assert (
        places(r"int\(system\[data \+|system\[int\(system\[STEPPER_DATA\]\)", tuple(n for n in FILES if "tree/variational" not in n)) == []
    )


def test_loads_have_no_kinds_by_number():
    assert places(r"LOAD_KIND|\bkind == [0-9]", tuple(n for n in FILES if not n.startswith(("kernels/tree/", "model/")))) == []
