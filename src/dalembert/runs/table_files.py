"""Ragged tables in files and journals.

A file has of each table, here `contacts`, what the CF conventions call a contiguous ragged array:
    contacts (contacts_row, contacts_column)     rows of all nodes, node after node
    contacts_count (time)                        rows of each node
    contacts_column                              names of the columns
and of the memory the rows of the last node, `memory (memory_row, memory_column)`. The attribute `meta` of the file, and the header of a
journal, list names and columns: {"tables": {"contacts": ["a", ...], ...}}.

A record of a journal has rows and counts of its nodes, and the memory of the last of them, with one count per record: whatever record a
kill leaves as the last one, the run goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dalembert.arrays import AnyArray
from dalembert.io import ArchiveReader, Variable
from dalembert.runs.ragged import MEMORY, Columns, Table, Tables


def table_variables(tables: Tables) -> list[Variable]:
    """Tables as variables of a file."""
    found = []
    for name, table in tables.items():
        row, column = f"{name}_row", f"{name}_column"
        what = "what the run remembers beside its last state" if name == MEMORY else f"{name} of all nodes, node after node"
        found.append(Variable(column, list(table.columns), (column,), "", f"columns of {name}"))
        if name != MEMORY:
            found.append(Variable(f"{name}_count", table.counts, ("time",), "1", f"rows of {name} that belong to the node"))
        found.append(Variable(name, table.rows, (row, column), "", what))
    return found


def from_archive(data: Mapping[str, Any], columns: Columns) -> dict[str, Table]:
    """Tables of a file that was read as a whole."""
    return {name: Table(names, _counts(data, name), data[name]) for name, names in columns.items()}


def _counts(data: Mapping[str, Any], name: str) -> Any:
    return [len(data[name])] if name == MEMORY else data[f"{name}_count"]


def journal_arrays(tables: Tables) -> dict[str, AnyArray]:
    """Tables of some nodes as arrays of a record."""
    found: dict[str, AnyArray] = {}
    for name, table in tables.items():
        found[f"{name}_count"], found[name] = table.counts, table.rows
    return found


def from_journal(arrays: Mapping[str, Any], columns: Columns) -> dict[str, Table]:
    """Tables of a record, or of records that were joined: of the memory the last."""
    found = {name: Table(names, arrays[f"{name}_count"], arrays[name]) for name, names in columns.items()}
    return {name: table[-1:].copy() if name == MEMORY else table for name, table in found.items()}


def read_table(reader: ArchiveReader, name: str, names: Any) -> Table:
    """One table of a file that is kept open."""
    rows = reader.read(name)
    return Table(names, [len(rows)] if name == MEMORY else reader.read(f"{name}_count"), rows)


def read_last(reader: ArchiveReader, columns: Columns) -> dict[str, Table]:
    """Tables of the last node."""
    found = {}
    for name, names in columns.items():
        total = reader.rows(name)
        count = total if name == MEMORY else int(reader.read(f"{name}_count", reader.rows(f"{name}_count") - 1)[0])
        found[name] = Table(names, [count], reader.read(name, total - count))
    return found


def read_parts(reader: ArchiveReader, columns: Columns, stretches: Iterable[tuple[int, int]]) -> Iterator[dict[str, Table]]:
    """Tables of stretches of nodes, (start, stop), that follow each other from the first node on; the memory with each of them."""
    at = dict.fromkeys(columns, 0)
    for start, stop in stretches:
        found = {}
        for name, names in columns.items():
            if name == MEMORY:
                found[name] = read_table(reader, name, names)
                continue
            counts = reader.read(f"{name}_count", start, stop)
            end = at[name] + int(counts.sum())
            found[name] = Table(names, counts, reader.read(name, at[name], end))
            at[name] = end
        yield found
