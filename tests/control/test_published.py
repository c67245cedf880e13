"""Optima that others have published, or that another method finds: Pontryagin's equations by SciPy, closed forms, switches of inputs.

Sources: Kelly, SIAM Review 59(4), 2017, section 6 (cart-pole). Bernoulli's cycloid; its ends and 1.8016 s as in Falck et al., Journal of
Open Source Software 6(59), 2021. Bilimoria and Wie, Journal of Guidance 16(3), 1993 (inertially symmetric body: 3.2431 for half a turn,
where a turn about the axis takes 2 sqrt(pi) = 3.5449). Fleming, Sekhavat and Ross, AIAA 2008-7012, and Betts 2020, test
problem asyq01 (asymmetric body: 28.6304077 s).
"""

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import simpson, solve_bvp, solve_ivp
from scipy.optimize import root

import dalembert as dal
from dalembert.control import scenes
from dalembert.control.scenes import brachistochrone, satellite


def followed(problem, halvings):
    """Costs along one minimum, with N, 2 N, 4 N, ..."""
    found = problem.solve()
    costs = [found.cost]
    for _ in range(halvings):
        found = found.refine()
        assert found.ok
        costs.append(found.cost)
    return np.array(costs)


# cart-pole ---------------------------------------------------------------------------------------------------------------------------


def cart_pole_equations():
    """y' of (q, p, co-states of q and p) with u = -(co-state of the cart's momentum)/2, which makes u^2 + co-states . rates least."""
    m1, m2, l, g = 1.0, 0.3, 0.5, 9.81
    q, p, a, b, u = (ca.SX.sym(name, n) for name, n in (("q", 2), ("p", 2), ("a", 2), ("b", 2), ("u", 1)))
    side = m2 * l * ca.cos(q[1])
    M = ca.vertcat(ca.horzcat(m1 + m2, side), ca.horzcat(side, m2 * l**2))
    energy = 0.5 * ca.dot(p, ca.solve(M, p)) - m2 * g * l * ca.cos(q[1])
    rates = ca.vertcat(ca.gradient(energy, p), -ca.gradient(energy, q) + ca.vertcat(u, 0.0))
    hamiltonian = u**2 + ca.dot(ca.vertcat(a, b), rates)
    y = ca.vertcat(q, p, a, b)
    right = ca.vertcat(rates, -ca.gradient(hamiltonian, ca.vertcat(q, p)))
    f = ca.Function("f", [y], [ca.substitute(right, u, -0.5 * b[0])])
    return lambda t, y: np.array(f.map(y.shape[1])(y))


@pytest.fixture(scope="module")
def swing_up():
    """(plan with N = 100, the true optimum as a function of time, its cost)"""
    plan = scenes.find("cart-pole").build(N=100).solve()
    costates = -plan.multipliers["step"][:, :4]
    guess = np.vstack([plan.q.T, plan.p.T, np.vstack([costates[:1], costates]).T])
    found = solve_bvp(
        cart_pole_equations(),
        lambda y0, y1: np.concatenate([y0[:4], y1[:4] - [1.0, np.pi, 0.0, 0.0]]),
        plan.t,
        guess,
        tol=1e-6,
        max_nodes=9999,
    )
    assert found.success
    t = np.linspace(0.0, 2.0, 4001)
    return plan, found.sol, float(simpson((0.5 * found.sol(t)[6]) ** 2, x=t))


def test_cart_pole_swing_up_of_kelly(swing_up):
    plan, _, least = swing_up
    assert least == pytest.approx(58.808, abs=1e-3)
    assert plan.cost == pytest.approx(least, rel=0.01)  # measured 0.31 % with 100 steps


def test_cart_pole_moves_and_pushes_as_the_optimum_does(swing_up):
    plan, best, _ = swing_up
    assert np.abs(plan.q - best(plan.t)[:2].T).max() < 0.01  # rad, m: order 2, measured 2.3e-3
    middle = 0.5 * (plan.t[1:] + plan.t[:-1])
    assert np.abs(plan.inputs[:, 0] + 0.5 * best(middle)[6]).max() < 0.2  # of 14 N; held over the steps


