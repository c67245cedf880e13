"""An archive opens in netCDF4 and xarray, gives back every bit, replaces a file whole or not at all, and notices damage."""

import errno
import json
import os
import resource
import struct
import subprocess
import sys
from contextlib import contextmanager

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr

from dalembert.errors import ArchiveError, OptionError
from dalembert.io import atomic
from dalembert.io.archive import Variable, read_archive, write_archive

ODD_NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8DEADBEEF0001))[0]
NAMES = ["hip", "genou é", "x"]
Q = np.random.default_rng(1).normal(size=(5, 3))
ATTRIBUTES = {
    "title": "double pendulum é",
    "empty": "",
    "looks_like_json": "[1, 2]",
    "steps": 5,
    "h": 0.1,
    "not_a_number": float("nan"),
    "flag": True,
    "nothing": None,
    "options": {"tolerance": 1e-12, "names": ["a", "b"], "deep": {"x": [1, None]}},
    "huge": 2**70,
    "odd_text": "nul \0 and surrogate \ud800",
    "model": "<mujoco>" + "x" * 200_000,
    "negative": -(2**63),
}


def variables():
    """One of everything: coordinates of numbers and of text, a plain dimension, empty dimensions, groups, scalars, flags, small types."""
    return [
        Variable("time", np.arange(5) * 0.1, ("time",), "s", "time"),
        Variable("q_name", NAMES, ("q_name",), long_name="columns of q"),
        Variable("q", Q, ("time", "q_name"), "rad", "coordinates é"),
        Variable("momentum", np.arange(30.0).reshape(5, 6), ("time", "axis"), "kg m2/s"),
        Variable("special", np.array([ODD_NAN, -0.0, np.inf, 5e-324, -np.inf]), ("time",)),
        Variable("event_time", np.zeros(0), ("event",), "s"),
        Variable("event_state", np.zeros((0, 3)), ("event", "q_name")),
        Variable("label", [], ("label",)),
        Variable("solver/iterations", np.arange(5, dtype=np.int32), ("time",), long_name="Newton iterations"),
        Variable("solver/deep/residual", np.float32([1, 2, 3, 4, 5]), ("time",)),
        Variable("accepted", np.array([True, False, True, True, False]), ("time",)),
        Variable("mass", np.array(2.5), (), "kg"),
        Variable("status", ["ok", "", "ok", "stopped by Ctrl-C", "y"], ("time",)),
        Variable("wide", np.arange(5, dtype=np.uint64) + 2**63, ("time",)),
        Variable("turned", np.asfortranarray(Q), ("time", "q_name")),
        Variable("swapped", Q.astype(">f8"), ("time", "q_name")),
    ]


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "run.h5"
    write_archive(path, variables(), ATTRIBUTES)
    return path


def equal(a, b):
    return a == b or (a != a and b != b)


def contents(path):
    """What read_archive gives, as something that can be compared bit for bit."""
    data, attributes = read_archive(path)
    return {k: v if isinstance(v, list) else (v.dtype.str, v.shape, v.tobytes()) for k, v in data.items()}, json.dumps(attributes)


def test_round_trip_is_bit_for_bit(archive):
    data, attributes = read_archive(archive)
    assert list(data) == [v.name for v in variables()]
    for variable in variables():
        got = data[variable.name]
        if isinstance(variable.data, list):
            assert got == variable.data
        else:
            expected = np.asarray(variable.data).astype(variable.data.dtype.newbyteorder("<"), order="C")
            assert (got.dtype, got.shape, got.tobytes()) == (expected.dtype, expected.shape, expected.tobytes()), variable.name
    assert list(attributes) == list(ATTRIBUTES)
    for name, value in ATTRIBUTES.items():
        assert type(attributes[name]) is type(value) and equal(attributes[name], value), name
    data["q"][0, 0] = 1.0  # the arrays belong to the reader


def test_numpy_scalars_are_plain_numbers(tmp_path):
    write_archive(tmp_path / "a.h5", [], {"x": np.float64(1.5), "n": np.int32(7), "b": np.bool_(True)})
    assert read_archive(tmp_path / "a.h5") == ({}, {"x": 1.5, "n": 7, "b": True})


