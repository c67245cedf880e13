"""h="auto": every step of the run is certified, not the first one alone."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.solvability.certify import certified_steps


def test_a_body_that_gets_faster_gets_a_step_that_is_certified_at_every_node():
    scene = dal.scenes.find("tennis-racket")
    m = scene.model()
    traj = dal.simulate(m, "tln", h="auto", t_end=10.0, q0=scene.q0, v0=scene.v0)
    limits = [dal.advise(m, q, v, "tln").h_newton for q, v in zip(traj.q, traj.v, strict=True)]
    assert min(limits) < 0.5 * limits[0]  # the start alone would allow more than the motion does
    assert 0.8 * min(limits) < traj.h <= min(limits)


def test_every_step_of_a_tree_is_proved_where_the_start_is_slow():
    m = dal.scenes.find("pendulum-chain").model()
    start = {"q0": {"j1": 1.5, "j2": 0.4}}
    traj = dal.simulate(m, h="auto", t_end=2.0, **start)
    assert certified_steps(m, traj.h, traj.q, traj.v_interval).all()
    assert traj.report()["certified steps"].verdict == "pass"
    first = dal.advise(m, start["q0"]).h_newton
    coarse = dal.simulate(m, "trapezoidal", h=2.0 / np.ceil(2.0 / first), t_end=2.0, **start)
    assert not certified_steps(m, coarse.h, coarse.q, coarse.v_interval).all()


def test_the_saved_run_is_the_certified_one(tmp_path):
    scene = dal.scenes.find("tennis-racket")
    given = {"t_end": 2.0, "q0": scene.q0, "v0": scene.v0}
    traj = dal.simulate(scene.model(), "tln", h="auto", save=tmp_path / "run.h5", **given)
    assert (dal.load(tmp_path / "run.h5").states == traj.states).all()
    assert traj.meta["h_auto"]


def test_automatic_steps_are_refused_where_nothing_is_proved():
    m = dal.Model("floating")
    m.add_body("a", 1.0, (1, 1, 1))
    m.add_body("b", 1.0, (1, 1, 1), pose=((1, 0, 0), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "a", "b")
    with pytest.raises(dal.OptionError, match=r"no step size of .* is proved \(joint 'a' is free\); give h"):
        dal.simulate(m, "trapezoidal", h="auto", t_end=1.0, v0=np.ones(7))
    balls = dal.Model("two balls at rest")
    for k in range(2):
        balls.add_body(f"b{k}", 1.0, (0.1, 0.1, 0.1), com=(0, 0, -0.5), pose=((0, 0, -k), (1, 0, 0, 0)))
        balls.add_joint(f"j{k}", "spherical", f"b{k - 1}" if k else "world", f"b{k}", (0, 0, -k))
    with pytest.raises(dal.OptionError, match=r"give h, in s; dal\.advise estimates no limit here") as found:
        dal.simulate(balls, h="auto", t_end=1.0)
    assert "inf" not in str(found.value)
    with pytest.raises(dal.OptionError, match="h='auto' with a control"):
        dal.simulate(dal.scenes.find("pendulum-chain").model(), h="auto", t_end=1.0, control=lambda t, q, v: 0 * v)
