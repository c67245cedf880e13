"""Comparisons: MuJoCo and SciPy as independent judges of the same body, exact references, tables and orders."""

import json
import sys

import mujoco
import numpy as np
import pytest

import dalembert as dal
from dalembert.comparison import measures, parse_method
from dalembert.comparison.methods import make_method
from dalembert.comparison.precision import observed_order
from dalembert.comparison.reference import exact_attitude
from dalembert.peers import PEERS, find_peer
from dalembert.peers import mujoco as mujoco_peer

FULL = [[0.2, 0.01, 0.0], [0.01, 0.5, 0.02], [0.0, 0.02, 0.6]]
POSE = ((1.0, 2.0, 3.0), (0.5, 0.5, -0.5, 0.5))
TILTED = np.array([0.9, 0.3, 0.2, 0.1]) / np.linalg.norm([0.9, 0.3, 0.2, 0.1])


def free(gravity=(0.5, -1.0, -9.0)):
    """A free body with all that can be got wrong: full inertia, centre of mass off the origin, turned reference pose, skew gravity."""
    m = dal.Model("free", gravity=gravity)
    m.add_body("b", 1.3, FULL, com=(0.1, 0.02, -0.03), pose=POSE)
    return m, m.neutral(), np.array([1.0, 3.0, 0.2, 1.0, 0.5, -0.2])


def top(gravity=(0.5, -1.0, -9.0), damping=0.0):
    """A body on a pivot away from its origin, all else as above."""
    m = dal.Model("top", gravity=gravity)
    m.add_body("b", 1.3, FULL, com=(0.1, 0.02, -0.03), pose=POSE)
    m.add_joint("tip", "spherical", "world", "b", anchor=(1.1, 2.3, 2.9), damping=damping)
    return m, TILTED, np.array([1.0, 3.0, 0.2])


def symmetric_top(axis=2, side=1.0, gravity=(0.5, -1.0, -9.0)):
    """Lagrange's top about one of its axes, the centre of mass on either side of the pivot."""
    inertia, com = np.ones(3), np.zeros(3)
    inertia[axis], com[axis] = 2.0, 0.5 * side
    m = dal.Model("lagrange", gravity=gravity)
    m.add_body("b", 1.3, inertia, com=com)
    m.add_joint("tip", "spherical", "world", "b")
    return m, TILTED, np.array([0.4, 1.0, 5.0])


