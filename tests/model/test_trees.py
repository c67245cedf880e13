"""Trees of all joint kinds: poses, Jacobians, mass matrix, energy and momentum against Pinocchio; order of building; keyframes; data."""

import json

import numpy as np
import pinocchio as pin
import pytest

import dalembert as dal
from dalembert.model.forces import Spring
from dalembert.model.joints import KINDS
from dalembert.model.kinematics import frames, mass_matrix_reference, tree_order

ORDER = ["free", "revolute", "universal", "fixed", "prismatic", "planar", "spherical", "cylindrical", "revolute", "fixed", "spherical"]


def turn(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_tree(seed, armature=0.0):
    """Eleven bodies on joints of all kinds, at random places, axes and parents; bodies and joints are added in a random order."""
    rng = np.random.default_rng(seed)
    m = dal.Model("tree", gravity=rng.normal(size=3))
    names = [f"b{i}" for i in range(len(ORDER))]
    parents = ["world", *(names[rng.integers(max(0, i - 3), i)] for i in range(1, len(ORDER)))]
    parents[4] = "world"
    for i in rng.permutation(len(ORDER)):
        A = rng.normal(size=(3, 3))
        inertia = A @ A.T + np.trace(A @ A.T) * np.eye(3)
        m.add_body(names[i], rng.uniform(0.5, 2), inertia, com=rng.normal(size=3), pose=(rng.normal(size=3), turn(rng)))
    for i in rng.permutation(len(ORDER)):
        more = {"axis2": rng.normal(size=3)} if ORDER[i] in ("universal", "planar") else {}
        anchor, axis = rng.normal(size=(2, 3))
        m.add_joint(f"j{i}", ORDER[i], parents[i], names[i], anchor, axis, armature=armature * rng.uniform(), **more)
    return m


def pin_joint(kind, axis, axis2):
    """The same joint of Pinocchio in a frame with the axes of the child; compound joints as composites."""
    revolute, prismatic = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned
    if kind in ("free", "spherical"):
        return pin.JointModelFreeFlyer() if kind == "free" else pin.JointModelSpherical()
    if kind == "planar":
        x = axis2 - (axis2 @ axis) * axis
        x /= np.linalg.norm(x)
        parts = [prismatic(x), prismatic(np.cross(axis, x)), revolute(axis)]
    else:
        chain = {
            "revolute": [(revolute, axis)],
            "prismatic": [(prismatic, axis)],
            "cylindrical": [(revolute, axis), (prismatic, axis)],
            "universal": [(revolute, axis), (revolute, axis2)],
        }
        parts = [make(a) for make, a in chain[kind]]
    if len(parts) == 1:
        return parts[0]
    joint = pin.JointModelComposite()
    for part in parts:
        joint.addJoint(part)
    return joint


class Peer:
    """A model rebuilt joint by joint in Pinocchio, from the world poses at the reference configuration alone."""

    def __init__(self, m):
        self.m, self.model = m, pin.Model()
        self.model.gravity = pin.Motion(m.gravity, np.zeros(3))
        self.joint, frame, self.offset, self.at = {"world": 0}, {"world": pin.SE3.Identity()}, {}, {}
        for j in tree_order(m):
            body = m.body(j.child)
            R = pin.Quaternion(*body.quaternion).matrix()
            M_body = pin.SE3(R, np.array(body.position))
            if j.kind == "fixed":
                self.joint[body.name], frame[body.name] = self.joint[j.parent], frame[j.parent]
            else:
                frame[body.name] = M_body if j.kind == "free" else pin.SE3(R, np.array(j.anchor))
                placement = pin.SE3.Identity() if j.kind == "free" else frame[j.parent].actInv(frame[body.name])
                theirs = pin_joint(j.kind, R.T @ j.axis, None if j.axis2 is None else R.T @ j.axis2)
                self.joint[body.name] = self.at[j.name] = self.model.addJoint(self.joint[j.parent], theirs, placement, j.name)
            self.offset[body.name] = frame[body.name].actInv(M_body)
            inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
            self.model.appendBodyToJoint(self.joint[body.name], inertia, self.offset[body.name])
            self.model.addFrame(pin.Frame(body.name, self.joint[body.name], 0, self.offset[body.name], pin.FrameType.OP_FRAME))
        self.data = self.model.createData()
        self.columns = np.concatenate([self._columns(j) for j in m.joints]).astype(int)  # ours -> theirs
        self.model.armature = self._theirs(np.concatenate([np.full(j.coordinates.nv, j.armature) for j in m.joints]))

    def _columns(self, j):
        if j.name not in self.at:
            return []
        first = self.model.joints[self.at[j.name]].idx_v
        return first + (np.array([3, 4, 5, 0, 1, 2]) if j.kind == "free" else np.arange(j.coordinates.nv))

    def _theirs(self, v):
        out = np.zeros(self.model.nv)
        out[self.columns] = v
        return out

    def state(self, q, v):
        theirs = pin.neutral(self.model)
        for j in self.m.joints:
            mine = q[self.m.q_slices()[j.name]]
            for slot in j.coordinates.quaternion_slots():
                mine = np.concatenate([mine[:slot], mine[slot + 1 :], mine[slot : slot + 1]])  # scalar last
            if j.name in self.at:
                first = self.model.joints[self.at[j.name]].idx_q
                theirs[first : first + len(mine)] = mine
        return theirs, self._theirs(v)


TREES = pytest.mark.parametrize("seed", range(5))


class Case:
    """A tree, a state (q, v), and the same of Pinocchio (pq, pv)."""

    def __init__(self, seed, armature=0.0):
        rng = np.random.default_rng(seed + 100)
        self.m = random_tree(seed, armature)
        self.q, self.v = self.m.random(rng), rng.normal(size=self.m.nv)
        self.peer = Peer(self.m)
        self.model, self.data = self.peer.model, self.peer.data
        self.pq, self.pv = self.peer.state(self.q, self.v)


def test_the_tree_has_all_kinds():
    assert {j.kind for j in random_tree(0).joints} == set(KINDS) - {"translation"}  # that of particles: test_particles.py


@TREES
def test_poses(seed):
    """1e-12: up to eleven transforms of lengths of order one lose some 1e-15 each."""
    c = Case(seed)
    pin.framesForwardKinematics(c.model, c.data, c.pq)
    for pose, b in zip(c.m.poses(c.q), c.m.bodies, strict=True):
        assert pose == pytest.approx(c.data.oMf[c.model.getFrameId(b.name)].homogeneous, abs=1e-12)


@TREES
def test_jacobians_and_twists(seed):
    c = Case(seed)
    twists = frames(c.m, c.q, c.v)
    for b in c.m.bodies:
        theirs = pin.computeFrameJacobian(c.model, c.data, c.pq, c.model.getFrameId(b.name), pin.LOCAL)
        theirs = theirs[[3, 4, 5, 0, 1, 2]][:, c.peer.columns]  # angular first
        ours = c.m.jacobian(b.name, c.q)
        tol = 1e-13 * (1 + np.abs(theirs).max())
        assert ours == pytest.approx(theirs, abs=tol)
        assert ours @ c.v == pytest.approx(np.concatenate(twists[b.name][2:]), abs=tol * np.abs(c.v).sum())


@TREES
def test_mass_matrix(seed):
    c = Case(seed, armature=0.7)
    theirs = np.triu(pin.crba(c.model, c.data, c.pq))
    theirs = (theirs + np.triu(theirs, 1).T)[np.ix_(c.peer.columns, c.peer.columns)]
    ours = mass_matrix_reference(c.m, c.q)
    tol = 1e-12 * np.abs(theirs).max()
    assert ours == pytest.approx(theirs, abs=tol)
    assert c.m.kinetic_energy(c.q, c.v) == pytest.approx(0.5 * c.v @ theirs @ c.v, rel=1e-12)
    stacked = mass_matrix_reference(c.m, np.array([[c.m.neutral(), c.q]]))
    assert stacked[0, 1] == pytest.approx(ours, abs=tol)


@TREES
def test_energy_and_momentum(seed):
    c = Case(seed)
    kinetic = pin.computeKineticEnergy(c.model, c.data, c.pq, c.pv)
    potential = pin.computePotentialEnergy(c.model, c.data, c.pq)
    assert c.m.kinetic_energy(c.q, c.v) == pytest.approx(kinetic, rel=1e-12)
    assert c.m.potential_energy(c.q) == pytest.approx(potential, abs=1e-12 * (1 + abs(potential)))
    hg = pin.computeCentroidalMomentum(c.model, c.data, c.pq, c.pv)
    com = pin.centerOfMass(c.model, c.data, c.pq)
    expected = np.concatenate([hg.angular + np.cross(com, hg.linear), hg.linear])
    assert c.m.momentum(c.q, c.v) == pytest.approx(expected, abs=1e-12 * np.abs(expected).max())


def test_the_order_of_building_does_not_matter():
    """Joints of parents after those of their children, bodies shuffled: same poses for the same coordinates by name."""
    a = random_tree(7)
    b = dal.Model("other", a.gravity)
    for body in reversed(a.bodies):
        b.add_body(**body.to_dict())
    for j in reversed(a.joints):
        b.add_joint(**j.to_dict())
    q = a.random(3)
    by_name = {name: q[s] for name, s in a.q_slices().items()}
    poses_a, poses_b = a.poses(q), b.poses(b.check_q(by_name))
    assert poses_b[::-1] == pytest.approx(poses_a, abs=1e-15)


@TREES
def test_neutral_is_the_reference_configuration(seed):
    m = random_tree(seed)
    for pose, b in zip(m.poses(m.neutral()), m.bodies, strict=True):
        assert pose[:3, 3] == pytest.approx(b.position, abs=1e-13)
        assert pose[:3, :3] == pytest.approx(dal.quat.to_matrix(b.quaternion), abs=1e-13)


def test_a_joint_may_have_the_name_of_another_body():
    m = dal.Model()
    m.add_body("a", 1, (1, 1, 1))
    m.add_body("b", 1, (1, 1, 1))
    m.add_joint("b", "revolute", "world", "a")
    assert [j.name for j in m.joints] == ["b (free)", "b"]
    m.add_body("c", 1, (1, 1, 1))
    m.add_joint("c0", "revolute", "a", "b")
    assert [j.name for j in m.joints] == ["b", "c", "c0"]
    assert dal.Model.from_dict(m.to_dict()).to_dict() == m.to_dict()
    n = dal.Model()
    n.add_body("a", 1, (1, 1, 1))
    n.add_joint("b", "revolute", "world", "a")
    n.add_body("b", 1, (1, 1, 1))
    assert [j.name for j in n.joints] == ["b", "b (free)"]
    assert dal.Model.from_dict(n.to_dict()).to_dict() == n.to_dict()


def test_random_keeps_to_limits():
    m = dal.Model()
    m.add_body("a", 1, (1, 1, 1))
    m.add_joint("j", "prismatic", "world", "a", limits=(2, 2.5))
    assert all(2 <= m.random(i)[0] <= 2.5 for i in range(20))


def test_world_axes_are_right_handed_from_parent_to_child():
    """A child turned by +90 degrees about world z carries its x axis to world y, whatever the axes of its frame are."""
    m = dal.Model()
    m.add_body("a", 1, (1, 1, 1), pose=((1, 0, 0), dal.quat.exp([0.3, -0.4, 1.0])))
    m.add_joint("j", "revolute", "world", "a", axis=(0, 0, 2))
    pose = m.poses([np.pi / 2])[0]
    assert pose[:3, 3] == pytest.approx([0, 1, 0], abs=1e-15)
    assert pose[:3, :3] == pytest.approx(
        np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]) @ dal.quat.to_matrix(dal.quat.exp([0.3, -0.4, 1.0])), abs=1e-15
    )


