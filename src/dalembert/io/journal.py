"""An append-only file of checksummed records that survives the death of its writer at any moment.

File = one header record, then any number of row records. All integers are little endian; a record is

    magic 4s | version u16 | kind u16 | index u64 | length of text u64 | length of data u64 | crc32 of text + data u32 | crc32 of these u32

followed by the text (JSON) and the data. The text of the header record (kind 0, index 0) is the header. The text of a row record (kind 1,
index 1, 2, ...) lists [name, dtype, shape] of its arrays, whose bytes in C order are the data, one after another. Nothing is pickled.

A record goes to the kernel by a plain write to the file descriptor, without a buffer in the process, so SIGKILL loses at most the record
that was being written. Readers accept the longest prefix of whole records and say whether anything follows it. A crc32 detects every change
of one byte, so damaged rows, and the rows after them, are dropped and never invented. A power cut may lose what `sync` has not confirmed.
"""

from __future__ import annotations

import json
import math
import os
import struct
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from dalembert.errors import ArchiveError, OptionError
from dalembert.io.atomic import Json, StrPath, explained, raw_bytes, reserve, sync_directory, write_all
from dalembert.io.lock import is_locked, open_locked, unlock
from dalembert.io.sums import joined

__all__ = ["Journal", "JournalContent", "is_locked", "read_journal"]

MAGIC, VERSION = b"dAlJ", 1
HEADER, ROWS = 0, 1
FEW, MANY = 2**21, 2**24  # bytes of a journal from which on room is reserved, and how much at a time
_PREFIX = struct.Struct("<4sHHQQQI")
_CRC = struct.Struct("<I")
_DTYPES = frozenset(["|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16"])

Layout = dict[str, tuple[np.dtype, tuple[int, ...]]]


@dataclass(frozen=True, eq=False)
class JournalContent:
    """The valid prefix of a journal. `header` is None if there is none; `torn` tells that more (or a header) was meant to be there."""

    header: dict[str, Any] | None
    arrays: dict[str, np.ndarray]
    records: int
    torn: bool
    valid_bytes: int


