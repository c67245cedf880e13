"""What the report says of the solver is what the solver did."""

import numpy as np
import pytest

import dalembert as dal


def rods(n=2):
    m = dal.Model("rods")
    for i in range(n):
        m.add_body(f"r{i}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -1.0 * i), (1, 0, 0, 0)))
        m.add_joint(f"j{i}", "revolute", f"r{i - 1}" if i else "world", f"r{i}", (0, 0, -1.0 * i), (0, 1, 0))
    return m


def numbers(text):
    """(mean, most) of a text about the solver."""
    words = text.split()
    return float(words[1]), float(words[words.index("most") + 1])


def test_an_error_estimate_is_not_called_a_residual():
    """Adaptive methods report the error of their internal steps in units of the tolerance, which is at most 1."""
    found = dal.simulate(rods(), "mk5", h=0.05, t_end=5.0, q0=(2.5, 0.5)).report()["solver"]
    assert "residual" not in found.text
    assert "internal steps per step" in found.text
    assert "of its tolerance" in found.text
    assert found.verdict == "pass"
    assert found.limit == 100_000


def test_a_last_correction_is_not_called_a_residual():
    tree = dal.simulate(rods(), "midpoint", h=0.01, t_end=1.0, q0=(1.0, 0.5)).report()["solver"]
    kepler = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) + 1 / np.sqrt(q @ q))
    formula = dal.simulate(kepler, "midpoint", h=0.01, t_end=1.0, q0=(1.0, 0.0), v0=(0.1, 1.1)).report()["solver"]
    for found in (tree, formula):
        assert "residual" not in found.text
        assert "last correction at most" in found.text
        assert "of the velocity" in found.text
    assert "the next one expected within 1e-13" in tree.text
    assert "(tolerance 1e-09)" in formula.text


def test_a_residual_beyond_the_tolerance_warns():
    m = dal.Model("free", gravity=(0, 0, 0))
    m.add_body("b", 1.3, (0.5, 0.8, 1.1))
    traj = dal.simulate(m, "cayley", h=0.01, t_end=1.0, v0=(2.0, -0.5, 1.0, 0.4, 0.1, 0.3))
    found = traj.report()["solver"]
    assert "last residual at most" in found.text
    assert found.verdict == "pass"
    traj._log[:, 2] = 1e-3
    assert traj.report()["solver"].verdict == "warn"


@pytest.mark.parametrize("every", [1, 5])
def test_iterations_of_split_steps_are_counted_apart(every):
    """The mean over a run is never above the most of a step: steps that were split are left out of both."""
    traj = dal.simulate(rods(), "midpoint", h=0.01, t_end=1.0, q0=(1.0, 0.5), every=every)
    whole = traj.report()["solver"]
    assert "split" not in whole.text
    mean, most = numbers(whole.text)
    assert 1.0 <= mean <= most
    traj._log[7] = (400.0, 400.0, 1e-12, 8.0)  # a step in eight parts of fifty iterations
    found = traj.report()["solver"]
    assert numbers(found.text) == (mean, most)
    assert "steps that were split aside" in found.text
    traj._log[1:, 3] = 2.0
    assert traj.report()["solver"].verdict == "not applicable"
    assert "all steps were split" in traj.report()["solver"].text


def test_a_composition_is_counted_by_its_substeps():
    traj = dal.simulate(rods(), "midpoint", h=0.01, t_end=1.0, q0=(1.0, 0.5), compose="suzuki4", every=10)
    mean, most = numbers(traj.report()["solver"].text)
    assert 1.0 <= mean <= most


def test_a_large_last_correction_does_not_widen_the_band_of_the_energy():
    """A step from rest that a single correction solves has a correction of 1, relative to the velocity that it ends with."""
    traj = dal.simulate(rods(), "midpoint", h=0.01, t_end=2.0, q0=(1.0, 0.5))
    limit = traj.report()["energy"].limit
    traj._log[1, 2] = 0.67
    assert traj.report()["energy"].limit == limit
    assert limit < 0.1
