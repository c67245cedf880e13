"""Which values make a machine of the same kind: what is taken as such is taken by `with_values`, with the same features."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.features import acting


def machine(**more):
    m = dal.Model("rod")
    m.add_body("rod", 1.0, (0.1, 0.12, 0.05), com=(0, 0, -0.5), **more)
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), damping=0.1)
    return m.frozen()


COLUMNS = {
    "rod.mass": ([1.0, 2.0, 0.0, -1.0, np.nan, np.inf], [1, 1, 0, 0, 0, 0]),
    "hinge.damping": ([0.1, 3.0, 0.0, -1.0, np.nan, 1e300], [1, 1, 0, 0, 0, 1]),
    "hinge.stiffness": ([0.0, 0.0, 1.0, -1.0, np.inf, 0.0], [1, 1, 0, 0, 0, 1]),
    "hinge.rest": ([0.1, -0.2, 0.0, np.nan, 5.0, -5.0], [1, 1, 0, 0, 1, 1]),
    "rod.com": ([[0.1, 0.1, 1], [-3, 2, 1], [0, 1, 1], [1, 1, np.nan], [1, 1, 1], [2, 2, 2]], [1, 1, 0, 0, 1, 1]),
    "rod.inertia": ([[1, 1, 1], [1, 2, 2.5], [1, 2, 3.5], [1, 1, 0], [1, 1, -1], [np.nan, 1, 1]], [1, 1, 0, 0, 0, 0]),
    "hinge.limits": ([[-1, 1], [-2, 0.5], [1, -1], [0, 1], [1, 1], [np.nan, 1]], [1, 1, 0, 0, 0, 0]),
    "gravity": ([[1, 1, 1], [1, -2, 3], [0, 0, 0], [1, 1, 0], [np.nan, 1, 1], [2, 2, 2]], [1, 1, 0, 0, 0, 1]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_only_sound_values_of_the_kind_of_the_first_are_alike(name):
    values, expected = COLUMNS[name]
    m, column = machine(), np.array(values, dtype=float)
    found = m.alike({name: column})
    np.testing.assert_array_equal(found, np.array(expected, dtype=bool))
    kinds = {frozenset(acting(m.with_values({name: value}))) for value in column[found]}
    assert len(kinds) == 1


def test_wrong_shapes_are_left_to_with_values():
    m = machine()
    for name, shape in (("rod.inertia", (5, 2)), ("rod.inertia", (5,)), ("hinge.limits", (5,)), ("hinge.limits", (5, 3))):
        assert not m.alike({name: np.ones(shape)}).any()


def test_an_inertia_that_no_mass_has_is_taken_where_the_body_is_said_not_to_be_physical():
    column = np.array([[1, 2, 3.5], [1, 1, 5], [1, 1, -1]], dtype=float)
    np.testing.assert_array_equal(machine(physical=False).alike({"rod.inertia": column}), [True, True, False])
    np.testing.assert_array_equal(machine().alike({"rod.inertia": column}), [False, False, False])


def test_parameters_of_a_formula_are_alike_if_they_are_numbers_of_their_size():
    s = dal.Lagrangian(1, lambda q, v, p: v[0] ** 2 - p["k"] * q[0] ** 2 - p["a"][0] * p["a"][1], params={"k": 1.0, "a": [1.0, 2.0]})
    assert s.alike({"k": np.array([0.0, -1.0, np.nan])}).tolist() == [True, True, False]
    assert s.alike({"a": np.ones((3, 2))}).all() and not s.alike({"a": np.ones((3, 3))}).any() and not s.alike({"k": np.ones((3, 1))}).any()
