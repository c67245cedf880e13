"""Every kind of loop joint between two bodies: the same machine with that joint in its tree, run by another method, is the judge."""

import numpy as np
import pytest

import dalembert as dal

METHODS = ("midpoint", "trapezoidal", "null-space")
KINDS = ("spherical", "fixed", "revolute", "prismatic", "cylindrical", "universal", "planar")
LEVEL = (1.0, 0.0, 0.0, 0.0)
HALVINGS = 2.0 ** -np.arange(4)
ANCHOR, AXIS, AXIS2 = (0.1, 0.0, -0.5), (0.6, 0.0, 0.8), (0.8, 0.0, -0.6)


def pair(kind, closed):
    """Two bodies, the first on a ball joint, the second joined to it by a joint of the tree, or free and held by a loop."""
    m = dal.Model(f"{kind} pair", gravity=(0.3, 0.0, -2.0))
    m.add_body("upper", 1.5, (0.2, 0.25, 0.15), com=(0.05, 0.02, -0.2))
    m.add_body("lower", 1.0, (0.15, 0.2, 0.1), com=(-0.1, 0.05, -0.3), pose=((0, 0, -0.6), LEVEL))
    m.add_joint("ball", "spherical", "world", "upper")
    more = {"axis2": AXIS2} if kind == "universal" else {}
    if closed:
        m.add_joint("root", "free", "world", "lower")
        m.add_loop("joint", kind, "upper", "lower", ANCHOR, AXIS, **more)
    else:
        m.add_joint("joint", kind, "upper", "lower", ANCHOR, AXIS, **more)
    return m.frozen()


def start(kind):
    """(tree, q, v) and (machine with a loop, q, v) of one state: poses and twists of the bodies agree."""
    tree, closed = pair(kind, False), pair(kind, True)
    rng = np.random.default_rng(KINDS.index(kind))
    q = tree.integrate(tree.neutral(), 0.2 * rng.uniform(-1, 1, tree.nv))
    v = 0.5 * rng.uniform(-1, 1, tree.nv)
    pose, twist = tree.poses(q)[1], tree.jacobian("lower", q) @ v
    q2, v2 = closed.neutral(), np.zeros(closed.nv)
    q2[closed.q_slices()["ball"]], v2[closed.v_slices()["ball"]] = q[tree.q_slices()["ball"]], v[tree.v_slices()["ball"]]
    q2[closed.q_slices()["root"]] = np.concatenate([pose[:3, 3], dal.quat.from_matrix(pose[:3, :3])])
    v2[closed.v_slices()["root"]] = twist
    return (tree, q, v), (closed, q2, v2)


@pytest.fixture(scope="module", params=KINDS)
def case(request, truth):
    tree, closed = start(request.param)
    q, v = truth(tree, 1.0)
    return closed, tree[0].poses(q), np.concatenate([tree[0].jacobian(b, q) @ v for b in ("upper", "lower")])


def test_the_start_is_closed(case):
    (m, q, v), _, _ = case
    g, G = m.constraint_rows(q)
    assert np.abs(g).max() < 1e-13
    assert np.abs(G @ v).max() < 1e-13


@pytest.mark.parametrize("retraction", ["cay", "exp"])
@pytest.mark.parametrize("method", METHODS)
def test_order_two(case, run, closure, method, retraction):
    machine, poses, twists = case
    m, errors, hs = machine[0], [], 0.04 * HALVINGS
    for h in hs:
        traj = run(machine, method, h, 1.0, retraction=retraction)
        gap, rate = closure(traj)
        assert gap < 1e-12 and rate < 1e-11
        q, v = traj.q[-1], traj.v[-1]
        found = np.concatenate([m.jacobian(b, q) @ v for b in ("upper", "lower")])
        errors.append(np.linalg.norm([np.linalg.norm(m.poses(q) - poses), np.linalg.norm(found - twists)]))
    assert abs(np.polyfit(np.log(hs), np.log(errors), 1)[0] - 2) < 0.1, errors


