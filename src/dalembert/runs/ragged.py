"""What has no fixed size, beside the fixed rows of a run: contacts with their impulses, impacts with exact times, warm starts.

    Table(columns, counts, rows)      counts (N,): rows of each node;   rows (sum of counts, columns): those of all nodes, node after node

Rows of node k tell of the node and of the recorded interval before it. Tables of a run have names: `contacts`, `events`, and what else its
engine has. "memory" is what the next step must remember beside the flat state: of it the newest node alone is kept, as a table of one node.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import AnyArray, Array
from dalembert.errors import NumberError, OptionError

#: the table of which the newest node alone is kept
MEMORY = "memory"
#: columns of tables that every trajectory has; an engine may declare others. Bodies a and b by number, -1 is the world; point p; normal n
#: from a to b; gap, m; impulse j on b over the last step, N s; in world axes. Of an event: exact time t, s; kind, a code of the engine
COLUMNS: dict[str, tuple[str, ...]] = {
    "contacts": ("a", "b", "px", "py", "pz", "nx", "ny", "nz", "gap", "jx", "jy", "jz"),
    "events": ("t", "kind", "a", "b", "value"),
}


class Table:
    """Rows of named columns, some for each node. `table[5:9]` is that of some nodes, `table["gap"]` a column, `table.of(k)` rows of a node.

    The arrays are not copied and cannot be written to: an engine that goes on using its own gives copies.
    """

    def __init__(self, columns: Sequence[str], counts: Any, rows: Any):
        self.columns = tuple(columns)
        self.counts = np.asarray(counts, dtype=np.int64).view()
        self.rows: Array = np.asarray(rows, dtype=np.float64).view()
        if any(not isinstance(name, str) or not name for name in self.columns) or len(set(self.columns)) < len(self.columns):
            raise OptionError(f"table: columns are {self.columns!r}; expected different names.")
        if self.counts.ndim != 1 or (self.counts < 0).any():
            raise OptionError(f"table: counts have the shape {self.counts.shape}; expected (nodes,), whole numbers >= 0.")
        expected = (int(self.counts.sum()), len(self.columns))
        if self.rows.shape != expected:
            raise OptionError(f"table: rows have the shape {self.rows.shape}; expected (sum of counts, columns) = {expected}.")
        self.counts.flags.writeable = self.rows.flags.writeable = False

    @classmethod
    def empty(cls, columns: Sequence[str], nodes: int = 0) -> Table:
        """So many nodes without rows."""
        return cls(columns, np.zeros(nodes, dtype=np.int64), np.zeros((0, len(columns))))

    @classmethod
    def from_nodes(cls, columns: Sequence[str], nodes: Iterable[Any]) -> Table:
        """From the rows of each node, (rows, columns); they are copied."""
        found = [np.asarray(rows, dtype=np.float64).reshape(-1, len(columns)) for rows in nodes]
        return cls(columns, [len(rows) for rows in found], np.concatenate([np.zeros((0, len(columns))), *found]))

    @classmethod
    def join(cls, tables: Sequence[Table]) -> Table:
        """One behind the other; at least one, all with the same columns."""
        if len(tables) == 1:
            return tables[0]
        columns = tables[0].columns
        other = next((table.columns for table in tables if table.columns != columns), None)
        if other is not None:
            raise OptionError(f"table: columns {other!r} cannot follow columns {columns!r}.")
        return cls(columns, np.concatenate([x.counts for x in tables]), np.concatenate([x.rows for x in tables]))

    @cached_property
    def starts(self) -> AnyArray:
        """(nodes + 1,) where the rows of each node begin, and the end."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    @property
    def nodes(self) -> AnyArray:
        """(rows,) node of each row: `traj.t[traj.contacts.nodes]` are the times of the contacts."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def nbytes(self) -> int:
        """Bytes of its numbers."""
        return self.counts.nbytes + self.rows.nbytes

    def of(self, k: int) -> Array:
        """Rows of node k, (count, columns); -1 is the last node."""
        try:
            node = range(len(self))[operator.index(k)]
        except (TypeError, IndexError):
            last = f"0 to {len(self) - 1}, or -1 for the last one" if len(self) else "there is none"
            raise NumberError(f"table: of({k!r}): expected the number of a node, {last}.") from None
        return self.rows[self.starts[node] : self.starts[node + 1]]

    def copy(self) -> Table:
        """The same in arrays of its own."""
        return Table(self.columns, self.counts.copy(), self.rows.copy())

    def __len__(self) -> int:
        """Nodes."""
        return len(self.counts)

    def __getitem__(self, key: slice | str) -> Any:
        """Some nodes, one behind the other, as a table; or a column, (rows,)."""
        if isinstance(key, str):
            if key not in self.columns:
                raise OptionError(f"table: there is no column {key!r}; its columns are {', '.join(self.columns) or 'none'}.")
            return self.rows[:, self.columns.index(key)]
        if not isinstance(key, slice) or key.step not in (None, 1):
            raise OptionError(
                f"table[{key!r}]: expected nodes as a slice without steps, or the name of a column; rows of node k are of(k)."
            )
        start, stop, _ = key.indices(len(self))
        stop = max(start, stop)
        return Table(self.columns, self.counts[start:stop], self.rows[self.starts[start] : self.starts[stop]])

    def __eq__(self, other: object) -> bool:
        """Bit for bit."""
        if not isinstance(other, Table):
            return NotImplemented
        same = self.columns == other.columns and np.array_equal(self.counts, other.counts)
        return same and self.rows.tobytes() == other.rows.tobytes()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.columns, np.array(self.counts), np.array(self.rows))

    def __repr__(self) -> str:
        return f"Table({', '.join(self.columns)}: {len(self.rows)} rows of {len(self)} nodes)"


Tables = Mapping[str, Table]
Columns = Mapping[str, Sequence[str]]
NO_TABLES: Tables = {}


def empty_tables(columns: Columns, nodes: int) -> dict[str, Table]:
    """Tables without rows, the memory among them as one node."""
    return {name: Table.empty(names, 1 if name == MEMORY else nodes) for name, names in columns.items()}


def declared(tables: Tables, nodes: int, columns: Columns) -> dict[str, Table]:
    """What is kept of a chunk of some nodes: all that was declared, of the memory the last node."""
    unknown = tables.keys() - columns.keys()
    if unknown:
        raise OptionError(f"engine: tables {sorted(unknown)} are not among those that it declares, {sorted(columns)}.")
    found = empty_tables(columns, nodes)
    for name, table in tables.items():
        if len(table) != nodes or table.columns != tuple(columns[name]):
            raise OptionError(f"engine: table {name!r} is {table!r}; expected columns {tuple(columns[name])} and {nodes} nodes.")
        found[name] = table[-1:].copy() if name == MEMORY else table
    return found


def join_tables(pieces: Sequence[Tables]) -> dict[str, Table]:
    """Tables of parts of a run, one behind the other; of the memory the last one."""
    if not pieces:
        return {}
    names = pieces[-1]
    return {name: names[name] if name == MEMORY else Table.join([piece[name] for piece in pieces]) for name in names}


def nodes_of(tables: Tables, start: int, stop: int | None = None) -> dict[str, Table]:
    """Tables of some nodes, up to the end: the memory, which belongs to the last one, stays as it is."""
    return {name: table if name == MEMORY else table[start:stop] for name, table in tables.items()}


def last_node(tables: Tables) -> dict[str, Table]:
    """Tables of the last node alone: the ragged part of the checkpoint."""
    return {name: table[-1:] for name, table in tables.items()}


def size(tables: Tables) -> int:
    """Bytes of their numbers."""
    return sum(table.nbytes for table in tables.values())
