"""Archives of more rows than memory holds: written block by block, and read by parts.

    with streaming(path, first block of variables, {"time": 1_000_001}) as out:
        for block in blocks:
            out.append(block)
        out.finish(attributes)
        rows = out.reader()             rows.read("q", 0, 1000)

The file is an archive like any other (`archive.py`). HDF5 makes room for every variable when the file is made, and blocks are written
straight to their places. A reader keeps the file open: it reads what was written even when another file has taken its name since.
"""

from __future__ import annotations

import math
import os
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

import h5py
import numpy as np

from dalembert.errors import ArchiveError
from dalembert.io import archive
from dalembert.io.atomic import DeferredFile, StrPath, explained, raw_bytes, replacing, reserve
from dalembert.io.sums import joined

BLOCK = 2**22  # bytes that are checked at a time


class Place(NamedTuple):
    """Where the numbers of a variable are in a file."""

    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]


class ArchiveReader:
    """Numeric variables of an archive that is kept open."""

    def __init__(self, path: StrPath, fd: int, places: Mapping[str, Place]):
        self.path, self.places, self._fd = os.fspath(path), dict(places), fd
        weakref.finalize(self, os.close, fd)

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def rows(self, name: str) -> int:
        """Length of the first dimension."""
        return self.places[name].shape[0]

    def read(self, name: str, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Rows start, ..., stop - 1 of a variable, a new array."""
        offset, dtype, shape = self.places[name]
        start, stop, _ = slice(start, stop).indices(shape[0])
        out = np.empty((max(stop - start, 0), *shape[1:]), dtype)
        view, at = raw_bytes(out), offset + start * (out.nbytes // max(len(out), 1))
        with explained(self.path, "read"):
            while view:
                count = os.preadv(self._fd, [view], at)
                if count == 0:
                    raise ArchiveError(f"{self.path!r} was cut short since it was written: rows of {name!r} are gone.")
                view, at = view[count:], at + count
        return out

    def checksum(self, name: str) -> int:
        """crc32 of all numbers of a variable."""
        crc, place = 0, self.places[name]
        size = max(1, BLOCK // max(1, place.dtype.itemsize * math.prod(place.shape[1:])))
        for start in range(0, place.shape[0] if place.shape else 0, size):
            crc = zlib.crc32(raw_bytes(self.read(name, start, start + size)), crc)
        return crc


class ArchiveStream:
    """An archive under way. lengths: of the dimensions whose rows come in blocks."""

    def __init__(self, path: StrPath, file: DeferredFile, h5: h5py.File, template: Sequence[archive.Variable], lengths: Mapping[str, int]):
        self.path, self.file, self.h5 = path, file, h5
        self._stored = [archive._stored(v, lengths.get(v.dims[0]) if v.dims else None) for v in template]
        sizes = archive._dimension_sizes(self._stored)
        archive._check_names(self._stored, sizes)
        archive._write_variables(h5, self._stored, sizes)
        self._growing = {x.source.name: x for x in self._stored if x.length is not None}
        self._places = {x.source.name: _place(h5, x) for x in self._stored if x.kind not in ("str", "bool")}
        self._done = dict.fromkeys(self._growing, 0)
        reserve(file.fd, 0, max((p.offset + p.dtype.itemsize * math.prod(p.shape) for p in self._places.values()), default=0))

    def append(self, variables: Sequence[archive.Variable], sums: Mapping[str, int] = MappingProxyType({})) -> None:
        """The next rows of all variables that come in blocks; others are left as they are. sums: crc32 of rows, where known."""
        for variable in variables:
            item = self._growing.get(variable.name)
            if item is None:
                continue
            rows = np.ascontiguousarray(variable.data, dtype=item.array.dtype)
            done, place = self._done[variable.name], self._places[variable.name]
            if rows.shape[1:] != place.shape[1:] or done + len(rows) > place.shape[0]:
                raise ArchiveError(f"archive variable {variable.name!r}: {len(rows)} more rows of shape {rows.shape[1:]} do not fit.")
            if rows.nbytes:
                data = raw_bytes(rows)
                self.file.seek(place.offset + done * (rows.nbytes // len(rows)))
                self.file.write(data)
                known = sums.get(variable.name)
                item.crc32 = zlib.crc32(data, item.crc32) if known is None else joined(item.crc32, known, rows.nbytes)
            self._done[variable.name] = done + len(rows)

    def finish(self, attributes: Mapping[str, Any]) -> None:
        """Attributes, and the list of contents with its checksums."""
        missing = [name for name, item in self._growing.items() if self._done[name] != item.length]
        if missing:
            raise ArchiveError(f"archive {os.fspath(self.path)!r}: rows of {', '.join(missing)} are missing.")
        archive._write_attributes(self.h5, self._stored, *archive._encode_attributes(attributes))

    def reader(self) -> ArchiveReader:
        """What was written, to be read whatever becomes of the name of the file."""
        return ArchiveReader(self.path, os.dup(self.file.fd), self._places)


def open_archive(path: StrPath) -> tuple[ArchiveReader, dict[str, Any]]:
    """The numbers of an archive, to be read by parts, and its attributes; all are checked against their checksums first, block by block."""
    name = os.fspath(path)
    archive._check_signature(path)
    with explained(path, "read"):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    reader = ArchiveReader(path, fd, {})
    with archive.damage_explained(name), open(fd, "rb", closefd=False) as file, h5py.File(file, "r") as h5:
        manifest = archive._open_seal(h5, name)
        attributes = archive._read_attributes(h5, manifest, name)
        for key, entry in manifest["variables"].items():
            data = h5[key]
            if entry["kind"] in ("str", "bool") or (data.id.get_offset() is None and data.size):
                archive._read_variable(h5, key, entry, name)
                continue
            reader.places[key] = Place(data.id.get_offset() or 0, data.dtype, data.shape)
            if list(data.shape) != entry["shape"] or reader.checksum(key) != entry["crc32"]:
                raise ArchiveError(f"{name!r} is damaged: the data of {key!r} do not match their checksum.")
    return reader, attributes


def _place(h5: h5py.File, item: archive._Stored) -> Place:
    return Place(h5[item.source.name].id.get_offset() or 0, item.array.dtype, item.shape)


@contextmanager
def streaming(
    path: StrPath, template: Sequence[archive.Variable], lengths: Mapping[str, int], overwrite: bool = False
) -> Iterator[ArchiveStream]:
    """An archive that appears whole when the block ends well, or not at all. template: variables with their first rows."""
    with replacing(path, overwrite) as file, h5py.File(file, "w", libver=("v108", "v110"), track_order=True) as h5:
        yield ArchiveStream(path, file, h5, template, lengths)
