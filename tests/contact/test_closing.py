"""Joints that contradict each other are refused by name at the start; joints that are open and can be closed are not."""

import numpy as np
import pytest
from contact_laws import H

import dalembert as dal


def two_locks(gap, **more):
    """A body that is fixed to two places that are `gap` apart."""
    m = dal.Model("two locks")
    m.add_body("b", 1.0, (0.1, 0.1, 0.1))
    m.add_joint("left", "prismatic", "world", "b", (0, 0, 0), (0, 0, 1))
    m.add_loop("right", "prismatic", "world", "b", (0, 0, 0), (0, 0, 1), point=(gap, 0, 0), **more)
    return m


def test_two_locks_that_disagree_are_refused_by_name():
    with pytest.raises(dal.AssemblyError, match=r"'left'.*contradict|'right'.*contradict") as found:
        dal.simulate(two_locks(0.1), "spook", h=H, t_end=0.1)
    assert set(found.value.errors) == {"left", "right"}
    assert max(found.value.errors.values()) == pytest.approx(0.05, rel=1e-3)  # each gives half


def test_locks_that_agree_or_give_way_are_not():
    assert dal.simulate(two_locks(0.0), "spook", h=H, t_end=0.1).status == "ok"
    assert dal.simulate(two_locks(0.1, compliance=1e-4), "spook", h=H, t_end=0.1).status == "ok"
    assert dal.simulate(two_locks(0.1, force_limits=50.0), "spook", h=H, t_end=0.1).status == "ok"


def triangle(third):
    """Two bars of 1 m on pins that are `third` apart, to be joined at their ends."""
    m = dal.Model("triangle", gravity=(0, 0, 0))
    for k, x in enumerate((0.0, third)):
        m.add_body(f"bar{k}", 1.0, (0.1, 0.1, 0.1), pose=((x, 0, 0.5), (1, 0, 0, 0)))
        m.add_joint(f"pin{k}", "revolute", "world", f"bar{k}", (x, 0, 0), (0, 1, 0))
    m.add_loop("top", "slot", "bar0", "bar1", (0, 0, 1), (0, 1, 0), point=(third, 0, 1))
    return m


def test_a_loop_that_is_too_long_is_refused_and_one_that_is_only_open_closes():
    """The bars reach 2 m at most."""
    with pytest.raises(dal.AssemblyError, match="'top'"):
        dal.simulate(triangle(2.3), "spook", h=H, t_end=0.1)
    traj = dal.simulate(triangle(1.2), "spook", h=H, t_end=2.0)
    assert np.abs(traj.constraint[0]).max() > 1.0 and np.abs(traj.constraint[-1]).max() < 1e-3
    np.testing.assert_allclose(traj.joint("pin0").q[-1, 0], np.arcsin(0.6), atol=0.02)


def test_a_drive_beyond_the_reach_of_its_loop_is_refused():
    m = triangle(1.2)
    m.add_loop("rod", "revolute", "world", "bar1", (1.2, 0, 0), (0, 1, 0), drive=1.5)  # laid flat, outward: bar0 cannot reach it
    with pytest.raises(dal.AssemblyError, match=r"'rod'|'top'"):
        dal.simulate(m, "spook", h=H, t_end=0.1)


@pytest.mark.parametrize("degrees", [120.0, 180.0])
def test_hinges_that_are_tilted_by_half_a_turn_can_be_closed(degrees):
    from dalembert.model.cut import cut

    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("a", 1.0, (0.1, 0.1, 0.1))
    m.add_joint("h", "revolute", "world", "a", axis=(0, 0, 1))
    free = cut(m)
    q0 = free.neutral()
    q0[3:7] = np.cos(np.radians(degrees) / 2), np.sin(np.radians(degrees) / 2), 0, 0
    assert dal.simulate(free, "spook", h=H, t_end=0.1, q0=q0).status == "ok"


def test_a_drive_that_tears_a_loop_apart_is_flagged_by_the_report():
    """Possible at the start, impossible later: one pin of the triangle is driven away, over more than both bars are long."""
    m = dal.Model("torn", gravity=(0, 0, 0))
    for k, x in enumerate((0.0, 1.2)):
        m.add_body(f"bar{k}", 1.0, (0.1, 0.1, 0.1), pose=((x, 0, 0.5), (1, 0, 0, 0)))
    m.add_body("cart", 1.0, (0.1, 0.1, 0.1), pose=((1.2, 0, 0), (1, 0, 0, 0)))
    m.add_joint("pin0", "revolute", "world", "bar0", (0, 0, 0), (0, 1, 0))
    m.add_joint("rail", "prismatic", "world", "cart", (1.2, 0, 0), (1, 0, 0), drive=lambda t: 2.0 * t)
    m.add_joint("pin1", "revolute", "cart", "bar1", (1.2, 0, 0), (0, 1, 0))
    m.add_loop("top", "slot", "bar0", "bar1", (0, 0, 1), (0, 1, 0), point=(1.2, 0, 1))
    q0, v0 = m.assemble({"pin0": 0.6, "pin1": -0.6})
    traj = dal.simulate(m, "spook", h=H, t_end=1.5, q0=q0, v0=v0)
    found = [x for x in traj.report().items if x.name == "joints"]
    assert found[0].verdict == "fail" and "contradicts" in found[0].text
