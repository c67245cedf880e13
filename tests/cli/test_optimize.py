"""`dalembert optimize`."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import scenes

OWN = """
import numpy as np
import dalembert as dal
from dalembert.control.scenes import Finding, rest_to_rest

def build({argument}):
    return dal.control.dmoc(rest_to_rest.model(), {steps}, [0.0], [2.0], h=1.5 / {steps})

def check(solution):
    return [Finding("cost", solution.cost, "above {least}", solution.cost > {least})]
"""


def own(path, argument="N=20", steps="N", least=0.0):
    path.write_text(OWN.format(argument=argument, steps=steps, least=least))
    return path


def test_the_list_names_every_problem(call):
    out = call("optimize", "--list").output
    assert all(name in out for name in scenes.names())


def test_a_plan_is_found_shown_drawn_and_kept(call, tmp_path):
    out = call("optimize", "cart-pole", "--out", "pictures", "--save", "plan.h5").output
    assert "solved" in out and "cost 58.9" in out
    assert "one step from every node" in out and "free run" in out and "true motion" in out
    assert "ok   cost: 58.9899 (58.8 within 1 %)" in out
    assert "verdict: pass" in out
    assert (tmp_path / "pictures" / "cart-pole.png").read_bytes().startswith(b"\x89PNG")
    plan = dal.control.load(tmp_path / "plan.h5")
    assert plan.inputs.shape == (100, 1) and plan.cost == pytest.approx(58.99, abs=0.01)


@pytest.mark.parametrize("name", ["rest-to-rest", "brachistochrone", "falling-cat", "double-pendulum"])
def test_a_saved_plan_is_a_run_like_any_other(call, tmp_path, name):
    call("optimize", name, "--quick", "--save", "plan.h5")
    run = dal.load(tmp_path / "plan.h5")
    assert run.status == "ok" and len(run.t) == scenes.find(name).build().chain.N + 1
    assert "verdict: pass" in call("check", "plan.h5").output
    call("plot", "plan.h5", "-o", "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 10_000
    cited = call("cite", "plan.h5").output
    assert "@software{dalembert" in cited and "{waechter2006" in cited and "{oberbloebaum2011" in cited


def test_the_number_of_steps_may_be_chosen(call):
    out = call("optimize", "rest-to-rest", "--steps", "12", "--quick").output
    assert "12 steps" in out and "free run" not in out


def test_other_minima_are_listed(call):
    assert "4 of 4 starts were solved" in call("optimize", "satellite", "--starts", "4", "--quick").output


def test_a_plan_that_is_not_found_says_why_and_ends_with_1(call, tmp_path):
    """Three steps of a swing-up: no step may turn by more than half a radian."""
    out = call("optimize", "cart-pole", "-n", "5", "--save", "last.h5", "-o", ".", code=1).output
    assert "infeasible" in out and "misses by" in out and "Try" in out and "verdict: fail" in out
    assert (tmp_path / "cart-pole.png").exists()  # nothing is lost
    assert "no motion of the simulator: the step from node" in call("check", "last.h5", code=1).output
    with pytest.raises(dal.ArchiveError, match="no plan"):
        dal.simulate(dal.scenes.find("free-body").build(), h=0.1, t_end=0.2, save="run.h5")
        dal.control.load("run.h5")


def test_a_finding_that_is_not_so_ends_with_1(call, tmp_path):
    out = call("optimize", own(tmp_path / "mine.py", least=1e9), code=1).output
    assert "FAIL cost" in out and "verdict: fail" in out


def test_a_file_of_ones_own(call, tmp_path):
    assert "20 steps" in call("optimize", own(tmp_path / "mine.py")).output
    assert "8 steps" in call("optimize", "mine.py", "--steps", "8").output
    assert "8 steps" in call("optimize", own(tmp_path / "fixed.py", argument="", steps="20"), "--steps", "8").output
    (tmp_path / "ready.py").write_text(own(tmp_path / "mine.py").read_text() + "\nproblem = build()\ndel build\n")
    assert "20 steps" in call("optimize", "ready.py", "--out", "a/b").output
    assert (tmp_path / "a" / "b" / "ready.png").exists()
    assert "8 steps" in call("optimize", "ready.py", "--steps", "8").output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "neither `build()` nor `problem`"),
        ("1/0", "ZeroDivisionError"),
        ("def build(N=3): return 7", "gave 7"),
        ("import dalembert as dal\nproblem = dal.control.dmoc(dal.scenes.find('heavy-top').build(), 1, None, None, h=1)", "N is 1"),
        ("problem = 3", "neither `build()` nor `problem`"),
        ("def build(:", "SyntaxError"),
    ],
)
def test_files_that_are_no_problem_are_refused(call, tmp_path, text, message):
    (tmp_path / "bad.py").write_text(text)
    assert message in call("optimize", "bad.py", code=2).output


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["cartpole"], "unknown problem 'cartpole'"),
        (["missing.py"], "no such file"),
        ([], "neither a problem nor a file"),
        (["cart-pole", "--steps", "1"], "--steps is 1"),
        (["cart-pole", "--steps", "-4"], "--steps is -4"),
        (["cart-pole", "--starts", "0"], "--starts is 0"),
        (["cart-pole", "--save", "no/such/plan.h5"], "does not exist"),
        (["cart-pole", "--save", "there.h5"], "--overwrite replaces it"),
        (["cart-pole", "--out", "there.h5"], "expected a folder"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_search(call, tmp_path, given, message):
    (tmp_path / "there.h5").write_bytes(b"")
    out = call("optimize", *given, code=2).output
    assert message in out and "iterations" not in out


def test_a_file_is_replaced_where_it_is_wanted(call, tmp_path):
    call("optimize", "rest-to-rest", "--quick", "--save", "plan.h5")
    call("optimize", "rest-to-rest-fastest", "--quick", "--save", "plan.h5", "--overwrite")
    assert np.isclose(dal.load(tmp_path / "plan.h5").t[-1], 2 * np.sqrt(1.3 * 2 / 3))


@pytest.mark.parametrize("given", [("--steps", "0"), ("--steps", "-3"), ("--steps", "1"), ("--starts", "0")])
def test_numbers_that_are_none(call, given):
    assert "expected at least" in call("optimize", "cart-pole", *given, code=2).output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def build(N=3):\n    return 1 / 0\n", "ZeroDivisionError"),
        ("from dalembert.control import scenes\nproblem = scenes.find('rest-to-rest').build()\ncheck = lambda s: ['fine']\n", "Finding"),
        ("from dalembert.control import scenes\nproblem = scenes.find('rest-to-rest').build()\ncheck = lambda s: s.nothing\n", "nothing"),
    ],
)
def test_code_of_a_file_that_goes_wrong_is_one_sentence(call, tmp_path, text, said):
    (tmp_path / "own.py").write_text(text)
    found = call("optimize", "own.py", "--quick", code=2)
    assert said in found.output and "Traceback" not in found.output
