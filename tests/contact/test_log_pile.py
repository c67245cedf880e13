"""Chapters 16 and 17 of Lacoursiere 2007 on contacts: problems of forty logs that fall between four posts, archived and solved again.

Printed (figures 16.4, 16.7, 16.11, 17.2): projected Gauss-Seidel stagnates; Newton-type methods need a diagonal that brings the condition
down to 1e3, block pivoting is the best of them then; Lemke and Keller solve with about n pivots, Cottle-Dantzig and Murty need many more;
the residual of splitting falls linearly. Limits below are far from what was measured (benchmarks/step_problems.py): 1.7 n, 1.9 n, 4.5 n,
never within 10 n.
"""

import numpy as np
import pytest
from contact_laws import H

import dalembert as dal
from dalembert.contact.problem import CONE
from dalembert.scenes.contact_piles import logs


@pytest.fixture(scope="module")
def pile(tmp_path_factory):
    """[(archived problem, the same with box friction)]"""
    path = tmp_path_factory.mktemp("pile") / "logs.h5"
    dal.simulate(logs(40), "spook", h=H, t_end=41 * H, archive_failures=path, archive_every=20)
    found = [p for p in dal.contact.load_problems(path) if len(p.problem.J) > 300]
    assert len(found) == 2
    return [(p, dal.contact.with_boxes(p.problem, p.lam[p.problem.first[:-1][p.problem.kind == CONE]])) for p in found]


def solved_by(method, boxes, add=0.0, most=10):
    """(solved, pivots / n) within `most` n pivots."""
    W, q = boxes.dense()
    found = dal.lcp(W + add * np.eye(len(q)), q, *boxes.bounds(), method=method, max_pivots=most * len(q), fallback=None)
    return found.solved, found.pivots / len(q)


def test_lemke_and_keller_pivot_little_cottle_dantzig_more_murty_too_often(pile):
    for _, boxes in pile:
        lemke, keller, other, murty = (solved_by(name, boxes) for name in ("lemke", "keller", "cottle-dantzig", "murty"))
        assert lemke[0] and keller[0] and other[0] and not murty[0]
        assert 0.5 < lemke[1] < 2.5 and 0.5 < keller[1] < 2.5
        assert other[1] > 1.5 * keller[1]


def test_block_pivoting_needs_a_diagonal_and_is_then_the_quickest(pile):
    for _, boxes in pile:
        low, high = np.linalg.eigvalsh(boxes.dense()[0])[[0, -1]]
        assert high / low > 1e4
        solved, iterations = solved_by("block-pivot", boxes, add=(high - 1e3 * low) / 999.0)
        assert solved and iterations < 0.1


def test_sweeps_stagnate_where_the_direct_solver_does_not(pile):
    """Residuals in m/s, measured 3e-2, 3e-4 after 100, 1,000 sweeps: the second thousand gains little."""
    for p, boxes in pile:
        at = [dal.contact.resolve(boxes, "gauss-seidel", cold=True, sweeps=n, tol=1e-12).residual for n in (100, 1000, 2000)]
        assert at[1] > 1e-5 and at[2] > 0.1 * at[1]
        assert dal.contact.resolve(boxes, "direct", cold=True).residual < 1e-9
        assert dal.contact.resolve(p).same


def test_the_residual_of_splitting_falls_by_rounds_to_the_tolerance(pile):
    """Cold, from no friction: measured 27 to 69 rounds to 1e-9 m/s."""
    for p, _ in pile:
        few, more = (dal.contact.resolve(p, "split", cold=True, rounds=n).residual for n in (5, 35))
        assert more < 0.1 * few
        whole = dal.contact.resolve(p, "split", cold=True)
        assert whole.solved and whole.residual <= 1e-9
