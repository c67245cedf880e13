"""Scenes with closed loops and constraints on velocities, against reference data of 30 digits and more.

The judge is dense and independent of the steppers:  M a - G^T lambda = f,  G a = -dG/dt v,  with dG/dt by differences along the motion.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dalembert import scenes
from dalembert.scenes import loops, nonholonomic

DATA = Path(__file__).parent / "data"
LOOPS = ("four-bar", "n-four-bar", "bricard", "andrews")
VELOCITY = ("knife-edge", "chaplygin-sleigh", "rolling-disk", "upright-disk", "snakeboard")


def reference(name):
    return json.loads((DATA / f"{name}.json").read_text())


def numbers(samples, *path):
    def get(s):
        for p in path:
            s = s[p]
        return np.array(s, dtype=float)

    return np.array([get(s) for s in samples])


def start(name):
    scene = scenes.find(name)
    m = scene.model()
    return m, m.check_q(scene.q0), m.check_v(scene.v0)


def accelerations(m, q, v, rows=slice(None)):
    """(a, lambda) of index 1; dG/dt v by central differences, extrapolated: error of order 1e-11 times |v|^2/size and better."""

    def central(h):
        later, sooner = (m.constraint_rows(m.integrate(q, s * v))[1][rows] for s in (h, -h))
        return (later - sooner) @ v / (2 * h)

    G = m.constraint_rows(q)[1][rows]
    h = 3e-4 / max(1.0, np.abs(v).max())
    bias = (4 * central(h) - central(2 * h)) / 3
    M, k, n = m.mass_matrix(q), len(G), m.nv
    f = -m.inverse_dynamics(q, v, np.zeros(n))
    K = np.block([[M, -G.T], [G, np.zeros((k, k))]])
    scale = 1.0 / np.sqrt(np.concatenate([np.diag(M), np.full(k, 1.0)]))  # bodies of grams beside rows of order one
    x = scale * np.linalg.solve(scale[:, None] * K * scale, scale * np.concatenate([f, -bias]))
    return x[:n], x[n:]


@pytest.mark.parametrize("name", [*LOOPS, *VELOCITY])
def test_scene_starts_on_its_constraints(name):
    """Positions to round-off; lengths are at most 10 m."""
    m, q, v = start(name)
    g, G = m.constraint_rows(q)
    np.testing.assert_allclose(g, 0.0, atol=1e-14)
    np.testing.assert_allclose(G @ v, 0.0, atol=1e-14)
    np.testing.assert_allclose(m.difference(q, m.assemble(q)[0]), 0.0, atol=1e-13)


@pytest.mark.parametrize(
    ("name", "freedom", "redundant"),
    [
        ("four-bar", 1, 0),
        ("n-four-bar", 1, 0),
        ("bricard", 1, 1),
        ("andrews", 1, 0),
        ("knife-edge", 2, 0),
        ("rolling-disk", 3, 0),
        ("upright-disk", 2, 0),
    ],
)
def test_scene_has_its_degrees_of_freedom(name, freedom, redundant):
    m, q, _ = start(name)
    found = m.redundant_constraints(q)
    assert (found.degrees_of_freedom, found.rows - found.rank) == (freedom, redundant), found.text


@pytest.mark.parametrize("n", [1, 2, 10])
def test_four_bars_are_physical_pendulums(n):
    """All bars move alike: closed states of the reference, and theta'' = g (3 n + 1)/2 sin(theta)/((n + 1)/3 + n) from upright."""
    m = loops.n_four_bar(n)
    data = reference(f"four_bar_N{n}")
    assert data["links"] == len(m.bodies)
    energy = []
    for s in data["samples"][::20]:
        x, y, rate = (float(s[k]) for k in ("x", "y", "theta_dot"))
        angle = np.arctan2(x, y)
        q = m.check_q({k: angle * r for k, r in loops.turning(n).items()})
        v = m.check_v({k: rate * r for k, r in loops.turning(n).items()})
        g, G = m.constraint_rows(q)
        assert np.abs(g).max() < 1e-14 * (n + 1)
        assert np.abs(G @ v).max() < 1e-13 * (n + 1)
        p, u = m.poses(q)[n + 1 : n + 2, :3, 3], m.jacobian("bar1", q) @ v  # the middle of the first bar is half a metre from its left end
        np.testing.assert_allclose(p[0] - [0.5, 0, 0], [x, 0, y], atol=1e-14)
        np.testing.assert_allclose(np.linalg.norm(u[3:]), np.hypot(float(s["vx"]), float(s["vy"])), atol=1e-13)
        energy.append(m.energy(q, v))
    assert np.ptp(energy) < 1e-13 * energy[0]
    q, v = m.check_q({k: 0.3 * r for k, r in loops.turning(n).items()}), np.zeros(m.nv)
    a, _ = accelerations(m, q, v)
    expected = 9.81 * ((n + 1) / 2 + n) * np.sin(0.3) / ((n + 1) / 3 + n)
    np.testing.assert_allclose(a[: n + 1], expected, rtol=1e-12)


@pytest.mark.parametrize("k", [0, 1, 3, 7, 12, 20])
def test_andrews_accelerations_and_multipliers(k):
    """Reference: M a + G^T lambda = f with residuals P_2 - P_3, P_2 - P_4, P_2 - P_6 in world axes. Ours: M a = f + G^T lambda, in the
    axes of bodies 3, 4, 6; both are the same forces on body 2. Differences in dG/dt v leave 1e-10 of it."""
    m, _, _ = start("andrews")
    s = reference("andrews")["samples"][k]
    q, v, qdd, lam = (np.array(s[x], dtype=float) for x in ("q", "v", "qdd", "lam"))
    g, G = m.constraint_rows(q)
    assert np.abs(g).max() < 1e-14
    assert np.abs(G @ v).max() < 1e-12 * max(1.0, np.abs(v).max())
    a, multipliers = accelerations(m, q, v)
    np.testing.assert_allclose(a, qdd, atol=1e-9 * np.abs(qdd).max())
    bodies = [b.name for b in m.bodies]
    force = []
    for i, body in enumerate(("K3", "K4", "K6")):
        R = m.poses(q)[bodies.index(body), :3, :3]
        force.append(R @ (multipliers[2 * i] * np.array([0, -1.0, 0]) + multipliers[2 * i + 1] * np.array([1.0, 0, 0])))
    np.testing.assert_allclose(np.array(force)[:, :2].ravel(), -lam, atol=1e-9 * np.abs(lam).max())


def test_governor_keeps_its_angular_momentum():
    """Twenty states of the reference: the inertia of every part enters. Arms point down by alpha."""
    m, q0, v0 = start("flyball-governor")
    expected = m.momentum(q0, v0)[2]
    for s in reference("flyball_governor")["samples"][::5]:
        alpha = float(s["alpha"])
        q = m.check_q({"spin": float(s["phi"]), "slide": float(s["s"]), "right hinge": alpha, "left hinge": alpha})
        L = m.momentum(q, m.check_v({"spin": float(s["phi_dot"])}))
        assert abs(L[2] - expected) < 1e-12 * expected
        assert np.abs(L[:2]).max() < 1e-12 * expected


def test_governor_with_springs_moves_as_its_reference():
    """Stiff and damped, 0.1 s by an implicit method of order 5 at 1e-11."""
    m, q0, v0 = start("flyball-governor")

    def rhs(t, y):
        return np.concatenate([y[m.nq :], m.forward_dynamics(y[: m.nq], y[m.nq :])])

    s = reference("flyball_governor")["samples"][1]
    t = float(s["t"])
    end = solve_ivp(rhs, (0, t), np.concatenate([q0, v0]), method="Radau", rtol=1e-11, atol=1e-12).y[:, -1]
    found = dict(zip([j.name for j in m.joints if j.coordinates.nq], end[: m.nq], strict=True))
    for ours, theirs in (("spin", "phi"), ("slide", "s"), ("right hinge", "alpha"), ("left hinge", "alpha")):
        assert abs(found[ours] - float(s[theirs])) < 1e-8
    assert abs(end[m.nq] - float(s["phi_dot"])) < 1e-7


def test_rigid_governor_has_two_degrees_of_freedom():
    """Both rods of half a metre: spin and height. The slider is where sin(alpha) = 1 - s says."""
    m = loops.flyball_governor(rigid=True)
    q, _ = m.assemble({"slide": 0.45, "right hinge": 0.5, "left hinge": 0.5}, fixed=["slide"])
    assert m.redundant_constraints(q).degrees_of_freedom == 2
    at = m.q_slices()
    for side in ("right hinge", "left hinge"):
        assert abs(np.sin(q[at[side]][0]) - 0.55) < 1e-10


# motion of the machines with constraints on velocities -------------------------------------------------------------------------------


def motion(m, q, v, times):
    """States (q, v) at the times: DOP853 on the exponential coordinates' plain embedding (quaternions renormalised on the way out)."""
    nq, at = m.nq, m.q_slices()

    def rate(q, v):
        out = np.zeros(nq)
        for j in m.joints:
            dq = v[m.v_slices()[j.name]]
            if j.kind == "free":
                x, p = q[at[j.name]][3:], dq[:3]
                s, u = x[0], x[1:]
                R = m.poses(np.concatenate([q[:3], x / np.linalg.norm(x)]))[0, :3, :3]
                out[at[j.name]] = [*(R @ dq[3:]), -0.5 * u @ p, *(0.5 * (s * p + np.cross(u, p)))]
            else:
                out[at[j.name]] = dq
        return out

    def rhs(t, y):
        q, v = y[:nq].copy(), y[nq:]
        if m.joints[0].kind == "free":
            q[3:7] /= np.linalg.norm(q[3:7])
        return np.concatenate([rate(q, v), accelerations(m, q, v)[0]])

    found = solve_ivp(rhs, (0, times[-1]), np.concatenate([q, v]), method="DOP853", t_eval=times, rtol=1e-10, atol=1e-11)
    assert found.success
    return found.y[:nq].T, found.y[nq:].T


