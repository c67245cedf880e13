"""Derivatives of balls in contact, against the step in extended precision by hand, and against differences of the simulator."""

import mpmath as mp
import numpy as np
import pytest

import dalembert as dal

H, R, MASS, MU, G = 0.01, 0.1, 1.3, 0.3, 9.81
EPS, STEPS, NEAR, CREEP = 1e-8, 2.0, 2e-4, 1e-5  # of the stepper


def ball(mu=MU, inertia=0.4 * MASS * R * R, bodies=1):
    m = dal.Model("ball", gravity=(0, 0, -G))
    m.add_shape("world", dal.Plane(friction=mu))
    for k in range(bodies):
        m.add_body("ab"[k], MASS, np.broadcast_to(inertia, (3,)), shapes=[dal.Sphere(R, friction=mu)])
    return m


def by_hand(x, z, omega, v, torque, force, slides):
    """(place, omega+, v+) in world axes of one step of a ball on the plane z = 0, a body with attitude 1 at the start, in mpmath.

    m (v+ - v) = h (f - m g) + J, I (w+ - w) = h t + arm x J;  gap' + b + sigma J = 0 by rows, Coulomb's law with its dead band.
    """
    I, Y = mp.mpf(0.4 * MASS * R * R), 1 / (1 + 4 * mp.mpf(STEPS))
    gap = z - R
    sigma = min(4 * EPS * Y / H**2, mp.mpf(1e-4) / MASS)
    rate = v[2]
    b = gap / H if gap > NEAR else max(Y * (4 * gap / H - (rate if rate > -0.05 else 0)), -max(rate, 1))
    free = [v[i] + H * (force[i] / MASS - (G if i == 2 else 0)) for i in range(3)]
    spin = [omega[i] + H * torque[i] / I for i in range(3)]
    arm = -(R + gap / 2)

    def slip(J):
        """Velocity of the point of contact, sigma J added; J = (x, y)."""
        w = (spin[0] - arm * J[1] / I, spin[1] + arm * J[0] / I)
        return free[0] + J[0] / MASS + w[1] * arm + sigma * J[0], free[1] + J[1] / MASS - w[0] * arm + sigma * J[1]

    up = (CREEP if slides else 0) - b - free[2]
    normal = up / (1 / mp.mpf(MASS) + sigma)
    easy = 1 / mp.mpf(MASS) + arm**2 / I + sigma
    u = slip((0, 0))
    if slides:  # along the slip: the same direction with and without J
        size = mp.sqrt(u[0] ** 2 + u[1] ** 2)
        J = [-mp.mpf(MU) * normal * u[i] / size for i in range(2)]
        assert size > easy * MU * normal
    else:
        J = [-u[i] / easy for i in range(2)]
    v1 = [free[0] + J[0] / MASS, free[1] + J[1] / MASS, free[2] + normal / MASS]
    w1 = [spin[0] - arm * J[1] / I, spin[1] + arm * J[0] / I, spin[2]]
    return [x[0] + H * v1[0], x[1] + H * v1[1], z + H * v1[2]], w1, v1


def step_by_hand(q, v, tau, slides):
    """The same in coordinates of the model, from attitude 1: (place of q+, rotation vector h w+, v+ in body axes)."""
    with mp.workdps(40):
        x, w, u = by_hand([q[0], q[1]], q[2], v[:3], v[3:], tau[:3], tau[3:], slides)
        turn = [H * a for a in w]
        angle = mp.sqrt(sum(a * a for a in turn) + mp.mpf(10) ** -60)
        axis = [a / angle for a in turn]
        back = rotated([-a for a in axis], angle, u)
        return [*x, *turn, *w, *back]


def rotated(axis, angle, a):
    """Rodrigues' formula."""
    c, s = mp.cos(angle), mp.sin(angle)
    cross = [axis[1] * a[2] - axis[2] * a[1], axis[2] * a[0] - axis[0] * a[2], axis[0] * a[1] - axis[1] * a[0]]
    along = sum(x * y for x, y in zip(axis, a, strict=True))
    return [c * a[i] + s * cross[i] + (1 - c) * along * axis[i] for i in range(3)]


def columns_by_hand(q, v, tau, slides):
    """Central differences with 40 digits, along places, speeds and forces."""
    with mp.workdps(40):
        size, columns = mp.mpf(10) ** -12, []
        for k in range(15):
            ends = []
            for sign in (1, -1):
                x = [mp.mpf(float(a)) for a in (*q[:3], *v, *tau)]
                x[k] += sign * size
                ends.append(step_by_hand(x[:3], x[3:9], x[9:], slides))
            columns.append([float((a - b) / (2 * size)) for a, b in zip(*ends, strict=True)])
    return np.array(columns).T


SLIDING = ([0, 0, 0.5, 2.0, 0.4, 0.0], True)
ROLLING = ([-4.0, 10.0, 0.3, 1.0, 0.4, 0.0], False)


@pytest.mark.parametrize(("v", "slides"), [SLIDING, ROLLING])
def test_by_hand_in_extended_precision(v, slides):
    """Columns of places, speeds and forces; changes of the attitude do nothing to a ball but turn its axes."""
    q, v, tau = np.array([0.0, 0, R - 1e-6, 1, 0, 0, 0]), np.array(v), np.array([0.01, 0.02, 0.03, 0.1, 0.2, 0.3])
    found = dal.derivatives(ball(), q, v, tau, H, "spook")
    base = np.array(step_by_hand(q, v, tau, slides), dtype=float)
    assert np.allclose(found.q_next[:3], base[:3], atol=1e-13) and np.allclose(found.v_next, base[6:], atol=1e-12)
    judge, whole = columns_by_hand(q, v, tau, slides), np.hstack([found.A, found.B])[:, 3:]
    attitude = dal.so3.exp(base[3:6])
    assert np.abs(attitude @ whole[3:6] - judge[:3]).max() < 1e-9  # places: tangents are in body axes
    assert np.abs(whole[6:] - judge[6:]).max() < 1e-8 * np.abs(judge).max()
    assert np.abs(dal.so3.dexp(-base[3:6]) @ judge[3:6] - whole[:3]).max() < 1e-9


