"""Numbers of Lacoursiere 2007 (chapters 4, 7 to 9, 14, 15), from the corrected equations, by machines of bodies in three dimensions."""

import numpy as np
import pytest
from contact_laws import Steps, add_ball, floor

import dalembert as dal
from dalembert.model.cut import cut
from dalembert.scenes.contact_joints import slider_crank


def about(axis, angle):
    return (np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis, dtype=float)))


def slider(**options):
    """A body that a joint holds along x and z, and that may move along y."""
    m = dal.Model(gravity=(-9.81, 0, 0))
    m.add_body("a", 2.0, (1, 1, 1))
    m.add_joint("j", "prismatic", "world", "a", axis=(0, 1, 0), compliance=options.pop("compliance", 0.0))
    return Steps(cut(m), **options)


@pytest.mark.parametrize("h", [1 / 60, 1 / 7])
@pytest.mark.parametrize("tau", [0.5, 2.0, 5.0])
def test_a_static_load_gives_way_by_eps_times_its_force(h, tau):
    """Chapter 4 (i): g = -eps m g for every h and tau; the impulse of a step is h m g."""
    s = slider(compliance=1e-4, h=h, tau=tau)
    for _ in range(400):
        s.step()
    assert s.x[0, 0] == pytest.approx(-1e-4 * 2.0 * 9.81, abs=2e-9 * h * (1 + 4 * tau) / 4)  # u of the row below 1e-9 m/s


def test_a_violation_shrinks_as_one_plus_two_thirds_k_over_three_to_the_k():
    """Chapter 4 (iii): tau = 2 h, eps = 0."""
    s = slider(joint_eps=1e-14)
    s.machine.bodies.weight[:] = 0.0
    s.x[0, 0] = 0.1
    for k in range(1, 12):
        s.step()
        assert s.x[0, 0] == pytest.approx((1 + 2 * k / 3) * 3.0**-k * 0.1, rel=1e-6, abs=1e-9 / 60)  # rows are solved to 1e-9 m/s


@pytest.mark.parametrize(
    ("h", "violation", "crossings"),
    [
        (1 / 60, 7.7e-3, (0.867, 2.60, 4.30)),
        (1 / 240, 5.4e-4, (0.88303, 2.649, 4.4151)),
        (1 / 960, 6.8e-5, (0.8823, 2.648, 4.4146)),
    ],
)
def test_a_slider_crank_passes_its_singular_positions(h, violation, crossings):
    """Chapter 7: m = l = 1, g = 9.8, from 45 degrees, eps = 1e-6: at -90 degrees the rows lose a rank; the branch must not change."""
    s, angles, worst = Steps(cut(slider_crank()), h=h, joint_eps=1e-6), [], 0.0
    while s.t < 5.0:
        s.step()
        f, x = 2 * np.arctan2(s.q[:, 3], s.q[:, 0]), s.x
        u = 0.5 * np.column_stack([np.cos(f), np.sin(f)])
        miss = (x[0, :2] - u[0], x[0, :2] + u[0] - x[1, :2] + u[1], x[1, 1] + u[1, 1])
        worst = max(worst, *(np.abs(g).max() for g in miss))
        angles.append(f)
    f = np.unwrap(np.array(angles), axis=0)
    t = h * (1 + np.arange(len(f)))
    k = np.flatnonzero(np.diff(np.sign(f[:, 0] + np.pi / 2)))
    assert worst == pytest.approx(violation, rel=0.02)
    np.testing.assert_allclose(t[k], crossings, atol=2 * h)  # the node before
    assert np.abs(f.sum(axis=1)).max() < 6e-4
    assert -1.25 * np.pi - 0.01 < f[:, 0].min() and f[:, 0].max() < 0.25 * np.pi + 0.01


PLANE = [("ground", "x shift"), ("ground", "y shift"), ("knee", "x shift"), ("knee", "y shift"), ("slide", "shift across (2)")]


def plane_rows(s):
    """(S, S + Sigma) of the five rows of the plane motion, of the last step."""
    p = s.machine._problem(0)
    rows = [s.machine.bodies.rows.index(label) for label in PLANE]
    W = p.dense()[0][np.ix_(rows, rows)]
    return W - np.diag(p.sigma[rows]), W


def condition(W):
    values = np.linalg.eigvalsh(W)
    return values[-1] / max(values[0], 1e-300)


def at_angle(angle):
    """The slider crank at an angle of its first bar, put there."""
    s = Steps(cut(slider_crank()), joint_eps=1e-6)
    for k, f in enumerate((angle, -angle)):
        s.q[k] = about((0, 0, 1), f)
        s.x[k] = (0.5 * np.cos(angle) if k == 0 else 1.5 * np.cos(angle), 0.5 * np.sin(angle), 0)
    s.machine.bodies.weight[:] = 0.0
    s.step()
    return s