class Journal:
    """A journal open for appending by one thread, locked against other writers. `Journal.create` and `Journal.reopen` make one."""

    def __init__(self, path: StrPath, fd: int, header: str, layout: Layout, records: int, size: int):
        self.path = os.fspath(path)
        self._header = header
        self.records = records
        self._layout = layout
        self._size = self._reserved = size
        self._fd = fd
        self._release = weakref.finalize(self, os.close, fd)

    @classmethod
    def create(cls, path: StrPath, header: Mapping[str, Any] | Json, overwrite: bool = False) -> Journal:
        """A new journal with a JSON-able header. An existing file with content is refused, unless `overwrite` discards its rows."""
        text = _header_text(header)
        first = _encode(HEADER, 0, text.encode(), [], [])
        fd = open_locked(path, os.O_RDWR | os.O_CREAT)
        try:
            _refuse_rows(path, fd, overwrite)
            journal = cls(path, fd, text, {}, 0, 0)
        except BaseException:
            os.close(fd)
            raise
        try:
            with explained(path, "write the journal"):
                os.ftruncate(fd, 0)
                journal._write(first)
                os.fsync(fd)
                sync_directory(path)
        except BaseException:
            journal.discard()
            raise
        return journal

    @classmethod
    def reopen(cls, path: StrPath) -> Journal:
        """Continue a journal after its last whole record; a torn tail is cut off."""
        fd = open_locked(path, os.O_RDWR)
        try:
            header, layout, records, size = _survey(path, fd)
            with explained(path, "continue the journal"):
                os.ftruncate(fd, size)
            return cls(path, fd, json.dumps(header), layout, records, size)
        except BaseException:
            os.close(fd)
            raise

    def append(self, arrays: Mapping[str, np.ndarray]) -> dict[str, int]:
        """Add rows: one record, wholly there or (after an error or a kill) wholly absent. Returns the crc32 of each array.

        Arrays are joined along axis 0 when read, so a name keeps its dtype and its shape beyond axis 0. A record need not hold every name,
        and its arrays may differ in their number of rows.
        """
        packed = {name: _packed(name, value) for name, value in arrays.items()}
        self._require_same_layout(packed)
        text = json.dumps([[name, a.dtype.str, a.shape] for name, a in packed.items()]).encode()
        with explained(self.path, "append to the journal"):
            sums = {name: zlib.crc32(raw_bytes(a)) for name, a in packed.items()}
            self._write(_encode(ROWS, self.records + 1, text, list(packed.values()), list(sums.values())))
        self._layout.update(_layout_of(packed))
        self.records += 1
        return sums

    def sync(self) -> None:
        """Wait until the disk holds all records: needed against power cuts, not against a killed process."""
        self._require_open()
        with explained(self.path, "synchronise the journal"):
            os.fsync(self._fd)

    def close(self) -> None:
        """Synchronise, unlock and close; a second call does nothing."""
        if self.closed:
            return
        try:
            self.sync()
        finally:
            self._unlock()

    def discard(self) -> None:
        """Delete the file while it is still locked (its rows are safe elsewhere), then close."""
        self._require_open()
        try:
            with explained(self.path, "delete the journal"):
                os.unlink(self.path)
                sync_directory(self.path)
        finally:
            self._unlock()

    def rows(self) -> Iterator[dict[str, np.ndarray]]:
        """The arrays of each record, read back one record at a time: what this very process wrote is not checked against its sums."""
        self._require_open()
        with explained(self.path, "read the journal"), open(self.path, "rb") as file:
            for index in range(1 + self.records):
                payload = _read_payload(self.path, file, index, trusted=True)
                if payload is None:
                    raise ArchiveError(f"journal {self.path!r} was damaged while it was written: rows are missing.")
                if index > 0:
                    yield _decode_rows(*payload)

    @property
    def header(self) -> dict[str, Any]:
        """The header, as JSON gives it back."""
        return json.loads(self._header)  # type: ignore[no-any-return]

    @property
    def closed(self) -> bool:
        return not self._release.alive

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _write(self, record: Sequence[bytes | memoryview]) -> None:
        """Write at the end of the valid records, piece by piece; whatever stops it, the file is cut back to them."""
        self._require_open()
        end = self._size
        if FEW <= end + sum(map(len, record)) > self._reserved:
            reserve(self._fd, end, MANY)
            self._reserved = end + MANY
        try:
            for piece in record:
                write_all(self._fd, piece, end)
                end += len(piece)
        except BaseException:
            os.ftruncate(self._fd, self._size)
            raise
        self._size = end

    def _unlock(self) -> None:
        unlock(self._fd)
        self._release()

    def _require_open(self) -> None:
        if self.closed:
            raise ArchiveError(f"journal {self.path!r} is closed; Journal.reopen continues it.")

    def _require_same_layout(self, arrays: Mapping[str, np.ndarray]) -> None:
        for name, new in _layout_of(arrays).items():
            old = self._layout.get(name, new)
            if old != new:
                given, expected = (f"{dtype} of shape {shape} per row" for dtype, shape in (new, old))
                raise OptionError(f"journal {self.path!r}, array {name!r}: earlier rows are {expected}, given {given}.")


def read_journal(path: StrPath) -> JournalContent:
    """The valid prefix of a journal, also while another process appends to it. Peak memory is twice the size of the file.

    Raises ArchiveError only if the file cannot be opened or has another format version; damage shows in `torn`.
    """
    header, records, valid_bytes = None, 0, 0
    pieces: dict[str, list[np.ndarray]] = {}
    with explained(path, "read the journal"), open(path, "rb") as file:
        for body, end in _scan(path, file, {}):
            valid_bytes = end
            if header is None:
                header = body
                continue
            records += 1
            for name, rows in body.items():
                pieces.setdefault(name, []).append(rows)
        torn = header is None or os.fstat(file.fileno()).st_size > valid_bytes
    arrays = {name: np.concatenate(rows) for name, rows in pieces.items()}
    return JournalContent(header, arrays, records, torn, valid_bytes)


def _refuse_rows(path: StrPath, fd: int, overwrite: bool) -> None:
    if os.fstat(fd).st_size > 0 and not overwrite:
        raise ArchiveError(f"journal {os.fspath(path)!r} exists already; Journal.reopen continues it, overwrite=True discards its rows.")