def test_xarray_opens_it(archive):
    with xr.open_dataset(archive, engine="netcdf4") as ds:
        assert dict(ds.sizes) == {"time": 5, "q_name": 3, "axis": 6, "event": 0, "label": 0}
        assert set(ds.coords) == {"time", "q_name", "label"}
        assert list(ds.q_name.values) == NAMES and all(isinstance(n, str) for n in ds.q_name.values)
        assert list(ds.status.values) == ["ok", "", "ok", "stopped by Ctrl-C", "y"]
        assert ds.q.dims == ("time", "q_name") and ds.q.attrs == {"units": "rad", "long_name": "coordinates é"}
        assert ds.time.attrs == {"units": "s", "long_name": "time"}
        assert np.array_equal(ds.q.sel(q_name="hip").values, Q[:, 0])
        assert ds.special.values.tobytes() == variables()[4].data.tobytes()
        assert ds.accepted.dtype == bool and ds.accepted.values.tolist() == [True, False, True, True, False]
        assert ds.mass.shape == () and float(ds.mass) == 2.5
        assert ds.event_state.shape == (0, 3)
        assert ds.attrs["title"] == ATTRIBUTES["title"] and ds.attrs["steps"] == 5 and ds.attrs["h"] == 0.1
        assert json.loads(ds.attrs["options"]) == ATTRIBUTES["options"]
        assert len(ds.attrs["model"]) == len(ATTRIBUTES["model"])


def test_xarray_opens_its_groups(archive):
    with xr.open_datatree(archive, engine="netcdf4") as tree:
        assert set(tree.groups) == {"/", "/solver", "/solver/deep"}
        assert tree["/solver/iterations"].dims == ("time",)
        assert np.array_equal(tree["/solver/iterations"].time, np.arange(5) * 0.1)
        assert tree["/solver/deep/residual"].dtype == np.float32


def test_netcdf4_opens_it(archive):
    with netCDF4.Dataset(archive) as ds:
        assert {name: len(dim) for name, dim in ds.dimensions.items()} == {"time": 5, "q_name": 3, "axis": 6, "event": 0, "label": 0}
        assert "axis" not in ds.variables and "event" not in ds.variables
        assert ds["q"].dimensions == ("time", "q_name") and ds["q"].units == "rad" and ds["q"].long_name == "coordinates é"
        assert ds["time"].dimensions == ("time",) and ds["time"].units == "s"
        assert ds["q_name"].dtype is str and list(ds["q_name"][:]) == NAMES
        assert np.array_equal(ds["q"][:], Q)
        assert ds["solver/iterations"].dimensions == ("time",) and ds["solver/iterations"][:].dtype == np.int32
        assert ds["solver"].dimensions == {}
        assert ds.title == ATTRIBUTES["title"] and ds.steps == 5 and ds.empty == ""


@pytest.mark.parametrize("name", ["x", "solver/x"])
def test_one_letter_names_are_strings_for_netcdf4(tmp_path, name):
    write_archive(tmp_path / "a.h5", [Variable(name, ["x", "y"], ("axis",), "s")], {})
    with netCDF4.Dataset(tmp_path / "a.h5") as ds:
        assert ds[name].dtype is str and list(ds[name][:]) == ["x", "y"] and ds[name].units == "s"


def test_existing_file_is_kept_unless_asked(archive):
    before = archive.read_bytes()
    with pytest.raises(ArchiveError, match=r"run\.h5.*exists.*overwrite=True"):
        write_archive(archive, [], {})
    assert archive.read_bytes() == before
    write_archive(archive, [], {"new": 1}, overwrite=True)
    assert read_archive(archive) == ({}, {"new": 1})
    assert os.listdir(archive.parent) == ["run.h5"]


