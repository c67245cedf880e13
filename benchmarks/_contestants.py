"""The chain of benchmarks/trees.py in every engine, behind one call: run(t_end, spacing) -> q, v at spacing, 2 spacing, ..., t_end.

Each engine makes its steps in as few Python calls as it allows: this library and MuJoCo one call per recorded node, Drake one AdvanceTo per
node, Pinocchio a Python loop over aba (as its users write it). SciPy gets a compiled right-hand side (our accelerations, one call from
Python per evaluation): `dop853` is the compiled integrator behind scipy.integrate.ode, `DOP853` that of solve_ivp, written in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pinocchio
from scipy.integrate import ode, solve_ivp
from trees import chain, chain_mujoco, chain_pinocchio

from dalembert.contracts import check as contracts
from dalembert.errors import UnknownNameError
from dalembert.kernels._jit import kernel
from dalembert.kernels.tree.aba import accelerations
from dalembert.model.dynamics import TreeDynamics
from dalembert.registry import Stepper, find
from dalembert.steppers.compose import find_composition

Array = np.ndarray
Run = Callable[[float, float], tuple[Array, Array]]
mujoco.set_mju_user_warning(lambda text: None)  # divergence is found in the numbers
VARIATIONAL = ("trapezoidal", "midpoint", "symplectic-euler")


def start(n: int) -> tuple[Array, Array]:
    """A chain near the horizontal: angles within 0.3 rad, rates within 0.5 rad/s for 3 links and less for more (the speed of the tip grows
    like n^1.5 times a rate), so that no method meets a motion that its step cannot resolve. Beyond
    30 links the chain falls in a plane: sideways it whips at once."""
    rng = np.random.default_rng(n)
    q, v = min(1.0, 10.0 / n) * rng.uniform(-0.3, 0.3, n), min(1.0, (3.0 / n) ** 1.5) * rng.uniform(-0.5, 0.5, n)
    if n > 30:
        q[1::2] = v[1::2] = 0.0
    return q, v


def registered(names: tuple[str, ...]) -> list[Stepper]:
    """Those of the names that the registry has for trees."""
    found = []
    for name in names:
        try:
            found.append(find("tree", name))
        except UnknownNameError:
            continue  # the caller says which are missing
    return found


def counts(t_end: float, spacing: float, h: float) -> tuple[int, int]:
    """Steps in all, and between nodes."""
    n, every = round(t_end / h), round(spacing / h)
    if abs(n * h - t_end) > 1e-9 * t_end or abs(every * h - spacing) > 1e-9 * spacing:
        raise ValueError(f"h = {h} divides neither {t_end} nor {spacing}")
    return n, every


def ours(n: int, state: tuple[Array, Array], stepper: Stepper, h: float, compose: str | None = None, **options: Any) -> Run:
    """A stepper of this library, all steps in one call of its loop. A run that fails returns the nodes before."""
    weights = find_composition(compose).weights if compose else (1.0,)
    engine = contracts.engine_of(stepper, (chain(n).frozen(), *state), h, weights, options)

    def run(t_end: float, spacing: float) -> tuple[Array, Array]:
        engine.start(*state)
        found = engine.unpack(engine.advance(*counts(t_end, spacing, h)).states)
        return found["q"], found["v"]

    return run


def mujoco_run(n: int, state: tuple[Array, Array], integrator: str, h: float) -> Run:
    """MuJoCo, one mj_step call per node."""
    model = chain_mujoco(n, h, integrator)
    data = mujoco.MjData(model)

    def run(t_end: float, spacing: float) -> tuple[Array, Array]:
        steps, every = counts(t_end, spacing, h)
        q, v = np.empty((steps // every, n)), np.empty((steps // every, n))
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = state
        for i in range(len(q)):
            mujoco.mj_step(model, data, every)
            q[i], v[i] = data.qpos, data.qvel
        return q, v

    return run


def pinocchio_rk4(n: int, state: tuple[Array, Array], h: float) -> Run:
    """Classical RK4 in Python on Pinocchio's aba."""
    model = chain_pinocchio(n)
    data, zero, aba = model.createData(), np.zeros(n), pinocchio.aba

    def step(q: Array, v: Array) -> tuple[Array, Array]:
        a1 = aba(model, data, q, v, zero).copy()
        v2 = v + 0.5 * h * a1
        a2 = aba(model, data, q + 0.5 * h * v, v2, zero).copy()
        v3 = v + 0.5 * h * a2
        a3 = aba(model, data, q + 0.5 * h * v2, v3, zero).copy()
        v4 = v + h * a3
        a4 = aba(model, data, q + h * v3, v4, zero)
        return q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)

    def run(t_end: float, spacing: float) -> tuple[Array, Array]:
        steps, every = counts(t_end, spacing, h)
        nodes = []
        q, v = state
        for i in range(1, steps + 1):
            q, v = step(q, v)
            if i % every == 0:
                nodes.append((q, v))
        return np.array([q for q, _ in nodes]), np.array([v for _, v in nodes])

    return run


