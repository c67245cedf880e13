"""Programs of blocks: value and derivatives beside CasADi's own differentiation of the whole program."""

import casadi as ca
import numpy as np
import pytest

from dalembert.control.blocks import Assembly, Block
from dalembert.control.program import Program

RNG = np.random.default_rng(0)


def blocks():
    """Two kinds of terms that share variables, one with parameters."""
    x, p = ca.SX.sym("x", 3), ca.SX.sym("p", 1)
    first = Block(
        "first", x, [[0, 1, 2], [2, 3, 4], [4, 0, 1]], cost=p * ca.sin(x[0]) * x[1], rows=ca.vertcat(x[0] * x[2], ca.exp(x[1]) - p * x[0]),
        p=p, numbers=[[0], [1], [0]], lower=-1.0, upper=2.0, names=("product", "growth"), places=("a", "b", "c"),
    )  # fmt: skip
    y = ca.SX.sym("y", 2)
    return [first, Block("second", y, [[4, 2]], cost=y[0] ** 3 * y[1]), Block("third", y, [[1, 3]], rows=y[0] * y[1] ** 2)]


def test_derivatives_are_those_of_the_whole():
    a = Assembly(5, 2, blocks())
    cost, rows = a.value()
    s, lam = ca.MX.sym("s"), ca.MX.sym("lam", a.rows)
    own = ca.Function("own", [a.z, a.p, s, lam], [a.gradient(), a.jacobian(), a.hessian(s, lam)])
    whole = s * cost + ca.dot(lam, rows)
    judge = ca.Function("judge", [a.z, a.p, s, lam], [ca.gradient(cost, a.z), ca.jacobian(rows, a.z), ca.triu(ca.hessian(whole, a.z)[0])])
    given = [RNG.normal(size=n) for n in (5, 2, 1, a.rows)]
    for mine, theirs in zip(own(*given), judge(*given), strict=True):
        np.testing.assert_allclose(np.array(ca.DM(mine)), np.array(ca.DM(theirs)), atol=1e-13)


def test_a_program_is_solved_and_violations_have_names():
    x = ca.SX.sym("x", 1)
    apart = Block("apart", x, [[0], [1]], cost=(x - 3) ** 2, rows=x, lower=-1.0, upper=1.0, names=["reach"], places=["left", "right"])
    program = Program(np.full(2, -10.0), np.full(2, 10.0), lambda i: f"x{i}", [apart], np.zeros(0), {})
    found = program.solve(np.zeros(2))
    assert found.success
    np.testing.assert_allclose(found.z, 1.0, atol=1e-7)

    from dalembert.control.explain import violations

    found.rows = np.array([0.0, 1.5])
    worst = violations(program, found, 3)
    assert (worst[0].name, worst[0].place, worst[0].size) == ("reach", "right", 0.5)


def test_building_takes_as_long_for_many_places_as_for_one():
    """Instructions of one place are differentiated once: the functions of blocks of 1 and of 1000 places are the same."""
    x = ca.SX.sym("x", 2)
    few, many = (Block("b", x, np.arange(2 * n).reshape(n, 2), cost=ca.sin(x[0]) * x[1], rows=x[0] * x[1]) for n in (1, 1000))
    assert few.functions()["hessian"].n_instructions() == many.functions()["hessian"].n_instructions()


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="columns"):
        Block("b", ca.SX.sym("x", 2), [[0, 1, 2]])