def test_link_keeps_pointing_to_the_replaced_file(archive):
    link = archive.with_name("latest.h5")
    link.symlink_to(archive.name)
    write_archive(link, [], {"new": 1}, overwrite=True)
    assert link.is_symlink() and read_archive(archive) == ({}, {"new": 1})


def test_new_file_has_ordinary_permissions(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_archive(tmp_path / "a.h5", [], {})
    assert (tmp_path / "a.h5").stat().st_mode == (tmp_path / "plain").stat().st_mode


@contextmanager
def largest_file(size):
    """A stand-in for a full disk: the kernel refuses to let any file grow beyond this size."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


@pytest.mark.parametrize("size", [0, 1000, 100_000, 790_000, 801_000])
def test_full_disk_leaves_the_old_file_and_no_other(archive, size):
    before = archive.read_bytes()
    descriptors = len(os.listdir("/proc/self/fd"))
    big = [Variable("x", np.ones((10_000, 10)), ("time", "axis"))]  # 800,000 bytes
    with largest_file(size), pytest.raises(ArchiveError, match=r"cannot write .*run\.h5.*File too large"):
        write_archive(archive, big, {}, overwrite=True)
    assert archive.read_bytes() == before
    assert os.listdir(archive.parent) == ["run.h5"]
    assert len(os.listdir("/proc/self/fd")) == descriptors
    write_archive(archive, big, {}, overwrite=True)
    assert np.array_equal(read_archive(archive)[0]["x"], big[0].data)


@pytest.mark.parametrize("call", ["replace", "fsync", "pwrite", "ftruncate"])
def test_failing_system_call_leaves_the_old_file(archive, monkeypatch, call):
    before = archive.read_bytes()

    def fails(*args):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(atomic.os, call, fails)
    with pytest.raises(ArchiveError, match=r"run\.h5.*Input/output error"):
        write_archive(archive, variables(), {}, overwrite=True)
    monkeypatch.undo()
    assert archive.read_bytes() == before and os.listdir(archive.parent) == ["run.h5"]


def test_interrupt_stays_an_interrupt_and_leaves_the_old_file(archive, monkeypatch):
    before = archive.read_bytes()

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "pwrite", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_archive(archive, variables(), {}, overwrite=True)
    monkeypatch.undo()
    assert archive.read_bytes() == before and os.listdir(archive.parent) == ["run.h5"]


@contextmanager
def ordinary_user():
    """Permissions do not bind the superuser; whoever runs the tests, the block runs without that privilege."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_directory_without_permission_is_named(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o555)
    with ordinary_user(), pytest.raises(ArchiveError, match=r"cannot write .*closed/a\.h5.*Permission denied"):
        write_archive(folder / "a.h5", [], {})
    assert not list(folder.iterdir())


def test_impossible_targets_are_named(tmp_path):
    (tmp_path / "file").write_text("")
    for target, words in {"missing/a.h5": "missing' does not exist", "file/a.h5": "Not a directory", "": "is a directory"}.items():
        with pytest.raises(ArchiveError, match=words):
            write_archive(tmp_path / target, [], {})


def test_unreadable_files_are_explained(archive):
    folder = archive.parent
    (folder / "empty.h5").write_bytes(b"")
    (folder / "text.h5").write_text("this is no HDF5 file")
    with h5py.File(folder / "foreign.h5", "w") as h5:
        h5["x"] = 1
    cases = {
        "nowhere.h5": "does not exist",
        "empty.h5": "is empty",
        "text.h5": "is not an HDF5 file",
        "foreign.h5": "without the attribute 'dalembert_archive'",
        "": "Is a directory",
    }
    for name, words in cases.items():
        with pytest.raises(ArchiveError, match=words) as caught:
            read_archive(folder / name)
        assert name in str(caught.value)


def test_truncation_anywhere_is_explained(archive, tmp_path):
    raw = archive.read_bytes()
    cut = tmp_path / "cut.h5"
    for size in [*range(1, 200), *range(200, len(raw), 4999), len(raw) - 1]:
        cut.write_bytes(raw[:size])
        with pytest.raises(ArchiveError, match=r"cut\.h5.*(truncated or damaged|not an HDF5)"):
            read_archive(cut)


FLIPPER = """
import sys
from pathlib import Path
from dalembert.errors import ArchiveError
sys.path.insert(0, sys.argv[3])
from test_archive import contents
source, bad = Path(sys.argv[1]), Path(sys.argv[2])
raw, good, found = source.read_bytes(), contents(source), 0
for place in range(int(sys.argv[4]), len(raw), int(sys.argv[5])):
    bad.write_bytes(raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1:])
    try:
        assert contents(bad) == good, place
    except ArchiveError:
        found += 1
print(found)
"""


@pytest.mark.parametrize("start", range(3))
def test_flipped_byte_is_found_or_harmless(tmp_path, start):
    """Anywhere in the file. In a process of its own with a time limit, since damage could also crash or hang the HDF5 library."""
    path = tmp_path / "run.h5"
    write_archive(path, variables(), {k: v for k, v in ATTRIBUTES.items() if k != "model"})
    command = [sys.executable, "-c", FLIPPER, str(path), str(tmp_path / "bad.h5"), os.path.dirname(__file__), str(start * 13), "41"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50


@pytest.mark.parametrize("name", ["q", "q_name", "solver/iterations", "accepted", "mass"])
def test_damage_of_data_names_the_variable(archive, name):
    with h5py.File(archive) as h5:
        offset, size = h5[name].id.get_offset(), h5[name].nbytes
    raw = bytearray(archive.read_bytes())
    for place in range(offset, offset + size):
        raw[place] ^= 0x10
        archive.write_bytes(raw)
        with pytest.raises(ArchiveError, match=rf"run\.h5.*damaged.*'{name}'.*checksum"):
            read_archive(archive)
        raw[place] ^= 0x10


def test_changed_attribute_is_noticed_and_added_ones_are_not_in_the_way(archive):
    before = contents(archive)
    with netCDF4.Dataset(archive, "a") as ds:
        ds.comment = "added by someone"
        ds.createVariable("mean", "f8", ("q_name",))[:] = 1.0
    assert contents(archive) == before
    with h5py.File(archive, "a") as h5:
        h5.attrs.modify("steps", 6)
    with pytest.raises(ArchiveError, match="attributes do not match"):
        read_archive(archive)


def axis(name="x", n=2, dims=("a",)):
    return Variable(name, np.zeros((n,) * len(dims)), dims)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([axis(), axis("y", 3)], "'a'.*'x' has 2, 'y' has 3"),
        ([axis(), axis()], "'x'.*used twice"),
        ([axis("g"), axis("g/x")], "'g'.*used twice"),
        ([axis("a/x")], "group 'a'.*dimension"),
        ([axis("a", dims=("a", "b"))], "'a' is a dimension"),
        ([axis("g/a")], "'a' is a dimension"),
        ([axis(dims=("a", "a"))], "different dims"),
        ([Variable("x", np.zeros((2, 2)), ("a",))], r"\(2, 2\) needs 2"),
        ([Variable("x", ["a\0b"], ("a",))], "NUL"),
        ([Variable("x", np.array(["a"]), ("a",))], "expected a list of str"),
        ([Variable("x", np.array([1j]), ("a",))], "given complex128"),
        ([Variable("x", ["a", 1], ("a",))], "expected a list of str"),
        ([axis("_x")], "expected a letter"),
        ([axis("g//x")], "expected a letter"),
        ([axis("/x")], "expected a letter"),
        ([axis(dims=("",))], "expected a letter"),
    ],
)
def test_impossible_variables_are_refused_before_anything_is_written(tmp_path, given, words):
    with pytest.raises(OptionError, match=words):
        write_archive(tmp_path / "a.h5", given, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "value"), [("x", np.zeros(2)), ("x", {1, 2}), ("_x", 1), ("dalembert_archive", 1), ("", 1)])
def test_impossible_attributes_are_refused(tmp_path, name, value):
    with pytest.raises(OptionError, match="attribute"):
        write_archive(tmp_path / "a.h5", [], {name: value})
