"""A journal keeps every whole record, whatever happens to its writer or to the bytes behind it, and never invents a row."""

import fcntl
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import time
import zlib
from contextlib import contextmanager

import numpy as np
import pytest

from dalembert.errors import ArchiveError, OptionError
from dalembert.io import lock
from dalembert.io.journal import Journal, is_locked, read_journal

HEADER = {"columns": ["x", "y"], "h": 0.01, "note": "é"}


def rows(k):
    """Record k of the small journal: k + 1 rows that tell their record, and a counter."""
    return {"q": np.full((k + 1, 2), k + 0.25), "count": np.arange(k + 1, dtype=np.int32)}


def joined(records):
    return {name: np.concatenate([r[name] for r in records]) for name in records[0]} if records else {}


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def assert_same(arrays, expected):
    assert list(arrays) == list(expected)
    for name, value in expected.items():
        assert same_bits(arrays[name], value), name


@pytest.fixture
def small(tmp_path):
    """Path of a closed journal with three records, and the offsets at which header and records end."""
    path = tmp_path / "run.journal"
    ends = []
    with Journal.create(path, HEADER) as journal:
        ends.append(path.stat().st_size)
        for k in range(3):
            journal.append(rows(k))
            ends.append(path.stat().st_size)
    return path, ends


def test_round_trip_is_bit_for_bit(tmp_path):
    path = tmp_path / "run.journal"
    odd_nan = np.array([struct.unpack("<d", struct.pack("<Q", 0x7FF8DEADBEEF0001))[0], -0.0, np.inf, 5e-324])
    first = {
        "f8": odd_nan,
        "f4": np.float32([[0.1]]),
        "u1": np.uint8([255, 0]),
        "i8": np.array([-(2**63)]),
        "b": np.array([True, False]),
        "c": np.array([1 + 2j]),
    }
    with Journal.create(path, HEADER) as journal:
        journal.append(first)
        journal.append(first)
    content = read_journal(path)
    assert content.header == HEADER
    assert (content.records, content.torn, content.valid_bytes) == (2, False, path.stat().st_size)
    assert_same(content.arrays, joined([first, first]))
    content.arrays["f8"][0] = 1.0  # the arrays belong to the reader


def test_byte_order_and_memory_order_do_not_matter(tmp_path):
    path = tmp_path / "run.journal"
    plain = np.arange(12.0).reshape(3, 4)
    with Journal.create(path, {}) as journal:
        for value in (plain.astype(">f8"), np.asfortranarray(plain), np.repeat(plain, 2, axis=1)[:, ::2]):
            journal.append({"x": value})
    assert_same(read_journal(path).arrays, {"x": np.concatenate([plain] * 3)})


def test_names_may_be_absent_and_rows_may_be_none(tmp_path):
    path = tmp_path / "run.journal"
    with Journal.create(path, {}) as journal:
        journal.append({"q": np.zeros((0, 3)), "event": np.zeros((0, 0))})
        journal.append({})
        journal.append({"q": np.ones((2, 3))})
    content = read_journal(path)
    assert content.records == 3
    assert_same(content.arrays, {"q": np.ones((2, 3)), "event": np.zeros((0, 0))})


def test_truncation_at_every_byte_gives_the_whole_records(small, tmp_path):
    path, ends = small
    raw = path.read_bytes()
    cut = tmp_path / "cut"
    for size in range(len(raw)):
        cut.write_bytes(raw[:size])
        content = read_journal(cut)
        whole = sum(end <= size for end in ends)
        assert content.header == (HEADER if whole else None)
        assert content.records == max(0, whole - 1)
        assert content.valid_bytes == (ends[whole - 1] if whole else 0)
        assert content.torn == (size not in ends)
        assert_same(content.arrays, joined([rows(k) for k in range(whole - 1)]))


def test_flip_of_any_byte_drops_the_rows_from_there_on(small, tmp_path):
    path, ends = small
    raw = path.read_bytes()
    bad = tmp_path / "bad"
    for place in range(len(raw)):
        for mask in (0x01, 0x80, 0xFF):
            bad.write_bytes(raw[:place] + bytes([raw[place] ^ mask]) + raw[place + 1 :])
            content = read_journal(bad)
            whole = sum(end <= place for end in ends)
            assert content.torn
            assert content.header == (HEADER if whole else None)
            assert_same(content.arrays, joined([rows(k) for k in range(whole - 1)]))


@pytest.mark.parametrize("tail", [b"\0" * 5, b"\0" * 500, b"dAlJ", os.urandom(300)], ids=["few zeros", "zeros", "magic", "noise"])
def test_foreign_tail_is_ignored_and_cut_off_by_reopen(small, tail):
    path, ends = small
    with open(path, "ab") as file:
        file.write(tail)
    content = read_journal(path)
    assert (content.torn, content.valid_bytes, content.records) == (True, ends[-1], 3)
    Journal.reopen(path).close()
    assert path.stat().st_size == ends[-1]


