"""Contacts that a plan leaves out are said, unless they are avoided, planned or ignored."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import Touch

LEFT_OUT = "contacts are left out"


def ball():
    m = dal.Model("ball")
    m.add_shape("world", dal.Plane())
    m.add_body("ball", 1.0, (0.01, 0.01, 0.01), pose=((0, 0, 1.0), (1, 0, 0, 0)), shapes=[dal.Sphere(0.1)])
    return m


def down(m, way=2.0, **more):
    q = m.neutral()
    return dal.control.dmoc(m, 10, q, q - way * np.eye(7)[2], h=0.1, **more)


def test_a_plan_through_the_floor_says_that_contacts_are_left_out():
    plan = down(ball()).solve()
    assert plan.ok and any(note.startswith(LEFT_OUT) and "'ball' and 'world'" in note for note in plan.notes)
    assert LEFT_OUT in plan.text and LEFT_OUT in plan.verify().text


@pytest.mark.parametrize("ignore", ["contact", ("contact",)])
def test_contacts_that_are_ignored_are_not_mentioned(ignore):
    plan = down(ball(), ignore=ignore).solve()
    assert plan.ok and LEFT_OUT not in plan.text and LEFT_OUT not in plan.verify().text


def test_what_is_kept_apart_is_not_mentioned():
    plan = down(ball(), way=0.5, avoid=True).solve()
    assert plan.ok and LEFT_OUT not in plan.text
    m = ball()
    m.add_body("other", 1.0, (0.01, 0.01, 0.01), pose=((2.0, 0, 1.0), (1, 0, 0, 0)), shapes=[dal.Sphere(0.1)])
    q = m.neutral()
    (note,) = dal.control.dmoc(m, 10, q, q, h=0.1, avoid=[("ball", "other")]).notes
    assert "'ball' and 'world'; 'other' and 'world'" in note and "'ball' and 'other'" not in note


def test_contacts_that_are_planned_are_not_mentioned():
    m = ball()
    q = m.neutral()
    assert not dal.control.dmocc(m, 10, q, q, [Touch("ball", 5)], h=0.1).notes


def test_a_model_without_shapes_has_nothing_to_say():
    m = dal.Model("point")
    m.add_particle("point", 1.0)
    assert not dal.control.dmoc(m, 10, [0, 0, 0], [1, 0, 0], h=0.1).notes


def test_a_feedback_says_what_its_steps_leave_out():
    found = dal.control.lqr(ball(), ball().neutral(), 1.0, 1.0)
    assert found.notes == ("left out, as 'midpoint' does not handle it: contact",) and found.notes[0] in repr(found)
    assert not dal.control.lqr(ball(), ball().neutral(), 1.0, 1.0, ignore="contact").notes
