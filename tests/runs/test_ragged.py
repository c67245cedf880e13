"""Tables with some rows for each node."""

import copy
import itertools
import pickle

import numpy as np
import pytest

from dalembert.errors import OptionError
from dalembert.runs.ragged import Table, declared, join_tables, last_node, nodes_of

COLUMNS = ("x", "y", "z")


def nodes(n=20, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(0, 4), 3)) for _ in range(n)]


def test_rows_of_a_node_are_those_that_were_given():
    given = nodes()
    table = Table.from_nodes(COLUMNS, given)
    assert len(table) == 20
    assert table.rows.shape == (sum(map(len, given)), 3)
    for k, rows in enumerate(given):
        np.testing.assert_array_equal(table.of(k), rows)
        np.testing.assert_array_equal(table.of(k - 20), rows)
    for k in (20, -21):
        with pytest.raises(IndexError):
            table.of(k)


def test_columns_and_nodes_of_all_rows():
    given = nodes()
    table = Table.from_nodes(COLUMNS, given)
    np.testing.assert_array_equal(table["y"], np.concatenate(given)[:, 1])
    assert table.nodes.tolist() == [k for k, rows in enumerate(given) for _ in rows]
    assert table.starts.tolist() == [sum(map(len, given[:k])) for k in range(21)]
    with pytest.raises(OptionError, match=r"no column 'w'.*x, y, z"):
        table["w"]


@pytest.mark.parametrize("part", [slice(None), slice(3, 9), slice(-5, None), slice(4, 4), slice(9, 3), slice(15, 100), slice(0, 1)])
def test_slices_are_tables_of_those_nodes(part):
    given = nodes()
    assert Table.from_nodes(COLUMNS, given)[part] == Table.from_nodes(COLUMNS, given[part])


@pytest.mark.parametrize("cuts", [[0, 20], [0, 1, 2, 20], [0, 0, 7, 7, 20, 20]])
def test_parts_joined_are_the_whole(cuts):
    table = Table.from_nodes(COLUMNS, nodes())
    assert Table.join([table[a:b] for a, b in itertools.pairwise(cuts)]) == table


def test_equality_is_bit_for_bit():
    table = Table(COLUMNS, [1, 0, 1], [[0.0, np.nan, 1.0], [1.0, 2.0, 3.0]])
    assert table == Table(COLUMNS, [1, 0, 1], [[0.0, np.nan, 1.0], [1.0, 2.0, 3.0]])
    assert table != Table(COLUMNS, [1, 0, 1], [[-0.0, np.nan, 1.0], [1.0, 2.0, 3.0]])
    assert table != Table(COLUMNS, [1, 1, 0], table.rows)
    assert table != Table(("x", "y", "w"), [1, 0, 1], table.rows)
    assert table != 3


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy, Table.copy])
def test_copies_are_equal(copied):
    table = Table.from_nodes(COLUMNS, nodes())
    assert copied(table[3:9]) == table[3:9]


def test_a_pickled_part_does_not_carry_the_whole():
    table = Table.from_nodes(COLUMNS, nodes(10_000))
    assert len(pickle.dumps(table[:2])) < 1000


def test_rows_cannot_be_written_and_the_array_they_came_from_can():
    rows = np.zeros((2, 3))
    table = Table(COLUMNS, [2], rows)
    with pytest.raises(ValueError, match="read-only"):
        table.rows[0, 0] = 1.0
    rows[0, 0] = 1.0


def test_a_table_without_nodes_or_rows():
    for n in (0, 4):
        table = Table.empty(COLUMNS, n)
        assert len(table) == n
        assert table.rows.shape == (0, 3)
        assert table["x"].shape == table.nodes.shape == (0,)
        assert Table.join([table, table]) == Table.empty(COLUMNS, 2 * n)
        assert pickle.loads(pickle.dumps(table)) == table


def test_wrong_tables_are_refused():
    for columns, counts, rows in [
        (("x", "x"), [0], np.zeros((0, 2))),
        (("x", ""), [0], np.zeros((0, 2))),
        (("x",), [[0]], np.zeros((0, 1))),
        (("x",), [2, -1], np.zeros((1, 1))),
        (("x",), [1], np.zeros((2, 1))),
        (("x",), [1], np.zeros((1, 2))),
        (("x",), [1], np.zeros(1)),
    ]:
        with pytest.raises(OptionError, match="table"):
            Table(columns, counts, rows)
    table = Table.empty(COLUMNS, 3)
    for key in (0, slice(0, 3, 2), None):
        with pytest.raises(OptionError, match="slice"):
            table[key]
    with pytest.raises(OptionError, match="cannot follow"):
        Table.join([table, Table.empty(("x",), 1)])


def test_of_the_memory_the_last_node_is_kept():
    columns = {"contacts": COLUMNS, "memory": COLUMNS}
    contacts, memory = Table.from_nodes(COLUMNS, nodes(6, 1)), Table.from_nodes(COLUMNS, nodes(6, 2))
    parts = [declared({"contacts": contacts[a:b], "memory": memory[a:b]}, b - a, columns) for a, b in ((0, 1), (1, 4), (4, 6))]
    whole = join_tables(parts)
    assert whole == {"contacts": contacts, "memory": memory[5:]}
    assert nodes_of(whole, -2) == {"contacts": contacts[4:], "memory": memory[5:]}
    assert last_node(whole) == {"contacts": contacts[5:], "memory": memory[5:]}


def test_what_an_engine_leaves_out_has_no_rows_and_what_it_did_not_declare_is_refused():
    columns = {"contacts": COLUMNS, "memory": COLUMNS}
    assert declared({}, 3, columns) == {"contacts": Table.empty(COLUMNS, 3), "memory": Table.empty(COLUMNS, 1)}
    for tables in ({"others": Table.empty(COLUMNS, 3)}, {"contacts": Table.empty(COLUMNS, 2)}, {"contacts": Table.empty(("x",), 3)}):
        with pytest.raises(OptionError, match="engine"):
            declared(tables, 3, columns)


@pytest.mark.parametrize("k", [1000, -4, "a", 1.5, None])
def test_a_node_that_is_not_there_is_named(k):
    table = Table(("x",), [1, 0, 2], [[1.0], [2.0], [3.0]])
    with pytest.raises(OptionError, match=rf"of\({k!r}\): expected the number of a node, 0 to 2"):
        table.of(k)
    with pytest.raises(OptionError, match="there is none"):
        Table.empty(("x",)).of(0)
