"""Problems in files: round trips, the layout of FCLIB, damage."""

import h5py
import numpy as np
import pytest

from dalembert.complementarity import generators
from dalembert.complementarity.archive import LinearProblem, load_problem, read_problem, save_problem
from dalembert.complementarity.friction import ContactProblem, solve_friction
from dalembert.complementarity.friction.generators import random_contacts
from dalembert.errors import ArchiveError, OptionError, UnsupportedError


@pytest.fixture
def contacts(tmp_path):
    p = random_contacts(3, 0.5, np.random.default_rng(0))
    save_problem(tmp_path / "c.h5", p, title="three", description="random", math_info="W > 0", solution=solve_friction(p).impulses)
    return p, tmp_path / "c.h5"


def test_contacts_come_back_bit_by_bit(contacts):
    p, path = contacts
    stored = read_problem(path)
    for name in ("W", "b", "mu"):
        np.testing.assert_array_equal(getattr(stored.problem, name), getattr(p, name))
    assert stored.info == {"title": "three", "description": "random", "math_info": "W > 0"}
    np.testing.assert_array_equal(stored.solution["r"], solve_friction(p).impulses.reshape(-1))
    np.testing.assert_allclose(stored.solution["u"], p.W @ stored.solution["r"] + p.b, atol=1e-15)


@pytest.mark.parametrize("make", [generators.random_lcp, generators.random_boxed, generators.random_mixed])
def test_linear_problems_come_back_with_their_infinite_bounds(make, tmp_path):
    given = make(7, 1e3, np.random.default_rng(1))
    save_problem(tmp_path / "p.h5", given, solution=np.zeros(7))
    stored = read_problem(tmp_path / "p.h5")
    p = stored.problem
    for a, b in zip(given, (p.M, p.q, p.lower, p.upper), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(stored.solution["w"], given[1])
    assert stored.info == {}


def test_default_bounds_zeros_and_nothing(tmp_path):
    save_problem(tmp_path / "p.h5", (np.diag([1.0, 0.0]), np.array([1.0, -1.0])))
    p = load_problem(tmp_path / "p.h5")
    assert isinstance(p, LinearProblem) and p.lower.tolist() == [0, 0] and p.upper.tolist() == [np.inf] * 2
    assert p.M.tolist() == [[1, 0], [0, 0]]
    save_problem(tmp_path / "e.h5", ContactProblem(np.zeros((0, 0)), np.zeros(0), np.zeros(0)))
    assert load_problem(tmp_path / "e.h5").contacts == 0


def test_the_layout_is_that_of_fclib(contacts):
    with h5py.File(contacts[1]) as h5:
        main = h5["fclib_local"]
        assert {k: main["W"][k].dtype for k in ("nzmax", "m", "n", "nz", "p", "i")} == dict.fromkeys(
            ("nzmax", "m", "n", "nz", "p", "i"), "<i4"
        )
        assert main["W/x"].dtype == main["vectors/q"].dtype == main["vectors/mu"].dtype == "<f8"
        assert main["spacedim"][()].tolist() == [3] and main["W/nz"][()].tolist() == [-1] and main["W/m"][()].tolist() == [9]
        assert main["info/title"][()] == b"three" and main["info/title"].dtype.kind == "S"
        assert set(h5["solution"]) == {"u", "r"}


def foreign(path, form, dimension=3):
    """A file as FCLIB writes it: no checksum, any of the three forms of the matrix."""
    n = 2 * dimension
    A = np.random.default_rng(2).uniform(1, 2, (n, n)) + 9 * np.eye(n)
    rows, columns = np.nonzero(A)
    parts = {
        "triplet": (n * n, rows, columns, A[rows, columns]),
        "rows": (-2, np.arange(n + 1) * n, columns, A[rows, columns]),
        "columns": (-1, np.arange(n + 1) * n, columns, A.T[rows, columns]),
    }
    nz, p, i, x = parts[form]
    with h5py.File(path, "w") as h5:
        for name, value in {"nzmax": [n * n], "m": [n], "n": [n], "nz": [nz], "p": p, "i": i}.items():
            h5[f"fclib_local/W/{name}"] = np.asarray(value, dtype=np.int32)
        h5["fclib_local/W/x"], h5["fclib_local/spacedim"] = x, np.array([dimension], dtype=np.int32)
        h5["fclib_local/vectors/q"], h5["fclib_local/vectors/mu"] = -np.ones(n), np.full(2, 0.3)
    return A


@pytest.mark.parametrize("form", ["triplet", "rows", "columns"])
def test_files_of_others_are_read_in_all_three_forms(form, tmp_path):
    A = foreign(tmp_path / "f.h5", form)
    np.testing.assert_array_equal(load_problem(tmp_path / "f.h5").W, A)


def test_contacts_in_the_plane_get_an_idle_tangent(tmp_path):
    foreign(tmp_path / "f.h5", "columns", 2)
    p = load_problem(tmp_path / "f.h5")
    r = solve_friction(p)
    assert p.contacts == 2 and r.solved and r.impulses[:, 2].tolist() == [0.0, 0.0]


def test_what_is_not_read_is_refused_by_name(tmp_path):
    cases = {
        "fclib_global": (UnsupportedError, "global problem"),
        "else": (ArchiveError, r"expected a group 'fclib_local' or 'dalembert_lcp'"),
    }
    for group, (kind, words) in cases.items():
        with h5py.File(tmp_path / f"{group}.h5", "w") as h5:
            h5.create_group(group)
        with pytest.raises(kind, match=words):
            load_problem(tmp_path / f"{group}.h5")
    (tmp_path / "text.h5").write_text("no")
    (tmp_path / "empty.h5").write_text("")
    for name, words in (("text.h5", "is not an HDF5 file"), ("empty.h5", "is empty"), ("none.h5", "does not exist")):
        with pytest.raises(ArchiveError, match=words):
            load_problem(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("W/nz", [-7], "nz is -7"),
        ("W/m", [8], "8 rows and 9 columns"),
        ("W/p", [5], "p is not a list of 10"),
        ("W/i", np.full(81, 99, np.int32), "indices outside"),
        ("spacedim", [4], "spacedim 4"),
        ("vectors/mu", [-1.0] * 3, r"mu\[0\] is -1.0"),
        ("vectors/q", [np.nan] * 9, "is nan"),
        ("vectors/q", [1.0], "has shape"),
        ("vectors/mu", None, "damaged or incomplete"),
        ("W/x", None, "damaged or incomplete"),
    ],
)
def test_parts_that_do_not_fit_are_named(contacts, name, value, words):
    _, path = contacts
    with h5py.File(path, "a") as h5:
        del h5[f"fclib_local/{name}"], h5["fclib_local"].attrs["crc32"]
        if value is not None:
            h5[f"fclib_local/{name}"] = np.asarray(value)
    with pytest.raises(ArchiveError, match=words):
        load_problem(path)