@pytest.mark.parametrize(("angle", "rank"), [(np.pi / 2, 4), (-np.pi / 2, 4), (0.0, 5), (np.pi / 4, 5), (-1.2, 5)])
def test_rows_of_a_slider_crank_lose_a_rank_where_its_bars_fold(angle, rank):
    """(7.20): rank 4 at +-90 degrees, 5 elsewhere; with Sigma = 1.6e-3 always 5, and a condition below 5.5e3."""
    S, W = plane_rows(at_angle(angle))
    assert np.linalg.matrix_rank(S, tol=1e-9, hermitian=True) == rank
    assert condition(W) <= 5.6e3 and np.diag(W - S) == pytest.approx(1.6e-3, rel=1e-9)


def test_a_slider_crank_with_drag_comes_to_rest_at_its_singular_position():
    """f = -0.3 dq/dt: phi -> -1.570797; cond(S) up to 6e17, cond(S + Sigma) at most 5519 (chapter 7, second run)."""
    s, worst, bare = Steps(cut(slider_crank(0.3)), joint_eps=1e-6), 0.0, 0.0
    for _ in range(round(60.0 * 60)):
        assert s.step().converged
        S, W = plane_rows(s)
        worst, bare = max(worst, condition(W)), max(bare, condition(S))
    angle = 2 * np.arctan2(s.q[0, 3], s.q[0, 0])
    assert angle == pytest.approx(-1.570797, abs=2e-6) and s.kinetic < 1e-9
    assert bare > 1e12 and worst == pytest.approx(5519, rel=0.02)


def test_a_slider_crank_loses_some_energy_to_the_linearised_step():
    """About 9 % of the swing energy in 10 s at h = 1/60."""
    s = Steps(cut(slider_crank()), joint_eps=1e-6)
    total = lambda: s.kinetic + 9.8 * s.x[:, 1].sum()  # noqa: E731
    start = total()
    s.run(10.0)
    lost = (start - total()) / (9.8 * (np.sqrt(0.5) + 1.0))
    assert 0.07 < lost < 0.11


def tied(eps, zeta, h=1 / 60):
    """Chapter 8: q0 - q1 = 0 held with compliance eps and damping time zeta sqrt(2 eps), pulled apart with 1 N."""
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("a", 1.0, (1, 1, 1))
    m.add_body("b", 1.0, (1, 1, 1))
    m.add_joint("j", "prismatic", "a", "b", axis=(0, 1, 0), compliance=eps)
    return Steps(cut(m), h=h, tau=zeta * np.sqrt(2 * eps) / h)


def gaps(s, n, pull=1.0):
    found = []
    for _ in range(n):
        s.step((0, 0, 0, -pull, 0, 0, 0, 0, 0, pull, 0, 0))
        found.append(s.x[0, 0] - s.x[1, 0])
    return np.array(found)


@pytest.mark.parametrize(("eps", "amplitude"), [(1e-2, 0.9931), (1e-4, 0.6470), (1e-6, 0.0845)])
def test_high_oscillations_are_filtered_and_the_steady_force_is_exact(eps, amplitude):
    """Undamped: g + eps swings with eps/sqrt(1 - sigma), where sqrt(1 - sigma) is that of the force. Damped: g -> -eps."""
    g = gaps(tied(eps, 0.0), 300)
    assert np.abs(g + eps).max() == pytest.approx(eps / amplitude, rel=1e-3)
    assert gaps(tied(eps, 1.0), 400)[-1] == pytest.approx(-eps, rel=1e-4)


@pytest.mark.parametrize(("zeta", "from_position", "from_velocity"), [(1.0, 9, 5), (0.1, 63, 34)])
def test_inconsistent_starts_are_forgotten(zeta, from_position, from_velocity):
    """eps = 1e-4: steps until |g| < 1e-3 for good, from g = 0.2 and from dg/dt = 2."""
    for gap, rate, steps in ((0.2, 0.0, from_position), (0.0, 2.0, from_velocity)):
        s = tied(1e-4, zeta)
        s.x[0, 0], s.v[0, 0] = gap, rate
        g = gaps(s, 150)
        last = np.flatnonzero(np.abs(g) >= 1e-3)[-1] + 2  # steps are counted from 1
        assert abs(last - steps) <= 1


