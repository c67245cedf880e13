"""Offsets of records are those of their parts, whatever name they go by."""

import importlib
import itertools
import pkgutil

import pytest

import dalembert.kernels
from dalembert.kernels._fields import Layout, Record, numbers_in
from dalembert.kernels.tree.variational import layout as variational

LAYOUTS = [found.name for found in pkgutil.walk_packages(dalembert.kernels.__path__, "dalembert.kernels.") if found.name.endswith("layout")]


@pytest.mark.parametrize("name", LAYOUTS)
def test_names_of_a_layout_stand_for_the_parts_of_its_records(name):
    """A name that was unpacked in the wrong order, or given to two parts, would point elsewhere."""
    module = importlib.import_module(name)
    named = [(part.name, start) for record in vars(module).values() if isinstance(record, Record)
             for part, start in zip(record.parts, record.starts, strict=True)]  # fmt: skip
    for part, start in named:
        if part.isupper() and hasattr(module, part):
            assert getattr(module, part) == start, part
    assert len({part for part, _ in named if part.isupper()}) == len([part for part, _ in named if part.isupper()])


def test_parts_of_a_record_do_not_overlap():
    for name in LAYOUTS:
        for record in vars(importlib.import_module(name)).values():
            if isinstance(record, Record):
                ends = [start + int(part.size) for part, start in zip(record.parts, record.starts, strict=True)]
                assert list(record.starts[1:]) == ends[:-1]
                assert record.size == ends[-1]


def test_parts_of_a_step_do_not_overlap():
    """Sizes as for a tree of five links with loops."""
    sizes = {
        "links": 5,
        "nq": 6,
        "nv": 5,
        "m": 3,
        "total": 4,
        "small": 1,
        "driven": 1,
        "account": 12,
        "side": 34,
        "factor": 328,
        "chords": 42,
        "state": 99,
    }
    for layout in (variational.STEP, variational.STATE):
        assert isinstance(layout, Layout)
        numbers = dict.fromkeys(layout.names, 0.0)
        places, end = layout.lay(100, numbers, sizes)
        taken = [
            (int(place), int(place) + numbers_in(entry.size, sizes))
            for entry, place in zip(layout.entries, places, strict=True)
            if hasattr(entry, "size")
        ]
        assert all(before[1] == after[0] for before, after in itertools.pairwise(taken))
        assert taken[0][0] == 100
        assert taken[-1][1] == end


def test_variants_of_a_record_fit_into_it():
    assert max(variational.ONE.size, variational.BALL.size, variational.BASE.size) <= variational.FACTOR_SIZE
