"""Laws of contact of pairs of bodies: data of the model."""

import pytest

import dalembert as dal


def model():
    m = dal.Model("a")
    for name in ("ball", "plate", "peg"):
        m.add_body(name, 1.0, (1, 1, 1), shapes=[dal.Sphere(0.1)])
    m.world_shapes = (dal.Plane(),)
    m.add_contact("ball", "plate", friction=0.3, restitution=0.8)
    m.add_contact("world", "ball", compliance=1e-6, damping_time=0.02)
    return m


def test_contacts_are_kept_in_copies_and_files():
    m = model()
    for other in (m.copy(), m.frozen(), dal.Model.from_dict(m.to_dict()), m.without("gravity")):
        assert other.contacts == m.contacts
    assert m.to_dict()["contacts"][1] == {"a": "world", "b": "ball", "compliance": 1e-6, "damping_time": 0.02}
    assert "contacts" not in dal.Model("b").to_dict()
    copy = m.copy()
    copy.remove_contact("plate", "ball")
    assert len(copy.contacts) == 1 and len(m.contacts) == 2


def test_contacts_go_with_their_bodies_and_with_the_feature():
    m = model()
    m.remove_body("plate")
    assert [(x.a, x.b) for x in m.contacts] == [("world", "ball")]
    assert not m.without("contact").contacts


def test_a_frozen_copy_sees_a_contact_that_is_added_later():
    m = model()
    before = m.frozen()
    m.add_contact("peg", "plate", friction=0.0)
    assert len(before.contacts) == 2 and len(m.frozen().contacts) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": "ball", "b": "bal"}, "body of a contact 'bal'; did you mean 'ball'"),
        ({"a": "peg", "b": "peg"}, "both names are 'peg'"),
        ({"a": "plate", "b": "ball"}, "a contact of 'plate' and 'ball' already"),
        ({"a": "peg", "b": "ball", "friction": -0.1}, "friction is -0.1; expected a finite number >= 0"),
        ({"a": "peg", "b": "ball", "restitution": 1.5}, "restitution is 1.5; expected a number from 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(dal.DalembertError, match=message):
        model().add_contact(**given)
    with pytest.raises(dal.UnknownNameError, match="Known: ball - plate, world - ball"):
        model().remove_contact("peg", "ball")
