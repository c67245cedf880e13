"""Problems with known ends: the four examples of lacoursiere2007 (16.13-16), worst cases, cycles, friction; and QuantEcon as a judge."""

import time

import numpy as np
import pytest
from quantecon.optimize import lcp_lemke

from dalembert.complementarity import lcp, methods
from dalembert.complementarity.generators import (
    block_pivot_cycle,
    definite,
    friction,
    murty_worst_case,
    random_lcp,
    random_nonsymmetric,
)

NAMES = [m.name for m in methods()]
EACH = pytest.mark.parametrize("method", NAMES)


def size(x):
    return np.abs(x).max()


@EACH
def test_a_trivial_problem(method) -> None:
    result = lcp(np.eye(2), [1, 1], method=method)
    assert result.solved and (result.z == 0).all() and (result.w == 1).all()


@EACH
def test_a_semidefinite_problem_with_a_segment_of_solutions(method) -> None:
    result = lcp(np.ones((2, 2)), [-1, -1], method=method)
    assert result.solved and abs(result.z.sum() - 1) < 1e-12 and (result.z >= 0).all()


@EACH
def test_an_infeasible_problem_is_reported(method) -> None:
    """-z1 - 1 >= 0 cannot be. Methods that meet a ray prove it."""
    result = lcp([[-1, 0], [1, 2]], [-1, 2], method=method)
    assert result.status == ("infeasible" if method not in ("murty", "psor") else result.status)
    assert result.status in ("infeasible", "cycle", "singular", "pivot-limit")
    if result.status == "infeasible":
        y = result.ray
        assert (y >= 0).all() and (y @ [[-1, 0], [1, 2]] <= 0).all() and y @ [-1, 2] < 0


@EACH
def test_a_feasible_problem_without_solution_is_reported(method) -> None:
    """z = (0, 0) is infeasible, w2 = z1 - 2 z2 - 1 >= 0 has z, but none is complementary."""
    result = lcp([[1, 0], [1, -2]], [3, -1], method=method)
    assert result.status in ("ray", "cycle", "singular", "pivot-limit")
    if method in ("lemke", "keller", "block-pivot", "newton", "cottle-dantzig"):
        assert result.status == "ray"


def test_one_dimension() -> None:
    """(16.8), and a box: interior -q / m, else the bound that the slope points to."""
    for method in NAMES:
        assert lcp([[2.0]], [3.0], method=method).z == 0
        assert lcp([[2.0]], [-3.0], method=method).z == 1.5
        assert not lcp([[-2.0]], [-3.0], method=method).solved
        assert not lcp([[0.0]], [-3.0], method=method).solved
        for q, expected in ((1.0, -0.5), (10.0, -1.0), (-10.0, 1.0), (2.0, -1.0), (-2.0, 1.0)):
            assert lcp([[2.0]], [q], lower=-1, upper=1, method=method).z == expected


@pytest.mark.parametrize("n", [4, 6, 8, 10])
def test_murtys_worst_case_takes_all_sets(n) -> None:
    last, first = (lcp(*murty_worst_case(n), method="murty", order=order) for order in ("last", "first"))
    assert last.solved and last.pivots == 2**n - 1
    assert first.solved and first.pivots == 1
    assert np.array_equal(last.z, np.eye(n)[0]) and np.array_equal(first.z, np.eye(n)[0])


def test_murtys_worst_case_beyond_the_limit_is_reported() -> None:
    result = lcp(*murty_worst_case(14), method="murty", max_pivots=2000)
    assert result.status == "pivot-limit" and result.pivots == 2000


def test_the_three_cycle_of_block_pivoting_is_seen() -> None:
    problem, start = block_pivot_cycle()
    result = lcp(*problem, method="block-pivot", start=start, fallback=None)
    assert result.claim == "cycle" and result.pivots <= 9
    assert result.solved  # by chance: the point at which it stopped, put within its bounds, is the solution 0


def test_cycles_of_block_pivoting_end_with_lemke() -> None:
    rng, cycles = np.random.default_rng(0), 0
    for _ in range(200):
        problem = random_nonsymmetric(6, 1.0, rng)
        alone = lcp(*problem, method="block-pivot", fallback=None)
        helped = lcp(*problem, method="block-pivot")
        assert alone.status in ("solved", "cycle") and helped.solved
        assert helped.fallback == ("lemke" if alone.status == "cycle" else "") and helped.claim == alone.claim
        cycles += alone.status == "cycle"
    assert cycles >= 10


def test_kellers_cycles_are_seen_and_lemke_takes_over() -> None:
    """About half of these boxed problems make Keller's method cycle (independently: 115 of 200)."""
    rng, cycles = np.random.default_rng(0), 0
    for _ in range(200):
        problem = random_nonsymmetric(6, 1.0, rng)
        alone = lcp(*problem, method="keller", fallback=None)
        assert alone.status in ("solved", "cycle")
        cycles += alone.status == "cycle"
        helped = lcp(*problem, method="keller")
        assert helped.solved and helped.fallback == ("lemke" if alone.status == "cycle" else "")
    assert 60 <= cycles <= 160