# MuJoCo -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [free, top])
def test_mujoco_finds_the_same_energy_and_momentum(build):
    m, q, v = build()
    mj_model, data = mujoco_peer.load(m, q, v, 0.01, "RK4")
    # round-off of sums of about ten terms
    assert data.energy[0] == pytest.approx(m.potential_energy(q), rel=1e-13)
    assert data.energy[1] == pytest.approx(m.kinetic_energy(q, v), rel=1e-13)
    mujoco.mj_subtreeVel(mj_model, data)
    linear = m.total_mass * data.subtree_linvel[1]
    angular = data.subtree_angmom[1] + np.cross(data.xipos[1], linear)
    np.testing.assert_allclose(m.momentum(q, v), np.concatenate([angular, linear]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("build", [free, top])
def test_states_go_to_mujoco_and_back(build):
    m, q, v = build()
    q2, v2 = mujoco_peer.from_mujoco(m, *mujoco_peer.to_mujoco(m, q, v))
    np.testing.assert_allclose(np.concatenate([q2, v2]), np.concatenate([q, v]), atol=1e-15)


@pytest.mark.parametrize("build", [free, top])
def test_mujoco_and_dalembert_agree_at_a_small_step(build):
    """Both have order 4: errors of h^4 |omega|^5 t ~ 1e-12 * 3e2 at h = 1e-3; 1e-8 leaves room for constants only."""
    m, q, v = build()
    peer = find_peer("mujoco:rk4")
    theirs = peer.run(peer, m, q, v, 1e-3, 1000).traj
    ours = dal.simulate(m, "cayley", h=1e-3, t_end=1.0, q0=q, v0=v, compose="suzuki4")
    assert np.abs(m.difference(ours.q, theirs.q)).max() < 1e-8
    assert np.abs(ours.v - theirs.v).max() < 1e-7  # angular accelerations are ten times the rates


def test_damping_of_a_joint_is_the_same_in_mujoco_and_scipy():
    m, q, v = top(damping=0.3)
    a, b = (find_peer(name) for name in ("mujoco:rk4", "scipy:dop853"))
    theirs, judge = a.run(a, m, q, v, 1e-3, 1000).traj, b.run(b, m, q, v, 1e-3, 1000, 1e-12).traj
    assert np.abs(m.difference(judge.q, theirs.q)).max() < 1e-8
    assert judge.energy[-1] < judge.energy[0] - 0.1  # it was at work


def test_forces_that_mujoco_is_not_given_are_refused():
    m, q, v = free()
    m.add_force(dal.Damper("b", angular=0.1))
    with pytest.raises(dal.UnsupportedError, match=r"mujoco:rk4.*damper"):
        dal.compare(m, [("mujoco:rk4", 0.1)], 1.0, q, v)
    m, q, v = free()
    m.add_force(dal.Wrench("b", force=(1, 0, 0)))
    with pytest.raises(dal.UnsupportedError, match=r"mujoco:euler.*wrench"):
        dal.compare(m, [("mujoco:euler", 0.1)], 1.0, q, v)


def test_missing_mujoco_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    m, q, v = free()
    with pytest.raises(dal.OptionError, match="pip install mujoco"):
        dal.compare(m, [("mujoco:rk4", 0.1)], 1.0, q, v)


# SciPy --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [free, top])
def test_scipy_and_dalembert_agree_under_wrenches(build):
    m, q, v = build()
    m.add_force(dal.Wrench("b", force=(1, 2, -1), torque=(0.1, 0, 0.2), point=(0.2, 0, 0.1)))
    m.add_force(dal.Wrench("b", force=(0, -1, 2), torque=(0, 0.2, 0), point=(0, 0.3, 0.1), frame="world"))
    peer = find_peer("scipy:dop853")
    judge = peer.run(peer, m, q, v, 0.01, 100, 1e-12).traj
    ours = dal.simulate(m, "cayley", h=1e-3, t_end=1.0, q0=q, v0=v, compose="kahan-li6", every=10)
    assert np.abs(m.difference(judge.q, ours.q)).max() < 1e-9  # 8th order interpolant at rtol 1e-12, order 6 at h = 1e-3
    assert np.abs(judge.v - ours.v).max() < 1e-8


@pytest.mark.parametrize("build", [free, top])
def test_order_two_under_damping_against_scipy(build):
    m, q, v = build()
    m.add_force(dal.Damper("b", angular=0.2, linear=0.5))
    w = dal.work_precision(m, ["cayley"], [0.02, 0.01, 0.005, 0.0025], 1.0, q0=q, v0=v)
    assert w.measure == "attitude"
    assert "scipy:dop853" in w.reference.text
    assert w.orders["cayley"] == pytest.approx(2.0, abs=0.1)


def test_scipy_leaves_the_group_and_dalembert_does_not():
    m, q, v = free()
    c = dal.compare(m, [("cayley", 0.01), ("scipy:rk45", 0.01, 1e-5)], 2.0, q, v)
    assert c.rows[0].group < 1e-15
    assert c.rows[1].group > 1e-8  # its tolerance lets the norm move


# references ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.5, -1.0, -9.0)])
def test_exact_attitude_of_a_free_body(gravity):
    _against_scipy(*free(gravity))


@pytest.mark.parametrize("gravity", [(0.5, -1.0, -9.0), (0.0, 0.0, -9.81), (0.0, 0.0, 9.81), (0.001, 0.0, 9.81)])
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_exact_attitude_of_lagranges_top(axis, side, gravity):
    _against_scipy(*symmetric_top(axis, side, gravity))


def test_exact_attitude_of_a_body_on_a_pivot_without_gravity():
    _against_scipy(*top(gravity=(0, 0, 0)))


def _against_scipy(m, q, v):
    exact = exact_attitude(m, q, v, 1.5)
    peer = find_peer("scipy:dop853")
    end = peer.run(peer, m, q, v, 1.5, 1, 1e-12).traj.q[-1]
    assert exact is not None
    assert exact.error(m, end) < 1e-10  # rtol 1e-12 over about 100 steps


def test_a_body_without_exact_solution_has_a_fine_reference_and_says_so():
    m, q, v = top()
    c = dal.compare(m, [("cayley", 0.01), ("mujoco:rk4", 0.01)], 1.0, q, v)
    assert "cayley+kahan-li6 at h = 0.00125" in c.reference.text
    assert c.reference.uncertainty < 1e-10
    assert c.rows[1].attitude < 1e-5 < c.rows[0].attitude < 1e-1
    with pytest.raises(dal.OptionError, match="no exact solution"):
        dal.compare(m, [("cayley", 0.01)], 1.0, q, v, reference="exact")


def test_a_chaotic_motion_has_no_reference_and_is_measured_by_its_energy():
    scene = dal.scenes.find("asymmetric-top")
    w = dal.work_precision(scene.model(), ["cayley"], [0.02, 0.01], 100.0, q0=scene.q0, v0=scene.v0)
    assert w.reference.end is None
    assert w.measure == "energy"
    assert "chaotic" in w.text
    assert all(r["error"] == r["energy_error"] for r in w.table)


def test_references_by_name_and_by_function():
    m, q, v = free()
    exact = dal.compare(m, [("cayley", 0.01)], 1.0, q, v).rows[0].attitude
    for reference in ("scipy:dop853", "mujoco:rk4", "cayley+suzuki4", lambda t: np.tile(exact_attitude(m, q, v, 1.0).end, (len(t), 1))):
        assert dal.compare(m, [("cayley", 0.01)], 1.0, q, v, reference=reference).rows[0].attitude == pytest.approx(exact, rel=1e-4)
    assert np.isnan(dal.compare(m, [("cayley", 0.01)], 1.0, q, v, reference="none").rows[0].attitude)


# the table ----------------------------------------------------------------------------------------------------------------------


def test_a_comparison_shows_what_each_method_keeps():
    m, q, v = free(gravity=(0, 0, 0))
    c = dal.compare(m, [("cayley", 0.01), ("tln", 0.01), ("cayley", 0.01, "suzuki4"), ("euler", 0.01), ("mujoco:euler", 0.01)], 5.0, q, v)
    cayley, tln, suzuki, euler, mujoco = c.rows
    assert [r.label for r in c.rows] == ["cayley", "tln", "cayley + suzuki4", "euler", "mujoco:euler"]
    assert [r.steps for r in c.rows] == [500] * 5
    assert cayley.momentum < 1e-13 and suzuki.momentum < 1e-13  # round-off of 500 and 2500 substeps
    assert tln.energy_band < 1e-13 < tln.momentum
    assert suzuki.attitude < 1e-3 * cayley.attitude
    assert euler.energy_drift > 1e-3 and euler.momentum > 1e-3
    assert cayley.verdict == "pass" and mujoco.verdict == "-"
    assert all(r.seconds > 0 for r in c.rows)
    assert [t.meta["method"] for t in c.trajectories] == [r.label for r in c.rows]


def test_the_text_and_the_dict_hold_all_rows(tmp_path):
    m, q, v = free()
    c = dal.compare(m, [("cayley", 0.01), ("scipy:dop853", 0.01, 1e-9)], 1.0, q, v)
    assert "scipy:dop853 (1e-09)" in c.text and "exact solution" in c.text
    assert str(c) == c.text
    data = json.loads(json.dumps(c.to_dict(), allow_nan=False))
    assert [r["label"] for r in data["rows"]] == ["cayley", "scipy:dop853 (1e-09)"]
    c.plot(tmp_path / "c.png")
    assert (tmp_path / "c.png").stat().st_size > 10_000


def test_a_method_that_fails_is_a_row_and_not_the_end():
    """The quaternion step about a principal axis has no solution for h |omega| > 1."""
    m = dal.Model("fast", gravity=(0, 0, 0))
    m.add_body("b", 1.0, (1.0, 2.0, 3.0))
    c = dal.compare(m, [("quaternion", 0.5), ("cayley", 0.5)], 5.0, v0=(0.1, 0.1, 3.0, 0, 0, 0))
    failed, fine = c.rows
    assert failed.verdict == "fail" and np.isnan(failed.attitude) and failed.steps < 10
    assert failed.status in c.text and "quaternion: step" in c.text
    assert fine.steps == 10 and fine.status == "ok"
    json.dumps(c.to_dict(), allow_nan=False)


def test_momentum_under_gravity_is_measured_where_it_is_conserved():
    for m, q, v in (free(), top()):
        traj = dal.simulate(m, "cayley", h=0.01, t_end=2.0, q0=q, v0=v)
        assert measures.momentum(traj) < 1e-12
        broken = dal.simulate(m, "euler", h=0.01, t_end=2.0, q0=q, v0=v)
        assert measures.momentum(broken) > 1e-4


def test_a_body_at_rest_has_no_errors():
    m = dal.Model("rest", gravity=(0, 0, 0))
    m.add_body("b", 1.0, (1, 2, 3))
    row = dal.compare(m, [("cayley", 0.1)], 1.0).rows[0]
    assert (row.energy_band, row.momentum, row.attitude) == (0.0, 0.0, 0.0)


# work and precision ---------------------------------------------------------------------------------------------------------------


def test_observed_orders_are_the_orders_of_the_methods(tmp_path):
    m, q, v = free(gravity=(0, 0, 0))
    names = ["cayley", "tln", "quaternion", "euler", "cayley+suzuki4", "cayley+yoshida6", "mujoco:rk4"]
    w = dal.work_precision(m, names, [0.02, 0.01, 0.005, 0.0025], 1.0, q0=q, v0=v)
    want = {"cayley": 2, "tln": 2, "quaternion": 2, "euler": 1, "cayley + suzuki4": 4, "cayley + yoshida6": 6, "mujoco:rk4": 4}
    assert set(w.orders) == set(want)
    for name, p in want.items():
        assert w.orders[name] == pytest.approx(p, abs=0.1), name
    assert len(w.table) == 4 * len(names)
    assert {"method", "h", "seconds", "error", "energy_error"} <= set(w.table[0])
    assert "observed orders: cayley 2.0" in w.text and "exact solution" in w.text
    json.dumps(w.to_dict(), allow_nan=False)
    w.plot(tmp_path / "w.png")
    assert (tmp_path / "w.png").stat().st_size > 10_000


def test_errors_at_round_off_and_out_of_range_do_not_count_for_the_order():
    rows = [{"h": h, "error": e} for h, e in ((0.4, 2.0), (0.2, 4e-2), (0.1, 1e-2), (0.05, 3e-15))]
    assert observed_order(rows, 1e-13) == pytest.approx(2.0)
    assert np.isnan(observed_order(rows[:2], 1e-13))
    assert np.isnan(observed_order([], 1e-13))


def test_a_run_that_fails_is_left_out_of_the_order():
    m = dal.Model("fast", gravity=(0, 0, 0))
    m.add_body("b", 1.0, (1.0, 2.0, 3.0))
    w = dal.work_precision(m, ["quaternion"], [0.5, 0.05, 0.025], 1.0, v0=(0.1, 0.1, 3.0, 0, 0, 0))
    assert np.isnan(w.table[0]["error"]) and w.table[0]["status"] != "ok"
    assert w.orders["quaternion"] == pytest.approx(2.0, abs=0.1)
    assert "quaternion, h = 0.5 s: step" in w.text


# names ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("cayley:0.01", ("cayley", 0.01, None, None)),
        ("cayley+suzuki4:0.01", ("cayley", 0.01, "suzuki4", None)),
        (" tln : 1e-3 ", ("tln", 1e-3, None, None)),
        ("mujoco:rk4:0.01", ("mujoco:rk4", 0.01, None, None)),
        ("scipy:dop853:0.01:1e-12", ("scipy:dop853", 0.01, None, 1e-12)),
    ],
)
def test_methods_as_text(text, want):
    method = parse_method(text)
    assert (method.name, method.h, method.compose, method.rtol) == want


