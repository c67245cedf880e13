"""Discrete mechanics (lacoursiere2007, chapter 3): positions obey the discrete Euler-Lagrange equations, momenta and energy behave."""

import numpy as np
import pytest

import dalembert as dal

MASS = np.array([[2.0, 0.3], [0.3, 1.0]])


def potential(x, y):
    """Henon and Heiles with a quartic wall."""
    return 0.5 * (x * x + 1.7 * y * y) + x * x * y - y**3 / 3 + 0.25 * (x**4 + y**4)


def slope(q):
    """grad V, by hand."""
    x, y = np.moveaxis(np.asarray(q), -1, 0)
    return np.stack([x + 2 * x * y + x**3, 1.7 * y + x * x - y * y + y**3], axis=-1)


def drag(q, v):
    """A force that depends on position and velocity."""
    return np.stack([-0.3 * v[..., 0] - 0.2 * q[..., 1], 0.1 * v[..., 0] * q[..., 0] - 0.4 * v[..., 1]], axis=-1)


def kinetic(v):
    return 0.5 * (MASS[0, 0] * v[0] ** 2 + MASS[1, 1] * v[1] ** 2) + MASS[0, 1] * v[0] * v[1]


WELL = dal.Lagrangian(2, lambda q, v: kinetic(v) - potential(q[0], q[1]), name="well")
DRAGGED = dal.Lagrangian(
    2,
    lambda q, v: kinetic(v) - potential(q[0], q[1]),
    force=lambda q, v: [-0.3 * v[0] - 0.2 * q[1], 0.1 * v[0] * q[0] - 0.4 * v[1]],
    name="well with drag",
)
START = {"q0": [0.4, -0.3], "v0": [0.2, 0.5]}
H = 0.05


def positions(system, stepper, h=H, steps=200, **options):
    return dal.simulate(system, stepper, h=h, t_end=steps * h, **START, **options).q


def second_difference(q, h=H):
    """M (q_{k+1} - 2 q_k + q_{k-1}) / h^2; round-off of q makes it 1e-16 / h^2."""
    return (q[2:] - 2 * q[1:-1] + q[:-2]) @ MASS / h**2


ROUND_OFF = 20 * 2.2e-16 / H**2  # a few eps |q| |M| / h^2


def test_gradient_by_hand():
    e, q = 1e-6, np.array([0.37, -0.21])
    for i, d in enumerate(np.eye(2) * e):
        assert (potential(*(q + d)) - potential(*(q - d))) / (2 * e) == pytest.approx(slope(q)[i], abs=1e-9)


# two-step forms ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stepper", "options"), [("verlet", {}), ("trapezoidal", {}), ("alpha", {"alpha": 0.0}), ("alpha", {"alpha": 1.0})]
)
def test_verlet_form(stepper, options):
    """(3.27): q_{k+1} = 2 q_k - q_{k-1} - h^2 M^-1 grad V(q_k), for any mix of V(q_0) and V(q_1)."""
    q = positions(WELL, stepper, **options)
    assert np.abs(second_difference(q) + slope(q[1:-1])).max() < ROUND_OFF


def test_midpoint_form():
    """(3.30): grad V at both middles, half each."""
    q = positions(WELL, "midpoint")
    middle = 0.5 * (q[1:] + q[:-1])
    assert np.abs(second_difference(q) + 0.5 * (slope(middle[1:]) + slope(middle[:-1]))).max() < ROUND_OFF
    assert np.abs(second_difference(q) + slope(q[1:-1])).max() > 1e-4  # and it is not Verlet's


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.9])
def test_alpha_form(alpha):
    """h L(q_alpha, w): grad V at q_{k+alpha} with 1 - alpha, at q_{k-1+alpha} with alpha."""
    q = positions(WELL, "alpha", alpha=alpha)
    at = (1 - alpha) * q[:-1] + alpha * q[1:]
    assert np.abs(second_difference(q) + (1 - alpha) * slope(at[1:]) + alpha * slope(at[:-1])).max() < ROUND_OFF


