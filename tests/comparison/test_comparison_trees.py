"""Comparisons of whole machines: the model that MuJoCo is given, its runs, SciPy's, measures, references, conclusions."""

import json
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import dalembert as dal
from dalembert.comparison import measures, parse_method, robots
from dalembert.comparison.conclusion import keeps_energy
from dalembert.comparison.methods import Method, bounding
from dalembert.comparison.tree_momentum import floats, momentum_of_tree
from dalembert.importers import ModelImportWarning
from dalembert.peers import find_peer
from dalembert.peers import mujoco as mujoco_peer
from dalembert.peers.mujoco_model import compile_model

ROOT = Path(__file__).parents[2]
QUADRUPED = ROOT / "examples" / "quadruped.xml"


def load(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelImportWarning)
        return dal.load_model(path, **options)


def quadruped():
    return robots.with_gravity(robots.smooth(load(QUADRUPED)))


def all_joints():
    """Every kind of joint, frames, fixed bodies, an armature, springs at the joints, skew gravity and reference poses."""
    rng = np.random.default_rng(7)
    m = dal.Model("all joints", gravity=(0.5, -1.0, -9.0))

    def body(name, frame=False):
        quaternion = rng.normal(size=4)
        pose = (rng.uniform(-0.5, 0.5, 3), quaternion / np.linalg.norm(quaternion))
        if frame:
            m.add_frame(name, pose)
        else:
            A = rng.normal(size=(3, 3))
            m.add_body(name, rng.uniform(0.5, 2.0), 0.02 * A @ A.T + 0.4 * np.eye(3), com=rng.uniform(-0.1, 0.1, 3), pose=pose)

    def join(name, kind, parent, child, **more):
        m.add_joint(name, kind, parent, child, anchor=rng.uniform(-0.5, 0.5, 3), axis=rng.normal(size=3), **more)

    for name in ("base", "arm", "puck", "ball", "shaft", "cross", "slider", "tool"):
        body(name)
    body("between", frame=True)
    body("mark", frame=True)
    m.add_joint("fly", "free", "world", "base")
    join("turn", "revolute", "base", "between", armature=0.1)
    join("bend", "revolute", "between", "arm", stiffness=2.0, rest=0.3, damping=0.1)
    join("glue", "fixed", "arm", "tool")
    join("here", "fixed", "arm", "mark")
    join("table", "planar", "arm", "puck")
    join("socket", "spherical", "base", "ball", stiffness=1.5)
    join("screw", "cylindrical", "tool", "shaft")
    join("cardan", "universal", "base", "cross", axis2=rng.normal(size=3))
    join("rail", "prismatic", "world", "slider", stiffness=20.0, damping=0.2)
    return m


MODELS = {"all joints": all_joints, "quadruped": lambda: load(QUADRUPED), "gripper": lambda: load(ROOT / "tests/data/models/gripper.xml")}


# the model that MuJoCo is given ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_mujoco_finds_the_same_energies_and_accelerations(name):
    """Round-off of products over a dozen bodies; accelerations of a free joint: d/dt (R v) = R (a + omega x v)."""
    m, rng = MODELS[name](), np.random.default_rng(3)
    mj = compile_model(m, 0.01, "RK4")
    mj.opt.enableflags = int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    data = mujoco.MjData(mj)
    assert (mj.nq, mj.nv) == (m.nq, m.nv)
    for _ in range(3):
        q, v = m.random(rng), rng.uniform(-1, 1, m.nv)
        data.qpos[:], data.qvel[:] = m.to_mujoco(q, v)
        mujoco.mj_forward(mj, data)
        assert data.energy[1] == pytest.approx(float(m.kinetic_energy(q, v)), rel=1e-12)
        assert data.energy[0] == pytest.approx(float(m.potential_energy(q)), rel=1e-11)
        a = m.forward_dynamics(q, v)
        for j in m.joints:
            if j.kind == "free":
                s = m.v_slices()[j.name]
                a[s][3:] += np.cross(v[s][:3], v[s][3:])
        theirs = data.qacc
        np.testing.assert_allclose(m.to_mujoco(q, a)[1], theirs, rtol=0, atol=1e-10 * np.abs(theirs).max())


def test_frames_and_fixed_bodies_cost_mujoco_no_bodies():
    m = all_joints()
    moving = {j.child for j in m.joints if j.kind != "fixed"} - {"between"}
    assert compile_model(m, 0.01, "Euler").nbody == 1 + len(moving)


