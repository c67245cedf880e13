"""Every registered stepper keeps what its description promises. A new method gets these tests by being registered."""

import pytest

from dalembert import contracts
from dalembert.registry import Stepper, find, steppers
from dalembert.steppers.compose import COMPOSITIONS, Composition

STEPPERS = [s for s in steppers() if not s.python]
SELF_ADJOINT = [s for s in STEPPERS if s.self_adjoint]
CASES = [(s.system, s.name, what) for s in STEPPERS for what, (applies, _) in contracts.CHECKS.items() if applies(s)]


@pytest.mark.parametrize(("system", "name", "what"), CASES)
def test_contract(system: str, name: str, what: str) -> None:
    outcome = contracts.run_check(what, find(system, name))
    assert outcome.passed, outcome.text


@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize("stepper", SELF_ADJOINT, ids=lambda s: s.name)
def test_composition_raises_the_order(stepper: Stepper, composition: str) -> None:
    outcome = contracts.check_composition(stepper, composition)
    assert outcome.passed, outcome.text


def test_a_wrong_coefficient_is_refused_or_seen() -> None:
    """Weights that miss an order condition do not become a composition."""
    with pytest.raises(ValueError, match="sum of w"):
        Composition("wrong", 4, (1.3,), "nobody")


def test_the_library_has_the_methods_it_lists() -> None:
    expected = {
        "euler", "tln", "cayley", "moser-veselov", "moser-veselov-cayley", "moser-veselov-explicit", "quaternion", "quaternion-linear",
        "stabilized-euler", "bobenko-suris",
    }  # fmt: skip
    assert expected <= {s.name for s in steppers(system="rigid-body")}


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda s: s.name)
def test_description_is_complete(stepper: Stepper) -> None:
    assert stepper.summary
    assert stepper.references
    assert set(stepper.handles) & {"free", "pivot"}
    for entry in stepper.conserves:
        assert entry.partition(": ")[2] in ("exactly", "bounded", "bounded (integrable motions)")
