"""Advisory locks: one writer per file. The kernel drops the lock when the writer dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time

from dalembert.errors import ArchiveError
from dalembert.io.atomic import StrPath, explained

# A reader that asks `is_locked` holds the lock for microseconds; a writer tries again before it gives up.
_TRIES, _PAUSE = 5, 0.01


def is_locked(path: StrPath) -> bool:
    """True if a live writer holds the lock of this file; False also if there is no such file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ArchiveError(f"cannot read {os.fspath(path)!r}: {error.strerror}.") from error
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def open_locked(path: StrPath, flags: int) -> int:
    """A descriptor with the exclusive lock of the file that now bears this name (a discarded one may just have vanished)."""
    with explained(path, "open"):
        for _ in range(_TRIES):
            fd = os.open(path, flags | os.O_CLOEXEC, 0o666)
            if _try_lock(fd) and _still_named(path, fd):
                return fd
            os.close(fd)
            time.sleep(_PAUSE)
    raise ArchiveError(f"{os.fspath(path)!r}: another process is writing it; wait until it ends, or choose another name.")


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        os.close(fd)
        raise
    return True


def _still_named(path: StrPath, fd: int) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except FileNotFoundError:
        return False


def unlock(fd: int) -> None:
    """Explicitly, before closing: a forked child that inherited the descriptor must not keep the lock alive."""
    fcntl.flock(fd, fcntl.LOCK_UN)
