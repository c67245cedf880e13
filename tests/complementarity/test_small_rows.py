"""Rows far below the round-off of the others: a violation there is judged by the row's own terms, and put right."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.complementarity import judge, methods
from dalembert.complementarity.friction import solve_friction

NAMES = [m.name for m in methods()]


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("small", [1e-300, 1e-100, 1e-30, 1e-20, 1e-17, 1e-15, 1e-14, 1e-10])
def test_a_tiny_row_beside_a_large_one(method, small):
    found = dal.lcp(np.eye(2), [-1.0, -small], method=method)
    assert found.status == "solved"
    assert found.z == pytest.approx([1.0, small], rel=1e-12)


@pytest.mark.parametrize("method", ["lemke", "keller", "block-pivot", "newton"])
def test_uncoupled_blocks_of_all_sizes(method):
    """Blocks with right-hand sides of 1 ... 1e-60, in mixed order: each one as if it were alone."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        blocks, M, q = [], np.zeros((12, 12)), np.zeros(12)
        for k, power in enumerate(rng.permutation([0, -20, -40, -60])):
            a = rng.normal(size=(3, 3))
            at = slice(3 * k, 3 * k + 3)
            M[at, at], q[at] = a @ a.T + np.eye(3), 10.0**power * rng.normal(size=3)
            blocks.append(dal.lcp(M[at, at], q[at], method="lemke").z)
        found = dal.lcp(M, q, method=method)
        assert found.status == "solved"
        assert judge(M, q, found.z).relative < 1e-12
        for k, alone in enumerate(blocks):
            assert found.z[3 * k : 3 * k + 3] == pytest.approx(alone, rel=1e-9, abs=1e-12 * np.abs(alone).max())


@pytest.mark.parametrize("model", ["box", "cylinder", "pyramid", "polygon", "cone"])
@pytest.mark.parametrize("angle", [0.0, 0.5 * np.pi, np.pi, 1.5 * np.pi])
def test_a_push_along_an_axis(model, angle):
    """cos(pi / 2) is round-off, not zero. The push of 1.25 mu N slides."""
    push = 6.125 * np.array([np.cos(angle), np.sin(angle)])
    found = solve_friction(np.eye(3), [-9.8, *push], 0.5, model=model)
    assert found.status == "solved"


def test_what_the_singular_skew_example_does():
    """Positive semidefinite, not symmetric: Lemke's method solves it, principal pivoting ends on a ray and says so."""
    M, q = [[0.0, 1.0], [-1.0, 0.0]], [-1.0, 1.0]
    assert dal.lcp(M, q, method="lemke").z == pytest.approx([1.0, 1.0])
    assert dal.lcp(M, q, method="cottle-dantzig").status == "ray"
