"""Chains of revolute joints and real robots: forward dynamics and steps beside MuJoCo, Pinocchio and, where installed, Drake, in one run.

    python benchmarks/trees.py [--quick]

Forward dynamics of this library is timed inside its compiled code (a loop of calls), MuJoCo by mj_forward and Pinocchio by aba from
Python, each with the cost of an empty Python call subtracted; mk4 against one mj_step of MuJoCo's RK4 (all steps in one call).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
from _timing import interleaved

import dalembert as dal
from dalembert.kernels._jit import kernel
from dalembert.kernels.tree.aba import accelerations
from dalembert.kernels.tree.crba import mass_matrix
from dalembert.kernels.tree.kinematics import sweep
from dalembert.kernels.tree.rnea import inverse_dynamics
from dalembert.model.dynamics import TreeDynamics
from dalembert.registry import find
from dalembert.runs.plan import Plan

SIZES = (1, 3, 10, 30, 100, 300, 1000)
PINOCCHIO_LIMIT = 300  # its workspace grows like n^3: 2 GB at 300 joints, more than 20 GB at 1000


def chain(n: int) -> dal.Model:
    """n rods of 0.5 m, axes y and z in turn, pinned to the world."""
    m = dal.Model(f"chain of {n}")
    for i in range(n):
        m.add_body(f"rod{i}", 1.0, (0.002, 0.02, 0.02), com=(0.25, 0, 0), pose=((0.5 * i, 0, 0), (1, 0, 0, 0)))
        axis = (0, 1, 0) if i % 2 == 0 else (0, 0, 1)
        m.add_joint(f"j{i}", "revolute", "world" if i == 0 else f"rod{i - 1}", f"rod{i}", anchor=(0.5 * i, 0, 0), axis=axis)
    return m


def chain_mujoco(n: int, h: float, integrator: str) -> mujoco.MjModel:
    """The same chain for MuJoCo, built without XML (whose depth is limited)."""
    spec = mujoco.MjSpec()
    spec.option.timestep = h
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    off = mujoco.mjtDisableBit
    spec.option.disableflags = off.mjDSBL_CONTACT | off.mjDSBL_CONSTRAINT | off.mjDSBL_AUTORESET
    body = spec.worldbody
    for i in range(n):
        body = body.add_body(pos=[0.5 if i else 0.0, 0, 0], mass=1, ipos=[0.25, 0, 0], inertia=[0.002, 0.02, 0.02], explicitinertial=True)
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0] if i % 2 == 0 else [0, 0, 1])
    return spec.compile()


def chain_pinocchio(n: int) -> pinocchio.Model:
    """The same chain for Pinocchio."""
    model, parent = pinocchio.Model(), 0
    inertia = pinocchio.Inertia(1.0, np.array([0.25, 0, 0]), np.diag([0.002, 0.02, 0.02]))
    for i in range(n):
        joint = pinocchio.JointModelRY() if i % 2 == 0 else pinocchio.JointModelRZ()
        place = pinocchio.SE3(np.eye(3), np.array([0.5 if i else 0.0, 0, 0]))
        parent = model.addJoint(parent, joint, place, f"j{i}")
        model.appendBodyToJoint(parent, inertia, pinocchio.SE3.Identity())
    return model


def chain_drake(n: int, q: np.ndarray, v: np.ndarray) -> Callable[[], object] | None:
    """Accelerations of the same chain in Drake (continuous plant, caches invalidated at each call); None where Drake is not installed."""
    try:
        from pydrake.multibody.plant import MultibodyPlant
        from pydrake.multibody.tree import RevoluteJoint, SpatialInertia, UnitInertia
    except ImportError:
        return None
    from pydrake.math import RigidTransform

    plant = MultibodyPlant(0.0)
    c = np.array([0.25, 0, 0])
    about_origin = np.diag([0.002, 0.02, 0.02]) + (c @ c * np.eye(3) - np.outer(c, c))
    inertia = SpatialInertia(1.0, c, UnitInertia(*np.diag(about_origin)))
    parent = plant.world_frame()
    for i in range(n):
        body = plant.AddRigidBody(f"rod{i}", inertia)
        place = RigidTransform([0.5 if i else 0.0, 0, 0])
        axis = [0, 1, 0] if i % 2 == 0 else [0, 0, 1]
        frame = parent if i == 0 else plant.AddFrame(_fixed(f"at{i}", parent, place))
        plant.AddJoint(RevoluteJoint(f"j{i}", frame, body.body_frame(), axis))
        parent = body.body_frame()
    plant.Finalize()
    context = plant.CreateDefaultContext()
    state = np.concatenate([q, v])

    def run() -> object:
        plant.SetPositionsAndVelocities(context, state)
        return plant.EvalTimeDerivatives(context)

    found = run().CopyToVector()[n:]
    expected = TreeDynamics(chain(n)).forward_dynamics(q, v)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * np.abs(expected).max())
    return run


def _fixed(name: str, parent: object, place: object) -> object:
    from pydrake.multibody.tree import FixedOffsetFrame

    return FixedOffsetFrame(name, parent, place)


@kernel
def repeat(system, work, q, v, tau, acc, times, nv):
    """Many evaluations in compiled code; tau is reset each time."""
    for _ in range(times):
        for i in range(nv):
            work[tau + i] = 0.0
        accelerations(system, work, q, v, tau, acc)


@kernel
def repeat_rnea(system, work, q, v, acc, tau, times):
    """Many inverse dynamics in compiled code."""
    for _ in range(times):
        inverse_dynamics(system, work, q, v, acc, tau)


@kernel
def repeat_crba(system, work, q, v, out, times):
    """Many mass matrices in compiled code, kinematics included as in Pinocchio's crba."""
    for _ in range(times):
        sweep(system, work, q, v)
        mass_matrix(system, work, out)