def test_record_pasted_again_is_not_taken_twice(small):
    path, ends = small
    raw = path.read_bytes()
    path.write_bytes(raw + raw[ends[2] :])
    assert_same(read_journal(path).arrays, joined([rows(k) for k in range(3)]))


def test_file_that_is_no_journal_has_no_header(tmp_path):
    for name, content in {"empty": b"", "text": b"hello, this is not a journal" * 10}.items():
        (tmp_path / name).write_bytes(content)
        got = read_journal(tmp_path / name)
        assert (got.header, got.arrays, got.records, got.torn, got.valid_bytes) == (None, {}, 0, True, 0)
        with pytest.raises(ArchiveError, match="no readable header"):
            Journal.reopen(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content


def test_missing_file_and_missing_directory_are_named(tmp_path):
    with pytest.raises(ArchiveError, match=r"nowhere\.journal.*does not exist"):
        read_journal(tmp_path / "nowhere.journal")
    with pytest.raises(ArchiveError, match=r"directory .*missing.* does not exist"):
        Journal.create(tmp_path / "missing" / "a.journal", {})
    assert not is_locked(tmp_path / "nowhere.journal")


def test_other_format_version_is_refused_and_not_cut(small):
    path, _ = small
    raw = bytearray(path.read_bytes())
    raw[4:6] = struct.pack("<H", 2)
    raw[36:40] = struct.pack("<I", zlib.crc32(raw[:36]) & 0xFFFFFFFF)
    path.write_bytes(raw)
    for opening in (read_journal, Journal.reopen):
        with pytest.raises(ArchiveError, match=r"version 2.*reads version 1"):
            opening(path)
    assert path.read_bytes() == raw


@pytest.mark.parametrize("loss", [0, 1, 40, 60])
def test_reopen_continues_after_the_last_whole_record(small, loss):
    path, ends = small
    os.truncate(path, ends[-1] - loss)
    whole = 3 if loss == 0 else 2
    with Journal.reopen(path) as journal:
        assert (journal.header, journal.records) == (HEADER, whole)
        journal.append(rows(7))
    content = read_journal(path)
    assert not content.torn
    assert_same(content.arrays, joined([*(rows(k) for k in range(whole)), rows(7)]))


def test_reader_sees_rows_while_the_writer_is_open(tmp_path):
    path = tmp_path / "run.journal"
    with Journal.create(path, HEADER) as journal:
        for k in range(3):
            journal.append(rows(k))
            assert_same(read_journal(path).arrays, joined([rows(i) for i in range(k + 1)]))


def test_layout_of_a_name_is_fixed_also_after_reopen(small):
    path, _ = small
    with Journal.reopen(path) as journal:
        for wrong in (np.zeros((1, 3)), np.zeros((1, 2), np.float32), np.zeros(2)):
            with pytest.raises(OptionError, match=r"'q'.*earlier rows are float64 of shape \(2,\)"):
                journal.append({"q": wrong})
    assert_same(read_journal(path).arrays, joined([rows(k) for k in range(3)]))


@pytest.mark.parametrize("value", [1.0, ["text"], np.array([object()]), np.longdouble([1])], ids=["scalar", "text", "object", "longdouble"])
def test_only_rows_of_numbers_are_accepted(tmp_path, value):
    with Journal.create(tmp_path / "run.journal", {}) as journal, pytest.raises(OptionError, match=r"'x'.*rows of numbers"):
        journal.append({"x": value})


def test_header_must_be_json(tmp_path):
    with pytest.raises(OptionError, match="header"):
        Journal.create(tmp_path / "run.journal", {"x": np.zeros(2)})
    assert not list(tmp_path.iterdir())


def test_create_does_not_discard_rows_unasked(small):
    path, ends = small
    with pytest.raises(ArchiveError, match=r"run\.journal.*exists already.*overwrite=True"):
        Journal.create(path, {})
    assert path.stat().st_size == ends[-1]
    Journal.create(path, {"new": 1}, overwrite=True).close()
    assert read_journal(path).header == {"new": 1}


def test_closed_journal_refuses_rows(small):
    path, _ = small
    journal = Journal.reopen(path)
    journal.close()
    journal.close()
    for late in (lambda: journal.append(rows(0)), journal.sync, journal.discard):
        with pytest.raises(ArchiveError, match="is closed"):
            late()


def test_discard_deletes_and_unlocks(small):
    path, _ = small
    journal = Journal.reopen(path)
    journal.discard()
    assert journal.closed and not path.exists()
    Journal.create(path, {}).close()


@contextmanager
def largest_file(size):
    """A stand-in for a full disk: the kernel refuses to let any file grow beyond this size."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def test_full_disk_loses_only_the_refused_record(small):
    path, ends = small
    with Journal.reopen(path) as journal:
        with largest_file(ends[-1] + 100), pytest.raises(ArchiveError, match=r"append to the journal.*run\.journal.*large"):
            journal.append({"q": np.zeros((1000, 2))})
        assert path.stat().st_size == ends[-1]
        journal.append(rows(3))
    content = read_journal(path)
    assert not content.torn
    assert_same(content.arrays, joined([rows(k) for k in range(4)]))


def test_create_on_a_full_disk_leaves_nothing(tmp_path):
    with largest_file(10), pytest.raises(ArchiveError, match="write the journal"):
        Journal.create(tmp_path / "run.journal", HEADER)
    assert not list(tmp_path.iterdir())


def test_interrupt_in_the_middle_of_a_write_is_undone(small, monkeypatch):
    path, ends = small
    whole_write = os.pwrite

    def interrupted(fd, data, offset):
        whole_write(fd, bytes(data)[: len(data) // 2], offset)
        raise KeyboardInterrupt

    with Journal.reopen(path) as journal:
        monkeypatch.setattr(os, "pwrite", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.append(rows(3))
        monkeypatch.undo()
        assert path.stat().st_size == ends[-1]


def test_write_taken_in_small_portions_is_whole(small, monkeypatch):
    path, _ = small
    whole_write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, offset: whole_write(fd, data[:7], offset))
    with Journal.reopen(path) as journal:
        journal.append(rows(3))
    assert_same(read_journal(path).arrays, joined([rows(k) for k in range(4)]))


WRITER = """
import os, sys
import numpy as np
from dalembert.io.journal import Journal
journal = Journal.create(sys.argv[1], {"child": True})
for k in range(int(sys.argv[2])):
    journal.append({"x": np.full((1 + k % 3, 20_000), float(k))})
    os.write(1, b"%d\\n" % (k + 1))
sys.stdin.read()
"""


@contextmanager
def child_writer(path, records):
    """A process that appends records, tells the number after each, and then holds the journal until it is killed."""
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(records)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"1\n"
        yield child
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("seed", range(10))
def test_sigkill_keeps_all_acknowledged_records(tmp_path, seed):
    path = tmp_path / "run.journal"
    with child_writer(path, 2000) as child:
        time.sleep(random.Random(seed).uniform(0.0, 0.05))
        child.send_signal(signal.SIGKILL)
        acknowledged = 1 + child.stdout.read().count(b"\n")
        child.wait()
    content = read_journal(path)
    assert content.header == {"child": True}
    assert acknowledged <= content.records <= acknowledged + 1  # a record may be whole and not yet acknowledged
    expected = np.concatenate([np.full(1 + k % 3, float(k)) for k in range(content.records)])
    assert np.array_equal(content.arrays["x"], np.repeat(expected[:, None], 20_000, axis=1))
    assert not is_locked(path)
    with Journal.reopen(path) as journal:
        journal.append({"x": np.full((1, 20_000), -1.0)})
    assert np.array_equal(read_journal(path).arrays["x"][:, 0], [*expected, -1.0])


def test_second_writer_is_told_who_is_in_the_way(tmp_path):
    path = tmp_path / "run.journal"
    with child_writer(path, 1) as child:
        assert is_locked(path)
        before = path.read_bytes()
        for opening in (Journal.reopen, lambda p: Journal.create(p, {}, overwrite=True)):
            with pytest.raises(ArchiveError, match=r"run\.journal.*another process is writing it"):
                opening(path)
        assert path.read_bytes() == before
        assert child.poll() is None
    assert not is_locked(path)
    Journal.reopen(path).close()


def test_lock_ends_with_close_and_with_the_object(small):
    path, _ = small
    journal = Journal.reopen(path)
    assert is_locked(path)
    with pytest.raises(ArchiveError, match="another process"):
        Journal.reopen(path)
    journal.close()
    assert not is_locked(path)
    journal = Journal.reopen(path)
    del journal
    assert not is_locked(path)


def test_reader_that_asks_for_the_lock_does_not_stop_a_writer(small, monkeypatch):
    path, _ = small
    with open(path, "rb") as asker:
        fcntl.flock(asker, fcntl.LOCK_SH)  # what is_locked does for a moment, here until the writer pauses
        monkeypatch.setattr(lock.time, "sleep", lambda _: fcntl.flock(asker, fcntl.LOCK_UN))
        Journal.reopen(path).close()


def test_lock_of_a_deleted_file_does_not_count(small, monkeypatch):
    """Between opening and locking, the file is discarded and made anew by someone else: the writer must end up with the new one."""
    path, _ = small
    plain_lock = lock._try_lock

    def slow_lock(fd):
        monkeypatch.setattr(lock, "_try_lock", plain_lock)
        Journal.reopen(path).discard()
        Journal.create(path, {"new": True}).close()
        return plain_lock(fd)

    monkeypatch.setattr(lock, "_try_lock", slow_lock)
    with Journal.reopen(path) as journal:
        assert journal.header == {"new": True}
        journal.append(rows(0))
    assert_same(read_journal(path).arrays, rows(0))
