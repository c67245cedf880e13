"""What reports say of runs with contacts."""

from itertools import pairwise

import numpy as np
import pytest

import dalembert as dal


def cup_on_a_table(*carriers):
    """A cup on a table that fixed joints hold to the world, through some other bodies."""
    m = dal.Model("cup on a table")
    top, cup = dal.Box((1, 1, 0.1)), dal.Box((0.2, 0.2, 0.2))
    for name in carriers:
        m.add_body(name, 2.0, top.inertia(2.0))
    m.add_body("table", 5.0, top.inertia(5.0), shapes=[top])
    chain = ["world", *carriers, "table"]
    for a, b in pairwise(chain):
        m.add_joint(f"bolt of {b}", "fixed", a, b)
    m.add_body("cup", 1.0, cup.inertia(1.0), pose=((0, 0, 0.15), (1, 0, 0, 0)), shapes=[cup])
    return m


@pytest.mark.parametrize("carriers", [(), ("leg",), ("leg", "frame")])
def test_what_stands_on_bodies_fixed_to_the_world_is_held_by_the_world(carriers):
    found = dal.simulate(cup_on_a_table(*carriers), "spook", h=1 / 60, t_end=1.0).report()
    assert found.verdict == "pass", found.text
    assert "momentum" not in {i.name for i in found.items}


def test_what_hangs_on_bodies_fixed_to_the_world_is_held_by_the_world():
    m = cup_on_a_table()
    m.add_body("bob", 1.0, (0.01, 0.01, 0.01), pose=((2.0, 0, 0), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "table", "bob", anchor=(1.5, 0, 0), axis=(0, 1, 0))
    assert dal.simulate(m, "spook", h=1 / 240, t_end=1.0).report().verdict == "pass"


def turn_and_shift(theta, a, alpha):
    """Denavit and Hartenberg: by theta about z, a along x, alpha about x."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, 0], [0, 0, 0, 1.0]])


def bennett():
    """Four hinges closed in space: sin(beta)/b = sin(alpha)/a, tan(theta/2) tan(phi/2) = sin((beta + alpha)/2)/sin((beta - alpha)/2)."""
    alpha, a, b, angle = 0.5, 1.0, 1.4, 1.2
    beta = np.arcsin(b / a * np.sin(alpha))
    phi = 2.0 * np.arctan(np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha)) / np.tan(0.5 * angle))
    T = [np.eye(4)]
    for theta, length, twist in ((angle, a, alpha), (phi, b, beta), (-angle, a, alpha)):
        T.append(T[-1] @ turn_and_shift(theta, length, twist))
    assert np.abs(T[-1] @ turn_and_shift(-phi, b, beta) - np.eye(4)).max() < 1e-12
    m = dal.Model("Bennett")
    for k in range(3):
        m.add_body(f"l{k}", 1.0, (0.1, 0.1, 0.1), pose=(0.5 * (T[k] + T[k + 1])[:3, 3], (1, 0, 0, 0)))
        m.add_joint(f"j{k}", "revolute", f"l{k - 1}" if k else "world", f"l{k}", anchor=T[k][:3, 3], axis=T[k][:3, 2])
    m.add_loop("j3", "revolute", "world", "l2", anchor=T[3][:3, 3], axis=T[3][:3, 2])
    return m


def test_a_run_that_the_discretisation_brings_to_rest_warns_and_names_the_remedy():
    coarse = dal.simulate(bennett(), "spook", h=0.01, t_end=2.0)
    lost = -coarse.account["numerical"].sum()
    assert lost > 0.3 * (coarse.kinetic.max() + np.ptp(coarse.potential))
    found = coarse.report()
    assert found.verdict == "warn" and found["discretisation"].verdict == "warn"
    assert "took 3.37 J" in found["discretisation"].text and "smaller h" in found["discretisation"].text
    fine = dal.simulate(bennett(), "spook", h=0.0025, t_end=2.0).report()
    assert fine.verdict == "pass" and "discretisation" not in {i.name for i in fine.items}


@pytest.mark.parametrize("seconds", [0.05, 0.1, 0.5])
def test_weights_that_fall_for_a_few_steps_lose_nothing(seconds):
    """Nodes have the velocity of half a step before: h m g |v|/2 of m v^2/2, a third of it after three steps, is in the account."""
    m = dal.Model("fall")
    m.add_shape("world", dal.Plane())
    box = dal.Box((0.2, 0.2, 0.2))
    m.add_body("box", 1.0, box.inertia(1.0), pose=((0, 0, 5.0), (1, 0, 0, 0)), shapes=[box])
    traj = dal.simulate(m, "spook", h=1 / 60, t_end=seconds)
    assert traj.account["numerical"].sum() == pytest.approx(-traj.kinetic[-1] / round(60 * seconds), rel=1e-9)
    assert traj.report().verdict == "pass"