def test_rolling_disk_moves_as_its_reference():
    """Tilt, heading, rates and place of the centre over 3 s."""
    m, q, v = start("rolling-disk")
    samples = [s for s in reference("nonholonomic")["rolling_disk"]["samples"] if float(s["t"]) <= 3.0]
    assert abs(m.energy(q, v) - float(reference("nonholonomic")["rolling_disk"]["energy"])) < 1e-14 * 10
    qs, vs = motion(m, q, v, numbers(samples, "t"))
    normal = m.poses(qs)[:, 0, :3, 2]
    np.testing.assert_allclose(np.arccos(normal[:, 2]), numbers(samples, "theta"), atol=1e-7)
    psi = np.unwrap(np.arctan2(normal[:, 0], -normal[:, 1]))
    np.testing.assert_allclose(psi, numbers(samples, "psi"), atol=1e-7)
    np.testing.assert_allclose(vs[:, 2], numbers(samples, "w")[:, 2], atol=1e-7)
    np.testing.assert_allclose(qs[:, :2], numbers(samples, "centre_xy"), atol=1e-7)


def test_rolling_disk_accelerates_as_the_equations_of_the_disk_say():
    """(A + m r^2) w1' = A w2^2 cot - (C + m r^2) w2 w3 - m g r cos, and the two linear integrals; body axes spin by w3 - w2 cot."""
    m, q, v = start("rolling-disk")
    A, C, r2, theta = 0.0625, 0.125, 0.25, nonholonomic.TILT
    w = v[:3]
    cot = 1 / np.tan(theta)
    w_dot = np.array(
        [
            (A * w[1] ** 2 * cot - (C + r2) * w[1] * w[2] - 9.81 * 0.5 * np.cos(theta)) / (A + r2),
            (C / A * w[2] - w[1] * cot) * w[0],
            r2 / (C + r2) * w[1] * w[0],
        ]
    )
    spin = np.array([0, 0, w[2] - w[1] * cot])
    np.testing.assert_allclose(accelerations(m, q, v)[0][:3], w_dot - np.cross(spin, w), atol=1e-9)