def drake_plant(n: int, time_step: float) -> Any:
    """The chain as a MultibodyPlant, continuous at time_step = 0."""
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia, UnitInertia

    plant = MultibodyPlant(time_step)
    c = np.array([0.25, 0, 0])
    about_origin = np.diag([0.002, 0.02, 0.02]) + (c @ c * np.eye(3) - np.outer(c, c))
    inertia = SpatialInertia(1.0, c, UnitInertia(*np.diag(about_origin)))
    parent = plant.world_frame()
    for i in range(n):
        body = plant.AddRigidBody(f"rod{i}", inertia)
        frame = parent if i == 0 else plant.AddFrame(FixedOffsetFrame(f"at{i}", parent, RigidTransform([0.5, 0, 0])))
        plant.AddJoint(RevoluteJoint(f"j{i}", frame, body.body_frame(), [0, 1, 0] if i % 2 == 0 else [0, 0, 1]))
        parent = body.body_frame()
    plant.Finalize()
    return plant


def drake_run(n: int, state: tuple[Array, Array], scheme: str, h: float, accuracy: float | None = None) -> Run:
    """Drake: scheme "discrete", or an integrator with fixed steps h, or with error control at an accuracy and steps of at most h."""
    from pydrake.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig

    plant = drake_plant(n, h if scheme == "discrete" else 0.0)
    simulator = Simulator(plant)
    if scheme != "discrete":
        config = SimulatorConfig()
        config.integration_scheme, config.max_step_size, config.use_error_control = scheme, h, accuracy is not None
        config.accuracy = accuracy or 1e-3
        ApplySimulatorConfig(config, simulator)
    context = simulator.get_mutable_context()

    def run(t_end: float, spacing: float) -> tuple[Array, Array]:
        context.SetTime(0.0)
        plant.SetPositionsAndVelocities(context, np.concatenate(state))
        simulator.Initialize()
        nodes = []
        for i in range(1, round(t_end / spacing) + 1):
            simulator.AdvanceTo(i * spacing)
            nodes.append(plant.GetPositionsAndVelocities(context))
        found = np.array(nodes)
        return found[:, :n], found[:, n:]

    return run


@kernel
def rate(system, work, q, v, tau, acc, y, out):
    """y = (q, v) -> (v, accelerations)."""
    n = y.shape[0] // 2
    for i in range(n):
        work[q + i] = y[i]
        work[v + i] = y[n + i]
        work[tau + i] = 0.0
        out[i] = y[n + i]
    accelerations(system, work, q, v, tau, acc)
    for i in range(n):
        out[n + i] = work[acc + i]


def right_hand_side(n: int) -> Callable[[float, Array], Array]:
    """f(t, y), one compiled call."""
    d = TreeDynamics(chain(n))

    def f(t: float, y: Array) -> Array:
        out = np.empty(2 * n)
        rate(d.system, d.work, d.q, d.v, d.tau, d.acc, y, out)
        return out

    return f


def scipy_run(n: int, state: tuple[Array, Array], solver: str, rtol: float) -> Run:
    """`dop853` (compiled integrator) or `DOP853` (solve_ivp), atol = rtol."""
    f = right_hand_side(n)

    def compiled(t_end: float, spacing: float) -> tuple[Array, Array]:
        integrator = ode(f).set_integrator("dop853", rtol=rtol, atol=rtol, nsteps=10**7)
        integrator.set_initial_value(np.concatenate(state))
        y = np.array([integrator.integrate(i * spacing) for i in range(1, round(t_end / spacing) + 1)])
        return y[:, :n], y[:, n:]

    def python(t_end: float, spacing: float) -> tuple[Array, Array]:
        nodes = spacing * np.arange(1, round(t_end / spacing) + 1)
        nodes[-1] = t_end
        y = solve_ivp(f, (0, t_end), np.concatenate(state), "DOP853", nodes, rtol=rtol, atol=rtol).y
        return y[:n].T, y[n:].T

    return compiled if solver == "dop853" else python