def full_tree():
    m = random_tree(11, armature=0.2)
    m.add_body("arm", 1, (1, 1, 1), shapes=[dal.Box((1, 1, 1), friction=0.3, restitution=0.1, extra={"solref": [0.02, 1]})])
    m.add_joint(
        "elbow", "revolute", "b0", "arm", axis=(1, 1, 0), limits=(-1, 2), damping=0.1, friction=0.2, stiffness=3, armature=0.1, rest=0.4
    )
    m.add_motor("drive", "elbow", limit=5, gear=3)
    m.add_motor("servo", "elbow", "position", kp=10, kv=1, limit=(-1, 2))
    m.add_motor("belt", "elbow", "velocity", kv=2)
    m.add_force(dal.Wrench("arm", force=(1, 0, 0), frame="world"))
    m.add_force(dal.Damper("arm", angular=0.1))
    m.add_force(Spring("arm", "world", (1, 0, 0), (0, 0, 1), stiffness=3, rest_length=0.5, damping=0.1))
    m.add_force(Spring("arm", "b1", stiffness=3))
    m.add_keyframe("home", {"elbow": 0.5})
    m.add_keyframe("fast", m.random(4), np.arange(m.nv))
    return m


def test_data_round_trip_of_everything():
    m = full_tree()
    data = m.to_dict()
    again = dal.Model.from_dict(json.loads(json.dumps(data)))
    assert json.dumps(again.to_dict()) == json.dumps(data)
    q, v = m.random(1), np.random.default_rng(2).normal(size=m.nv)
    assert again.energy(q, v) == m.energy(q, v)
    assert np.array_equal(again.motor_forces([1, 2, 3], q, v), m.motor_forces([1, 2, 3], q, v))
    assert np.array_equal(again.check_q("fast"), m.check_q("fast"))


