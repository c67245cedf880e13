"""Numbers of lacoursiere2007 on motors, impacts and dry friction (4.31, 10.6, 10.11, 17), from the corrected equations in the notes."""

import numpy as np
import pytest
from contact_laws import G, H, Steps, add_ball, floor, incline
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.model.cut import cut


def slider(**joint):
    """A body of 1 kg on a rail along x, no weight."""
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("a", 1.0, (1, 1, 1))
    m.add_joint("rail", "prismatic", "world", "a", axis=(1, 0, 0), **joint)
    return m


# dry friction in one dimension (10.91): q'' + 2 g q' + mu sgn q' + q = A cos(w t) --------------------------------------------------------

DRAG, MU, A, W = 0.2, 4.0, 2.0, np.pi


def event_driven(t_end):
    """Pieces (t0, t1, q(t)) of the exact solution from q = 3, q' = 4: SciPy slides, and sticks where |A cos(w t) - q| <= mu."""
    t, q, v, pieces = 0.0, 3.0, 4.0, []
    while t < t_end:
        sign = np.sign(v) if v != 0.0 else np.sign(A * np.cos(W * t) - q)
        stop = lambda t, y: y[1]  # noqa: E731
        stop.terminal, stop.direction = True, -sign
        slide = lambda t, y, s=sign: (y[1], A * np.cos(W * t) - y[0] - DRAG * y[1] - s * MU)  # noqa: E731
        y0 = (q, v if v != 0.0 else sign * 1e-12)
        found = solve_ivp(slide, (t, t_end), y0, events=stop, rtol=1e-10, atol=1e-12, dense_output=True)
        pieces.append((t, found.t[-1], lambda t, y=found.sol: y(t)[0]))
        t, q, v = found.t[-1], found.y[0, -1], 0.0
        if t >= t_end or abs(A * np.cos(W * t) - q) > MU:
            continue
        fine = np.linspace(t, t_end, 1_000_001)
        beyond = np.flatnonzero(np.abs(A * np.cos(W * fine) - q) > MU)
        free = float(fine[beyond[0]]) if beyond.size else t_end
        pieces.append((t, free, lambda t, q=q: np.full(np.shape(t), q)))
        t = free
    return pieces


def test_the_reference_of_dry_friction_switches_where_the_notes_say():
    pieces = event_driven(10.0)
    ends = [p[1] for p in pieces[:-1]]
    wanted = [0.562805, 2.0352, 2.628127, 3.727197, 4.684882, 5.617946, 6.719354, 7.551352, 8.743675, 9.504243]
    np.testing.assert_allclose(ends[:10], wanted, atol=2e-5)


@pytest.mark.parametrize(("h", "error"), [(1 / 60, 0.0228), (1 / 240, 0.00567), (1 / 960, 0.00142)])
def test_dry_friction_of_a_joint_converges_as_the_notes_compute(h, error):
    """Largest error on [0, 10], first order; the force of friction stays within +-4."""
    pieces = event_driven(10.0)
    s, worst = Steps(cut(slider(damping=DRAG, friction=MU)), v=(4.0, 0, 0), h=h), 0.0
    s.x[0, 0] = 3.0
    row = [label for _, label in s.machine.bodies.rows].index(next(x for _, x in s.machine.bodies.rows if x.startswith("friction")))
    while s.t < 10.0 - h / 2:
        s.step((0, 0, 0, A * np.cos(W * s.t) - s.x[0, 0], 0, 0))
        exact = next(q(s.t) for t0, t1, q in pieces if t0 <= s.t <= t1 or t1 == pieces[-1][1])
        worst = max(worst, abs(s.x[0, 0] - exact))
        assert abs(s.machine.lam[row]) <= MU * h * (1 + 1e-9)
    assert worst == pytest.approx(error, rel=0.02)


# motors (4.31) ---------------------------------------------------------------------------------------------------------------------------


def test_a_velocity_motor_approaches_its_speed_by_the_closed_form():
    """Chapter 4 (ii): v+ - u = (v - u)/(1 + h/(m gamma)), gamma = 1/kv; a held force f leaves v - u = gamma f."""
    m = slider()
    m.add_motor("drive", "rail", "velocity", kv=5.0)
    traj = dal.simulate(m, "spook", h=H, t_end=20 * H, control=lambda t, q, v: {"drive": 1.0})
    np.testing.assert_allclose(1.0 - traj.joint("rail")[1][1:].ravel(), (1.0 + 5.0 * H) ** -np.arange(1.0, 21.0), atol=1e-8)
    traj = dal.simulate(m, "spook", h=H, t_end=4.0, control=lambda t, q, v: (np.array([0.5]), {"drive": 1.0}))
    assert traj.joint("rail")[1][-1] - 1.0 == pytest.approx(0.5 / 5.0, abs=1e-7)


# bounces (10.6) --------------------------------------------------------------------------------------------------------------------------


def test_preemptive_bounces_lose_energy_linearly_too():
    """v(0) = -10, x(0) = 2, g = 9.8: energy less g h v/2 from 70.4 to 21.2 J in 60 s (print says exponentially)."""
    m = floor(0.0, restitution=1.0, gravity=(0, 0, -9.8))
    add_ball(m, "ball", (0, 0, 2.1), restitution=1.0)
    s, found = Steps(m, v=(0, 0, -10.0), impact="preemptive"), []
    for k in range(3600):
        s.step()
        if k % 600 == 599:
            v, x = s.v[0, 2], s.x[0, 2] - 0.1
            found.append(0.5 * v * v + 9.8 * x - 0.5 * 9.8 * H * v)
    assert found[-1] == pytest.approx(21.2, abs=1.5)  # a bounce takes 9.8 h |v| = 1.2 J
    slopes = np.diff(found) / 10.0
    np.testing.assert_allclose(slopes, -(9.8**2) * H / 2, atol=0.15)


# effective friction on a slope (chapter 17) ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["coulomb", "cylinder", "box", "pyramid", "polygon"])
@pytest.mark.parametrize("slope", [0.2, 0.5, 0.85, 0.95, 1.0, 2.0, 5.0, 20.0, 60.0])
def test_effective_friction_is_the_slope_up_to_mu(law, slope):
    """mu_eff = |f_t|/f_n = min(tan, mu) with four redundant contacts, also where the plane is nearly vertical; mu = 0.9, as in (17.1)."""
    s = Steps(incline(np.arctan(slope), 0.9, size=(1.0, 1.0, 0.01)), law=law)
    for _ in range(3):
        assert s.step().converged
    lam = s.machine.lam[:12].reshape(4, 3).sum(axis=0)
    assert np.hypot(lam[1], lam[2]) / lam[0] == pytest.approx(min(slope, 0.9), rel=1e-3)
    assert lam[0] == pytest.approx(G * np.cos(np.arctan(slope)) * H, abs=2e-5)  # dead band of Coulomb's law: 1e-5 m/s
