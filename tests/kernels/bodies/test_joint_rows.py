"""Rows of a SPOOK step, judged by closed forms of a dense step in NumPy."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.bodies import layout as at
from dalembert.kernels.bodies.joint_rows import assemble_rows, joint_forces
from dalembert.kernels.bodies.targets import add_motor_forces
from dalembert.kernels.contact.codes import BILATERAL
from dalembert.model import body_state, cut
from dalembert.model.compile_bodies import compile_bodies
from dalembert.model.rotation import quat_about, quat_exp, quat_mul, rotate

H = 1 / 60
MASS, I = 2.0, (0.3, 0.4, 0.5)
G = 9.81
ROUND_OFF = 1e-12  # of some steps of a dense solve


class Machine:
    """Free bodies with joints under the dense step; no gyroscopic torque, which no test here needs."""

    def __init__(self, model, h=H, **defaults):
        self.system, self.h, self.t = compile_bodies(model, **defaults), h, 0.0
        s = self.system
        self.states = s.states(model.neutral(), np.zeros(model.nv))
        self.x, self.room, self.rows = np.zeros(6 * len(s.names)), s.room(), s.arrays()
        self.intact, self.inputs = np.ones(len(s.joints), np.int64), np.zeros(s.count(at.MOTORS))
        self.masses = np.zeros((6 * len(s.names),) * 2)
        for i in range(len(s.names)):
            self.masses[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = s.inertia[i]
            self.masses[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = s.mass[i] * np.eye(3)
        self.lam = np.zeros(s.count(at.ROWS))

    def assemble(self):
        """Dense J."""
        s = self.system
        count = assemble_rows(s.system, self.states, self.x, self.intact, self.inputs, self.t, self.h, *self.room, *self.rows)
        assert count == (s.count(at.CONSTRAINTS), s.count(at.ROWS))
        J = np.zeros((count[1], len(self.x)))
        for c in range(count[0]):
            for k, body in enumerate(self.rows.bodies[c]):
                if body >= 0:
                    r = slice(self.rows.first[c], self.rows.first[c + 1])
                    J[r, 6 * body : 6 * body + 6] += self.rows.J[r, 6 * k : 6 * k + 6]
        return J

    def step(self, n=1, force=0.0):
        for _ in range(n):
            J, h = self.assemble(), self.h
            push = self.system.weight + force
            add_motor_forces(self.system.system, self.inputs, self.room.J_measures, push)
            M = self.masses
            free = self.x + h * np.linalg.solve(M, push)
            S = J @ np.linalg.solve(M, J.T) + np.diag(self.rows.sigma)
            c = J @ free + self.rows.b
            if (self.rows.kind == BILATERAL).all():
                self.lam = -np.linalg.solve(S, c)
            else:
                found = dal.lcp(S, c, lower=self.rows.low, upper=self.rows.high)
                assert found.status == "solved"
                self.lam = found.z
            self.x = free + np.linalg.solve(M, J.T @ self.lam)
            self.move()
        return self

    def move(self):
        """q+ = q * (sqrt(1 - |h w/2|^2), h w/2), x+ = x + h v."""
        for state, x in zip(self.states, self.x.reshape(-1, 6), strict=True):
            half = 0.5 * self.h * x[:3]
            state[:3] += self.h * x[3:]
            state[3:7] = quat_mul(state[3:7], np.array([np.sqrt(1 - half @ half), *half]))
            state[7:] = x
        self.t += self.h

    def value(self, label, joint="x"):
        """A measure at the last assembly."""
        return self.room.values[self.system.measures.index((joint, label))]


def one(kind, gravity=0.0, **acting):
    """A body with its centre of mass at the origin, joined to the world there; the axis is z."""
    m = dal.Model(kind, gravity=(0, 0, -gravity))
    m.add_body("b", MASS, I)
    m.add_loop("x", kind, "world", "b", (0, 0, 0), (0, 0, 1), **acting)
    return m


@pytest.mark.parametrize(("compliance", "damping_time"), [(0.0, 0.0), (1e-5, 0.0), (1e-4, 0.05)])
def test_a_static_load_sinks_by_compliance_times_weight(compliance, damping_time):
    """g = -eps m a_g for any h and tau (thesis, 4.31)."""
    m = Machine(one("spherical", G, compliance=compliance, damping_time=damping_time), eps=1e-6)
    m.step(400)
    m.assemble()
    assert m.value("z shift") == pytest.approx(-(compliance or 1e-6) * MASS * G, rel=1e-9)
    assert m.lam[2] == pytest.approx(H * MASS * G, rel=1e-9)


def test_compliance_of_turns_is_in_radians_per_newton_metre():
    torque, eps = np.array([3.0, -2.0, 1.0]), 1e-4
    m = Machine(one("fixed", compliance=eps))
    m.step(300, force=np.array([*torque, 0, 0, 0]))
    angle = 2 * m.states[0, 4:7]
    np.testing.assert_allclose(angle, eps * torque, rtol=1e-4, atol=1e-9)  # the torque is held in body axes: errors of (eps torque)^2


def test_a_violation_returns_as_its_closed_form():
    """x_k = (1 + 2 k/3) 3^-k x_0 at tau = 2 h, eps = 0."""
    m = Machine(one("spherical"), eps=0.0)
    m.states[0, :3] = start = np.array([0.1, -0.2, 0.3])
    for k in range(1, 12):
        m.step()
        np.testing.assert_allclose(m.states[0, :3], (1 + 2 * k / 3) * 3.0**-k * start, rtol=0, atol=1e-15)


def test_a_velocity_motor_approaches_its_speed_as_its_closed_form():
    """v_k+1 - u = (v_k - u)/(1 + h/(m gamma)), gamma = 1/kv; with a gear the motor turns faster and its force acts gear-fold."""
    gear, kv, u = 3.0, 0.7, 4.5
    model = one("prismatic")
    model.add_motor("m", "x", "velocity", kv=kv, gear=gear)
    m = Machine(model)
    m.inputs[0] = u
    v = 0.0
    for _ in range(20):
        m.step()
        v = u / gear + (v - u / gear) / (1 + H * gear**2 * kv / MASS)
        assert m.x[5] == pytest.approx(v, rel=ROUND_OFF)


def test_a_motor_gives_no_more_than_its_limit():
    model = one("prismatic")
    model.add_motor("m", "x", "velocity", kv=1e6, limit=(-1.0, 3.0))
    m = Machine(model)
    m.inputs[0] = 100.0
    m.step(10)
    assert m.x[5] == pytest.approx(10 * H * 3.0 / MASS, rel=1e-9)
    m.inputs[0] = -100.0
    m.step(10)
    assert m.x[5] == pytest.approx(10 * H * 2.0 / MASS, rel=1e-9)


def test_a_position_motor_sags_by_weight_over_stiffness_and_settles_critically():
    kp, gear, u = 200.0, 2.0, 0.8
    stiffness = gear**2 * kp
    model = one("prismatic", G)
    model.add_motor("m", "x", "position", kp=kp, kv=2 * np.sqrt(MASS / stiffness) * kp, gear=gear)
    m = Machine(model)
    m.inputs[0] = u
    m.step(600)
    assert m.states[0, 2] == pytest.approx(u / gear - MASS * G / stiffness, rel=1e-9)


def test_a_torque_motor_is_a_known_force_within_its_limit():
    model = one("revolute")
    model.add_motor("m", "x", "torque", gear=3.0, limit=4.0)
    m = Machine(model)
    for u, torque in ((0.5, 1.5), (2.0, 4.0), (-9.0, -4.0)):
        m.assemble()
        m.inputs[0], push = u, np.zeros(6)
        add_motor_forces(m.system.system, m.inputs, m.room.J_measures, push)
        np.testing.assert_allclose(push, [0, 0, torque, 0, 0, 0], atol=1e-15)


def test_a_motor_between_two_bodies_pushes_both_and_works_along_its_coordinate():
    m = dal.Model("slider")
    m.add_body("a", MASS, I, com=(0.1, 0.2, 0), pose=((0.3, 0, 0), quat_exp(np.array([0.4, 0.1, 0.2]))))
    m.add_body("b", MASS, I, com=(0, 0.2, 0.1), pose=((0.5, 1, 0), quat_exp(np.array([-0.4, 0.1, 0.7]))))
    m.add_loop("x", "prismatic", "a", "b", (0, 0, 1), (0.6, 0, 0.8))
    m.add_motor("m", "x", "torque")
    run, push = Machine(m), np.zeros(12)
    run.assemble()
    run.inputs[0] = 7.0
    add_motor_forces(run.system.system, run.inputs, run.room.J_measures, push)
    np.testing.assert_allclose(push[3:6], [-4.2, 0, -5.6], atol=1e-14)
    np.testing.assert_allclose(push[9:], [4.2, 0, 5.6], atol=1e-14)
    states = run.system.states(m.neutral(), np.random.default_rng(0).normal(size=12))
    turned = [rotate(s[3:7], push[6 * i : 6 * i + 3]) + np.cross(s[:3], push[6 * i + 3 : 6 * i + 6]) for i, s in enumerate(states)]
    np.testing.assert_allclose(sum(turned), 0.0, atol=1e-14)  # no momentum comes from within


def test_damping_and_springs_follow_their_recurrences():
    """Damper: v_k+1 = v_k/(1 + c h/m). Spring without tau: the implicit midpoint rule, forces by (q_k+1 + 2 q_k + q_k-1)/4."""
    m = Machine(one("prismatic", damping=3.0))
    m.x[5] = 1.0
    m.step(10)
    assert m.x[5] == pytest.approx((1 + 3.0 * H / MASS) ** -10, rel=ROUND_OFF)
    m = Machine(one("prismatic", stiffness=50.0, rest=0.2))
    z = [0.0, 0.0]
    for _ in range(50):
        m.step()
        z.append(m.states[0, 2])
    z = np.array(z) - 0.2
    left = MASS * (z[2:] - 2 * z[1:-1] + z[:-2]) / H**2
    np.testing.assert_allclose(left, -50.0 * (z[2:] + 2 * z[1:-1] + z[:-2]) / 4, atol=1e-9)  # second differences: eps/h^2


def test_a_spring_that_rests_beyond_half_a_turn_gets_there():
    m = Machine(one("revolute", stiffness=5.0, rest=9.0, damping=3.0))
    m.step(600)
    m.assemble()
    assert m.value("angle") == pytest.approx(9.0, rel=1e-6)


@pytest.mark.parametrize("kind", ["prismatic", "revolute"])
def test_dry_friction_holds_up_to_its_bound_and_slows_beyond(kind):
    k, inertia = (5, MASS) if kind == "prismatic" else (2, I[2])
    push = np.zeros(6)
    m = Machine(one(kind, friction=2.0))
    push[k] = 1.9
    m.step(20, push)
    assert abs(m.x[k]) < 1e-8
    push[k] = 3.0
    m.step(20, push)
    assert m.x[k] == pytest.approx(20 * H * 1.0 / inertia, rel=1e-6)
    m.step(100)
    assert abs(m.x[k]) < 1e-8


def test_a_limit_stops_what_comes_and_sleeps_before():
    m = Machine(one("prismatic", limits=(-2.0, 1.0)), eps=1e-9)
    m.x[5] = 1.0
    rows = [m.system.rows.index(("x", f"{w} limit")) for w in ("lower", "upper")]
    m.step()
    assert (m.rows.J[rows] == 0.0).all()
    assert (m.lam[rows] == 0.0).all()
    highest = max(m.step().states[0, 2] for _ in range(200))
    assert highest < 1.0 + 1e-6  # it stops there, and does not pass
    force = np.zeros(6)
    force[5] = 30.0
    m.step(200, force)
    assert m.states[0, 2] == pytest.approx(1.0 + 1e-9 * 30.0, abs=1e-12)
    assert m.lam[rows[1]] == pytest.approx(H * 30.0, rel=1e-9)
    forces = np.empty((1, 2))
    joint_forces(m.system.system, H, m.states, m.rows.J, m.lam, forces)
    assert forces[0, 0] == pytest.approx(30.0, rel=1e-9)


def test_a_ball_joint_has_friction_damping_stiffness_and_a_greatest_angle():
    w = np.array([0.4, -0.5, 0.3])
    m = Machine(one("spherical", damping=0.8, limits=(0.0, 0.5)), eps=1e-9)
    m.x[:3] = w
    m.step(5)
    np.testing.assert_allclose(m.x[:3], w / (1 + 0.8 * H / np.array(I)) ** 5, rtol=1e-9)
    torque = np.array([0.0, 6.0, 8.0, 0, 0, 0])
    m = Machine(one("spherical", damping=0.8, limits=(0.0, 0.5)), eps=1e-9)
    m.step(600, torque)
    m.assemble()
    assert m.value("angle") == pytest.approx(0.5, abs=1e-6)
    m = Machine(one("spherical", damping=5.0, stiffness=20.0), eps=1e-9)
    m.step(900, torque)
    m.assemble()
    np.testing.assert_allclose([m.value(f"{x} rotation") for x in "xyz"], torque[:3] / 20.0, atol=1e-9)
    m = Machine(one("spherical", friction=2.0), eps=1e-9)
    m.step(30, np.array([1.3, -1.3, 0, 0, 0, 0]))  # 1.84 N m
    creep = 4 * 1e-9 / 9 / H * 1.3  # sigma lam, Y = 1/9
    np.testing.assert_allclose(m.x[:3], [creep, -creep, 0.0], rtol=1e-7, atol=1e-20)


@pytest.mark.parametrize("kind", ["prismatic", "revolute"])
def test_a_drive_of_constant_rate_is_followed_exactly_and_others_to_second_order(kind):
    def lag(f, rate, h):
        label = {"prismatic": "shift", "revolute": "angle"}[kind]
        m = Machine(one(kind, drive=f), h=h, eps=0.0)
        m.x[{"prismatic": 5, "revolute": 2}[kind]] = rate
        worst = 0.0
        for _ in range(round(2.0 / h)):
            m.step()
            m.assemble()
            worst = max(worst, abs(m.value(label) - m.system.drives[0](m.t)[0]))
        return worst

    bound = 1e-12 if kind == "prismatic" else 2e-3  # angles move by 2 asin(h w/2), which is not h w
    assert lag(lambda t: 0.7 * t, 0.7, H) < bound
    errors = [lag(lambda t: np.sin(3 * t), 3.0, 0.04 / 2**k) for k in range(4)]
    assert np.polyfit(np.log([0.04 / 2**k for k in range(4)]), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.15)
    times = np.linspace(0, 3, 40)
    table = lag((times, np.sin(3 * times)), 3.0, H)
    assert table == pytest.approx(lag(lambda t: np.sin(3 * t), 3.0, H), rel=0.01)


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "planar"])
def test_a_tilt_of_120_degrees_returns_to_the_axis_and_not_to_its_reverse(kind):
    m = Machine(one(kind), eps=1e-9)
    m.states[0, 3:7] = quat_mul(quat_exp(np.array([np.radians(120), 0, 0])), quat_exp(np.array([0, 0, 2.0])))
    cosines = []
    for _ in range(60):
        m.step()
        cosines.append(rotate(m.states[0, 3:7], np.array([0, 0, 1.0]))[2])
    assert cosines[-1] == pytest.approx(1.0, abs=1e-10)
    m.states[0, 3:7] = [0.0, 1.0, 0.0, 0.0]
    m.assemble()
    assert np.hypot(m.value("tilt"), m.value("tilt (2)")) == pytest.approx(2.0, abs=1e-14)


def shafts(kind, second, turn=None, **more):
    """Two shafts in bearings, joined at the origin; second: axis of the second bearing, of a shaft that is turned by `turn`."""
    m = dal.Model("shafts")
    m.add_body("in", MASS, I)
    m.add_body("out", MASS, I)
    m.add_loop("bearing in", "revolute", "world", "in", (0, 0, 0), (0, 0, 1))
    m.add_loop("bearing out", "revolute", "world", "out", (0, 0, 0), second, turn=turn)
    m.add_loop("x", kind, "in", "out", **more)
    return Machine(m)


def ratio(m, axis_in, axis_out):
    """omega_out/omega_in of the only motion that the rows allow."""
    singular, V = np.linalg.svd(m.assemble())[1:]
    assert singular[10] > 0.05  # of 12 unknowns one is free; a bearing and the joint hold the centres twice
    motion = V[-1]
    np.testing.assert_allclose(m.assemble() @ motion, 0.0, atol=1e-14)
    return (motion[6:9] @ axis_out) / (motion[:3] @ axis_in)


def test_a_universal_joint_turns_unevenly_as_cos_over_one_minus_sin_squared():
    """omega_2/omega_1 = cos c/(1 - sin^2 c sin^2 phi), phi from where the first pin is normal to the plane of the shafts (14.30)."""
    c = np.radians(35)
    z, s2, v0 = np.array([0, 0, 1.0]), np.array([np.sin(c), 0, np.cos(c)]), np.array([-np.cos(c), 0, np.sin(c)])
    m = shafts("universal", s2, axis=(0, 1, 0), axis2=v0)
    found = []
    for phi in np.linspace(0, 2 * np.pi, 25):
        u = np.array([-np.sin(phi), np.cos(phi), 0.0])
        v = np.cross(s2, u)
        psi = np.arctan2(v @ np.cross(s2, v0), v @ v0)
        m.states[0, 3:7], m.states[1, 3:7] = quat_about(z, np.array([phi])), quat_about(s2, np.array([psi]))
        found.append(ratio(m, z, s2))
        assert abs(m.value("angle of the axes")) < 1e-15
        assert found[-1] == pytest.approx(np.cos(c) / (1 - np.sin(c) ** 2 * np.sin(phi) ** 2), rel=ROUND_OFF)
    assert min(found) == pytest.approx(np.cos(c), rel=ROUND_OFF)
    assert max(found) == pytest.approx(1 / np.cos(c), rel=ROUND_OFF)


@pytest.mark.parametrize("angle", [0.0, 20.0, 60.0, 150.0])
def test_a_homokinetic_joint_turns_evenly(angle):
    bent = quat_exp(np.array([np.radians(angle), 0.0, 0.0]))
    z = np.array([0, 0, 1.0])
    m = shafts("homokinetic", rotate(bent, z), turn=bent, axis=(0, 0, 1))
    for phi in np.linspace(0, 2 * np.pi, 13):
        spun = quat_about(z, np.array([phi]))
        m.states[0, 3:7], m.states[1, 3:7] = spun, quat_mul(bent, spun)
        assert ratio(m, z, z) == pytest.approx(1.0, rel=ROUND_OFF)
        assert abs(m.value("twist")) < 1e-14


def test_a_double_pendulum_moves_as_in_joint_coordinates():
    """In a plane no gyroscopic torque acts, so the dense step is whole. From rest it is of first order."""
    m = dal.Model("double pendulum")
    for i in range(2):
        m.add_body(f"rod{i}", 1.0 + i, (0.1, 0.1, 0.1), com=(0.1, 0, -0.5), pose=((0, 0, -i), (1, 0, 0, 0)))
        m.add_joint(f"pin{i}", "revolute", "world" if i == 0 else "rod0", f"rod{i}", (0, 0, -i), (0, 1, 0), damping=0.2, stiffness=1.0)
    start, end = [0.5, -0.3], 0.96
    exact = dal.simulate(m, "mk8", h=0.01, t_end=end, q0=start).q[-1]
    free, errors, steps = cut(m), [], [0.005 / 2**k for k in range(4)]
    for h in steps:
        run = Machine(free, h=h)
        run.states = run.system.states(*body_state(m, start, [0.0, 0.0]))
        run.step(round(end / h))
        run.assemble()
        errors.append(np.abs([run.value("angle", f"pin{i}") - exact[i] for i in range(2)]).max())
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.1)
    assert errors[-1] < 0.01


def test_a_broken_joint_keeps_its_place_and_lets_go():
    m = Machine(one("spherical", G, strength=15.0))
    m.step(300)
    forces = np.empty((1, 2))
    joint_forces(m.system.system, H, m.states, m.rows.J, m.lam, forces)
    assert forces[0, 0] == pytest.approx(MASS * G, rel=1e-9)
    assert forces[0, 0] > m.system.strength[0, 0]
    m.intact[0] = 0
    v = m.x[5]
    m.step(10)
    assert (m.lam == 0.0).all()
    assert m.x[5] == pytest.approx(v - 10 * H * G, rel=ROUND_OFF)


@pytest.mark.nojit
def test_rows_in_plain_python_too():
    test_a_violation_returns_as_its_closed_form()
    test_a_limit_stops_what_comes_and_sleeps_before()