def _survey(path: StrPath, fd: int) -> tuple[dict[str, Any], Layout, int, int]:
    """Header, layout, number of row records and bytes of the valid prefix."""
    layout: Layout = {}
    header, records, size = None, -1, 0
    with explained(path, "read the journal"), open(fd, "rb", closefd=False) as file:
        for body, end in _scan(path, file, layout):
            header = body if header is None else header
            records, size = records + 1, end
    if header is None:
        raise ArchiveError(f"journal {os.fspath(path)!r} has no readable header to continue; Journal.create(overwrite=True) starts anew.")
    return header, layout, records, size


def _layout_of(arrays: Mapping[str, np.ndarray]) -> Layout:
    return {name: (a.dtype, a.shape[1:]) for name, a in arrays.items()}


def _packed(name: str, value: Any) -> np.ndarray:
    """The rows as a little-endian array in C order."""
    array = np.asarray(value)
    dtype = array.dtype.newbyteorder("<")
    if array.ndim == 0 or dtype.str not in _DTYPES:
        raise OptionError(f"journal array {name!r}: rows of numbers were expected, given {array.dtype} with shape {array.shape}.")
    return np.ascontiguousarray(array, dtype=dtype)


def _header_text(header: Mapping[str, Any] | Json) -> str:
    if isinstance(header, Json):
        return header
    try:
        return json.dumps(dict(header))
    except (TypeError, ValueError) as error:
        raise OptionError(f"journal header: a dictionary that JSON can hold was expected ({error}).") from error


def _encode(kind: int, index: int, text: bytes, arrays: Sequence[np.ndarray], sums: Sequence[int]) -> list[bytes | memoryview]:
    """The pieces of a record; arrays are not copied. sums: crc32 of each."""
    crc = zlib.crc32(text)
    for array, own in zip(arrays, sums, strict=True):
        crc = joined(crc, own, array.nbytes)
    prefix = _PREFIX.pack(MAGIC, VERSION, kind, index, len(text), sum(a.nbytes for a in arrays), crc)
    return [prefix + _CRC.pack(zlib.crc32(prefix)) + text, *map(raw_bytes, arrays)]


def _scan(path: StrPath, file: BinaryIO, layout: Layout) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield (header or arrays, offset of its end) of each whole record until the first that is not; fill in the layout of the rows."""
    index, end = 0, 0
    while (payload := _read_payload(path, file, index)) is not None:
        text, data = payload
        body = json.loads(text) if index == 0 else _decode_rows(text, data)
        if index > 0 and any(layout.setdefault(name, new) != new for name, new in _layout_of(body).items()):
            return
        index, end = index + 1, end + _PREFIX.size + _CRC.size + len(text) + len(data)
        yield body, end


def _read_payload(path: StrPath, file: BinaryIO, index: int, trusted: bool = False) -> tuple[bytes, memoryview] | None:
    """Text and data of the next record, or None if it is not there whole and sound."""
    head = file.read(_PREFIX.size + _CRC.size)
    if len(head) < _PREFIX.size + _CRC.size or _CRC.unpack(head[_PREFIX.size :])[0] != zlib.crc32(head[: _PREFIX.size]):
        return None
    magic, version, kind, number, text_length, data_length, crc = _PREFIX.unpack(head[: _PREFIX.size])
    if magic == MAGIC and version != VERSION:
        raise ArchiveError(f"journal {os.fspath(path)!r} has format version {version}; this dalembert reads version {VERSION}.")
    if (magic, kind, number) != (MAGIC, HEADER if index == 0 else ROWS, index):
        return None
    payload = file.read(text_length + data_length)
    if len(payload) < text_length + data_length or (not trusted and zlib.crc32(payload) != crc):
        return None
    return payload[:text_length], memoryview(payload)[text_length:]


def _decode_rows(text: bytes, data: memoryview) -> dict[str, np.ndarray]:
    """Views of the data as the arrays that the text lists."""
    arrays, offset = {}, 0
    for name, dtype, shape in json.loads(text):
        count = math.prod(shape)
        arrays[name] = np.frombuffer(data, dtype, count, offset).reshape(shape)
        offset += arrays[name].nbytes
    return arrays