def test_a_changed_number_does_not_match_the_checksum(contacts):
    with h5py.File(contacts[1], "a") as h5:
        h5["fclib_local/W/x"][3] += 1e-9
    with pytest.raises(ArchiveError, match="checksum"):
        load_problem(contacts[1])


def test_wrong_bytes_anywhere_never_give_a_wrong_problem(contacts, tmp_path):
    p, path = contacts
    data, rng = path.read_bytes(), np.random.default_rng(3)
    for place in rng.integers(8, len(data), 150):
        bad = bytearray(data)
        bad[place] ^= 0xFF
        (tmp_path / "bad.h5").write_bytes(bytes(bad))
        try:
            found = load_problem(tmp_path / "bad.h5")
        except (ArchiveError, UnsupportedError):
            continue
        np.testing.assert_array_equal(found.W, p.W)  # the byte belonged to something that is not read
        np.testing.assert_array_equal(found.b, p.b)
    for size in (9, 100, len(data) // 2, len(data) - 1):
        (tmp_path / "short.h5").write_bytes(data[:size])
        with pytest.raises(ArchiveError):
            load_problem(tmp_path / "short.h5")


def test_files_are_replaced_whole_or_not_at_all(contacts):
    p, path = contacts
    before = path.read_bytes()
    with pytest.raises(ArchiveError, match="exists already"):
        save_problem(path, p)
    with pytest.raises(OptionError, match="solution has shape"):
        save_problem(path, p, solution=np.zeros(4), overwrite=True)
    assert path.read_bytes() == before and [f.name for f in path.parent.iterdir()] == ["c.h5"]
    with pytest.raises(OptionError, match="problem is of type str"):
        save_problem(path, "W", overwrite=True)
    save_problem(path, p, overwrite=True)
    assert read_problem(path).solution == {}
