"""Every registered stepper keeps what its description promises. A new method gets these tests by being registered."""

from dataclasses import replace

import pytest

from dalembert.contracts import check as contracts
from dalembert.contracts.runs import machines
from dalembert.registry import Stepper, find, steppers
from dalembert.steppers.compose import COMPOSITIONS, Composition

STEPPERS = [s for s in steppers() if not s.python]
SELF_ADJOINT = [s for s in STEPPERS if s.self_adjoint and s.order == 2]  # those that a composition raises
CASES = [(s.system, s.name, what) for s in STEPPERS for what, (applies, _) in contracts.CHECKS.items() if applies(s)]


@pytest.mark.parametrize(("system", "name", "what"), CASES)
def test_contract(system: str, name: str, what: str) -> None:
    outcome = contracts.run_check(what, find(system, name))
    assert outcome.passed, outcome.text


@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize("stepper", SELF_ADJOINT, ids=lambda s: f"{s.system}-{s.name}")
def test_composition_raises_the_order(stepper: Stepper, composition: str) -> None:
    outcome = contracts.check_composition(stepper, composition)
    assert outcome.passed, outcome.text


def test_a_wrong_coefficient_is_refused_or_seen() -> None:
    """Weights that miss an order condition do not become a composition."""
    with pytest.raises(ValueError, match="sum of w"):
        Composition("wrong", 4, (1.3,), "nobody")


def test_tree_steppers_are_checked_on_trees() -> None:
    for stepper in STEPPERS:
        names = [m.name for m, _, _ in machines(stepper)]
        assert ("contract: floating chain" in names) == ("contract: pinned chain" in names) == (stepper.system in ("tree", "directors"))


def test_steppers_for_lagrangians_are_checked_on_what_they_handle() -> None:
    for stepper in steppers(system="lagrangian"):
        names = {m.name for m, _, _ in machines(stepper)}
        assert "contract: kepler" in names
        assert ("contract: double pendulum" in names) == ("variable mass" in stepper.handles)
        assert ("contract: spherical pendulum" in names) == ("holonomic" in stepper.handles)
        assert ("contract: rolling disk" in names) == ("nonholonomic" in stepper.handles)


@pytest.mark.parametrize(("name", "what"), [("spook", "time reversal"), ("spook", "energy"), ("spook", "constraint"), ("verlet", "order")])
def test_checks_on_lagrangians_can_fail(name: str, what: str) -> None:
    stepper = find("lagrangian", name)
    assert not contracts.run_check(what, replace(stepper, order=3) if what == "order" else stepper).passed


@pytest.mark.parametrize("what", ["momentum", "energy", "time reversal", "symplectic"])
@pytest.mark.parametrize("name", ["mk2", "cg3"])
def test_a_method_without_structure_breaks_the_checks(name: str, what: str) -> None:
    """The checks can fail: what a Runge-Kutta method does not promise, it does not keep."""
    assert not contracts.run_check(what, find("tree", name)).passed


def test_a_wrong_order_is_seen() -> None:
    stepper = find("tree", "midpoint")
    assert not contracts.run_check("order", replace(stepper, order=3)).passed
    assert not contracts.run_check("order", replace(find("tree", "symplectic-euler"), order=2)).passed


def test_the_library_has_the_methods_it_lists() -> None:
    expected = {
        "euler", "tln", "cayley", "moser-veselov", "moser-veselov-cayley", "moser-veselov-explicit", "quaternion", "quaternion-linear",
        "stabilized-euler", "bobenko-suris",
    }  # fmt: skip
    assert expected <= {s.name for s in steppers(system="rigid-body")}
    variational = {"midpoint", "trapezoidal", "symplectic-euler", "null-space"}
    assert variational == {s.name for s in steppers(system="tree", symplectic=True)}


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda s: f"{s.system}-{s.name}")
def test_description_is_complete(stepper: Stepper) -> None:
    assert stepper.summary
    assert stepper.references
    assert set(stepper.handles) & ({"force", "damping", "variable mass"} if stepper.system == "lagrangian" else {"free", "pivot"})
    for entry in stepper.conserves:
        assert entry.partition(": ")[2] in ("exactly", "bounded", "bounded (integrable motions)")