@pytest.mark.parametrize("method", METHODS)
def test_a_coupling_is_a_gear(end, method):
    """Two wheels, the second turns -2 times the first: one wheel of inertia I1 + 4 I2 under a spring, q'' = -k q/(I1 + 4 I2)."""
    m = dal.Model("gear", gravity=(0, 0, 0))
    for name, inertia, x in (("one", 0.5, 0.0), ("two", 0.2, 1.0)):
        m.add_body(name, 1.0, (inertia,) * 3, pose=((x, 0, 0), LEVEL))
        m.add_joint(f"axle {name}", "revolute", "world", name, (x, 0, 0), stiffness=3.0 if name == "one" else 0.0)
    m.add_loop("teeth", "coupling", "axle one", "axle two", polynomial=(0.0, -2.0))
    w = np.sqrt(3.0 / (0.5 + 4 * 0.2))
    errors, hs = [], 0.1 * HALVINGS
    for h in hs:
        q, v = end((m, np.array([0.3, -0.6]), np.array([0.5, -1.0])), method, h, 2.0)
        assert abs(q[1] + 2 * q[0]) < 1e-14 and abs(v[1] + 2 * v[0]) < 1e-14
        errors.append(abs(q[0] - 0.3 * np.cos(2 * w) - 0.5 / w * np.sin(2 * w)))
    assert abs(np.polyfit(np.log(hs), np.log(errors), 1)[0] - 2) < 0.1, errors


@pytest.mark.parametrize("method", METHODS)
def test_a_distance_is_a_pendulum(run, end, truth, closure, method):
    """A point mass on a slide in the plane, held by a rod of 1 m: the pendulum on a hinge."""
    hinge = dal.Model("pendulum")
    hinge.add_body("bob", 1.0, (0, 0, 0), com=(1, 0, 0), physical=False)
    hinge.add_joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))
    angle = truth((hinge.frozen(), np.array([0.3]), np.array([0.5])), 1.0)[0][0]
    m = dal.Model("rod")
    m.add_body("bob", 1.0, (0.1, 0.1, 0.1), pose=((1, 0, 0), LEVEL))
    m.add_joint("plane", "planar", "world", "bob", (1, 0, 0), axis=(0, 1, 0), axis2=(1, 0, 0))
    m.add_loop("rod", "distance", "world", "bob", (0, 0, 0), point=(1, 0, 0))
    place = np.array([np.cos(0.3), 0, -np.sin(0.3)])
    along = m.poses(np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 0]]))[:, 0, :3, 3]
    axes = along[:2] - along[2]  # directions of the two shifts
    shift = axes @ (place - along[2])
    speed = axes @ (0.5 * np.array([-np.sin(0.3), 0, -np.cos(0.3)]))
    errors, hs = [], 0.05 * HALVINGS
    for h in hs:
        traj = run((m, np.array([*shift, 0.0]), np.array([*speed, 0.0])), method, h, 1.0)
        assert max(closure(traj)) < 1e-12
        x = m.poses(traj.q[-1])[0, :3, 3]
        errors.append(np.linalg.norm(x - [np.cos(angle), 0, -np.sin(angle)]))
    assert abs(np.polyfit(np.log(hs), np.log(errors), 1)[0] - 2) < 0.1, errors


@pytest.mark.parametrize("method", METHODS)
def test_loops_resume_bit_for_bit(tmp_path, method):
    """A run that is stopped and continued from its file repeats the uninterrupted one."""
    s = dal.scenes.find("four-bar")
    whole = s.simulate(stepper=method, t_end=1.0)
    s.simulate(stepper=method, t_end=0.4, save=tmp_path / "run.h5")
    again = dal.resume(tmp_path / "run.h5", 1.0)
    np.testing.assert_array_equal(again.q, whole.q)
    np.testing.assert_array_equal(again.v, whole.v)
