"""What reports say of runs with contacts."""

from itertools import pairwise

import pytest

import dalembert as dal


def cup_on_a_table(*carriers):
    """A cup on a table that fixed joints hold to the world, through some other bodies."""
    m = dal.Model("cup on a table")
    top, cup = dal.Box((1, 1, 0.1)), dal.Box((0.2, 0.2, 0.2))
    for name in carriers:
        m.add_body(name, 2.0, top.inertia(2.0))
    m.add_body("table", 5.0, top.inertia(5.0), shapes=[top])
    chain = ["world", *carriers, "table"]
    for a, b in pairwise(chain):
        m.add_joint(f"bolt of {b}", "fixed", a, b)
    m.add_body("cup", 1.0, cup.inertia(1.0), pose=((0, 0, 0.15), (1, 0, 0, 0)), shapes=[cup])
    return m


@pytest.mark.parametrize("carriers", [(), ("leg",), ("leg", "frame")])
def test_what_stands_on_bodies_fixed_to_the_world_is_held_by_the_world(carriers):
    found = dal.simulate(cup_on_a_table(*carriers), "spook", h=1 / 60, t_end=1.0).report()
    assert found.verdict == "pass", found.text
    assert "momentum" not in {i.name for i in found.items}


def test_what_hangs_on_bodies_fixed_to_the_world_is_held_by_the_world():
    m = cup_on_a_table()
    m.add_body("bob", 1.0, (0.01, 0.01, 0.01), pose=((2.0, 0, 0), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "table", "bob", anchor=(1.5, 0, 0), axis=(0, 1, 0))
    assert dal.simulate(m, "spook", h=1 / 240, t_end=1.0).report().verdict == "pass"
