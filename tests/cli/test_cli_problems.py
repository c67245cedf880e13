"""`dalembert problems`: tables of archived problems, exit codes."""

import json

import pytest

import dalembert as dal
from dalembert.contact.solver import METHODS
from dalembert.contact.step_samples import heap, mixed


@pytest.fixture
def files(tmp_path):
    """A problem of contacts, and one without friction."""
    dal.contact.save_problem(tmp_path / "heap.h5", heap(0, 2, 2))
    p = mixed(1, n=20, m=20)
    p.mu[:] = 0.0
    dal.contact.save_problem(tmp_path / "smooth.h5", p)
    return tmp_path


def test_every_method_has_a_line(call, files):
    out = call("problems", "smooth.h5").output
    for method in METHODS:
        assert method in out
    assert "pivots" in out and "rounds" in out and "refused" not in out


def test_refusals_are_explained_below_the_table(call, files):
    out = call("problems", "heap.h5").output
    assert out.count("refused:") == 2 and "cones of friction" in out.replace("\n", " ")


def test_json_has_everything_and_polygons_may_be_asked_for(call, files):
    rows = json.loads(call("problems", ".", "--name", "heap", "--method", "direct,lemke", "--corners", "8", "--json").output)
    assert [r["method"] for r in rows] == ["direct", "lemke"] and {r["problem"] for r in rows} == {"heap"}
    assert rows[0]["solved"] and rows[0]["residual"] < 1e-6 and rows[1]["counts"] == "pivots"


def test_the_exit_code_is_one_where_no_method_solves(call, files):
    call("problems", "heap.h5", "--method", "gauss-seidel", "--sweeps", "1", code=1)
    call("problems", "heap.h5", "--method", "run")


def test_wrong_words_and_files_are_usage_errors(call, files):
    assert "gauss-seidel" in call("problems", "heap.h5", "--method", "gaus-seidel", code=2).output
    assert "heap" in call("problems", "heap.h5", "--name", "hep", code=2).output
    assert "does not exist" in call("problems", "no.h5", code=2).output