def test_equal_methods():
    """alpha = 1/2 is the midpoint rule; the trapezoidal rule with constant mass is Verlet's method; and shake without constraints too."""
    assert np.abs(positions(WELL, "alpha", alpha=0.5) - positions(WELL, "midpoint")).max() < 1e-13
    verlet = positions(WELL, "verlet")
    for other in ("trapezoidal", "shake", "rattle"):
        assert np.abs(positions(WELL, other) - verlet).max() < 1e-13


def test_momentum_of_a_node_from_both_sides():
    """(3.117): p_k = D_2 L_d(q_{k-1}, q_k) = -D_1 L_d(q_k, q_{k+1}), and the first is dL/dv of the start (Legendre transform)."""
    for stepper in ("verlet", "midpoint"):
        traj = dal.simulate(WELL, stepper, h=H, t_end=200 * H, **START)
        q, w = traj.q, traj.v_interval @ MASS
        if stepper == "verlet":
            left, right = w - 0.5 * H * slope(q[1:]), w + 0.5 * H * slope(q[:-1])
        else:
            kick = 0.5 * H * slope(0.5 * (q[1:] + q[:-1]))
            left, right = w - kick, w + kick
        p = traj.v @ MASS
        assert np.abs(p[1:] - left).max() < 1e-14
        assert np.abs(p[:-1] - right).max() < 1e-13
        assert np.abs(p[0] - MASS @ START["v0"]).max() < 1e-15


def test_a_mass_that_is_a_parameter_is_neither_gyroscopic_nor_variable():
    """Verlet's method takes it; the run is that with the number written in."""
    made = dal.Lagrangian(1, lambda q, v, p: 0.5 * p.mass * v[0] ** 2 - np.cosh(q[0]), params={"mass": 3.0})
    written = dal.Lagrangian(1, lambda q, v: 1.5 * v[0] ** 2 - np.cosh(q[0]))
    a, b = (dal.simulate(s, "verlet", h=0.1, t_end=20.0, q0=[0.3], v0=[0.2]) for s in (made, written))
    assert np.abs(a.q - b.q).max() < 1e-13
    assert not made.formulas.features
    field = dal.Lagrangian(2, lambda q, v, p: 0.5 * p.mass * (v @ v) + p.mass * q[0] * v[1], params={"mass": 3.0})
    assert field.formulas.features == {"gyroscopic"}


def test_velocity_form_keeps_digits():
    """After 1e5 tiny steps the velocity form is still right to 1e-11; 2 q_k - q_{k-1} in doubles has lost half of the digits."""
    h, n = 1e-5, 100_000
    osc = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2)
    exact = np.cos(n * 2 * np.arcsin(h / 2))
    traj = dal.simulate(osc, "verlet", h=h, t_end=n * h, q0=[1.0], v0=[0.0], every=n)
    a, b = 1.0, 1.0 - h * h / 2
    for _ in range(n - 1):
        a, b = b, 2 * b - a - h * h * b
    assert abs(traj.q[-1, 0] - exact) < 1e-12
    assert abs(b - exact) > 1e-10


# forces --------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 1.0])
def test_forces_by_linear_weights(alpha):
    """(3.81) with u_d = tau q_0 + (1 - tau) q_1, tau = 1 - alpha: f^- = tau h f(q_alpha, v_1), f^+ = (1 - tau) h f(q_alpha, v_1).

    tau = 0: impulse h f(q_k, v_k), explicit; tau = 1: h f(q_k, v_{k+1}), implicit in v ((3.82), (3.84) corrected).
    """
    q = positions(DRAGGED, "alpha", alpha=alpha)
    v, at = np.diff(q, axis=0) / H, (1 - alpha) * q[:-1] + alpha * q[1:]
    total = drag(at, v) - slope(at)
    assert np.abs(second_difference(q) - (1 - alpha) * total[1:] - alpha * total[:-1]).max() < ROUND_OFF
    if alpha in (0.0, 1.0):
        push = drag(q[1:-1], v[1:] if alpha == 0.0 else v[:-1])
        assert np.abs(second_difference(q) + slope(q[1:-1]) - push).max() < ROUND_OFF