def test_a_wrong_translation_would_be_noticed(monkeypatch):
    m = quadruped()
    monkeypatch.setattr(mujoco_peer, "to_mujoco", lambda model, q, v: (q, v))  # axes and order of the free joint's velocity forgotten
    with pytest.raises(dal.ModelError, match="not be the same machine"):
        mujoco_peer.load(m, *robots.random_start(m), 0.01, "RK4")


def test_a_machine_that_mujoco_refuses_is_told():
    m = dal.Model("singular")
    m.add_frame("nothing")
    m.add_joint("turn", "revolute", "world", "nothing")
    with pytest.raises(dal.UnsupportedError, match="cannot be built in MuJoCo"):
        compile_model(m, 0.01, "Euler")


# runs -----------------------------------------------------------------------------------------------------------------------------


def test_mujoco_scipy_and_mk8_follow_the_same_motion():
    """RK4 at h = 1e-3: errors of h^4 |rate|^5 t ~ 1e-11; springs of the model have rates of about 10 / s."""
    m = all_joints()
    q, v = m.integrate(m.neutral(), 0.1 * np.ones(m.nv)), 0.5 * np.ones(m.nv)
    ours = dal.simulate(m, "mk8", h=0.1, t_end=0.5, q0=q, v0=v, rtol=1e-12, atol=1e-12)
    for name, rtol, limit in (("mujoco:rk4", None, 1e-8), ("scipy:dop853", 1e-11, 1e-8), ("scipy:radau", 1e-8, 1e-5)):
        peer = find_peer(name)
        theirs = peer.run(peer, m, q, v, 1e-3, 500, rtol, every=100).traj
        np.testing.assert_allclose(theirs.t, ours.t, atol=1e-12)
        assert np.abs(m.difference(ours.q, theirs.q)).max() < limit, name
        assert np.abs(ours.v - theirs.v).max() < 10 * limit, name


def test_chunks_and_kept_nodes_do_not_change_a_run(monkeypatch):
    m = quadruped()
    q, v = robots.random_start(m)
    peer = find_peer("mujoco:euler")
    whole = peer.run(peer, m, q, v, 0.01, 120).traj
    monkeypatch.setattr(mujoco_peer, "CHUNK", 7)
    for every in (1, 4, 30):
        parts = peer.run(peer, m, q, v, 0.01, 120, every=every).traj
        np.testing.assert_array_equal(parts.q, whole.q[::every])
        np.testing.assert_allclose(parts.t, whole.t[::every], rtol=1e-15)
        assert parts.meta["every"] == every and parts.status == "ok"


def test_a_run_of_mujoco_ends_where_it_diverges(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mujoco_peer, "CHUNK", 16)
    m = quadruped()
    q, v = robots.random_start(m, speed=60.0)
    result = dal.compare(m, [("mujoco:euler", 0.05), ("mujoco:rk4", 0.0005)], 2.0, q, v, reference="none")
    row, fine = result.rows
    assert "not finite" in row.status and row.steps < 40 and row.verdict == "fail"
    assert fine.status == "ok"
    assert np.isfinite(result.trajectories[0].q).all()
    assert any("broke down" in line for line in result.conclusion)
    json.dumps(result.to_dict(), allow_nan=False)
    assert list(tmp_path.iterdir()) == []


def test_bounding_keeps_memory_small_and_divides():
    assert bounding(1000) == 1
    for n in (100_000, 1_000_000, 123_456):
        assert n % bounding(n) == 0 and n // bounding(n) <= 20_000
    assert bounding(100_003) == 1  # a prime has no divisor


# measures -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gravity", [(0, 0, 0), (0.3, 0, -9.81)])
def test_momentum_of_a_floating_tree(gravity):
    """mk8 keeps it within its tolerance, mk2 does not; under gravity about the centre of mass and less m g t."""
    m = robots.with_gravity(quadruped(), gravity)
    q, v = robots.random_start(m)
    fine, coarse = (dal.simulate(m, name, h=0.02, t_end=2.0, q0=q, v0=v) for name in ("mk8", "mk2"))
    assert momentum_of_tree(fine).max() < 1e-8  # rtol 1e-10 per internal step
    assert momentum_of_tree(coarse).max() > 1e-6


def test_momentum_is_not_judged_where_the_world_holds():
    m = dal.scenes.find("pendulum-chain").model()
    traj = dal.simulate(m, "mk4", h=0.01, t_end=0.1, q0={"j1": 1.0})
    assert not floats(m) and np.isnan(measures.momentum(traj)) and np.isnan(measures.group_error(traj))