def test_multipliers_of_the_steps_are_the_costates(swing_up):
    """With a minus: the row is (next node - what the step makes of this one)."""
    plan, best, _ = swing_up
    costates = best(plan.t[1:])[4:]
    off = np.abs(-plan.multipliers["step"][:, :4].T - costates).max(axis=1)
    assert (off < 0.03 * np.abs(costates).max(axis=1)).all()


def test_cost_of_the_cart_pole_is_of_order_two(swing_up):
    """Along one minimum; Richardson's limit is the optimum of the differential equations."""
    costs = followed(scenes.find("cart-pole").build(N=50), 4)
    steps = np.diff(costs)
    orders = np.log2(steps[:-1] / steps[1:])
    assert (np.abs(orders - 2.0) < 0.05).all()
    assert costs[-1] + steps[-1] / 3.0 == pytest.approx(swing_up[2], rel=1e-6)


# quickest descent --------------------------------------------------------------------------------------------------------------------


def test_brachistochrone_takes_the_time_of_the_cycloid():
    least = brachistochrone.least_time()
    assert least == pytest.approx(1.8016, abs=5e-5)  # as others have it
    times = []
    for N in (15, 30, 60, 120, 240):
        found = brachistochrone.build(N=N).solve()
        assert found.ok
        times.append(found.t[-1])
    errors = np.abs(np.array(times) / least - 1.0)
    assert errors[2] < 1e-3  # 60 steps: measured 7e-5
    slope = np.polyfit(np.log([15, 30, 60, 120, 240]), np.log(errors), 1)[0]
    assert abs(slope + 2.0) < 0.1


# slews -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.5, np.pi / 2, 3.0])
def test_fastest_turn_about_one_axis(angle):
    """T = 2 sqrt(angle I / u_max): all forwards, then all backwards."""
    inertia, most = 2.5, 0.7
    least = 2.0 * np.sqrt(angle * inertia / most)
    m = satellite.model((1.0, 2.0, inertia))
    given = {"inputs": ["attitude.wz"], "bounds": {"u": most}, "free_time": (0.2 * least, 5.0 * least), "cost": "time"}
    found = dal.control.dmoc(m, 60, satellite.about((0, 0, 1), 0.0), satellite.about((0, 0, 1), angle), **given).solve()
    assert found.ok and found.replay.errors.max() < 1e-9
    assert found.t[-1] == pytest.approx(least, rel=1e-3)