def simulated_columns(m, q, v, tau, size):
    def at(x):
        n = m.nv
        run = dal.simulate(m, "spook", h=H, t_end=H, q0=m.integrate(q, x[:n]), v0=v + x[n : 2 * n], control=(tau + x[2 * n :])[None])
        return run.q[-1], run.v[-1]

    base = at(np.zeros(3 * m.nv))
    found = []
    for e in size * np.eye(3 * m.nv):
        (q1, v1), (q2, v2) = at(e), at(-e)
        found.append(np.concatenate([m.difference(base[0], q1) - m.difference(base[0], q2), v1 - v2]) / (2 * size))
    return np.array(found).T


def test_two_balls_that_roll_and_press_on_each_other():
    """Uneven bodies on a plane, pressed together: contacts that stick, by differences of the simulator."""
    m = ball(0.9, (0.004, 0.005, 0.006), 2)
    q = np.array([0, 0, R - 1e-6, 1, 0, 0, 0, 2 * R - 1e-6, 0, R - 1e-6, 1, 0, 0, 0])
    q = m.integrate(q, np.concatenate([[0.3, 0.2, 0.1, 0, 0, 0], [-0.2, 0.1, 0.4, 0, 0, 0]]))
    tau = np.zeros(12)
    first, second = (dal.quat.to_matrix(q[i : i + 4]) for i in (3, 10))
    tau[3:6], tau[9:] = first.T @ [2.0, 0, 0], second.T @ [-2.0, 0, 0]
    found = dal.derivatives(m, q, np.zeros(12), tau, H, "spook", params=("a.mass", "gravity"))
    judge = simulated_columns(m, q, np.zeros(12), tau, 1e-5)
    assert (
        np.abs(np.hstack([found.A, found.B]) - judge).max() < 2e-4 * np.abs(judge).max()
    )  # the simulator meets the law to 1e-9 m/s over 1e-5
    assert found.C.shape == (24, 4)


def test_without_contact_it_falls():
    m = ball(inertia=(0.004, 0.005, 0.006))
    q, v = np.array([0, 0, 1.0, 1, 0, 0, 0]), np.array([1.0, 2, -1, 0.3, 0.2, 0.1])
    found = dal.derivatives(m, q, v, None, H, "spook", params=("gravity", "a.mass"))
    judge = simulated_columns(m, q, v, np.zeros(6), 1e-4)
    assert np.abs(np.hstack([found.A, found.B]) - judge).max() < 1e-6
    turn = dal.quat.to_matrix(found.q_next[3:])
    assert np.allclose(turn @ found.C_v[3:, :3], H * np.eye(3), atol=1e-13) and np.allclose(found.C[:, 3], 0.0)


def test_mass_and_gravity_of_a_ball_that_slides():
    q, v = np.array([0.0, 0, R - 1e-6, 1, 0, 0, 0]), np.array(SLIDING[0])
    found = dal.derivatives(ball(), q, v, None, H, "spook", params=("gravity", "a.mass"))
    ends = [dal.derivatives(ball().with_values({"gravity": (0, 0, -G + s)}), q, v, None, H, "spook").v_next for s in (1e-4, -1e-4)]
    assert np.allclose(found.C_v[:, 2], (ends[0] - ends[1]) / 2e-4, atol=1e-7)
    ends = [dal.derivatives(ball().with_values({"a.mass": MASS + s}), q, v, None, H, "spook").v_next for s in (1e-4, -1e-4)]
    assert np.allclose(found.C_v[:, 3], (ends[0] - ends[1]) / 2e-4, atol=1e-7)


def test_a_switch_between_rolling_and_sliding_is_said():
    q, m = np.array([0.0, 0, R, 1, 0, 0, 0]), ball()
    low, high = 0.0, 2.0  # speed at which a ball that does not turn stops to stick within one step
    for _ in range(60):
        middle = 0.5 * (low + high)
        try:
            slides = bool(abs(dal.derivatives(m, q, [0, 0, 0, middle, 0, 0], None, H, "spook").A_vv[3, 1]) < 1e-3)
        except dal.UnsupportedError as problem:
            assert "at a switch" in str(problem)
            return
        low, high = (low, middle) if slides else (middle, high)
    pytest.fail("no switch was met")


def test_what_has_no_derivative_is_named():
    m = ball()
    m.add_body("cube", 1.0, (0.1, 0.1, 0.1), pose=((1, 0, 0.05), (1, 0, 0, 0)), shapes=[dal.Box((0.1, 0.1, 0.1))])
    with pytest.raises(dal.UnsupportedError, match="spheres with planes"):
        dal.derivatives(m, [0, 0, R, 1, 0, 0, 0, 1, 0, 0.05, 1, 0, 0, 0], stepper="spook")
    m = dal.Model("pendulum")
    m.add_body("bob", 1.0, (0.1, 0.1, 0.1), com=(0, 0, -1))
    m.add_joint("pin", "revolute", "world", "bob", axis=(0, 1, 0))
    with pytest.raises(dal.UnsupportedError, match=r"free bodies.*has pin"):
        dal.derivatives(m, stepper="spook")
    with pytest.raises(dal.UnknownNameError, match=r"did you mean 'a\.mass'"):
        dal.derivatives(ball(), stepper="spook", params="b.mass")
