"""Chains so long that round-off of their velocities is far above the tolerance of a step: corrections end at that level, and are few."""

import numpy as np
import pytest

import dalembert as dal


def chain(n):
    """Rods of 1 m and 1 kg in line; axes of their hinges lie across, by turns upright and level."""
    m = dal.Model(f"{n} rods")
    for k in range(n):
        place, axis = (float(k), 0, 0), (0, 0, 1) if k % 2 else (0, 1, 0)
        m.add_body(f"rod{k}", 1.0, (0.01, 1 / 12, 1 / 12), com=(0.5, 0, 0), pose=(place, (1, 0, 0, 0)))
        m.add_joint(f"hinge{k}", "revolute", f"rod{k - 1}" if k else "world", f"rod{k}", place, axis)
    return m


@pytest.mark.parametrize("stepper", ["midpoint", "null-space", "trapezoidal"])
def test_steps_of_a_thousand_links_are_neither_split_nor_repeated(stepper):
    """Round-off of velocities is some 1e-9 to 1e-8 of them. Falling from near the horizontal in a plane, at 1 kHz."""
    n, rng = 1000, np.random.default_rng(1000)
    q0, v0 = 0.01 * rng.uniform(-0.3, 0.3, n), (3 / n) ** 1.5 * rng.uniform(-0.5, 0.5, n)
    q0[1::2] = v0[1::2] = 0.0
    traj = dal.simulate(chain(n), stepper, h=1e-3, t_end=0.2, q0=q0, v0=v0)
    assert traj.solver["substeps"].max() == 0
    assert traj.solver["iterations"].mean() < 3 and traj.solver["max_iterations"].max() < 20
