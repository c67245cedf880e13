"""What joints between free bodies measure: Jacobians against differences, values against the machine in joint coordinates."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.bodies import layout as at
from dalembert.kernels.bodies.measures import measure
from dalembert.model import body_state, cut
from dalembert.model.compile_bodies import compile_bodies
from dalembert.model.joints import KINDS
from dalembert.model.rotation import quat_exp, quat_mul, rotate

I = (0.02, 0.025, 0.03)
LOOPS = ["spherical", "fixed", "revolute", "prismatic", "cylindrical", "universal", "planar", "homokinetic", "slot", "distance"]
WITH_COORDINATES = [kind for kind in LOOPS if kind in KINDS and KINDS[kind].nv]
RATES = (at.SPIN, at.SPEED, at.SLIP, at.HEADING, at.SIDEWAYS, at.BLADE)  # measures that no value is the integral of
ROUND_OFF = 1e-14
WHOLE_TURN = 2 * np.pi


def a_turn(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def pair(kind, parent="a", turn=True):
    """Two free bodies anywhere, joined by a loop of one kind with everything that can act on it."""
    rng = np.random.default_rng(5)
    m = dal.Model(kind)
    for name in "ab":
        m.add_body(name, 1.0, I, com=rng.uniform(-0.2, 0.2, 3), pose=(rng.uniform(-1, 1, 3), a_turn(rng)))
    acting = {}
    if kind in WITH_COORDINATES:
        acting = {"damping": 0.3, "friction": 0.2, "stiffness": 2.0, "limits": (-0.5, 0.7) if KINDS[kind].limitable else None}
    axis2 = rng.normal(size=3) if kind in ("universal", "planar") else None
    more = {"turn": a_turn(rng)} if turn else {}
    m.add_loop("x", kind, parent, "b", rng.normal(size=3), rng.normal(size=3), axis2, point=rng.normal(size=3), **more, **acting)
    return m


def rolling(ball, parent):
    m = pair("distance", parent)
    m.remove_loop("x")
    rng = np.random.default_rng(6)
    axle = None if ball else rng.normal(size=3)
    m.add_joint("x", "rolling", parent, "b", rng.normal(size=3), axle, radius=0.3, normal=rng.normal(size=3), point=rng.normal(size=3))
    m.add_joint("y", "knife-edge", parent, "b", rng.normal(size=3), rng.normal(size=3))
    return m


def measured(system, states, before=None):
    room = system.room()
    if before is not None:
        room.values[:] = before
    measure(system.system, states, room.values, room.J_measures)
    return room.values.copy(), room.J_measures.copy()


def what(system):
    """Kind of every measure."""
    starts = int(system.system[at.AT_MEASURES]) + at.MEASURE_SIZE * np.arange(system.count(at.MEASURES))
    return system.system[starts + at.WHAT].astype(int)


def any_states(system, rng):
    n = len(system.names)
    return np.array([[*rng.uniform(-1, 1, 3), *a_turn(rng), *rng.normal(size=6)] for _ in range(n)])


def moved(states, t):
    """q_i * exp(t w_i/2), x_i + t v_i."""
    out = states.copy()
    out[:, :3] += t * states[:, 10:]
    out[:, 3:7] = quat_mul(states[:, 3:7], quat_exp(t * states[:, 7:10]))
    return out


def rates(system, J, x):
    """J x of every measure; column blocks (a, b) by the joint of the measure."""
    out = []
    for row, (joint, _) in zip(J, system.measures, strict=True):
        start = int(system.system[at.AT_JOINTS]) + at.JOINT_SIZE * system.joints.index(joint)
        ends = system.system[start + at.BODY_A], system.system[start + at.BODY_B]
        parts = [row[6 * k : 6 * k + 6] @ x[6 * int(i) : 6 * int(i) + 6] for k, i in enumerate(ends) if i >= 0]
        out.append(sum(parts))
    return np.array(out)


MACHINES = {
    **{f"{kind} on {parent}": (lambda kind=kind, parent=parent: pair(kind, parent)) for kind in LOOPS for parent in ("a", "world")},
    **{f"{'ball' if ball else 'wheel'} on {p}": (lambda ball=ball, p=p: rolling(ball, p)) for ball in (0, 1) for p in ("a", "world")},
}


@pytest.mark.parametrize("name", MACHINES)
def test_jacobians_are_derivatives_at_any_pose(name):
    """Fourth-order differences over 1e-3: 1e-12 of the fifth derivative and 1e-13 of round-off; poses near a half turn are curved."""
    system, rng, h = compile_bodies(MACHINES[name]()), np.random.default_rng(1), 1e-3
    has_value = ~np.isin(what(system), RATES)
    for _ in range(5):
        states = any_states(system, rng)
        here, J = measured(system, states)
        far, near = (measured(system, moved(states, k * h), here)[0] - measured(system, moved(states, -k * h), here)[0] for k in (2, 1))
        wanted = (8 * near - far) / (12 * h)
        found = rates(system, J, system.unknowns(states))
        scale = np.maximum(1.0, np.abs(J).max(axis=1))
        np.testing.assert_array_less((np.abs(found - wanted) / scale)[has_value], 1e-8)
        assert (here[~has_value & (what(system) != at.SLIP)] == 0.0).all()
        np.testing.assert_allclose(
            found[what(system) == at.SLIP][:1], here[what(system) == at.SLIP][:1], rtol=1e-13
        )  # the length of the spin


@pytest.mark.parametrize("name", [n for n in MACHINES if not n.startswith(("fixed", "revolute", "cylindrical", "planar", "homokinetic"))])
def test_rows_are_those_of_the_tree_kernels_where_they_measure_the_same(name):
    """Shifts, distances, universal joints, wheels and blades: residual and rate of the rows of kernels/tree, off the constraint."""
    m = MACHINES[name]()
    system, rng = compile_bodies(m), np.random.default_rng(2)
    states = any_states(system, rng)
    q, v = system.configuration(states)
    g, G = m.constraint_rows(q)
    values, J = measured(system, states)
    found = dict(zip(system.measures, zip(values, rates(system, J, system.unknowns(states)), strict=True), strict=True))
    for k, label in enumerate(m.constraint_labels):
        if "turn" in label[1]:
            continue  # of a prismatic joint: another measure of orientations
        scale = 1.0
        if label[1] == "angle of the axes":
            scale = 1.0 / np.linalg.norm(np.cross(m.loop("x").axis, m.loop("x").axis2))
        assert found[label][0] == pytest.approx(scale * g[k], abs=100 * ROUND_OFF)
        assert found[label][1] == pytest.approx(scale * (G @ v)[k], abs=1000 * ROUND_OFF)


def chain(kind, n=3, **acting):
    rng = np.random.default_rng(8)
    m = dal.Model(kind)
    for i in range(n):
        m.add_body(f"b{i}", 1.0 + i, I, com=rng.uniform(-0.1, 0.1, 3), pose=((i, 0.1 * i, 0), a_turn(rng)))
        axis2 = rng.normal(size=3) if kind in ("universal", "planar") else None
        parent = "world" if i == 0 else f"b{i - 1}"
        m.add_joint(f"j{i}", kind, parent, f"b{i}", (i - 0.5, 0, 0.1), rng.normal(size=3), axis2=axis2, **acting)
    return m


@pytest.mark.parametrize("kind", ["fixed", *WITH_COORDINATES])
def test_residuals_vanish_and_coordinates_are_those_of_the_tree(kind):
    acting = {"stiffness": 1.0, "damping": 0.2} if kind != "fixed" else {}
    m, rng = chain(kind, **acting), np.random.default_rng(3)
    system = compile_bodies(cut(m, fixed=False))
    for _ in range(5):
        q, v = np.concatenate([j.coordinates.random(rng) for j in m.joints]), rng.normal(size=m.nv)
        states = system.states(*body_state(m, q, v, fixed=False))
        before = np.zeros(system.count(at.MEASURES))
        coordinates = [k for k, (_, label) in enumerate(system.measures) if label in KINDS[kind].q_names]
        if kind not in ("fixed", "spherical"):
            before[coordinates] = q + rng.uniform(-3, 3, len(q)) * (what(system)[coordinates] >= at.ABOUT)  # anywhere within half a turn
        values, J = measured(system, states, before)
        speeds = rates(system, J, system.unknowns(states))
        free = {name for k in ("rates", "strains") for name in _labels(m, kind, k)}
        held = [k for k, (_, label) in enumerate(system.measures) if label not in free]
        scale = 1 + np.abs(states).max()
        assert np.abs(values[held]).max() < 100 * ROUND_OFF * scale
        assert np.abs(speeds[held]).max() < 1000 * ROUND_OFF * scale**2
        if kind == "spherical":
            spins = [k for k, (_, label) in enumerate(system.measures) if "spin" in label]
            turns = [rotate(m.body(j.child).quaternion, v[3 * i : 3 * i + 3]) for i, j in enumerate(m.joints)]
            np.testing.assert_allclose(speeds[spins], np.concatenate(turns), atol=1000 * ROUND_OFF)  # child axes at the reference: world
        elif kind != "fixed":
            np.testing.assert_allclose(values[coordinates], q, atol=1000 * ROUND_OFF)
            np.testing.assert_allclose(speeds[coordinates], v, atol=1000 * ROUND_OFF * scale**2)


def _labels(m, kind, which):
    from dalembert.model.body_measures import free

    return [x.label for loop in cut(m, fixed=False).loops for x in getattr(free(loop), which)]


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "planar"])
def test_an_axis_is_told_from_its_reverse(kind):
    m = dal.Model("one")
    axis, across = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])
    m.add_body("b", 1.0, I, pose=((0.1, 0.2, 0.3), quat_exp(np.array([0.4, -0.3, 0.9]))))
    m.add_loop("loop", kind, "world", "b", (0.3, -0.2, 0.7), axis)
    system = compile_bodies(m)
    tilts = [k for k, (_, label) in enumerate(system.measures) if "tilt" in label]
    for angle in (0.0, 1e-9, 0.3, 2.0, 3.1, np.pi):
        for spin in (0.0, 2.0, np.pi, 5.0):
            turn = quat_mul(quat_exp(angle * across), quat_exp(spin * axis))
            states = np.array([[0, 0, 0, *quat_mul(turn, m.bodies[0].quaternion), *np.zeros(6)]])
            values, J = measured(system, states)
            assert np.linalg.norm(values[tilts]) == pytest.approx(2 * np.sin(angle / 2), abs=4 * ROUND_OFF)
            errors = m.loop_errors(system.configuration(states)[0])["loop"][-2:]
            assert np.linalg.norm(values[tilts]) == pytest.approx(np.linalg.norm(errors), abs=1e-6)  # 1 + a.c cancels there near pi
            if angle < 1e-8:
                np.testing.assert_allclose(np.linalg.svd(J[tilts][:, 6:9])[1], [1.0, 1.0], atol=1e-14)  # an angle, at every spin


def test_tilt_rows_do_not_jump_while_a_hinge_turns_and_its_angle_counts_turns():
    m = dal.Model("wheel")
    m.add_body("b", 1.0, I)
    m.add_loop("x", "revolute", "world", "b", (0, 0, 0), (0, 0, 1), stiffness=1.0)
    system = compile_bodies(m)
    state, before, last = np.array([[0, 0, 0, 1.0, 0, 0, 0, *np.zeros(6)]]), None, None
    for k in range(1, 200):
        state[0, 3:7] = quat_mul(state[0, 3:7], quat_exp(np.array([0, 0, 0.1])))
        before, J = measured(system, state, before)
        assert before[system.measures.index(("x", "angle"))] == pytest.approx(0.1 * k, abs=1e-12)
        if last is not None:
            assert np.abs(J - last).max() < 0.051  # they turn by half the angle
        last = J


@pytest.mark.nojit
def test_angles_in_plain_python_too():
    test_jacobians_are_derivatives_at_any_pose("universal on a")
