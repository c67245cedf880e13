"""The same body in MuJoCo.

Conventions of MuJoCo: a free joint has qpos = (position, quaternion) of the body frame and qvel = (velocity of its origin in world
axes, omega in body axes); a ball joint has the quaternion relative to the reference pose and omega in body axes. Ours differ only in
the order and the axes of the linear velocity: with v = (omega, v_B) it is qvel = (R v_B, omega).
All steps run in one call of `mujoco.rollout`, MuJoCo's own compiled loop. Contacts, constraints and the automatic reset after a
divergence are off.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from dalembert.errors import ModelError, OptionError
from dalembert.model import Model
from dalembert.model.rotation import Array, quat_conj, rotate
from dalembert.peers._base import Outcome, Peer

HANDLES = ("free", "pivot", "gravity", "damping")


def _numbers(values: Any) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


def mjcf(model: Model, h: float, integrator: str) -> str:
    """The model as MJCF text: one body with an explicit inertia, no geometry."""
    body, joint = model.bodies[0], model.joints[0]
    I = body.inertia
    damping = f' damping="{joint.damping!r}"' if joint.damping > 0 else ""
    if joint.kind == "free":
        how = f'<joint type="free"{damping}/>'
    else:
        at = rotate(quat_conj(body.quaternion), joint.anchor - body.position)
        how = f'<joint type="ball" pos="{_numbers(at)}"{damping}/>'
    inertia = _numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
    return f"""<mujoco>
  <compiler inertiafromgeom="false" boundmass="0" boundinertia="0" balanceinertia="false"/>
  <option timestep="{float(h)!r}" gravity="{_numbers(model.gravity)}" integrator="{integrator}">
    <flag contact="disable" constraint="disable" autoreset="disable" energy="enable"/>
  </option>
  <worldbody>
    <body pos="{_numbers(body.position)}" quat="{_numbers(body.quaternion)}">
      {how}
      <inertial pos="{_numbers(body.com)}" mass="{body.mass!r}" fullinertia="{inertia}"/>
    </body>
  </worldbody>
</mujoco>"""


def to_mujoco(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """(qpos, qvel) of q, v; any leading dimensions."""
    if model.joints[0].kind == "spherical":
        return q, v
    return q, np.concatenate([rotate(q[..., 3:], v[..., 3:]), v[..., :3]], axis=-1)


def from_mujoco(model: Model, qpos: Array, qvel: Array) -> tuple[Array, Array]:
    """(q, v) of qpos, qvel; any leading dimensions."""
    if model.joints[0].kind == "spherical":
        return qpos, qvel
    return qpos, np.concatenate([qvel[..., 3:], rotate(quat_conj(qpos[..., 3:]), qvel[..., :3])], axis=-1)


def _import() -> Any:
    try:
        import mujoco
        import mujoco.rollout
    except ImportError as problem:
        raise OptionError("MuJoCo is not installed, so no 'mujoco:...' method can be compared; pip install mujoco.") from problem
    return mujoco


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep MuJoCo from printing, and writing a file, about a divergence: it is found in the states."""
    mujoco = _import()
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def load(model: Model, q: Array, v: Array, h: float, integrator: str) -> tuple[Any, Any]:
    """(MjModel, MjData) at q, v. The energy that MuJoCo finds there must be ours: else the translation would be wrong."""
    mujoco = _import()
    mj_model = mujoco.MjModel.from_xml_string(mjcf(model, h, integrator))
    data = mujoco.MjData(mj_model)
    data.qpos[:], data.qvel[:] = to_mujoco(model, q, v)
    mujoco.mj_forward(mj_model, data)
    ours, theirs = float(model.energy(q, v)), float(data.energy.sum())
    scale = max(float(model.kinetic_energy(q, v)), abs(ours), 1e-300)
    if abs(ours - theirs) > 1e-9 * scale:
        raise ModelError(
            f"model {model.name!r}: MuJoCo finds an energy of {theirs!r} J, expected {ours!r} J: it would not be the same body."
        )
    mj_model.opt.enableflags = 0
    return mj_model, data


def run(peer: Peer, model: Model, q: Array, v: Array, h: float, n: int, rtol: float | None = None) -> Outcome:
    """n steps of MuJoCo, one warm-up step before the clock starts."""
    if rtol is not None:
        raise OptionError(f"peer {peer.name!r} has a fixed step and no tolerance; got {rtol!r}.")
    peer.check(model)
    mj_model, data = load(model, q, v, h, peer.setting)
    rollout = _import().rollout.rollout
    start = np.concatenate([[0.0], data.qpos, data.qvel])
    with _quiet():
        rollout(mj_model, data, start, nstep=1)
        began = time.process_time()
        states, _ = rollout(mj_model, data, start, nstep=n)
        seconds = time.process_time() - began
    nodes = np.vstack([start, states[0]])
    nodes[1:][np.diff(nodes[:, 0]) <= 0.0] = np.nan  # after a divergence the last state is repeated
    q_nodes, v_nodes = from_mujoco(model, nodes[:, 1 : 1 + model.nq], nodes[:, 1 + model.nq :])
    return Outcome(peer.trajectory(model, h, q_nodes, v_nodes, n, {"integrator": peer.setting}), seconds)


def _peer(method: str, setting: str, order: int, summary: str) -> Peer:
    return Peer(f"mujoco:{method}", f"MuJoCo, {summary}", order, HANDLES, ("mujoco",), setting, run)


PEERS = {
    p.name: p
    for p in (
        _peer("euler", "Euler", 1, "semi-implicit Euler"),
        _peer("implicitfast", "implicitfast", 1, "implicit in the velocity, without the derivative of the gyroscopic forces"),
        _peer("implicit", "implicit", 1, "implicit in the velocity"),
        _peer("rk4", "RK4", 4, "classical Runge-Kutta"),
    )
}
