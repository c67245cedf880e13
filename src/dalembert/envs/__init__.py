"""Environments of Gymnasium over `dalembert.Simulation`: pip install 'dalembert[learning]'.

env = dalembert.envs.MachineEnv(model, reward, h=0.002, steps=10, force=20.0)
env = gymnasium.make("dalembert/Pendulum-v0")           # after `import dalembert.envs`
"""

from dalembert.envs.machine import MachineEnv
from dalembert.envs.pendulum import PendulumEnv, pendulum, register

__all__ = ["MachineEnv", "PendulumEnv", "pendulum"]

register()