def test_sleigh_moves_as_its_reference():
    m, q, v = start("chaplygin-sleigh")
    samples = reference("nonholonomic")["chaplygin_sleigh"]["samples"]
    assert abs(m.kinetic_energy(q, v) - float(reference("nonholonomic")["chaplygin_sleigh"]["energy"])) < 1e-15
    qs, vs = motion(m, q, v, numbers(samples, "t"))
    for k, name in enumerate(("x_contact", "y_contact", "theta")):
        np.testing.assert_allclose(qs[:, k], numbers(samples, name), atol=1e-8)
    np.testing.assert_allclose(vs[:, 2], numbers(samples, "omega"), atol=1e-8)


def test_knife_edge_moves_as_its_reference_and_its_closed_form():
    m, q, v = start("knife-edge")
    samples = reference("nonholonomic")["knife_edge_incline"]["samples"]
    t = numbers(samples, "t")
    exact = nonholonomic.knife_edge_motion(t)
    np.testing.assert_allclose(exact[:, 0], numbers(samples, "x"), atol=1e-13)
    np.testing.assert_allclose(exact[:, 1], numbers(samples, "y"), atol=1e-13)
    qs, _ = motion(m, q, v, t)
    np.testing.assert_allclose(qs, exact, atol=1e-7)


def test_upright_disk_runs_round_its_circle():
    m, q, v = start("upright-disk")
    t = np.linspace(0, 4, 9)
    qs, _ = motion(m, q, v, t)
    np.testing.assert_allclose(qs, nonholonomic.upright_disk_motion(t), atol=1e-8)