def other_algorithms(n: int, rounds: int) -> dict[str, float]:
    """Microseconds of inverse dynamics and of the mass matrix, ours and Pinocchio's."""
    rng = np.random.default_rng(n)
    q, v, a = rng.uniform(-0.3, 0.3, n), rng.uniform(-0.5, 0.5, n), rng.uniform(-1, 1, n)
    times = max(20, 10_000 // n)
    d = TreeDynamics(chain(n))
    d._state(q, v)
    pin = chain_pinocchio(n)
    data = pin.createData()
    runs: dict[str, Callable[[], object]] = {
        "rnea": lambda: repeat_rnea(d.system, d.work, d.q, d.v, d.acc, d.tau, times),
        "pinocchio rnea": lambda: [pinocchio.rnea(pin, data, q, v, a) for _ in range(times)],
        "crba": lambda: repeat_crba(d.system, d.work, d.q, d.v, d.at_matrix, times),
        "pinocchio crba": lambda: [pinocchio.crba(pin, data, q) for _ in range(times)],
    }
    return {name: 1e6 * t / times for name, t in interleaved(runs, rounds).items()}


def forward_dynamics(n: int, rounds: int) -> dict[str, float]:
    """Microseconds per evaluation."""
    rng = np.random.default_rng(n)
    q, v = rng.uniform(-0.3, 0.3, n), rng.uniform(-0.5, 0.5, n)
    times = max(20, 20_000 // n)
    d = TreeDynamics(chain(n))
    d._state(q, v)
    zero = np.zeros(n)
    mj = chain_mujoco(n, 0.01, "Euler")
    mjd = mujoco.MjData(mj)
    mjd.qpos[:], mjd.qvel[:] = q, v
    ours = d.forward_dynamics(q, v)
    mujoco.mj_forward(mj, mjd)
    if n <= 100:  # the condition of the mass matrix grows like n^4
        np.testing.assert_allclose(ours, mjd.qacc, rtol=0, atol=1e-7 * np.abs(ours).max())

    def ours_run() -> None:
        repeat(d.system, d.work, d.q, d.v, d.tau, d.acc, times, n)

    def mj_run() -> None:
        forward = mujoco.mj_forward
        for _ in range(times):
            forward(mj, mjd)

    def empty() -> None:
        nothing = lambda *_: None  # noqa: E731
        for _ in range(times):
            nothing(mj, mjd, q, v, zero)

    runs = {"ours": ours_run, "mj_forward": mj_run, "empty": empty}
    if n <= PINOCCHIO_LIMIT:
        pin = chain_pinocchio(n)
        data = pin.createData()

        def pin_run() -> None:
            aba = pinocchio.aba
            for _ in range(times):
                aba(pin, data, q, v, zero)

        runs["pinocchio aba"] = pin_run
    drake = chain_drake(n, q, v) if n <= 100 else None
    if drake is not None:
        runs["drake"] = lambda: [drake() for _ in range(times)]
    t = interleaved(runs, rounds)
    return {name: 1e6 * (t[name] - (t["empty"] if name != "ours" else 0.0)) / times for name in runs if name != "empty"}


def robots(rounds: int) -> dict[str, dict[str, float]]:
    """Microseconds of forward dynamics of three robots with a floating base: humanoid (MJCF), ANYmal and Talos (URDF)."""
    import importlib.metadata
    import importlib.util
    import warnings

    warnings.simplefilter("ignore")
    share = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    assets = Path(importlib.util.find_spec("gymnasium").submodule_search_locations[0]) / "envs" / "mujoco" / "assets"
    data = share / "example-robot-data" / "robots"
    files = {
        "humanoid": assets / "humanoid.xml",
        "anymal": data / "anymal_b_simple_description/robots/anymal.urdf",
        "talos": data / "talos_data/robots/talos_reduced.urdf",
    }
    out = {}
    for name, path in files.items():
        urdf = path.suffix == ".urdf"
        model = dal.load_model(path, floating_base=True if urdf else None, package_dirs=[share])
        rng = np.random.default_rng(3)
        q, v = model.neutral(), rng.uniform(-0.5, 0.5, model.nv)
        d = TreeDynamics(model)
        d._state(q, v)
        runs: dict[str, Callable[[], object]] = {
            "ours": lambda d=d, nv=model.nv: repeat(d.system, d.work, d.q, d.v, d.tau, d.acc, 2000, nv)
        }
        if urdf:
            pin = pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
            pd, pq, zero = pin.createData(), *model.to_pinocchio(q, 0 * v)
            runs["pinocchio aba"] = lambda pin=pin, pd=pd, pq=pq, zero=zero: [pinocchio.aba(pin, pd, pq, zero, zero) for _ in range(2000)]
        else:
            mj = mujoco.MjModel.from_xml_path(str(path))
            mj.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
            mjd = mujoco.MjData(mj)
            runs["mj_forward"] = lambda mj=mj, mjd=mjd: [mujoco.mj_forward(mj, mjd) for _ in range(2000)]
        out[f"{name} ({model.nv} dof)"] = {k: 1e6 * t / 2000 for k, t in interleaved(runs, rounds).items()}
    return out


def steps(n: int, rounds: int) -> dict[str, float]:
    """Microseconds per step."""
    h, times = 1e-4, max(500, 30_000 // n)  # many steps: the start of a run costs 0.2 ms of Python
    model = chain(n).frozen()
    rng = np.random.default_rng(n)
    q, v = rng.uniform(-0.3, 0.3, n), rng.uniform(-0.5, 0.5, n)
    runs: dict[str, Callable[[], object]] = {}
    for name in ("mk4", "cf4"):
        stepper = find("tree", name)
        engine = Plan.bare(model, stepper, h).engine()

        def run(engine=engine) -> None:
            engine.start(q, v)
            assert engine.advance(times, times).status == 0

        runs[name] = run
    for integrator in ("Euler", "implicit", "RK4"):
        mj = chain_mujoco(n, h, integrator)
        mjd = mujoco.MjData(mj)

        def mj_run(mj=mj, mjd=mjd) -> None:
            mujoco.mj_resetData(mj, mjd)
            mjd.qpos[:], mjd.qvel[:] = q, v
            mujoco.mj_step(mj, mjd, times)

        runs[f"mujoco {integrator}"] = mj_run
    return {name: 1e6 * t / times for name, t in interleaved(runs, rounds).items()}


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round instead of five, chains up to 100")
    arguments = parser.parse_args()
    rounds, sizes = (1, SIZES[:5]) if arguments.quick else (5, SIZES)
    met = []
    print("forward dynamics, us")
    times = {n: forward_dynamics(n, rounds) for n in sizes}
    for n, row in times.items():
        print(f"  n = {n:5d}" + "".join(f"   {name} {us:9.3f}" for name, us in row.items()))
        met.append((f"forward dynamics faster than both at n = {n}", row["ours"] < min(us for name, us in row.items() if name != "ours")))
    large = [n for n in sizes if n >= 10]
    exponent = np.polyfit(np.log(large), np.log([times[n]["ours"] for n in large]), 1)[0]
    met.append((f"growth exponent {exponent:.3f} <= 1.05 (n = {large[0]} ... {large[-1]})", exponent <= 1.05))
    print("inverse dynamics and mass matrix, us")
    for n in [s for s in sizes if s <= 100]:
        print(f"  n = {n:5d}" + "".join(f"   {name} {us:9.3f}" for name, us in other_algorithms(n, rounds).items()))
    print("forward dynamics of robots, us")
    for name, row in robots(rounds).items():
        print(f"  {name:18s}" + "".join(f"   {who} {us:9.3f}" for who, us in row.items()))
        met.append((f"forward dynamics of {name} faster than the peer", row["ours"] < min(us for who, us in row.items() if who != "ours")))
    print("one step, us")
    for n in [s for s in sizes if s <= 100]:
        row = steps(n, rounds)
        print(f"  n = {n:5d}" + "".join(f"   {name} {us:9.2f}" for name, us in row.items()))
        if n >= 3:
            ratio = row["mk4"] / row["mujoco RK4"]
            met.append((f"mk4 at most half of MuJoCo's RK4 at n = {n}: {ratio:.2f}", ratio <= 0.5))
    print("Targets")
    for text, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    return 0 if all(ok for _, ok in met) else 1


if __name__ == "__main__":
    sys.exit(main())
