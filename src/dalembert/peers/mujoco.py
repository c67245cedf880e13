"""The same model in MuJoCo, which steps it.

Conventions of MuJoCo: a free joint has qpos = (position, quaternion) of the body frame and qvel = (velocity of its origin in world
axes, omega in body axes); a ball joint has the quaternion relative to the reference pose and omega in body axes. Ours differ only in
the order and the axes of the linear velocity: with v = (omega, v_B) it is qvel = (R v_B, omega). `mujoco_model.py` builds the model.
The steps run in `mujoco.rollout`, MuJoCo's own compiled loop, in chunks of which only the wanted nodes are kept. A run ends at the first
step at which MuJoCo warns of a divergence (its rollout then repeats the last state, so that time stands still) or a state is not finite.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, OptionError
from dalembert.model import Model
from dalembert.peers._base import Outcome, Peer
from dalembert.peers.mujoco_model import compile_model, library
from dalembert.runs.progress import Progress

HANDLES = ("free", "pivot", "tree", "gravity", "damping", "stiffness", "armature")
CHUNK = 5000  # steps per call of rollout


def to_mujoco(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """(qpos, qvel) of q, v; any leading dimensions."""
    return model.to_mujoco(q, v)


def from_mujoco(model: Model, qpos: Array, qvel: Array) -> tuple[Array, Array]:
    """(q, v) of qpos, qvel; any leading dimensions."""
    return model.from_mujoco(qpos, qvel)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep MuJoCo from printing, and writing a file, about a divergence: it is found in the states."""
    mujoco = library()
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def load(model: Model, q: Array, v: Array, h: float, integrator: str) -> tuple[Any, Any]:
    """(MjModel, MjData) at q, v. The energy that MuJoCo finds there must be ours: else the translation would be wrong."""
    mujoco = library()
    mj_model = compile_model(model, h, integrator)
    mj_model.opt.enableflags = int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    data = mujoco.MjData(mj_model)
    found = []
    for state in ((model.random(0), np.random.default_rng(0).uniform(-1.0, 1.0, model.nv)), (q, v)):
        data.qpos[:], data.qvel[:] = to_mujoco(model, *state)
        mujoco.mj_forward(mj_model, data)
        found.append((*state, *data.energy))
    _same_energy(model, *found)
    mj_model.opt.enableflags = 0
    return mj_model, data


def _same_energy(model: Model, a: tuple[Any, ...], b: tuple[Any, ...]) -> None:
    """Kinetic energies are equal, and potential energies differ by the same amount between two states (what is fixed has no share)."""
    ours = [(float(model.kinetic_energy(q, v)), float(model.potential_energy(q))) for q, v, *_ in (a, b)]
    scale = max(abs(x) for pair in (*ours, a[2:], b[2:]) for x in pair)
    changes = ours[1][1] - ours[0][1], float(b[2] - a[2])
    for what, mine, theirs in (("a kinetic energy", ours[1][0], float(b[3])), ("a change of potential energy", *changes)):
        if abs(mine - theirs) > 1e-9 * scale:
            raise ModelError(
                f"model {model.name!r}: MuJoCo finds {what} of {theirs!r} J, expected {mine!r} J: it would not be the same machine."
            )


def run(
    peer: Peer,
    model: Model,
    q: Array,
    v: Array,
    h: float,
    n: int,
    rtol: float | None = None,
    every: int = 1,
    ignore: tuple[str, ...] = (),
    progress: bool | None = False,
) -> Outcome:
    """n steps of MuJoCo, one warm-up step before the clock starts; the state is kept every so many steps."""
    if rtol is not None:
        raise OptionError(f"peer {peer.name!r} has a fixed step and no tolerance; got {rtol!r}.")
    peer.check(model, ignore)
    mj_model, data = load(model.without(ignore), q, v, h, peer.setting)
    start = np.concatenate([[0.0], data.qpos, data.qvel])
    with _quiet(), Progress(progress, peer.name, 0, n, h) as bar:
        library().rollout.rollout(mj_model, data, start, nstep=1)
        nodes, done, seconds = _roll(mj_model, data, start, n, every, bar)
    q_nodes, v_nodes = from_mujoco(model, nodes[:, 1 : 1 + model.nq], nodes[:, 1 + model.nq :])
    return Outcome(peer.trajectory(model, h, q_nodes, v_nodes, n, {"integrator": peer.setting}, every, ignore, done), seconds)


def _roll(mj_model: Any, data: Any, start: Array, n: int, every: int, bar: Progress) -> tuple[Array, int, float]:
    """(kept states, steps done, CPU seconds): up to n steps, or up to the step that fails."""
    rollout, state = library().rollout.rollout, start
    kept, seconds, done = [start[None]], 0.0, 0
    while done < n:
        count = min(CHUNK, n - done)
        began = time.process_time()
        states = rollout(mj_model, data, state, nstep=count)[0][0]
        seconds += time.process_time() - began
        bad = (np.diff(states[:, 0], prepend=state[0]) <= 0.0) | ~np.isfinite(states).all(axis=1)
        good = int(np.argmax(bad)) if bad.any() else count
        first = (every - done % every) - 1
        kept.append(states[:good][first::every].copy())
        state, done = states[-1].copy(), done + good
        bar.update(done)
        if good < count:
            break
    return np.concatenate(kept), done, seconds


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