@pytest.mark.parametrize("t", [0.3, 1.0, 2.2])
def test_driven_snakeboard_accelerates_as_its_law_says(t):
    """Steering +-0.3 sin t and rotor 0.7 sin t, prescribed: (m + J tan^2/l^2) v' = -(tan/l) (J v sec^2 phi'/l + Jr psi'')."""
    m, _, _ = start("snakeboard")
    speed, mass, l, J, Jr = 0.35, 6.0, 0.2, 0.24, 0.072
    phi, phi_dot, tan = 0.3 * np.sin(t), 0.3 * np.cos(t), np.tan(0.3 * np.sin(t))
    q = m.check_q({"twist": 0.7 * np.sin(t), "steer front": phi, "steer back": -phi})
    v = m.check_v({"plane": (speed, 0, speed * tan / l), "twist": 0.7 * np.cos(t), "steer front": phi_dot, "steer back": -phi_dot})
    _, G = m.constraint_rows(q)
    np.testing.assert_allclose(G @ v, 0, atol=1e-15)
    at = m.v_slices()
    drive = np.eye(m.nv)[[at[name].start for name in ("twist", "steer front", "steer back")]]
    wanted = -np.array([0.7, 0.3, -0.3]) * np.sin(t)
    h = 1e-4
    bias = (m.constraint_rows(m.integrate(q, h * v))[1] - m.constraint_rows(m.integrate(q, -h * v))[1]) @ v / (2 * h)
    A = np.vstack([G, drive])
    K = np.block([[m.mass_matrix(q), -A.T], [A, np.zeros((5, 5))]])
    a = np.linalg.solve(K, np.concatenate([-m.inverse_dynamics(q, v, np.zeros(m.nv)), -bias, wanted]))
    expected = -(tan / l) * (J * speed / np.cos(phi) ** 2 * phi_dot / l + Jr * wanted[0]) / (mass + J * tan**2 / l**2)
    assert abs(a[0] - expected) < 1e-9  # the board points along x, so v' = x''


def test_driven_snakeboard_law_is_that_of_the_reference():
    """The law of the test above, integrated from rest, gives the reference's speed after 20 s."""

    def rhs(t, y):
        phi, tan = 0.3 * np.sin(t), np.tan(0.3 * np.sin(t))
        push = 0.24 * y[0] / np.cos(phi) ** 2 * 0.3 * np.cos(t) / 0.2 - 0.072 * 0.7 * np.sin(t)
        return [-(tan / 0.2) * push / (6 + 0.24 * tan**2 / 0.04)]

    samples = reference("nonholonomic")["snakeboard"]["samples"]
    end = solve_ivp(rhs, (0, 20), [0.0], method="DOP853", rtol=1e-11, atol=1e-13).y[0, -1]
    assert abs(end - float(samples[-1]["v"])) < 1e-9


def test_bricard_moves_and_stays_closed():
    """One row is redundant everywhere; over the motion the rank stays four."""
    m, q, _ = start("bricard")
    v = np.linalg.svd(m.constraint_rows(q)[1])[2][-1]
    for _ in range(5):
        q, v = m.assemble(m.integrate(q, 0.1 * v), v)
        s = np.linalg.svd(m.constraint_rows(q)[1])[1]
        assert s[4] < 1e-9 * s[0] < 1e-4 * s[3]
