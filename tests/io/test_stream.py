"""Archives that are written block by block and read by parts."""

import os
import zlib

import numpy as np
import pytest

import dalembert as dal
from dalembert.io import Variable, open_archive, read_archive, streaming, write_archive

N = 1000
RNG = np.random.default_rng(0)
T, Q, NONE, COUNTS = np.arange(N) * 0.1, RNG.normal(size=(N, 3)), np.zeros((N, 0)), RNG.integers(0, 9, N)
ATTRIBUTES = {"title": "rows", "meta": {"h": 0.1}}


def rows(start, stop):
    return [
        Variable("time", T[start:stop], ("time",), "s", "time"),
        Variable("q", Q[start:stop], ("time", "q_name"), "m"),
        Variable("none", NONE[start:stop], ("time", "nothing")),
        Variable("counts", COUNTS[start:stop], ("time",)),
    ]


def template(stop=1):
    return [Variable("q_name", ["x", "y", "z"], ("q_name",)), *rows(0, stop)]


def write(path, size=7, overwrite=False):
    with streaming(path, template(), {"time": N}, overwrite=overwrite) as out:
        for start in range(0, N, size):
            out.append(rows(start, start + size))
        out.finish(ATTRIBUTES)
        return out.reader()


@pytest.mark.parametrize("size", [1, 7, N])
def test_blocks_give_the_archive_that_is_written_at_once(tmp_path, size):
    write(tmp_path / "a.h5", size)
    write_archive(tmp_path / "b.h5", template(N), ATTRIBUTES)
    (a, about_a), (b, about_b) = read_archive(tmp_path / "a.h5"), read_archive(tmp_path / "b.h5")
    assert about_a == about_b
    assert list(a) == list(b)
    for name in a:
        np.testing.assert_array_equal(a[name], b[name])


def test_sums_that_are_known_take_the_place_of_those_of_the_rows(tmp_path):
    """A wrong one is found when the file is opened: rows that were damaged on their way do not pass."""
    for name, wrong in (("right", 0), ("wrong", 1)):
        with streaming(tmp_path / f"{name}.h5", template(), {"time": N}) as out:
            for start in range(0, N, 7):
                sums = {"q": zlib.crc32(np.ascontiguousarray(Q[start : start + 7]).tobytes()) ^ wrong}
                out.append(rows(start, start + 7), sums)
            out.finish(ATTRIBUTES)
    np.testing.assert_array_equal(read_archive(tmp_path / "right.h5")[0]["q"], Q)
    with pytest.raises(dal.ArchiveError, match="'q' do not match"):
        open_archive(tmp_path / "wrong.h5")


def test_netcdf4_and_xarray_open_it(tmp_path):
    import netCDF4
    import xarray

    write(tmp_path / "a.h5")
    with netCDF4.Dataset(tmp_path / "a.h5") as f:
        np.testing.assert_array_equal(f["q"][:], Q)
    with xarray.open_dataset(tmp_path / "a.h5", engine="netcdf4") as d:
        assert d["q"].dims == ("time", "q_name")
        np.testing.assert_array_equal(d["q"].sel(q_name="y"), Q[:, 1])


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("part", [(0, None), (0, 1), (N - 1, None), (13, 500), (5, 5), (900, 5000)])
def test_parts_are_read(tmp_path, opened, part):
    reader = write(tmp_path / "a.h5")
    if opened:
        reader, about = open_archive(tmp_path / "a.h5")
        assert about == ATTRIBUTES
    np.testing.assert_array_equal(reader.read("q", *part), Q[slice(*part)])
    np.testing.assert_array_equal(reader.read("counts", *part), COUNTS[slice(*part)])
    assert reader.read("none", *part).shape == NONE[slice(*part)].shape
    assert reader.rows("time") == N


def test_a_reader_keeps_to_its_file(tmp_path):
    reader = write(tmp_path / "a.h5")
    write_archive(tmp_path / "a.h5", [Variable("q", np.zeros(3), ("n",))], {}, overwrite=True)
    np.testing.assert_array_equal(reader.read("q"), Q)
    (tmp_path / "a.h5").unlink()
    np.testing.assert_array_equal(reader.read("q"), Q)


def test_readers_let_go_of_their_files(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        write(tmp_path / "a.h5", overwrite=True)
        open_archive(tmp_path / "a.h5")
    assert len(os.listdir("/proc/self/fd")) == before


def test_damage_is_found_when_it_is_opened(tmp_path):
    write(tmp_path / "a.h5")
    data = (tmp_path / "a.h5").read_bytes()
    at = data.index(Q[500].tobytes())
    (tmp_path / "a.h5").write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    with pytest.raises(dal.ArchiveError, match=r"damaged: the data of 'q'"):
        open_archive(tmp_path / "a.h5")
    (tmp_path / "a.h5").write_bytes(data[:at])
    with pytest.raises(dal.ArchiveError, match="truncated or damaged"):
        open_archive(tmp_path / "a.h5")


@pytest.mark.parametrize("given", [range(0, N - 7, 7), [0, 500]])
def test_missing_rows_leave_no_file(tmp_path, given):
    with (
        pytest.raises(dal.ArchiveError, match="rows of time, q, none, counts are missing"),
        streaming(tmp_path / "a.h5", template(), {"time": N}) as out,
    ):
        for start in given:
            out.append(rows(start, start + 7))
        out.finish({})
    assert os.listdir(tmp_path) == []


def test_rows_that_do_not_fit_leave_the_old_file(tmp_path):
    write(tmp_path / "a.h5")
    before = (tmp_path / "a.h5").read_bytes()
    with (
        pytest.raises(dal.ArchiveError, match=r"'time'.*do not fit"),
        streaming(tmp_path / "a.h5", template(), {"time": 5}, overwrite=True) as out,
    ):
        out.append(rows(0, 6))
    assert (tmp_path / "a.h5").read_bytes() == before
    assert os.listdir(tmp_path) == ["a.h5"]
