"""Fastest rates about rest, judged by a closed form: n equal masses in a row on equal springs, one end held.

omega_j = 2 sqrt(k/m) sin((2 j - 1) pi / (4 n + 2)),  j = 1 ... n;     with dampers c beside the springs the decay is c/k omega_n^2
"""

import numpy as np
import pytest

import dalembert as dal
from dalembert.report import linear_rates
from dalembert.report.linear_rates import fastest_rates, ritz_value


def masses(n: int, k: float, c: float = 0.0) -> dal.Model:
    m = dal.Model(f"{n} masses", gravity=(0, 0, 0))
    for i in range(n):
        m.add_body(f"m{i}", 2.0, (1, 1, 1), pose=((i, 0, 0), (1, 0, 0, 0)))
        carrier = f"m{i - 1}" if i else "world"
        m.add_joint(f"s{i}", "prismatic", carrier, f"m{i}", axis=(1, 0, 0), stiffness=k, damping=c)
    return m.frozen()


def fastest(n: int, k: float) -> float:
    return float(2.0 * np.sqrt(k / 2.0) * np.sin((2 * n - 1) * np.pi / (4 * n + 2)))


@pytest.mark.parametrize(("n", "close"), [(1, 1e-9), (10, 1e-9), (linear_rates.DENSE, 1e-9), (linear_rates.DENSE + 1, 0.02), (300, 0.02)])
def test_masses_on_springs_vibrate_and_decay_as_the_closed_form_says(n: int, close: float) -> None:
    m, expected = masses(n, 50.0, 3.0), fastest(n, 50.0)
    vibration, decay = fastest_rates(m, m.neutral(), 0.0, (), np.zeros(n), True)
    assert vibration == pytest.approx(expected, rel=close)
    assert decay == pytest.approx(3.0 / 50.0 * expected**2, rel=2 * close)
    assert vibration <= expected * (1 + 1e-9)  # a Ritz value is never beyond the spectrum


def test_stops_are_springs_too() -> None:
    m = masses(3, 50.0)
    stiff = fastest_rates(m, m.neutral(), 0.0, (), np.full(3, 30.0), False)[0]
    assert stiff == pytest.approx(fastest(3, 80.0), rel=1e-9)


def test_functions_are_springs_too() -> None:
    m = masses(40, 50.0)
    pull = lambda t, q, v: -30.0 * q - 2.0 * v  # noqa: E731
    vibration, decay = fastest_rates(m, m.neutral(), 0.0, (pull,), np.zeros(40), False)
    assert vibration == pytest.approx(fastest(40, 80.0), rel=0.02)
    assert decay == pytest.approx(2.0 / 80.0 * fastest(40, 80.0) ** 2, rel=0.04)


@pytest.mark.parametrize("free", [False, True])
def test_a_hanging_tree_has_the_rates_of_the_whole_problem(free: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Balls, hinges and a free base: Arnoldi's method against all eigenvalues of the same slopes."""
    rng = np.random.default_rng(4)
    m = dal.Model("tree")
    for i in range(24):
        x = rng.uniform(-1, 1, 3)
        m.add_body(f"b{i}", 1.0, (0.1, 0.12, 0.15), com=rng.uniform(-0.3, 0.3, 3), pose=(x, (1, 0, 0, 0)))
        carrier = f"b{rng.integers(i)}" if i else "world"
        kind = ("spherical", "revolute")[i % 2]
        if i or not free:
            m.add_joint(f"j{i}", kind, carrier, f"b{i}", anchor=x, axis=(0, 1, 0), stiffness=float(rng.uniform(1, 20)), damping=0.3)
    m = m.frozen()
    q = m.random(rng)
    given = (m, q, 0.0, (), np.zeros(m.nv), True)
    assert m.nv > linear_rates.DENSE
    by_steps = fastest_rates(*given)
    monkeypatch.setattr(linear_rates, "DENSE", m.nv)
    assert by_steps == pytest.approx(fastest_rates(*given), rel=1e-3)


def test_numbers_that_are_none_give_no_rate() -> None:
    nothing = lambda x: np.full(5, np.nan)  # noqa: E731
    assert ritz_value(nothing, lambda f: f, 5) == 0.0
    assert ritz_value(lambda x: x, nothing, 5) == 0.0
    assert ritz_value(lambda x: 0.0 * x, lambda f: f, 5) == 0.0


def test_a_report_keeps_no_poses_in_memory() -> None:
    traj = dal.simulate(masses(3, 50.0), "midpoint", h=0.01, t_end=3.0, v0=[1.0, 0, 0])
    assert traj.report().verdict == "pass"
    assert "poses" not in traj.__dict__