def test_semidefinite_problems_are_solved_or_proved_infeasible() -> None:
    """q = s - M z with s > 0 is strictly feasible, hence solvable; a random q is mostly infeasible."""
    rng, words = np.random.default_rng(1), set()
    for k in range(100):
        M = definite(8, 100.0, rng, rank=4)
        q = rng.uniform(0.1, 1, 8) - M @ rng.uniform(0, 1, 8) if k % 2 else rng.uniform(-1, 1, 8)
        statuses = {lcp(M, q, method=method).status for method in ("lemke", "cottle-dantzig")}
        assert len(statuses) == 1 and statuses <= ({"solved"} if k % 2 else {"solved", "infeasible"})
        words |= statuses
    assert words == {"solved", "infeasible"}


def test_semidefinite_problems_on_the_edge_of_feasibility_are_never_called_infeasible() -> None:
    """s - M z with half of s zero: round-off decides whether there is a solution, so `ray` is allowed, a proof of the contrary is not."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        M = definite(8, 100.0, rng, rank=4)
        q = np.maximum(0, rng.uniform(-1, 1, 8)) - M @ rng.uniform(0, 1, 8)
        for method in ("lemke", "cottle-dantzig"):
            assert lcp(M, q, method=method).status in ("solved", "ray", "singular")


def test_finite_boxes_have_solutions_whatever_the_matrix() -> None:
    """The path of Lemke's method is bounded, so that it can only end at a solution."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        result = lcp(rng.standard_normal((n, n)), rng.standard_normal(n), lower=-1, upper=1)
        assert result.solved


def test_equations_only_are_a_linear_system() -> None:
    rng = np.random.default_rng(3)
    M, q = definite(12, 100.0, rng), rng.standard_normal(12)
    for method in NAMES:
        result = lcp(M, q, lower=-np.inf, upper=np.inf, method=method)
        assert result.solved and size(result.z + np.linalg.solve(M, q)) < 1e-11 * size(result.z)


def test_a_saddle_point_with_inequalities() -> None:
    """min 1/2 x H x + c x with A x >= b: multipliers of the rows are an LCP coupled to equations."""
    rng = np.random.default_rng(4)
    H, A, x0 = definite(5, 10.0, rng), rng.standard_normal((3, 5)), rng.standard_normal(5)
    c, b = rng.standard_normal(5), A @ x0 - 0.1
    M = np.block([[H, -A.T], [A, np.zeros((3, 3))]])
    lower = np.r_[np.full(5, -np.inf), np.zeros(3)]
    for method in ("lemke", "newton", "block-pivot", "keller"):
        result = lcp(M, np.r_[c, -b], lower=lower, method=method)
        assert result.solved
        x, y = result.z[:5], result.z[5:]
        assert size(H @ x + c - A.T @ y) < 1e-12 and (A @ x - b > -1e-12).all() and abs(y @ (A @ x - b)) < 1e-12


def test_quantecon_finds_the_same_solutions() -> None:
    rng = np.random.default_rng(5)
    for n in (1, 2, 5, 20, 100):
        for condition in (1e2, 1e4):
            M, q, _, _ = random_lcp(n, condition, rng)
            theirs, ours = lcp_lemke(M, q), lcp(M, q)
            assert theirs.success and ours.solved
            # their tableau is not refined at the end
            assert size(ours.z - theirs.z) <= 1e-12 * condition * max(size(ours.z), 1e-300)


def test_pivots_are_quantecons_on_nondegenerate_problems() -> None:
    """Lemke's path is unique: the same number of vertices, up to the scaling of the covering vector (powers of two, here one for all)."""
    rng, same = np.random.default_rng(6), 0
    for _ in range(30):
        M, q, _, _ = random_lcp(30, 100.0, rng)
        same += lcp(M, q).pivots == lcp_lemke(M, q).num_iter
    assert same == 30


def test_ten_thousand_friction_problems() -> None:
    """Up to five contacts of one body, some twice, friction coefficients up to 1e4: strictly copositive, so all have a solution."""
    rng, began, failed, pivots = np.random.default_rng(7), time.process_time(), [], []
    for k in range(10_000):
        mu = 0.0 if k % 50 == 0 else 10.0 ** rng.uniform(-2, 4)
        M, q, _, _ = friction(int(rng.integers(1, 6)), mu, rng, duplicates=int(rng.integers(0, 3)))
        result = lcp(M, q)
        pivots.append(result.pivots)
        w = M @ result.z + q
        if not result.solved or (result.z < 0).any() or np.abs(np.minimum(result.z, w)).max() > 1e-10:
            failed.append((k, mu, result.status))
    assert not failed
    assert np.median(pivots) < 30
    assert time.process_time() - began < 60


@pytest.mark.parametrize("k", [3044, 13570, 16022, 16151, 24933, 28926, 31677])
def test_a_path_that_returns_to_a_vertex_by_round_off_is_left_for_another(k) -> None:
    """Contacts twice and coefficients of 5000: ties that round-off decides. Here the first path went in circles until its 3100 pivots
    were spent, compiled for processors with and without vectors.
    """
    M, q, _, _ = friction(5, 5e3, np.random.default_rng([8, k]), duplicates=2)
    result = lcp(M, q)
    assert result.solved and result.residual < 1e-9
    assert result.pivots < 1000