@pytest.mark.parametrize(("stepper", "tau"), [("trapezoidal", 1.0), ("verlet", 1.0), ("midpoint", 0.5)])
def test_forces_by_symmetric_weights(stepper, tau):
    """(3.86): f^- = h/2 [tau f(q_{1-tau}, v_1) + (1 - tau) f(q_tau, v_1)], f^+ with the weights exchanged."""
    q = positions(DRAGGED, stepper)
    v = np.diff(q, axis=0) / H
    first, last = tau * q[:-1] + (1 - tau) * q[1:], (1 - tau) * q[:-1] + tau * q[1:]  # q_{1-tau}, q_tau
    left = 0.5 * (tau * drag(first, v) + (1 - tau) * drag(last, v))
    right = 0.5 * ((1 - tau) * drag(first, v) + tau * drag(last, v))
    push = -0.5 * (slope(first[1:]) * tau + slope(last[1:]) * (1 - tau) + slope(first[:-1]) * (1 - tau) + slope(last[:-1]) * tau)
    assert np.abs(second_difference(q) - push - left[1:] - right[:-1]).max() < ROUND_OFF


def damped(R):
    return dal.Lagrangian(2, lambda q, v: kinetic(v) - potential(q[0], q[1]), rayleigh=R, name="damped well")


def test_rayleigh_function_of_squared_speed_is_drag():
    """R = gamma |v|^2 / 2 gives f = -gamma v (the print lacks the square): same run as with that force."""
    forced = dal.Lagrangian(2, lambda q, v: kinetic(v) - potential(q[0], q[1]), force=lambda q, v: [-0.4 * v[0], -0.4 * v[1]])
    system = damped(lambda q, v: 0.2 * (v[0] ** 2 + v[1] ** 2))
    for stepper in ("midpoint", "trapezoidal", "verlet", "galerkin4"):
        assert np.abs(positions(system, stepper) - positions(forced, stepper)).max() < 1e-14


@pytest.mark.parametrize(("stepper", "order"), [("midpoint", 2), ("trapezoidal", 2), ("verlet", 2), ("alpha", 1)])
def test_power_balance_of_rayleigh_functions(stepper, order):
    """dE/dt = -(dR/dv) v, -2 R for degree 2, -3 R for degree 3: E(T) - E(0) + int of it falls with h as the order says."""
    for degree in (2, 3):
        system = damped(lambda q, v, d=degree: 0.1 * (v[0] ** 2 + v[1] ** 2 + 0.5 * v[0] * v[1]) ** (d / 2))
        defects = []
        for h in (0.04, 0.02, 0.01, 0.005):
            traj = dal.simulate(system, stepper, h=h, t_end=8.0, **START, **({"alpha": 0.2} if stepper == "alpha" else {}))
            v = traj.v
            loss = degree * 0.1 * (v[:, 0] ** 2 + v[:, 1] ** 2 + 0.5 * v[:, 0] * v[:, 1]) ** (degree / 2)
            spent = h * np.concatenate([[0.0], np.cumsum(0.5 * (loss[1:] + loss[:-1]))])
            defects.append(np.abs(traj.energy - traj.energy[0] + spent).max())
            assert np.abs(traj.work + spent).max() < 1e-12  # the ledger of the run is this integral
        assert np.abs(np.log2(np.array(defects[:-1]) / defects[1:]) - order).max() < 0.2


def test_time_dependent_forces_at_their_times():
    """m x'' + x = cos 2t + t, x = A cos t + B sin t - cos(2t)/3 + t: order 2, 4, 6 (the force is sampled inside the step)."""
    system = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, force=lambda q, v, t: [np.cos(2 * t) + t])
    T = 5.0
    exact = 0.7 * np.cos(T) + 0.4 * np.sin(T) - np.cos(2 * T) / 3 + T
    orders = {"midpoint": 2, "trapezoidal": 2, "verlet": 2, "galerkin4": 4, "galerkin6": 6}
    for stepper, order in orders.items():
        counts = np.array([10, 20, 40, 80, 160]) * (1 if order > 2 else 4)
        errors = []
        for n in counts:
            errors.append(abs(dal.simulate(system, stepper, h=T / n, t_end=T, q0=[0.7 - 1 / 3], v0=[1.4]).q[-1, 0] - exact))
        assert abs(-np.polyfit(np.log(counts), np.log(errors), 1)[0] - order) < 0.1, stepper