def switched(times):
    """State at the end of a symmetric unit body under torques of 1 that switch: x twice, y twice, z once. times: switches, end."""
    x0, x1, y0, y1, z0, end = times
    edges = np.sort([0.0, x0, x1, y0, y1, z0, end])
    state = np.array([1.0, 0, 0, 0, 0, 0, 0])
    for a, b in pairwise(edges):
        t = 0.5 * (a + b)
        u = np.array([-1.0 if x0 < t < x1 else 1.0, 1.0 if y0 < t < y1 else -1.0, 1.0 if t < z0 else -1.0])

        def rates(_, y, u=u):
            w, q = y[4:], y[:4]
            return np.concatenate([[-0.5 * q[1:] @ w], 0.5 * (q[0] * w + np.cross(q[1:], w)), u])

        state = solve_ivp(rates, (a, b), state, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    return state


def test_half_a_turn_of_a_symmetric_body_is_quicker_than_about_its_axis():
    """Bilimoria and Wie: 3.2431. The five switches that the plan shows, solved for by SciPy on the differential equations, take as long."""
    start, goal = satellite.about((0, 0, 1), 0.0), satellite.about((0, 0, 1), np.pi)
    given = {"bounds": {"u": 1.0}, "free_time": (1.0, 8.0), "h": 3.5 / 100, "cost": "time", "guess": "random", "starts": 3}
    found = dal.control.dmoc(satellite.model((1.0, 1.0, 1.0)), 100, start, goal, **given).solve()
    assert found.ok and found.replay.errors.max() < 1e-9
    assert found.t[-1] == pytest.approx(3.2431, rel=1e-3)  # measured 4e-4
    assert found.t[-1] < 0.93 * 2.0 * np.sqrt(np.pi)
    guess = 3.24 * np.array([0.36, 0.86, 0.14, 0.64, 0.5, 1.0])  # where torques change sign
    ends = root(lambda times: switched(times)[[0, 1, 2, 4, 5, 6]], guess, tol=1e-9)
    assert ends.success and ends.x[-1] == pytest.approx(3.2431, abs=5e-5)


def test_fastest_turn_of_an_asymmetric_body():
    """28.6304077 s: within 0.1 % with 100 steps, and to seven figures by Richardson's limit of 200 and 400."""
    problem = scenes.find("satellite-fastest").build(N=100)
    found = problem.solve()
    assert found.ok and found.t[-1] == pytest.approx(28.6304077, rel=1e-3)  # measured 4.6e-4
    fine = found.refine()
    finer = fine.refine()
    assert fine.ok and finer.ok
    assert finer.t[-1] + (finer.t[-1] - fine.t[-1]) / 3.0 == pytest.approx(28.6304077, rel=1e-5)  # switches lie between nodes: not smooth


# least effort on SO(3) -----------------------------------------------------------------------------------------------------------------


def rigid_body_equations(J):
    """y' of (quaternion, momentum P, its co-state m, co-state of the turn n), u = -m/2: what makes |u|^2 + m . P' + n . w least."""

    def cross(a, b):
        return np.cross(a, b, axis=0)

    def rates(t, y):
        q, P, m, n = y[:4], y[4:7], y[7:10], y[10:]
        w = P / J[:, None]
        turn = 0.5 * np.vstack([-(q[1:] * w).sum(axis=0), q[0] * w + cross(q[1:], w)])
        return np.vstack([turn, cross(P, w) - 0.5 * m, cross(m, w) - (cross(m, P) + n) / J[:, None], cross(n, w)])

    return rates


@pytest.fixture(scope="module")
def least_effort():
    """Cost of the satellite of the scene by Pontryagin's equations."""
    J, goal = np.array([1.0, 2.0, 3.0]), satellite.about((1, 1, 1), satellite.TURN)
    back = np.array([[goal[0], *goal[1:]], *np.column_stack([-goal[1:], goal[0] * np.eye(3) - np.cross(np.eye(3), -goal[1:])])])

    def ends(y0, y1):
        return np.concatenate([y0[:4] - [1, 0, 0, 0], y0[4:7], (back @ y1[:4])[1:], y1[4:7]])

    t = np.linspace(0.0, satellite.T, 60)
    s = t / satellite.T
    angle, axis = satellite.TURN * (3 * s**2 - 2 * s**3), np.ones((3, 1)) / np.sqrt(3.0)
    y = np.zeros((13, 60))
    y[0], y[1:4] = np.cos(0.5 * angle), np.sin(0.5 * angle) * axis
    y[4:7] = J[:, None] * axis * satellite.TURN * 6 * (s - s**2) / satellite.T
    found = solve_bvp(rigid_body_equations(J), ends, t, y, tol=1e-6, max_nodes=9999)
    assert found.success
    fine = np.linspace(0.0, satellite.T, 4001)
    return float(simpson((0.25 * found.sol(fine)[7:10] ** 2).sum(axis=0), x=fine))


def test_satellite_turns_with_the_least_effort(least_effort):
    assert least_effort == pytest.approx(satellite.LEAST_EFFORT, rel=1e-6)
    costs = followed(scenes.find("satellite").build(N=15), 4)
    steps = np.diff(costs)
    assert (np.abs(np.log2(steps[:-1] / steps[1:]) - 2.0) < 0.05).all()
    assert costs[-1] + steps[-1] / 3.0 == pytest.approx(least_effort, rel=1e-6)