@pytest.mark.parametrize(
    ("zeta", "eps", "factor"),
    [(1.0, 1e-2, 0.826), (1.0, 1e-4, 0.580), (1.0, 1e-6, 0.865), (0.1, 1e-2, 0.978), (0.1, 1e-4, 0.914), (0.1, 1e-6, 0.984)],
)
def test_transients_shrink_by_the_factor_of_the_damping(zeta, eps, factor):
    """sqrt(alpha) per step: the determinant of the map of (g, dg/dt)."""
    columns = []
    for gap, rate in ((0.01, 0.0), (0.0, 0.01 * 60)):
        s = tied(eps, zeta)
        s.x[0, 0], s.v[0, 0] = gap, rate
        gaps(s, 1, 0.0)
        columns.append((s.x[0, 0] - s.x[1, 0], (s.v[0, 0] - s.v[1, 0]) / 60))
    assert np.sqrt(np.linalg.det(np.array(columns) / 0.01)) == pytest.approx(factor, abs=6e-4)


@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-6])
def test_the_force_without_damping_swings_by_its_closed_form(eps):
    """lam/h - 1 = -sqrt(1 - sigma) cos(w (k + 1/2)), first lam/h = sigma, sigma = h^2/(h^2 + 2 eps), cos w = 1 - 2 sigma."""
    s, forces, h = tied(eps, 0.0), [], 1 / 60
    for _ in range(40):
        gaps(s, 1)
        lam = s.machine.joint_lam[: s.machine.joint_rows]
        J = s.machine.rows.J[: len(lam), 3]
        forces.append((J * lam).sum() / h)  # along x, on the first body
    sigma = h**2 / (h**2 + 2 * eps)
    k = np.arange(40)
    exact = 1 - np.sqrt(1 - sigma) * np.cos(np.arccos(1 - 2 * sigma) * (k + 0.5))
    assert forces[0] == pytest.approx(sigma, rel=1e-4)
    np.testing.assert_allclose(forces, exact, atol=1e-3)  # rows are solved to 1e-9 m/s, of Sigma/h = 4 eps/h^3


def test_the_steady_force_is_exact():
    s = tied(1e-4, 1.0)
    gaps(s, 400)
    lam = s.machine.joint_lam
    assert (s.machine.rows.J[: len(lam), 3] * lam).sum() * 60 == pytest.approx(1.0, abs=1e-6)


# chapter 9 -----------------------------------------------------------------------------------------------------------------------------


def struck(zeta, h, speed=2.0, mass=2.0, k=800.0, seconds=None):
    """A body that meets a spring and damper at q = 0: (q, v) from there on; w = 20 rad/s."""
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("b", mass, (0.1, 0.1, 0.1))
    m.add_joint("j", "prismatic", "world", "b", axis=(1, 0, 0), stiffness=k, damping=2 * zeta * np.sqrt(k * mass))
    w = np.sqrt(k / mass)
    steps = round((seconds or 1.2 * np.pi / (w * np.sqrt(max(1 - zeta**2, 0.01)))) / h)
    found = dal.simulate(m, "spook", h=h, t_end=steps * h, v0=[-speed]).joint("j")
    return found.q[:, 0], found.v[:, 0]


def at_zero(q, v, k):
    """Velocity where q passes 0, between nodes k and k + 1; velocities are those of the steps before."""
    return v[k + 1] + (v[k + 2] - v[k + 1]) * (-q[k] / (q[k + 1] - q[k]) - 0.5)


@pytest.mark.parametrize("zeta", [0.05, 0.2, 0.5])
def test_a_spring_with_a_damper_gives_back_exp_of_minus_pi_zeta(zeta):
    """(9.9), corrected: v+/v- = -exp(-pi zeta/sqrt(1 - zeta^2)) where it leaves, whatever speed and stiffness; order one in h."""
    r, errors = np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2)), []
    for h in (2e-3, 1e-3, 5e-4, 2.5e-4):
        q, v = struck(zeta, h)
        k = np.flatnonzero((q[:-1] < 0) & (q[1:] >= 0))[0]
        errors.append(abs(at_zero(q, v, k) / 2.0 - r))
    assert errors[-1] < 20 * 2.5e-4  # h w
    assert np.polyfit(np.log([8, 4, 2, 1]), np.log(errors), 1)[0] > 0.8
    q, v = struck(zeta, 2.5e-4, speed=0.1, mass=1.0, k=6400.0)
    k = np.flatnonzero((q[:-1] < 0) & (q[1:] >= 0))[0]
    assert at_zero(q, v, k) / 0.1 == pytest.approx(r, abs=80 * 2.5e-4)