def test_held_control_is_exact_on_a_free_mass():
    """u sampled at the node and held: q_{k+1} = q_k + h v_k + h^2 u_k / (2 m), v_{k+1} = v_k + h u_k / m for every symmetric quadrature."""
    free = dal.Lagrangian(1, lambda q, v: v[0] ** 2)  # m = 2
    h = 0.1
    for stepper in ("midpoint", "trapezoidal", "verlet", "galerkin4", "galerkin6"):
        traj = dal.simulate(free, stepper, h=h, t_end=3.0, q0=[0.3], v0=[0.2], control=lambda t, q, v: [np.sin(3 * t) - 0.2 * q[0]])
        u = np.sin(3 * traj.t) - 0.2 * traj.q[:, 0]
        q, v = traj.q[:, 0], traj.v[:, 0]
        assert np.abs(np.diff(v) - h * u[:-1] / 2).max() < 1e-14
        assert np.abs(np.diff(q) - h * v[:-1] - h * h * u[:-1] / 4).max() < 1e-14


# energy --------------------------------------------------------------------------------------------------------------------------------


def discrete_energy(stepper, q, h):
    """E_d = -dL_d/dh (3.61) of each interval."""
    w = np.diff(q, axis=0) / h
    T = 0.5 * np.einsum("ki,ij,kj->k", w, MASS, w)
    if stepper == "midpoint":
        return T + potential(*(0.5 * (q[1:] + q[:-1])).T)
    V = potential(*q.T)
    return T + 0.5 * (V[1:] + V[:-1])


@pytest.mark.parametrize("stepper", ["midpoint", "verlet"])
def test_discrete_energy_stays_in_a_band_of_h_squared(stepper):
    bands = []
    for h in (0.1, 0.05, 0.025, 0.0125):
        energy = discrete_energy(stepper, positions(WELL, stepper, h, int(60 / h)), h)
        bands.append(np.abs(energy - WELL.energy(np.array(START["q0"]), np.array(START["v0"]))).max())
    assert np.abs(np.log2(np.array(bands[:-1]) / bands[1:]) - 2).max() < 0.1


@pytest.mark.parametrize("stepper", ["midpoint", "verlet", "galerkin4"])
def test_energy_does_not_drift_in_1e5_steps(stepper):
    """The orbit is chaotic, so one run is a sample: four from starts 1e-9 apart. Slope by regression, times the whole time, against the
    width of the band scatters by 2 %, the spread of the second half against that of the first by 5 %: means within 4 and 10 %."""
    drift, spread = [], []
    for k in range(4):
        traj = dal.simulate(WELL, stepper, h=0.1, t_end=10_000.0, q0=np.array(START["q0"]) + 1e-9 * k, v0=START["v0"])
        t, e = traj.t[1:], traj.energy[1:]
        drift.append(np.polyfit(t, e, 1)[0] * t[-1] / np.ptp(e))
        spread.append(np.std(e[50_000:]) / np.std(e[:50_000]))
    assert abs(np.mean(drift)) < 0.04
    assert np.mean(spread) == pytest.approx(1.0, abs=0.1)


def test_minimisation_form():
    """(3.119), signs corrected: q_{k+1} minimises d.M d/2 - q.M(q_k - q_{k-1}) + h^2 q.grad V(q_k), d = q - q_k."""
    q = positions(WELL, "verlet", steps=50)
    d = np.diff(q, axis=0)
    assert np.abs((d[1:] - d[:-1]) @ MASS + H**2 * slope(q[1:-1])).max() < 1e-15  # its gradient at q_{k+1}; M is its Hessian
