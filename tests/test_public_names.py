"""Nothing of the public interface is lost: names, members and parameters of `tests/data/public_api.json` are still there.

New names and new parameters may be added; what is there keeps its order and its defaults.
"""

import inspect
import json
import re
from pathlib import Path

import pytest

import dalembert as dal

BEFORE = json.loads((Path(__file__).parent / "data" / "public_api.json").read_text())


def check(where, function, before):
    if before is None:
        return
    now = {p.name: p for p in inspect.signature(function).parameters.values()}
    names = [name for name, _, _ in before]
    assert [n for n in now if n in names] == names, f"{where}: parameters were {names}, are {list(now)}"
    for name, kind, default in before:
        p = now[name]
        assert p.kind.name == kind, f"{where}: {name}"
        assert (None if p.default is p.empty else re.sub(" object at 0x[0-9a-f]+", "", repr(p.default))) == default, (
            f"{where}: default of {name}"
        )
    for name, p in now.items():
        required = p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        assert name in names or not required, f"{where}: {name} is new and has no default"


@pytest.mark.parametrize("name", sorted(BEFORE))
def test_name_is_there_with_its_members_and_parameters(name):
    assert name in dir(dal)
    now, before = getattr(dal, name), BEFORE[name]
    if "module" in before:
        assert set(before["module"]) <= set(dir(now))
    if "function" in before:
        check(name, now, before["function"])
    if "class" in before:
        check(name, now, before["class"])
        for member, parameters in before["members"].items():
            assert hasattr(now, member), f"{name}.{member}"
            check(f"{name}.{member}", getattr(now, member), parameters)


def test_names_of_the_design_are_there():
    names = (
        "Model Lagrangian simulate resume load Simulation Trajectory compare work_precision steppers stepper check_stepper advise lcp cite"
    )
    for name in [*names.split(), "compiled", "load_model", "so3", "se3", "se2", "quat", "envs"]:
        assert name in dir(dal)
    for member in ("of_nodes", "report", "save", "plot", "view", "animate", "to_xarray", "to_pandas", "at", "reaction"):
        assert hasattr(dal.Trajectory, member)
    for member in ("step", "state", "reset", "apply_force", "h", "post", "trajectory"):
        assert hasattr(dal.Simulation, member)