@pytest.mark.parametrize(("zeta", "deepest"), [(1.0, 1 / np.e), (2.0, None)])
def test_critical_damping_and_more_never_let_go(zeta, deepest):
    """(9.12): deepest v0/(w e) at w t = 1."""
    q, _ = struck(zeta, 1e-3, seconds=2.0)
    assert q[1:].max() < 1e-11  # rows are solved to 1e-9 m/s
    if deepest is not None:
        assert q.min() == pytest.approx(-2.0 / 20.0 * deepest, rel=0.03)
        assert np.argmin(q) * 1e-3 == pytest.approx(1 / 20.0, abs=2e-3)


def thrown_ball(zeta, h, k=1e4):
    """A ball of 1 kg thrown at 1 m/s upon a floor whose contact is a spring and damper: its speed when it has left, and how deep it was."""
    m = floor(0.0, gravity=(0, 0, 0))
    add_ball(m, "ball", (0, 0, 0.101))
    m.add_contact("ball", "world", friction=0.0, compliance=1 / k, damping_time=2 * zeta / np.sqrt(k))
    s, depth = Steps(m, v=(0, 0, -1.0), h=h), 0.0
    while s.t < 0.06:
        s.step()
        depth = max(depth, 0.1 - s.x[0, 2])
    return s.v[0, 2], depth


@pytest.mark.parametrize("zeta", [0.05, 0.2, 0.5])
def test_a_contact_with_compliance_and_damping_time_is_a_spring_and_damper_that_does_not_pull(zeta):
    """Leaves where the force is 0, and (9.9) would pull: r = exp(-(z/s) (pi - atan2(2 z s, s^2 - z^2))), s = sqrt(1 - z^2); order one."""
    root = np.sqrt(1 - zeta**2)
    r = np.exp(-zeta / root * (np.pi - np.arctan2(2 * zeta * root, root**2 - zeta**2)))
    found = [thrown_ball(zeta, h) for h in (4e-4, 2e-4, 1e-4)]
    errors = [abs(v - r) for v, _ in found]
    assert errors[-1] < 1.5e-3 and np.polyfit(np.log([4, 2, 1]), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.2)
    deepest = np.exp(-zeta / root * np.arctan2(root, zeta)) / 100.0  # v0/w exp(- z/s acos z), where it turns
    assert found[-1][1] == pytest.approx(deepest, rel=5e-3)


# chapter 14 ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [30, 120, 170])
def test_a_hinge_comes_back_from_any_tilt(degrees):
    """Chapter 14: rows by quaternions tell an axis from its reverse; direction cosines would settle at 180 degrees from 120."""
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("a", 1.0, (0.1, 0.1, 0.1))
    m.add_joint("h", "revolute", "world", "a", axis=(0, 0, 1))
    start = cut(m)
    q0 = start.neutral()
    q0[3:7] = about((1, 0, 0), np.radians(degrees))
    traj = dal.simulate(start, "spook", h=1 / 60, t_end=1.0, q0=q0)
    _, x, y, _ = traj.q[-1, 3:7]
    assert np.hypot(x, y) < 1e-9


@pytest.mark.parametrize(("h", "violation", "energy"), [(0.01, 3.8e-3, 10.240), (0.005, 9.7e-4, 10.402)])
def test_a_top_on_its_point(h, violation, energy):
    """Chapter 15: m = 1/6, I = (1, 1, 2), l = 4, g = 10, 10 degrees, omega_3 = 2, T = 5, eps = 1e-9: max |g| and the energy at the end."""
    nodes, s = top(h, 2.0)
    assert nodes[:, 0].max() == pytest.approx(violation, rel=0.02)
    assert s.kinetic + 10 / 6 * s.x[0, 2] == pytest.approx(energy, abs=1e-3)


def test_a_fast_top_stays_up():
    """omega_3 = 20, h = 0.01: lowest z/l 0.9814 (exact 0.9838)."""
    nodes, _ = top(0.01, 20.0)
    assert nodes[:, 1].min() == pytest.approx(0.9814, abs=1e-4)


def top(h, spin):
    """(violation of the point, z/l) of the nodes of a top on its point."""
    tilt = np.radians(10)
    m = dal.Model(gravity=(0, 0, -10.0))
    m.add_body("top", 1 / 6, (1, 1, 2), pose=((4 * np.sin(tilt), 0, 4 * np.cos(tilt)), about((0, 1, 0), tilt)))
    m.add_joint("tip", "spherical", "world", "top")
    s, found = Steps(cut(m), h=h, joint_eps=1e-9), []
    s.omega[0] = (0, 0, spin)
    for _ in range(round(5.0 / h)):
        s.step()
        w, x, y, z = s.q[0]
        axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        found.append((np.linalg.norm(s.x[0] - 4 * axis), s.x[0, 2] / 4))
    return np.array(found), s
