"""Contacts at the ends of what can be asked: friction, steps, sizes, masses, bad starts, wild spins, long rests."""

import numpy as np
import pytest
from contact_laws import G, Steps, add_ball, add_box, floor

import dalembert as dal


def stack(n, mass=lambda k: 1.0, size=0.2, friction=0.5, **options):
    m = floor(friction)
    for k in range(n):
        add_box(m, f"b{k}", (0, 0, size * (k + 0.5)), (size,) * 3, mass=mass(k), friction=friction)
    return Steps(m, **options)


def moved(s, seconds):
    start = s.x.copy()
    s.run(seconds)
    return np.abs(s.x - start).max()


@pytest.mark.parametrize("friction", [0.0, 0.01, 100.0, 1e4])
def test_stacks_stand_whatever_the_friction(friction):
    s = stack(4, friction=friction)
    assert moved(s, 2.0) < 1e-6
    assert s.worst <= 1e-6


def test_very_rough_bodies_do_not_explode():
    """Coefficients beyond 100 count as 100; a box pushed on a stack of such boxes stops."""
    s = stack(3, friction=1e4)
    s.v[2] = (1.0, 0, 0)
    s.run(2.0)
    assert s.kinetic < 1e-12 and np.abs(s.x).max() < 1.0


@pytest.mark.parametrize("h", [0.1, 0.5, 1.0])
def test_huge_steps_lose_energy_only(h):
    m = floor(0.5)
    add_box(m, "b", (0, 0, 1.0), quat=(0.8, 0.0, 0.6, 0.0))
    s, energy = Steps(m, h=h), []
    for _ in range(60):
        s.step()
        energy.append(s.kinetic + G * s.x[0, 2])
    assert max(energy) <= G * 1.0 + 1e-9
    assert energy[-1] == pytest.approx(0.1 * G, rel=1e-5)
    assert moved(stack(3, h=h), 20 * h) < 1e-6


@pytest.mark.parametrize("size", [1e-3, 1e-2, 1.0, 100.0])
def test_small_and_large_boxes_stand(size):
    assert moved(stack(4, mass=lambda _: 1e3 * size**3, size=size), 2.0) < 1e-5 * size


def test_heavy_bodies_do_not_sink():
    """1e8 N on 1e-8 m/N would be a metre: the default compliance is bounded by the masses. One that is given is not."""
    assert moved(stack(4, mass=lambda _: 1e7), 2.0) < 1e-4
    m = floor()
    add_box(m, "b", (0, 0, 0.1), mass=1e3)
    m.add_contact("b", "world", compliance=1e-6)
    s = Steps(m).run(2.0)
    assert 0.1 - s.x[0, 2] == pytest.approx(1e-6 * 1e3 * G / 4, rel=1e-3)  # four corners


@pytest.mark.parametrize("mass", [lambda k: 10 ** (4 * k / 9), lambda k: 10 ** (4 - 4 * k / 9), lambda k: 1e4 if k % 2 else 1.0])
def test_mass_ratios_of_ten_thousand_stand(mass):
    s = stack(10, mass)
    weight = G * sum(mass(k) for k in range(10))
    assert moved(s, 5.0) < 10 * 1e-8 * weight  # ten layers, each gives way by eps times what it carries at most
    assert s.kinetic < 1e-9


def test_bodies_at_the_same_place_part_slowly():
    for add in (add_box, add_ball):
        m = floor()
        add(m, "a", (0, 0, 0.1))
        add(m, "b", (0, 0, 0.1))
        s, fastest = Steps(m), 0.0
        for _ in range(240):
            assert s.step().status == 0
            fastest = max(fastest, np.abs(s.v).max())
        assert fastest <= 2.0  # push, 1 m/s, and what falling back adds
        assert np.linalg.norm(s.x[0] - s.x[1]) > 0.19


def test_a_deep_start_is_undone_with_the_speed_of_push():
    for push in (0.2, 1.0):
        m = floor()
        add_box(m, "b", (0, 0, -0.05))
        s, v = Steps(m, push=push), []
        for _ in range(240):
            s.step()
            v.append(s.v[0, 2])
        assert max(v) <= push * 1.001
        assert abs(s.x[0, 2] - 0.1) < 1e-6 and s.kinetic < 1e-9


@pytest.mark.parametrize("omega", [(1.0, 300.0, 2.0), (1e4, 2.0, 1e4)])
def test_wild_spins_are_stabilised_said_and_add_nothing(omega):
    m = floor()
    add_box(m, "b", (0, 0, 1.0), (0.4, 0.2, 0.1))
    s = Steps(m)
    s.omega[0] = omega
    energy = [s.kinetic + G]
    for _ in range(200):
        assert s.step().status == 0
        energy.append(s.kinetic + G * s.x[0, 2])
    assert max(np.diff(energy)) < 1e-6 * energy[0]
    assert sum(r.stabilised for r in s.reports) > 0


def test_numbers_that_are_not_finite_end_the_run():
    s = stack(1)
    s.v[0, 0] = np.nan
    assert s.step().status != 0
    m = floor()
    add_box(m, "b", (0, 0, 0.1))
    with pytest.raises(dal.DalembertError):
        dal.simulate(m, "spook", h=1 / 60, t_end=1.0, control=lambda t, q, v: np.full(6, np.nan))


def test_without_gravity_touching_bodies_stay():
    m = floor(gravity=(0, 0, 0))
    add_box(m, "a", (0, 0, 0.1))
    add_box(m, "b", (0, 0, 0.3))
    assert moved(Steps(m), 2.0) < 1e-12


def test_a_box_at_rest_does_not_drift():
    """20,000 steps; measured over 100,000: 0.0001 mm."""
    s = stack(1)
    start = s.x.copy()
    for _ in range(20000):
        s.step()
    assert np.abs(s.x - start).max() < 1e-6


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_very_fast_bodies_do_not_pass_through_the_floor(restitution):
    m = floor(0.5, restitution)
    add_box(m, "b", (0, 0, 1.0), restitution=restitution, quat=(0.8, 0.0, 0.6, 0.0))
    s = Steps(m, v=(0, 0, -1000.0))
    start = s.kinetic
    for _ in range(60):
        s.step()
        assert s.x[0, 2] > 0.05 and s.kinetic <= start * (1 + 1e-9)


def test_a_heap_comes_to_rest():
    """75 boxes of mixed size, dropped at 5 m/s; residuals 1e-6 or counted as unsolved."""
    rng = np.random.default_rng(2)
    m = floor()
    for k in range(75):
        q, size = rng.normal(size=4), rng.uniform(0.1, 0.3, 3)
        add_box(m, f"b{k}", (0.4 * (k % 5), 0.4 * (k // 5 % 5), 0.3 + 0.4 * (k // 25)), size, quat=tuple(q / np.linalg.norm(q)))
    s = Steps(m, v=(0, 0, -5.0)).run(6.0)
    assert s.kinetic / 75 < 1e-9
    assert all(r.residual <= 1e-6 or not r.converged for r in s.reports)
    assert s.reports[-1].penetration < 1e-5
