"""Environments of Gymnasium: checked by its own checker; episodes repeat; what is held is what `simulate` holds."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import dalembert as dal
from dalembert.envs import MachineEnv, PendulumEnv, pendulum
from dalembert.errors import OptionError


def test_gymnasium_finds_nothing_wrong(recwarn):
    env = gymnasium.make("dalembert/Pendulum-v0")
    check_env(env.unwrapped, skip_render_check=True)
    assert [w for w in recwarn if issubclass(w.category, UserWarning) and "infinity" not in str(w.message)] == []
    env.close()


def test_episodes_of_one_seed_are_the_same_bit_for_bit():
    seen = []
    for _ in range(2):
        env = PendulumEnv()
        first, _ = env.reset(seed=3)
        rng = np.random.default_rng(0)
        rows = [first] + [env.step(rng.uniform(-1, 1, 1))[0] for _ in range(50)]
        seen.append(np.array(rows))
    np.testing.assert_array_equal(*seen)
    assert np.ptp(seen[0]) > 0.1


def test_an_action_is_a_control_of_simulate():
    env = MachineEnv(pendulum(), lambda state, action: 0.0, 2.0, h=0.005, steps=10, stepper="midpoint")
    env.reset(options={"q": [1.0], "v": [0.5]})
    for a in (1.0, -0.5, 3.0):  # beyond 1 is cut
        env.step([a])
    tau = [2.0, -1.0, 2.0]
    traj = dal.simulate(
        pendulum(), "midpoint", h=0.005, t_end=0.15, q0=[1.0], v0=[0.5], control=lambda t, q, v: [tau[round(t / 0.005) // 10]]
    )
    np.testing.assert_array_equal(env.state.q, traj.q[-1])
    assert env.state.t == pytest.approx(0.15, abs=1e-12)


def test_an_episode_ends_where_it_is_told_and_where_time_is_over():
    env = MachineEnv(pendulum(), lambda s, a: s.v[0], 2.0, h=0.01, steps=1, seconds=0.05, ended=lambda s: s.q[0] > 1.2)
    env.reset(options={"q": [1.0], "v": [0.0]})
    flags = [env.step([0.0])[2:4] for _ in range(5)]
    assert flags == [(False, False)] * 4 + [(False, True)]
    env.reset(options={"q": [1.19], "v": [5.0]})
    assert env.step([0.0])[2]


def test_joints_without_force_are_not_driven_and_wrong_arguments_are_named():
    m = dal.scenes.find("pendulum-chain").model()
    env = MachineEnv(m, lambda s, a: 0.0, [1.0] + [0.0] * (m.nv - 1))
    assert env.action_space.shape == (1,)
    assert env.observation_space.shape == (m.nq + m.nv,)
    for bad in (0.0, -1.0, "a", [1.0] * (m.nv + 1), np.nan):
        with pytest.raises(OptionError, match="force"):
            MachineEnv(m, lambda s, a: 0.0, bad)
    with pytest.raises(OptionError, match="render_mode"):
        MachineEnv(m, lambda s, a: 0.0, 1.0, render_mode="window")


def test_the_picture_shows_the_machine():
    env = PendulumEnv(render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render()
    assert image.shape == (480, 480, 3) and image.dtype == np.uint8
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 10


@pytest.mark.parametrize("action", [[0.0, 0.0], "abc", [[0.0] * 3], 0.0, [np.nan] * 3, None, [1, 2, "x"]])
def test_an_action_of_another_shape_is_named(action):
    m = dal.scenes.find("pendulum-chain").model()
    driven = [1.0] * 3 + [0.0] * (m.nv - 3)
    env = MachineEnv(m, lambda s, a: 0.0, driven)
    with pytest.raises(OptionError, match=r"action is .*; expected 3 numbers in \[-1, 1\]"):
        env.step(action)
    assert env.state.t == 0.0


def test_a_number_is_the_action_of_one_motor():
    env = MachineEnv(pendulum(), lambda state, action: 0.0, 2.0, h=0.005, steps=1)
    env.step(0.5)
    assert env.state.t == pytest.approx(0.005) and env.state.v[0] > 0.0