@pytest.mark.parametrize(
    "text", ["cayley", "cayley:x", "mujoco:rk4", "", ":", "cayley:0.01:suzuki4:1", "mujoco:rk4:0.01:1e-3", "cayley+nix:0.01"]
)
def test_methods_that_cannot_be(text):
    with pytest.raises(dal.DalembertError):
        parse_method(text)


@pytest.mark.parametrize("entry", ["cayley", ("cayley",), ("cayley", 0.1, "suzuki4", 1), (3, 0.1), ("cayley+suzuki4", 0.1, "yoshida4"), 7])
def test_entries_that_cannot_be(entry):
    with pytest.raises(dal.OptionError, match="method"):
        make_method(entry)


def test_unknown_names_give_the_nearest():
    m, *_ = free()
    with pytest.raises(dal.UnknownNameError, match="did you mean 'cayley'"):
        dal.compare(m, [("cayly", 0.1)], 1.0)
    with pytest.raises(dal.UnknownNameError, match="did you mean 'mujoco:rk4'"):
        dal.compare(m, [("mujoco:rk44", 0.1)], 1.0)
    with pytest.raises(dal.UnknownNameError, match="unknown reference 'mk9'"):
        dal.work_precision(m, ["cayley"], [0.1], 1.0, reference="mk9")
    with pytest.raises(dal.UnsupportedError, match="self-adjoint"):
        dal.compare(m, [("euler", 0.1, "suzuki4")], 1.0)