def test_one_scale_for_all_runs():
    """A run that gains energy must not hide that behind its own kinetic energy."""
    m = quadruped()
    result = dal.compare(m, [("mk4", 0.01), ("mujoco:euler", 0.05)], 20.0, *robots.random_start(m, speed=3.0), reference="none")
    assert result.rows[1].energy_band > 2.0
    assert result.scale == pytest.approx(result.trajectories[0].kinetic.max(), rel=0.05)


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (lambda t: 1e-3 * np.sin(7 * t), True),
        (lambda t: 1e-3 * np.sin(7 * t) ** 2, True),  # the start lies at the edge of the band
        (lambda t: 1e-3 * np.sin(7 * t) - 1e-4 * t, False),
        (lambda t: np.exp(-t) - 1.0, False),  # lost at once, then at rest
        (lambda t: 1e-13 * t, True),  # round-off
        (lambda t: t * np.nan, False),
    ],
)
def test_what_counts_as_kept_energy(error, kept):
    assert keeps_energy(error(np.linspace(0, 100, 4000))) is kept


# compare and work_precision -------------------------------------------------------------------------------------------------------


def test_a_variational_method_keeps_what_mujoco_loses(tmp_path):
    m = quadruped()
    methods = robots.default_methods(m, 0.02)
    assert [x.name for x in methods][1:] == ["mujoco:euler", "mujoco:implicitfast", "mujoco:rk4"]
    assert dal.steppers(system="tree", name=methods[0].name)[0].symplectic
    result = dal.compare(m, methods, 100.0, *robots.random_start(m), reference="none")
    ours, euler = result.rows[:2]
    assert ours.momentum < 1e-11 and euler.momentum > 1e-2  # round-off of 5000 steps
    assert ours.energy_band < 1e-2 < euler.energy_band
    assert keeps_energy(result.curves[0]["energy_error"]) and not keeps_energy(result.curves[1]["energy_error"])
    assert "does not drift, momentum is kept to round-off" in result.conclusion[0]
    assert "us/step" in result.text and "nothing left out for all methods alike" in result.text
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["conclusion"] == result.conclusion
    result.plot(tmp_path / "c.png")
    assert (tmp_path / "c.png").stat().st_size > 10_000


def test_the_end_is_measured_against_mk8_unless_the_motion_is_chaotic():
    scene = dal.scenes.find("floating-chain")
    result = dal.compare(scene.model(), [("mk4", 0.01), ("mujoco:euler", 0.01)], 2.0, scene.q0, scene.v0)
    assert "mk8 at rtol 1e-12" in result.reference.text and result.reference.uncertainty < 1e-8
    assert result.rows[0].attitude < 1e-6 < 1e-3 < result.rows[1].attitude
    with pytest.raises(dal.OptionError, match="no exact solution"):
        dal.compare(scene.model(), [("mk4", 0.01)], 2.0, scene.q0, scene.v0, reference="exact")
    wild = dal.scenes.find("pendulum-chain")
    result = dal.compare(wild.model(), [("mk4", 0.01)], 60.0, wild.q0, wild.v0)
    assert result.reference.end is None and "chaotic" in result.reference.text


def test_orders_of_trees():
    scene = dal.scenes.find("floating-chain")
    w = dal.work_precision(scene.model(), ["mk4", "cf2", "mujoco:rk4", "mujoco:euler"], [0.04, 0.02, 0.01], 1.0, q0=scene.q0, v0=scene.v0)
    assert w.measure == "configuration"
    for name, order in {"mk4": 4, "cf2": 2, "mujoco:rk4": 4, "mujoco:euler": 1}.items():
        assert w.orders[name] == pytest.approx(order, abs=0.2), name


