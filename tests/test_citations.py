"""The bibliography: whole, complete, and what `cite` takes from it."""

import re

import pytest

import dalembert as dal
from dalembert.citations import bibliography, parse
from dalembert.peers import PEERS
from dalembert.registry import register, steppers
from dalembert.steppers.compose import COMPOSITIONS

REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "book": {"author", "title", "publisher", "year"},
    "incollection": {"author", "title", "booktitle", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "phdthesis": {"author", "title", "school", "year"},
    "misc": {"title", "year"},
    "unpublished": {"author", "title", "note"},
    "techreport": {"author", "title", "institution", "year"},
    "software": {"author", "title", "year"},
}
NAMED = {
    *("kobilarov2014", "lacoursiere2007", "caltech2008slides", "park2005", "leyendecker", "moser1991", "cardoso2003", "bobenko1999"),
    *("anitescu1997", "suzuki1990", "yoshida1990", "kahan1997", "numba", "numpy", "mujoco"),
}


def fields(entry):
    return dict(re.findall(r"^  (\w+) = (.+?),?$", entry, flags=re.MULTILINE))


@pytest.mark.parametrize("key", bibliography())
def test_every_entry_parses_and_has_the_fields_of_its_kind(key):
    entry = bibliography()[key]
    kind = re.match(r"@(\w+)\{" + re.escape(key) + ",", entry)
    assert kind is not None
    found = fields(entry)
    assert set(found) >= REQUIRED[kind[1]], key
    assert all(value.count("{") == value.count("}") for value in found.values())
    assert entry.isascii(), "accents as TeX commands, so that every BibTeX reads them"
    lines = entry.splitlines()[1:-1]
    assert all(line.endswith(",") for line in lines[:-1]) and not lines[-1].endswith(",")


def test_every_key_that_is_used_exists():
    used = {key for s in steppers() for key in s.references} | {c.reference for c in COMPOSITIONS.values()}
    used |= {key for peer in PEERS.values() for key in peer.references}
    used |= {key for name in dal.scenes.names() for key in dal.scenes.find(name).references}
    assert used
    assert used <= set(bibliography())
    assert set(bibliography()) >= NAMED


def test_a_run_is_cited_with_stepper_composition_and_library():
    scene = dal.scenes.find("free-body")
    text = dal.cite(scene.simulate(stepper="moser-veselov", compose="suzuki4", t_end=1.0))
    keys = re.findall(r"^@\w+\{([^,]+),", text, flags=re.MULTILINE)
    assert keys == ["dalembert", "numba", "numpy", "caltech2008slides", "moser1991", "cardoso2003", "suzuki1990"]
    assert list(parse(text)) == keys


@pytest.mark.parametrize(
    ("names", "key"),
    [("cayley", "kobilarov2014"), ("cayley+kahan-li6", "kahan1997"), (["mujoco:rk4"], "mujoco"), (("suzuki4", "park2005"), "park2005")],
)
def test_names_are_cited(names, key):
    assert key in parse(dal.cite(names))


def test_an_entry_comes_once():
    assert dal.cite(["cayley", "tln", "euler"]).count("kobilarov2014") == 1
    assert list(parse(dal.cite())) == ["dalembert", "numba", "numpy"]


def test_what_cannot_be_cited():
    with pytest.raises(dal.UnknownNameError, match="did you mean 'cayley'"):
        dal.cite("cayly")
    with pytest.raises(dal.OptionError, match="neither a Trajectory nor a name"):
        dal.cite(3)


def test_a_reference_outside_the_bibliography_is_named(monkeypatch):
    from dalembert import registry

    monkeypatch.setattr(registry, "_steppers", dict(registry._steppers))
    register(name="mine", summary="test", system="any", order=1, references=("somebody1999",), python=True)(lambda m, t, q, v, h: (q, v))
    assert "% somebody1999: not in the bibliography" in dal.cite("mine")


@pytest.mark.parametrize(
    "text", ["@article{a,\n  title = {x}\n", "@article{a,\n}\n@article{a,\n}\n", "@article{a,\n  t = {x\n@book{b,\n}}\n}"]
)
def test_broken_bibliographies_are_found(text):
    with pytest.raises(dal.DalembertError, match="bibliography"):
        parse(text)
