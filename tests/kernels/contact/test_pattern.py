"""Order of elimination and blocks of the factor, against elimination done on sets and against SciPy's minimum degree."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from dalembert.kernels.contact.islands import islands
from dalembert.kernels.contact.pattern import NO_ROOM, analyse, find_slots, signature
from dalembert.kernels.contact.records import Pattern
from dalembert.kernels.status import OK


def whole(*shape):
    return np.zeros(shape, dtype=np.int64)


def analysed(n, bodies, room=20000):
    p = Pattern(whole(n), whole(n), whole(n + 1), whole(room), whole(n + 1), whole(room), whole(room), whole(3))
    status = analyse(bodies, p, whole(n + 1), whole(2 * len(bodies)), whole(n), whole(13, n + 1))
    return status, p


def random_graph(seed, n=40, m=70):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(n + 1, 2, replace=False) - 1 for _ in range(m)], dtype=np.int64)


def grid(side):
    k = np.arange(side * side).reshape(side, side)
    return np.concatenate([np.stack([k[:, :-1].ravel(), k[:, 1:].ravel()], 1), np.stack([k[:-1].ravel(), k[1:].ravel()], 1)])


def filled(p, bodies):
    """Columns of each row of U by elimination on sets, in the order of the pattern."""
    rows = [set() for _ in range(p.size[0])]
    for a, b in bodies:
        if a >= 0 and b >= 0:
            i, j = sorted((p.place[a], p.place[b]))
            rows[i].add(j)
    for row in rows:
        if row:
            rows[min(row)] |= row - {min(row)}
    return [sorted(row) for row in rows]


@pytest.mark.nojit
@pytest.mark.parametrize("bodies", [random_graph(k) for k in range(5)] + [grid(7)], ids=["a", "b", "c", "d", "e", "grid"])
def test_the_pattern_is_that_of_elimination(bodies):
    status, p = analysed(49, bodies)
    count, blocks, mark = p.size
    assert status == OK
    assert sorted(p.body[:count]) == sorted({b for b in bodies.ravel().tolist() if b >= 0})
    assert all(p.place[p.body[k]] == k for k in range(count))
    assert (p.place < 0).sum() == 49 - count  # bodies without constraints cost nothing
    rows = [p.column[p.start[k] : p.start[k + 1]].tolist() for k in range(count)]
    assert rows == filled(p, bodies)
    assert blocks == sum(map(len, rows))
    assert mark == signature(bodies)
    for j in range(count):
        above = [(p.above_row[t], p.above_block[t]) for t in range(p.above[j], p.above[j + 1])]
        assert above == [(k, p.start[k] + rows[k].index(j)) for k in range(j) if j in rows[k]]


@pytest.mark.nojit
@pytest.mark.parametrize("bodies", [random_graph(0), grid(7)], ids=["random", "grid"])
def test_what_a_row_needs_lies_right_before_it(bodies):
    """A postorder of the elimination tree: all rows below k in the tree are the places just before k, without a gap."""
    _, p = analysed(49, bodies)
    count = int(p.size[0])
    size = np.ones(count, dtype=int)
    for k in range(count):
        if p.start[k] < p.start[k + 1]:
            size[p.column[p.start[k]]] += size[k]
    for k in range(count):
        below = {k}
        for j in range(k - 1, -1, -1):
            if p.start[j] < p.start[j + 1] and p.column[p.start[j]] in below:
                below.add(j)
        assert below == set(range(k - size[k] + 1, k + 1))


@pytest.mark.nojit
def test_a_tree_has_no_fill():
    rng = np.random.default_rng(0)
    bodies = np.array([(rng.integers(0, k), k) for k in range(1, 60)])
    _, p = analysed(60, bodies)
    assert p.size[1] == 59


def test_fill_of_a_grid_is_that_of_other_minimum_degrees():
    """SciPy's (SuperLU, A^T + A) within 15 %, in blocks above the diagonal; the natural order takes twice as many."""
    side = 24
    bodies = grid(side)
    _, p = analysed(side * side, bodies)
    n = side * side
    A = sp.coo_matrix((-np.ones(len(bodies)), bodies.T), shape=(n, n))
    A = (A + A.T + 8 * sp.eye(n)).tocsc()
    other = splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    assert p.size[1] < 1.15 * (other.L.nnz - n)
    assert 2 * p.size[1] < splu(A, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}).L.nnz - n


@pytest.mark.nojit
def test_too_little_room_is_said():
    assert analysed(49, grid(7), room=60)[0] == NO_ROOM


@pytest.mark.nojit
def test_constraints_find_their_blocks_and_new_pairs_are_seen():
    bodies = grid(5)
    _, p = analysed(30, bodies)
    slot = whole(len(bodies) + 2)
    assert find_slots(bodies, p, slot) == p.size[2]
    again = np.concatenate([bodies[::-1], bodies[:1, ::-1], [[-1, 3]]])
    assert find_slots(again, p, slot) not in (-1, p.size[2])  # the same blocks, another order: it would be made anew
    for c, (a, b) in enumerate(again[:-1]):
        i, j = sorted((p.place[a], p.place[b]))
        assert p.start[i] <= slot[c] < p.start[i + 1]
        assert p.column[slot[c]] == j
    assert slot[len(again) - 1] == -1
    assert find_slots(np.array([[0, 29]]), p, slot) == -1  # a body without constraints
    first = int(p.body[0])
    far = next(k for k in range(25) if p.place[k] > 0 and p.place[k] not in p.column[p.start[0] : p.start[1]])
    assert find_slots(np.array([[first, far]]), p, slot) == -1


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(4))
def test_islands_are_connected_components(seed):
    bodies = random_graph(seed, m=25)
    label = whole(40)
    count = islands(bodies, label)
    inner = bodies[(bodies >= 0).all(axis=1)]
    expected, other = connected_components(sp.coo_matrix((np.ones(len(inner)), inner.T), shape=(40, 40)), directed=False)
    assert count == expected
    assert len(set(zip(label.tolist(), other.tolist(), strict=True))) == expected
    firsts = [label.tolist().index(k) for k in range(count)]
    assert firsts == sorted(firsts)


@pytest.mark.nojit
def test_a_pattern_is_that_of_the_pairs_alone_and_of_their_order():
    """A pair that goes while another one comes, whose block is there by fill: the order of a fresh analysis is another."""
    bodies = grid(5)
    mark = signature(bodies)
    assert signature(np.repeat(bodies, 3, axis=0)) == mark
    assert len({mark, signature(bodies[:-1]), signature(bodies[::-1]), signature(np.concatenate([bodies[1:], bodies[:1]]))}) == 4
    rng = np.random.default_rng(0)
    marks = {int(signature(rng.integers(-1, 50, (20, 2)))) for _ in range(20000)}
    assert len(marks) == 20000 and max(marks) < 2**50
