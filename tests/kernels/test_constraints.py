"""Rows of constraints: residuals are those of model/loops.py, the Jacobian is their derivative, rolling is what kinematics says."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.tree import layout as at
from dalembert.model import compile_constraints, kinematics
from dalembert.model.loops import LED, RESIDUALS
from dalembert.model.rotation import quat_exp, rotate

BODY_KINDS = [k for k in RESIDUALS if k != "coupling" and k not in LED]  # those that are led need functions of time
TREE_KINDS = ("revolute", "prismatic", "spherical", "universal", "cylindrical", "planar")


def pose(rng):
    q = rng.normal(size=4)
    return (rng.normal(size=3), q / np.linalg.norm(q))


def branches(rng, joints=6):
    """Two branches on a free base and one on the world, joints of all kinds; bodies a0 a1 ... (base), w (world), f (fixed to a1)."""
    m = dal.Model("branches")
    m.add_body("base", 2.0, (1, 1.1, 1.2), pose=pose(rng))
    names = ["base"]
    for k in range(joints):
        m.add_body(f"a{k}", 1.0, (1, 1.1, 1.2), com=rng.normal(size=3), pose=pose(rng))
        kind = TREE_KINDS[k % len(TREE_KINDS)]
        more = {"axis2": rng.normal(size=3)} if kind == "universal" else {}
        m.add_joint(f"j{k}", kind, names[max(0, k - 1 - k % 2)], f"a{k}", rng.normal(size=3), rng.normal(size=3), **more)
        names.append(f"a{k}")
    m.add_body("w", 1.0, (1, 1, 1), pose=pose(rng))
    m.add_joint("to world", "revolute", "world", "w", rng.normal(size=3), rng.normal(size=3))
    m.add_body("f", 1.0, (1, 1, 1), pose=pose(rng))
    m.add_joint("rigid", "fixed", "a1", "f")
    m.add_body("ground", 1.0, (1, 1, 1), pose=pose(rng))
    m.add_joint("founded", "fixed", "world", "ground")
    return m


def close(m, rng, name, kind, parent, child):
    more = {"axis2": rng.normal(size=3)} if kind == "universal" else {}
    turn = rng.normal(size=4)
    return m.add_loop(
        name,
        kind,
        parent,
        child,
        rng.normal(size=3),
        rng.normal(size=3),
        point=rng.normal(size=3),
        turn=turn / np.linalg.norm(turn),
        **more,
    )


def all_kinds(seed, ends):
    rng = np.random.default_rng(seed)
    m = branches(rng)
    for kind in BODY_KINDS:
        close(m, rng, kind, kind, *ends)
    return m, rng


def derivative(m, q, h=1e-5):
    """Central differences along the left-trivialised directions, extrapolated: errors h^4 and 1e-16/h, both about 1e-11."""

    def rows(d):
        return np.concatenate(list(m.loop_errors(m.integrate(q, d)).values()))

    def central(step):
        return np.array([(rows(step * e) - rows(-step * e)) / (2 * step) for e in np.eye(m.nv)]).T

    return (4 * central(h) - central(2 * h)) / 3


@pytest.mark.parametrize(
    "ends", [("a5", "a4"), ("world", "a5"), ("w", "a2"), ("a5", "f"), ("ground", "a3"), ("base", "a5"), ("a0", "ground")]
)
def test_rows_are_the_residuals_and_their_derivative(ends):
    m, rng = all_kinds(7, ends)
    for _ in range(3):
        q = m.random(rng)
        g, G = m.constraint_rows(q)
        np.testing.assert_allclose(g, np.concatenate(list(m.loop_errors(q).values())), atol=1e-13, rtol=1e-13)
        np.testing.assert_allclose(G, derivative(m, q), atol=1e-8)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.3, 0.4999, 0.5001, 2.0, 3.1, 3.14159])
def test_turn_rows_are_exact_at_every_angle(angle):
    """Rotation vectors up to half a turn: dexp^-1 is finite there, and so is the row."""
    m = dal.Model("one")
    m.add_body("b", 1.0, (1, 1, 1), pose=pose(np.random.default_rng(2)))
    m.add_loop("fixed", "fixed", "world", "b")
    axis = np.array([1.0, -2.0, 0.5]) / np.sqrt(5.25)
    q = m.integrate(m.neutral(), [*(angle * axis), 0, 0, 0])
    g, G = m.constraint_rows(q)
    np.testing.assert_allclose(g, m.loop_errors(q)["fixed"], atol=1e-13)
    assert abs(np.linalg.norm(g[3:]) - angle) < 1e-13
    h = 1e-5 if angle < 3.14 else 1e-7
    np.testing.assert_allclose(G, derivative(m, q, h), atol=1e-8)


def test_couplings_act_on_joint_coordinates():
    rng = np.random.default_rng(1)
    m = branches(rng)
    m.add_loop("cam", "coupling", "j0", "j1", polynomial=(0.3, -1.2, 0.5, 2.0))
    m.add_loop("motor", "coupling", "world", "to world", polynomial=(0.7,))
    m.add_loop("belt", "coupling", "j0", "to world")
    q = m.random(rng)
    g, G = m.constraint_rows(q)
    np.testing.assert_allclose(g, np.concatenate(list(m.loop_errors(q).values())), atol=1e-14)
    np.testing.assert_allclose(G, derivative(m, q), atol=1e-9)


def wheel(parent="world", axis=(0.2, 1.0, 0.3), contact=True, seed=5):
    """A free wheel or ball on a plane, or on a plane of another free body."""
    rng = np.random.default_rng(seed)
    m = dal.Model("wheel")
    m.add_body("table", 1.0, (1, 1, 1), pose=pose(rng))
    m.add_body("wheel", 1.0, (1, 1.1, 1.2), com=rng.normal(size=3), pose=pose(rng))
    m.add_joint(
        "roll",
        "rolling",
        parent,
        "wheel",
        (0.1, 0.2, -0.4),
        axis,
        radius=0.3,
        normal=(0.1, -0.2, 1),
        point=(0.5, 0.1, 0.3),
        contact=contact,
    )
    return m, rng


def contact_velocity(m, q, v):
    """(velocity of the wheel at the contact relative to the table, normal, axle), world axes: from frames of model/kinematics.py."""
    joint, found = m.nonholonomic[0], kinematics.frames(m, q, v)

    def carried(body, x, direction=False):
        b = m.body(body)
        local = rotate(b.quaternion * [1, -1, -1, -1], x if direction else x - b.position)
        return rotate(found[body].quaternion, local) + (0 if direction else found[body].position)

    def velocity(body, x):
        f = found[body]
        return rotate(f.quaternion, f.velocity) + np.cross(rotate(f.quaternion, f.omega), x - f.position)

    fixed = joint.parent == "world"
    n = joint.normal if fixed else carried(joint.parent, joint.normal, True)
    up, a = n, None
    if joint.axis is not None:
        a = carried(joint.child, joint.axis, True)
        up = (n - (n @ a) * a) / np.linalg.norm(n - (n @ a) * a)
    x = carried(joint.child, joint.point) - joint.radius * up
    return velocity(joint.child, x) - (0 if fixed else velocity(joint.parent, x)), n, a


@pytest.mark.parametrize("parent", ["world", "table"])
@pytest.mark.parametrize("axis", [None, (0.2, 1.0, 0.3)])
def test_rolling_rows_are_the_velocity_of_the_contact_point(parent, axis):
    m, rng = wheel(parent, axis)
    assert m.constraint_labels == [("roll", "height"), ("roll", "heading"), ("roll", "sideways")]
    for _ in range(3):
        q, v = m.random(rng), rng.normal(size=m.nv)
        g, G = m.constraint_rows(q)
        slip, n, axle = contact_velocity(m, q, v)
        assert g[1] == g[2] == 0.0
        np.testing.assert_allclose(g[:1], m.loop_errors(q)["roll"], atol=1e-13)
        np.testing.assert_allclose(G[:1], derivative(m, q), atol=1e-8)
        assert abs(G[0] @ v - n @ slip) < 1e-13
        assert abs(np.linalg.norm(G[1:] @ v) - np.linalg.norm(slip - (n @ slip) * n)) < 1e-12  # two orthonormal tangents
        if axis is not None:  # the first one is the heading: across the axle
            heading = np.cross(axle, n) / np.linalg.norm(np.cross(axle, n))
            assert abs(G[1] @ v - heading @ slip) < 1e-12


def test_knife_edge_row_is_the_sideways_velocity():
    m, rng = wheel()
    m.add_joint("blade", "knife-edge", "table", "wheel", (0.3, 0.4, 0.5), (1, 0.5, 0))
    q, v = m.random(rng), rng.normal(size=m.nv)
    g, G = m.constraint_rows(q)
    b = m.body("wheel")
    found = kinematics.frames(m, q, v)
    joint = m.nonholonomic[1]

    def seen(f, x):
        return rotate(f.quaternion, f.velocity) + np.cross(rotate(f.quaternion, f.omega), x - f.position)

    turn = found["wheel"].quaternion
    back = b.quaternion * [1, -1, -1, -1]
    x = found["wheel"].position + rotate(turn, rotate(back, joint.anchor - b.position))
    side = rotate(turn, rotate(back, joint.axis))
    assert g[-1] == 0.0
    assert abs(G[-1] @ v - side @ (seen(found["wheel"], x) - seen(found["table"], x))) < 1e-13


def test_rows_on_positions_come_first():
    m, _ = wheel()
    m.add_joint("blade", "knife-edge", "world", "table", axis=(1, 0, 0))
    m.add_loop("rope", "distance", "table", "wheel", (1, 2, 3), point=(0, 0, 1))
    system = m._constraints().system
    assert [int(system[k]) for k in (at.CONSTRAINTS, at.HOLONOMIC)] == [5, 2]
    assert [name for name, _ in m.constraint_labels] == ["rope", "roll", "roll", "roll", "blade"]


def test_kept_rows_are_those_of_the_whole():
    m, rng = all_kinds(3, ("w", "a4"))
    m.add_loop("cam", "coupling", "j0", "j1", polynomial=(0.3, -1.2, 0.5))
    q = m.random(rng)
    g, G = m.constraint_rows(q)
    rows = [0, 3, 7, 8, 20, len(g) - 1]
    kernel = m._constraints()
    compile_constraints.keep_rows(kernel.system, rows)
    kernel.labels = [kernel.labels[r] for r in rows]
    kernel.G = kernel.g + len(rows)
    np.testing.assert_array_equal(kernel.rows(q)[0], g[rows])
    np.testing.assert_array_equal(kernel.rows(q)[1], G[rows])


def test_forces_of_a_loop_do_no_work_on_common_ancestors_once_it_is_closed():
    """Equal and opposite wrenches cancel on the way to the root they share."""
    m = dal.Model("fork")
    m.add_body("base", 1.0, (1, 1, 1))
    for name, x in (("left", 0.0), ("right", 1.0)):
        m.add_body(name, 1.0, (1, 1, 1), pose=((x, 0, 0), (1, 0, 0, 0)))
        m.add_joint(f"j {name}", "spherical", "base", name, (x, 0, 0))
    m.add_loop("bar", "spherical", "left", "right", (0.5, 1, 0))
    q = m.neutral()
    q[3:7] = quat_exp(np.array([0.3, -0.4, 1.0]))
    _, G = m.constraint_rows(q)
    np.testing.assert_allclose(G[:, m.v_slices()["base"]], 0.0, atol=1e-15)


def test_bodies_of_inertia_without_mass_keep_it():
    """A rotor of inertia alone, as an importer or a scene may give: the compiled mass matrix is that of the kinetic energy."""
    m = dal.Model("rotor")
    m.add_body("board", 1.0, (1, 1, 1))
    m.add_body("rotor", 0.0, (0.1, 0.2, 0.3), physical=False)
    m.add_joint("turn", "revolute", "board", "rotor")
    v = np.arange(1.0, 8.0)
    assert abs(v @ m.mass_matrix(m.neutral()) @ v / 2 - m.kinetic_energy(m.neutral(), v)) < 1e-13 * 50