def test_data_of_earlier_versions_is_read():
    data = full_tree().to_dict()
    del data["motors"], data["keyframes"]
    for j in data["joints"]:
        j.pop("rest")
    assert dal.Model.from_dict(data).motors == ()


def test_a_function_is_kept_but_not_written():
    m = full_tree()

    def push(t, q, v):
        return np.zeros(len(v))

    kept = m.add_force(push)
    assert kept.kind == "function" and m.forces[-1].function is push
    with pytest.raises(dal.ModelError, match=r"push' is a Python function and cannot be written"):
        m.to_dict()
    assert m.to_dict(drop_functions=True) == full_tree().to_dict()
    assert m.copy().forces[-1] is kept


def test_keyframes():
    m = full_tree()
    elbow = m.q_slices()["elbow"]
    assert m.check_q("home")[elbow] == [0.5]
    assert not m.check_v("home").any()
    assert np.array_equal(m.check_v("fast"), np.arange(m.nv))
    assert [k.name for k in m.keyframes] == ["home", "fast"]
    m.check_q("home")[:] = 9  # a copy
    assert m.check_q("home")[elbow] == [0.5]
    with pytest.raises(dal.UnknownNameError, match="did you mean 'home'"):
        m.check_q("hme")
    with pytest.raises(dal.UnknownNameError, match="keyframe"):
        m.check_v("hme")
    with pytest.raises(dal.ModelError, match="keyframe of this name already"):
        m.add_keyframe("home", None)
    with pytest.raises(dal.OptionError, match="q has shape"):
        m.add_keyframe("short", [1, 2])
    nq = m.nq
    m.add_body("late", 1, (1, 1, 1))
    with pytest.raises(dal.OptionError, match=f"keyframe 'home' has {nq} coordinates and the model now has {nq + 7}"):
        m.check_q("home")


def test_jacobian_refuses_unknown_bodies():
    m = full_tree()
    with pytest.raises(dal.UnknownNameError, match="did you mean 'arm'"):
        m.jacobian("amr", m.neutral())
    with pytest.raises(dal.OptionError, match="q has shape"):
        m.jacobian("arm", [0.0])


def test_frozen_models_refuse_new_parts():
    m = full_tree().frozen()
    for add in (
        lambda: m.add_motor("x", "elbow"),
        lambda: m.add_keyframe("x", None),
        lambda: m.add_force(Spring("arm", "b1", stiffness=1)),
    ):
        with pytest.raises(dal.ModelError, match="frozen"):
            add()
