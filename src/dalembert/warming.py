"""Compiling ahead: one tiny run of everything that is compiled on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dalembert import registry, scenes
from dalembert.contracts import runs as contract_runs
from dalembert.contracts.machines import floating_chain, free_body, pinned_chain
from dalembert.model import Model
from dalembert.runs.plan import Plan
from dalembert.runs.simulate import simulate
from dalembert.runs.simulation import Simulation

Task = tuple[str, Callable[[], object]]
CLOSED = ("four-bar", "rolling-disk")  # loops, and rows on velocities
STEPPERS_OF_TREES = ("midpoint", "trapezoidal", "symplectic-euler", "null-space", "mk4")


def tasks() -> Iterator[Task]:
    """(What is compiled, a call that compiles it)."""
    for stepper in registry.steppers():
        if not stepper.python and not stepper.engine:
            yield f"{stepper.name} ({stepper.system})", lambda s=stepper: _step(s)  # type: ignore[misc]
    for name in STEPPERS_OF_TREES:
        yield f"{name}: hinges, springs, dampers, limits, wrenches", lambda n=name: _loaded(n)  # type: ignore[misc]
    for scene in CLOSED:
        yield f"midpoint: {scene}", lambda s=scene: _closed(s)  # type: ignore[misc]
    yield "spook: boxes, balls, hulls, joints, impacts", _touching
    yield "collision: balls, boxes, loops", _colliding
    yield "steps by hand", _by_hand
    yield "ensembles", _many
    yield "dynamics of models", _dynamics
    yield "reports", _report
    yield "complementarity", _complementarity
    yield "friction", _friction
    yield "separation", _separation
    yield "pictures", _picture


def _step(stepper: registry.Stepper) -> None:
    for machine in contract_runs.machines(stepper):
        contract_runs.engine_of(stepper, machine, 0.01).advance(2, 1)


def _loaded(stepper: str) -> None:
    """A bare pendulum, one with everything that loads it, and one that swings so far within a step that the step is doubted."""
    from dalembert.model.forces import Damper, Spring, Wrench

    m = Model("warm")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    limits = None if stepper == "mk4" else (-0.5, 0.5)
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), damping=0.1, stiffness=1.0, limits=limits)
    simulate(m, stepper, h=0.01, t_end=0.02, q0=[0.1], ignore=("damping", "stiffness", "limits"))
    for force in (Spring("rod", "world", point_b=(1, 0, 0), stiffness=1.0), Damper("rod", linear=0.1), Wrench("rod", force=(0.1, 0, 0))):
        m.add_force(force)
    simulate(m, stepper, h=0.01, t_end=0.02, q0=[1.0]).report()
    simulate(m, stepper, h=0.1, t_end=0.2, q0=[0.0], v0=[20.0], on_fail="return", ignore=("limits",))


def _closed(scene: str) -> None:
    scenes.find(scene).simulate(stepper="midpoint", h=0.001, t_end=0.002)


def _touching() -> None:
    """Shapes of all kernels on a plane and on each other, a joint, a restitution, an axis of friction; both solvers of steps."""
    from dalembert.model.shapes import Box, Convex, Plane, Sphere

    m = Model("warm")
    m.add_shape("world", Plane(restitution=0.5))
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    for k, shape in enumerate((Box((0.2, 0.2, 0.2)), Sphere(0.1), Convex(corners), Box((0.2, 0.2, 0.2)), Convex(corners))):
        m.add_body(f"b{k}", 1.0, (0.01, 0.01, 0.01), pose=((0, 0, 0.1 + 0.199 * k), (1, 0, 0, 0)), shapes=[shape])
    m.add_contact("world", "b0", friction=(0.5, 0.4), friction_axis=(1, 0, 0))
    m.add_body("arm", 1.0, (0.01, 0.01, 0.01), pose=((1, 0, 0.5), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "world", "arm", anchor=(1, 0, 1), axis=(0, 1, 0), damping=0.1, friction=0.1, limits=(-0.5, 0.5))
    for solver in ("direct", "gauss-seidel"):
        simulate(m, "spook", h=0.01, t_end=0.05, v0={"b4": (0, 0, 0, 0, 0, -5.0)}, solver=solver).report()


def _colliding() -> None:
    """Balls that a link joins, which strike the ground and rest."""
    from dalembert.model.shapes import Plane, Sphere

    m = Model("warm")
    m.add_shape("world", Plane(friction=0))
    for k in range(2):
        m.add_particle(f"b{k}", 1.0, (k, 0, 0.11 + 0.1 * k), shapes=[Sphere(0.1, friction=0)])
    m.add_loop("link", "distance", "b0", "b1")
    simulate(m, "collision", h=0.02, t_end=0.4).report()


def _by_hand() -> None:
    model, q, v = free_body(True)
    Simulation(model, "cayley", q0=q, v0=v, keep=0).step(tau=np.zeros(model.nv))


def _many() -> None:
    from dalembert.kernels._jit import first_class
    from dalembert.kernels.many import MANY, NODES_OF_MANY, nodes_of_many, run_many

    first_class(run_many, MANY)
    first_class(nodes_of_many, NODES_OF_MANY)
    m, q, v = pinned_chain()
    plan = Plan.of(m, "midpoint", 0.01)
    if plan.family.starts is not None:
        plan.family.starts(plan.acting, plan.arrays()[None], q[None], v[None])
    if plan.family.energies is not None:
        plan.family.energies(plan.acting, plan.arrays()[None], q[None, None], v[None, None], ())


def _dynamics() -> None:
    for m, q, v in (free_body(False), floating_chain(), pinned_chain()):
        m.forward_dynamics(q, v)
        m.inverse_dynamics(q, v, v)
        m.mass_matrix(q)
        m.jacobian(m.bodies[0].name, q)
        m.energy(q, v)
        m.momentum(q, v)


def _report() -> None:
    m, q, v = floating_chain()
    simulate(m, "midpoint", h=0.01, t_end=0.02, q0=q, v0=v).report()


def _complementarity() -> None:
    from dalembert.complementarity import lcp, methods

    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-1.0, -2.0])
    for method in methods():
        lcp(M, q, method=method.name)


def _friction() -> None:
    from dalembert.complementarity.friction import solve_friction
    from dalembert.complementarity.friction.registry import models

    for model in models():
        solve_friction(np.eye(3), np.array([-1.0, 0.2, 0.1]), np.array([0.5]), model=model.name)


def _separation() -> None:
    from dalembert.contact import sshlp

    sshlp(np.eye(3), np.eye(3) + 1.0)


def _picture() -> None:
    import tempfile
    from pathlib import Path

    m, q, v = floating_chain()
    with tempfile.TemporaryDirectory() as folder:
        simulate(m, "midpoint", h=0.01, t_end=0.02, q0=q, v0=v).animate(Path(folder) / "warm.gif")
