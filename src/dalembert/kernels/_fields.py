"""Layouts as data: what stands where in a flat array, with name, size and meaning.

    Part(name, size, meaning)       a stretch of an array; size: a number, or a product of numbers and names such as "nv", "2 m nv"
    Real(name, meaning)             a number
    Count(name, meaning)            a whole number, not negative

    RECORD = Record(parts)          fixed sizes: RECORD.starts are the offsets of its parts, RECORD.size where they end
        RECORD.filled(name=value)           one of them, by name
    LAYOUT = Layout(name, entries)  sizes that are known when a machine is compiled:
        LAYOUT.lay(start, numbers, sizes)   one number per entry for the system array: where each part starts, or the number itself
        read = LAYOUT.reader(base, skip)    s = read(system), in kernels: all of them, by name: work[s.v + i], s.tol

Parts lie one behind the other in the order in which they are listed, so they cannot overlap.
"""

from collections import namedtuple
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels._jit import named_numbers


class Part(NamedTuple):
    """A stretch of an array."""

    name: str
    size: int | str
    meaning: str


class Real(NamedTuple):
    """A number."""

    name: str
    meaning: str


class Count(NamedTuple):
    """A whole number that is not negative."""

    name: str
    meaning: str


def numbers_in(size: int | str, sizes: Mapping[str, int]) -> int:
    """The product that a size stands for."""
    out = 1
    for factor in str(size).split():
        out *= int(factor) if factor.isdigit() else sizes[factor]
    return out


class Record:
    """Parts of fixed sizes. start: where the first one is, behind what other records have in common with this one."""

    def __init__(self, *parts: Part, start: int = 0):
        self.parts = parts
        ends = (start + np.cumsum([int(part.size) for part in parts])).tolist()
        self.starts: tuple[int, ...] = (start, *ends[:-1])
        self.size: int = ends[-1]
        self.places = {part.name: (start, int(part.size)) for part, start in zip(parts, self.starts, strict=True)}

    def filled(self, **values: Any) -> list[float]:
        """A record with these values, by name; 0 where none is given."""
        out = [0.0] * self.size
        for name, value in values.items():
            start, size = self.places[name]
            given = [float(value)] if size == 1 else [float(x) for x in value]
            if len(given) != size:
                raise ValueError(f"{name} has {len(given)} numbers; expected {size}")
            out[start : start + size] = given
        return out


class Layout:
    """Numbers, and parts whose sizes depend on the machine."""

    def __init__(self, name: str, *entries: Part | Real | Count):
        self.name, self.entries = name, entries
        self.names = tuple(entry.name for entry in entries)
        if len(set(self.names)) != len(entries):
            raise ValueError(f"{name}: a name is given twice")
        self.size = len(entries)
        self._kind: Any = namedtuple(name, self.names)  # type: ignore[misc]

    def lay(self, start: int, numbers: Mapping[str, float], sizes: Mapping[str, int]) -> tuple[Array, int]:
        """One number per entry, and where the parts end."""
        out = []
        for entry in self.entries:
            if isinstance(entry, Part):
                out.append(float(start))
                start += numbers_in(entry.size, sizes)
            else:
                out.append(float(numbers[entry.name]))
        return np.array(out), start

    def named(self, numbers: Array) -> Any:
        """The same numbers by name, for Python."""
        return self._kind(*(float(x) if isinstance(entry, Real) else int(x) for entry, x in zip(self.entries, numbers, strict=True)))

    def reader(self, base: int, skip: int = 0) -> Any:
        """read(system): the numbers that stand in system from system[base] + skip on, as a named tuple."""
        whole = tuple(not isinstance(entry, Real) for entry in self.entries)
        return named_numbers(self.name, self.names, whole, base, skip)
