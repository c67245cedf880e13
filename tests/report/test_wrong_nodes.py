"""One wrong node cannot widen the limit that it is judged by."""

import copy

import numpy as np
import pytest

import dalembert as dal
from dalembert.report.drift import find_drift
from dalembert.report.facts import Facts
from dalembert.report.lagrangian_facts import LagrangianFacts
from dalembert.report.scale import lasting, without_spikes
from dalembert.report.tree_facts import TreeFacts

NODES = (1, 2, 57, 199, 200)


def rods():
    m = dal.Model("rods")
    for i in range(2):
        m.add_body(f"r{i}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -1.0 * i), (1, 0, 0, 0)))
        m.add_joint(f"j{i}", "revolute", f"r{i - 1}" if i else "world", f"r{i}", (0, 0, -1.0 * i), (0, 1, 0))
    return m


def top():
    m = dal.Model("top")
    m.add_body("b", 1.3, (0.5, 0.8, 1.1), com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "b")
    return m


def kepler():
    return dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) + 1 / np.sqrt(q @ q))


RUNS = {
    "tree": (rods, TreeFacts, {"stepper": "midpoint", "h": 0.005, "q0": (1.0, 0.5), "v0": (1.0, 0.5)}),
    "body": (top, Facts, {"stepper": "cayley", "h": 0.005, "v0": (2.0, -0.5, 1.0)}),
    "Lagrangian": (kepler, LagrangianFacts, {"stepper": "midpoint", "h": 0.01, "q0": (1.0, 0.0), "v0": (0.1, 1.1)}),
}


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    build, facts, keywords = RUNS[request.param]
    traj = dal.simulate(build(), t_end=200 * keywords["h"], **keywords)
    assert traj.report().verdict == "pass", traj.report().text
    return traj, facts


def changed(traj, **arrays):
    other = copy.copy(traj)
    for cached in ("kinetic", "potential", "momentum", "poses", "constraint", "_loads"):
        other.__dict__.pop(cached, None)
    other.__dict__.update(arrays)
    return other


def with_node(traj, k, factor=1.0, v=None, q=None):
    out = {"v": traj.v.copy(), "q": traj.q.copy()}
    out["v"][k] = factor * out["v"][k] if v is None else v
    if q is not None:
        out["q"][k] = q
    return changed(traj, **out)


@pytest.mark.parametrize("k", NODES)
@pytest.mark.parametrize("factor", [1.02, 0.9, 1.5, 30.0, -30.0, 0.0])
def test_a_node_with_a_wrong_speed_fails(run, k, factor):
    """The bands of these runs are below 1e-3; a speed that is off by 2 % changes the kinetic energy of the node by 4 %."""
    traj, _ = run
    found = with_node(traj, k, factor).report()["energy"]
    assert found.verdict == "fail", found.text


@pytest.mark.parametrize("k", NODES)
def test_a_node_at_a_wrong_place_fails(run, k):
    traj, _ = run
    there = traj.q[(k + 100) % 200]
    found = with_node(traj, k, q=there).report()["energy"]
    assert found.verdict == "fail", found.text


@pytest.mark.parametrize("k", NODES)
def test_a_node_that_moves_the_wrong_way_leaves_the_limit_where_it_is(run, k):
    """Its energy is right, so that it says nothing about energy, but it looks like a rate of 1/h."""
    traj, _ = run
    before, after = traj.report()["energy"], with_node(traj, k, -1.0).report()["energy"]
    assert after.limit <= 1.05 * before.limit


def test_rates_come_from_regular_nodes_and_last(run):
    traj, facts = run
    right, wrong = facts(traj), facts(with_node(traj, 57, 1e3))
    assert not wrong.regular[57]
    assert wrong.rate == pytest.approx(right.rate, rel=0.05)
    assert wrong.kinetic_scale == pytest.approx(right.kinetic_scale, rel=1e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_node_that_is_not_a_number_fails(run, bad):
    traj, _ = run
    for k in NODES:
        assert with_node(traj, k, bad).report().verdict == "fail"


def test_rotations_that_are_not_numbers_fail():
    traj = dal.simulate(top(), "cayley", h=0.01, t_end=1.0, v0=(2.0, -0.5, 1.0))
    q = traj.q.copy()
    q[50] = np.nan
    assert changed(traj, q=q).report()["attitude"].verdict == "fail"


def test_a_spike_does_not_hide_a_drift():
    """An oscillation of 1 that drifts by 6, and one node at 100: the largest oscillation then is 100."""
    s = np.linspace(0.0, 1.0, 4000)
    x = np.sin(300 * s) + 6 * s
    x[1234] = 100.0
    assert not find_drift(x).steady
    assert find_drift(without_spikes(x)).certain


def test_lasting_values():
    ok = np.ones(9, dtype=bool)
    assert lasting(np.array([1.0, 2, 9, 9, 2, 3, 3, 3, 1]), ok) == 3.0
    assert lasting(np.array([1.0, 2]), ok[:2]) == 2.0
    assert lasting(np.array([5.0, 5, 5, 5, 2, 2, 2]), np.array([True, False, True, False, True, True, True])) == 2.0
    assert lasting(np.zeros(0), ok[:0]) == 0.0