def test_arguments_that_cannot_be():
    m, *_ = free()
    with pytest.raises(dal.OptionError, match=r"methods is \[\]; expected a list"):
        dal.compare(m, [], 1.0)
    with pytest.raises(dal.OptionError, match="expected a Model"):
        dal.compare("free", [("cayley", 0.1)], 1.0)
    with pytest.raises(dal.OptionError, match="expected a Model"):
        dal.work_precision("free", ["cayley"], [0.1], 1.0)
    with pytest.raises(dal.OptionError, match="steppers is"):
        dal.work_precision(m, [], [0.1], 1.0)
    with pytest.raises(dal.OptionError, match="whole number of steps"):
        dal.compare(m, [("cayley", 0.3)], 1.0)
    with pytest.raises(dal.OptionError, match="rtol"):
        dal.compare(m, [("scipy:dop853", 0.1, 2.0)], 1.0)


def test_every_peer_runs_and_describes_itself():
    m, q, v = free()
    for name, peer in PEERS.items():
        outcome = peer.run(peer, m, q, v, 0.01, 10)
        assert outcome.traj.status == "ok" and len(outcome.traj) == 11
        assert outcome.traj.stepper.name == name == outcome.traj.meta["method"]
        assert peer.summary and peer.references


def test_a_peer_that_diverges_is_cut_at_its_last_finite_node(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    m, q, v = free(gravity=(0, 0, 0))
    with np.errstate(over="ignore", invalid="ignore"):
        row = dal.compare(m, [("mujoco:euler", 1.0)], 200.0, q, 100 * v).rows[0]
    assert row.verdict == "fail" and "not finite" in row.status and row.steps < 10
    assert list(tmp_path.iterdir()) == []  # MuJoCo would leave a log file


def test_mk8_is_a_reference():
    m = dal.Model("top")
    m.add_body("rotor", 1.0, (1, 1.3, 0.8), com=(0, 0.1, 0.5))
    m.add_joint("tip", "spherical", "world", "rotor")
    found = dal.work_precision(m, ["tln", "mk4"], [0.02, 0.01, 0.005], 1.0, reference="mk8", v0=(0.3, 1.0, 2.0))
    assert "mk8 at rtol 1e-12" in found.reference.text
    assert found.orders["mk4"] == pytest.approx(4, abs=0.2)
