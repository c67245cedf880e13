"""A pole is swung up on a cart with the least effort, by a plan that is a motion of the simulator.

    python examples/swing_up.py [folder for the pictures and the animation]

The plan of 100 steps solves the discrete equations of `midpoint` themselves (Kelly 2017, section 6: 2 s, 20 N at most). So its inputs,
given to `dal.simulate` as they are, end where they should, to round-off; inputs that are planned for the differential equations by
another rule would not. A swing-up is unstable: a start that is off by a hundredth misses, and a feedback about the plan
(`dal.control.track`), made of the derivatives of the same steps, catches it and holds the pole for as long as wanted.

Check: the replay is on the plan to 1e-8, its cost within 1 % of the optimum of the differential equations, 58.808; with the disturbed start
the plain replay is off by more than 0.1 rad, the tracked one stands at the end.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dalembert as dal

OPTIMUM = 58.808  # by Pontryagin's equations, tests/control/test_published.py
OFF = np.array([0.0, 0.01])  # m, rad


def build() -> dal.Model:
    """A cart on a rail of 4 m, and a mass point on a rod."""
    m = dal.Model("cart-pole")
    m.add_body("cart", 1.0, (0.01, 0.01, 0.01), shapes=(dal.Box((0.3, 0.2, 0.15), collide=False),))
    rod = dal.Capsule(0.02, 0.46, position=(0, 0, -0.25), collide=False)
    m.add_body(
        "pole", 0.3, (0, 0, 0), com=(0, 0, -0.5), physical=False, shapes=(rod, dal.Sphere(0.06, position=(0, 0, -0.5), collide=False))
    )
    m.add_joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0), limits=(-2, 2))
    m.add_joint("hinge", "revolute", "cart", "pole", axis=(0, -1, 0))
    m.add_motor("drive", "rail", limit=20.0)
    return m


def far(traj: dal.Trajectory, goal: np.ndarray) -> float:
    """Distance of the end from the goal, rad or m."""
    return float(np.abs(traj.q[-1] - goal).max())


def main(t_end: float = 5.0, out: Path | None = None) -> None:
    """Plan, verify, replay, track until t_end."""
    m, goal = build(), np.array([1.0, np.pi])
    plan = dal.control.dmoc(m, N=100, start=[0.0, 0.0], goal=goal, h=0.02).solve()
    print(plan.text)
    evidence = plan.verify()
    print(evidence.text)
    assert plan.ok and evidence.ok
    assert abs(plan.cost / OPTIMUM - 1.0) < 0.01

    run = {"stepper": "midpoint", "h": 0.02, "ignore": ("limits",)}
    replay = dal.simulate(m, t_end=2.0, control=plan.control, **run)
    print(f"replayed: off the plan by {np.abs(replay.q - plan.q).max():.0e}, at the goal to {far(replay, goal):.0e}")
    assert np.abs(replay.q - plan.q).max() < 1e-8

    missed = dal.simulate(m, t_end=2.0, control=plan.control, q0=OFF, **run)
    caught = dal.simulate(m, t_end=t_end, control=dal.control.track(plan), q0=OFF, **run)
    print(f"a start that is off by {OFF.max():g} rad: replayed, it ends {far(missed, goal):.2f} off; tracked, {far(caught, goal):.0e}")
    assert far(missed, goal) > 0.1
    assert far(caught, goal) < 1e-3
    print(caught.report().text)
    if out is not None:
        plan.plot(out / "swing_up.png")
        caught.animate(out / "swing_up.gif")
        plan.save(out / "swing_up.h5", overwrite=True)
        print("pictures and the plan in", out)


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