def test_features_are_refused_by_name_or_left_out_for_all():
    m = load(QUADRUPED)
    start = robots.random_start(m)
    with pytest.raises(dal.UnsupportedError, match="contact, limits"):
        dal.compare(m, [("mk4", 0.01)], 1.0, *start)
    with pytest.raises(dal.UnsupportedError, match=r"mujoco:rk4.*limits.*ignore"):
        dal.compare(m, [("mujoco:rk4", 0.01)], 1.0, *start)
    assert robots.left_out(m) == ("contact", "limits")
    result = dal.compare(m, [("mk4", 0.005), ("mujoco:rk4", 0.005)], 1.0, *start, ignore=("contact", "limits"))
    assert result.ignored == ("contact", "limits") and "contact, limits left out for all methods alike" in result.text
    assert all(r.attitude < 1e-5 for r in result.rows)  # both of order 4, against mk8 with the damping
    assert np.isnan(result.rows[1].energy_band)  # energy of a damped machine says nothing
    m.add_force(dal.Wrench("trunk", force=(1, 0, 0)))
    with pytest.raises(dal.UnsupportedError, match=r"mujoco:rk4' does not run wrench of .*ignore=\('contact', 'limits', 'wrench'\)"):
        dal.compare(m, [("mujoco:rk4", 0.01)], 1.0, *start, ignore=("contact", "limits"))
    everything = ("contact", "limits", "wrench")
    assert dal.compare(m, [("mujoco:rk4", 0.01)], 0.1, *start, ignore=everything, reference="none").ignored == everything


# robots ---------------------------------------------------------------------------------------------------------------------------


def test_smooth_takes_away_what_is_not_smooth():
    m = load(QUADRUPED)
    s = robots.smooth(m)
    assert not any(j.damping or j.friction or j.stiffness or j.limits for j in s.joints)
    assert all(a.armature == b.armature for a, b in zip(m.joints, s.joints, strict=True))
    assert not any(j.armature for j in robots.smooth(m, armature=False).joints)
    assert any(j.damping for j in m.joints)  # the original is untouched
    robots.check_energy(s)
    with pytest.raises(dal.OptionError, match=r"damping of 12 joints .*--smooth"):
        robots.check_energy(m)


def test_a_random_start_turns_in_place_and_comes_again():
    m = quadruped()
    q, v = robots.random_start(m, 5)
    assert np.abs(m.momentum(q, v)[3:]).max() < 1e-13
    assert np.linalg.norm(m.momentum(q, v)[:3]) > 0.01
    np.testing.assert_array_equal(robots.random_start(m, 5)[1], v)
    assert not np.array_equal(robots.random_start(m, 6)[1], v)


def test_methods_without_a_step_take_the_common_one():
    assert parse_method("mujoco:rk4", 0.02) == Method("mujoco:rk4", 0.02)
    assert parse_method("mk4", 0.02) == Method("mk4", 0.02)
    assert parse_method("mk4:0.1", 0.02) == Method("mk4", 0.1)


def test_cpu_time_is_that_of_the_machine_without_what_the_run_ignored(monkeypatch):
    from dalembert.comparison import methods

    m = dal.Model("rods")
    for i in range(2):
        m.add_body(f"r{i}", 1.0, (0.03, 0.03, 0.001), com=(0, 0, -0.25), pose=((0, 0, -0.5 * i), (1, 0, 0, 0)))
        m.add_joint(f"j{i}", "revolute", f"r{i - 1}" if i else "world", f"r{i}", (0, 0, -0.5 * i), (0, 1, 0), limits=(-1, 1))
    m.add_loop("end", "spherical", "world", "r1", (0, 0, -1))
    timed = []
    make = methods.Plan.from_meta
    monkeypatch.setattr(methods.Plan, "from_meta", lambda *given: timed.append(made := make(*given)) or made)
    result = dal.compare(m, [("mk4", 0.01)], 0.2, {"j0": 0.3}, reference="none", ignore=("loops", "limits"))
    assert result.rows[0].seconds > 0.0
    assert len(timed) == 1
    assert not timed[0].acting.loops
    assert all(j.limits is None for j in timed[0].acting.joints)


def test_the_reference_shows_its_progress_and_is_not_timed(monkeypatch):
    from dalembert.comparison import methods
    from dalembert.runs import run as running

    shown, timed = [], []
    bar = running.Progress
    monkeypatch.setattr(running, "Progress", lambda wanted, what, *rest: shown.append((what, wanted)) or bar(wanted, what, *rest))
    seconds = methods.stepping_seconds
    monkeypatch.setattr(methods, "stepping_seconds", lambda traj: timed.append(traj.meta["method"]) or seconds(traj))
    m = dal.scenes.find("pendulum-chain").model()
    dal.compare(m, [("mk4", 0.01)], 0.1, reference="mk8", progress=True)
    assert shown == [("mk4", True), ("mk8", True), ("mk8", True)]
    assert timed == ["mk4"]
    shown.clear()
    dal.work_precision(m, ["mk4"], [0.01, 0.005], 0.1, reference="mk8", progress=True)
    assert shown == [("mk8", True), ("mk8", True), ("mk4", True), ("mk4", True)]
