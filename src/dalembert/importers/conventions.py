"""States in the conventions of MuJoCo, Pinocchio and Drake, and back. All functions take any leading dimensions.

Ours: joints in the order in which they were added; free joint q = (x y z, w x y z), v = (omega, v), both in body axes.

| joint | MuJoCo (qpos; qvel) | Pinocchio (q; v) | Drake (q; v) |
|---|---|---|---|
| order | depth first | depth first, children by the names of their joints | depth first |
| free | x y z, w x y z; v in world, omega in body axes | x y z, x y z w; v, omega in body axes | w x y z, x y z; omega, v in world axes |
| spherical | w x y z; omega in child axes | x y z w; omega in child axes | roll pitch yaw; omega in the axes at the reference |
| revolute | angle + ref | angle, or (cos, sin) if continuous in the URDF file | angle |
| prismatic | shift + ref | shift | shift |
| planar | x, y, angle; rates | x, y, cos, sin; velocity in child axes, rate | x, y, angle; rates |
| universal, cylindrical | coordinates in our order | the same | the same |

ref (MJCF) is the value of qpos at the reference configuration. A floating joint of a URDF file counts from its origin in Pinocchio; ours
is the pose in the world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnknownNameError
from dalembert.model.parts import WORLD, Joint
from dalembert.model.rotation import quat_conj, quat_exp, quat_mul, rotate

if TYPE_CHECKING:
    from dalembert.model import Model

Pair = tuple[Array, Array]
Map = Callable[["Model", Joint, Array, Array], Pair]


# order of the joints --------------------------------------------------------------------------------------------------------------


def depth_first(model: Model, by_name: bool = False) -> list[Joint]:
    """Joints in depth-first order; the children of a body in the order of the model, or sorted by the names of their joints."""
    children: dict[str, list[Joint]] = {}
    place = {b.name: i for i, b in enumerate(model.bodies)}
    for j in model.joints:
        children.setdefault(j.parent, []).append(j)
    names = model.source.get("joint names", {})
    out: list[Joint] = []
    stack = [WORLD]
    while stack:
        body = stack.pop()
        if body != WORLD:
            out.append(next(j for j in model.joints if j.child == body))
        below = sorted(children.get(body, []), key=lambda j: names.get(j.name, j.name) if by_name else place[j.child])
        stack += [j.child for j in reversed(below)]
    return out


def _named(model: Model, names: Sequence[str]) -> list[Joint]:
    """Joints in a given order; "universe" is no joint and "root_joint" the free one. All that can move must be there."""
    original = {v: k for k, v in model.source.get("joint names", {}).items()}
    known = {j.name: j for j in model.joints}
    free = [j for j in model.joints if j.kind == "free"]
    out = []
    for name in names:
        if name == "universe":
            continue
        ours = original.get(name, name)
        if ours not in known and name == "root_joint" and len(free) == 1:
            ours = free[0].name
        if ours not in known:
            raise UnknownNameError("joint", name, known)
        out.append(known[ours])
    missing = [j.name for j in model.joints if j.coordinates.nv and j not in out]
    if missing:
        raise OptionError(f"joints: {', '.join(missing)} of model {model.name!r} are not among the names given.")
    return out


# one joint ------------------------------------------------------------------------------------------------------------------------


def _same(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    return q, v


def _roll(a: Array, n: int) -> Array:
    return np.roll(a, n, axis=-1)


def _mj_ref(sign: float) -> Map:
    def shift(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
        return q + sign * model.source.get("ref", {}).get(joint.name, 0.0), v

    return shift


def _mj_free(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    return q, np.concatenate([rotate(q[..., 3:], v[..., 3:]), v[..., :3]], axis=-1)


def _mj_free_back(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    return q, np.concatenate([v[..., 3:], rotate(quat_conj(q[..., 3:]), v[..., :3])], axis=-1)


def _origin(model: Model, joint: Joint) -> Pair:
    """Pose from which the floating joint of a URDF file counts."""
    if model.source.get("format") != "urdf":
        return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    body = model.body(joint.child)
    return body.position, body.quaternion


def _pin_free(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    p, r = _origin(model, joint)
    x = rotate(quat_conj(r), q[..., :3] - p)
    turn = quat_mul(np.broadcast_to(quat_conj(r), q[..., 3:].shape), q[..., 3:])
    return np.concatenate([x, _roll(turn, -1)], axis=-1), _roll(v, 3)


def _pin_free_back(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    p, r = _origin(model, joint)
    turn = quat_mul(np.broadcast_to(r, q[..., 3:].shape), _roll(q[..., 3:], 1))
    return np.concatenate([p + rotate(r, q[..., :3]), turn], axis=-1), _roll(v, 3)


def _pin_ball(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    return _roll(q, -1), v


def _pin_ball_back(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    return _roll(q, 1), v


def _pin_circle(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    return np.concatenate([np.cos(q), np.sin(q)], axis=-1), v


def _pin_circle_back(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    return np.arctan2(q[..., 1:], q[..., :1]), v


def _turn(angle: Array, v: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.concatenate([c * v[..., :1] - s * v[..., 1:2], s * v[..., :1] + c * v[..., 1:2], v[..., 2:]], axis=-1)


def _pin_planar(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    angle = q[..., 2:]
    return np.concatenate([q[..., :2], np.cos(angle), np.sin(angle)], axis=-1), _turn(-angle, v)


def _pin_planar_back(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    angle = np.arctan2(q[..., 3:], q[..., 2:3])
    return np.concatenate([q[..., :2], angle], axis=-1), _turn(angle, v)


def _drake_free(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    r = q[..., 3:]
    return np.concatenate([r, q[..., :3]], axis=-1), np.concatenate([rotate(r, v[..., :3]), rotate(r, v[..., 3:])], axis=-1)


def _drake_free_back(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    r, back = q[..., :4], quat_conj(q[..., :4])
    return np.concatenate([q[..., 4:], r], axis=-1), np.concatenate([rotate(back, v[..., :3]), rotate(back, v[..., 3:])], axis=-1)


def _drake_ball(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    """R = Rz(yaw) Ry(pitch) Rx(roll)."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1.0, 1.0))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.stack([roll, pitch, yaw], axis=-1), rotate(q, v)


def _drake_ball_back(model: Model, joint: Joint, q: Array, v: Array) -> Pair:
    X, Y, Z = (quat_exp(q[..., i : i + 1] * np.eye(3)[i]) for i in range(3))
    turn = quat_mul(quat_mul(Z, Y), X)
    return turn, rotate(quat_conj(turn), v)


MUJOCO: dict[str, tuple[Map, Map, int]] = {  # to, back, size of their q
    "free": (_mj_free, _mj_free_back, 7),
    "revolute": (_mj_ref(1.0), _mj_ref(-1.0), 1),
    "prismatic": (_mj_ref(1.0), _mj_ref(-1.0), 1),
}
PINOCCHIO: dict[str, tuple[Map, Map, int]] = {
    "free": (_pin_free, _pin_free_back, 7),
    "spherical": (_pin_ball, _pin_ball_back, 4),
    "planar": (_pin_planar, _pin_planar_back, 4),
    "continuous": (_pin_circle, _pin_circle_back, 2),
}
DRAKE: dict[str, tuple[Map, Map, int]] = {
    "free": (_drake_free, _drake_free_back, 7),
    "spherical": (_drake_ball, _drake_ball_back, 3),
}


# whole states ---------------------------------------------------------------------------------------------------------------------


def _kind(model: Model, joint: Joint) -> str:
    return "continuous" if joint.name in model.source.get("continuous", ()) else joint.kind


def _give(model: Model, table: dict[str, Any], order: list[Joint], q: ArrayLike, v: ArrayLike | None) -> Pair:
    q = np.asarray(q, dtype=float)
    v = np.zeros((*q.shape[:-1], model.nv)) if v is None else np.asarray(v, dtype=float)
    _need("q", q, model.nq)
    _need("v", v, model.nv)
    sq, sv = model.q_slices(), model.v_slices()
    parts = [table.get(_kind(model, j), (_same,))[0](model, j, q[..., sq[j.name]], v[..., sv[j.name]]) for j in order]
    return _join([p[0] for p in parts], q), _join([p[1] for p in parts], v)


def _take(model: Model, table: dict[str, Any], order: list[Joint], q: ArrayLike, v: ArrayLike | None) -> Pair:
    rows = [(j, *table.get(_kind(model, j), (_same, _same, j.coordinates.nq))[1:]) for j in order]
    q = np.asarray(q, dtype=float)
    v = np.zeros((*q.shape[:-1], model.nv)) if v is None else np.asarray(v, dtype=float)
    _need("q", q, sum(size for _, _, size in rows))
    _need("v", v, model.nv)
    found, at_q, at_v = {}, 0, 0
    for j, back, size in rows:
        n = j.coordinates.nv
        found[j.name] = back(model, j, q[..., at_q : at_q + size], v[..., at_v : at_v + n])
        at_q, at_v = at_q + size, at_v + n
    moving = [j for j in model.joints if j.coordinates.nv]
    return _join([found[j.name][0] for j in moving], q), _join([found[j.name][1] for j in moving], v)


def _join(parts: list[Array], like: Array) -> Array:
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*like.shape[:-1], 0))


def _need(what: str, a: Array, n: int) -> None:
    if a.ndim == 0 or a.shape[-1] != n:
        raise OptionError(f"{what} has shape {a.shape}; expected (..., {n}).")


def to_mujoco(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> Pair:
    """(qpos, qvel)."""
    return _give(model, MUJOCO, depth_first(model), q, v)


def from_mujoco(model: Model, qpos: ArrayLike, qvel: ArrayLike | None = None) -> Pair:
    """(q, v)."""
    return _take(model, MUJOCO, depth_first(model), qpos, qvel)


def to_pinocchio(model: Model, q: ArrayLike, v: ArrayLike | None = None, joints: Sequence[str] | None = None) -> Pair:
    """(q, v) of Pinocchio. joints: names in its order (pinocchio_model.names), if it is not the usual one."""
    return _give(model, PINOCCHIO, depth_first(model, by_name=True) if joints is None else _named(model, joints), q, v)


def from_pinocchio(model: Model, q: ArrayLike, v: ArrayLike | None = None, joints: Sequence[str] | None = None) -> Pair:
    """(q, v) from those of Pinocchio."""
    return _take(model, PINOCCHIO, depth_first(model, by_name=True) if joints is None else _named(model, joints), q, v)


def to_drake(model: Model, q: ArrayLike, v: ArrayLike | None = None, joints: Sequence[str] | None = None) -> Pair:
    """(q, v) of a MultibodyPlant that holds this tree alone. joints: names in its order, if it is not depth first."""
    return _give(model, DRAKE, depth_first(model) if joints is None else _named(model, joints), q, v)


def from_drake(model: Model, q: ArrayLike, v: ArrayLike | None = None, joints: Sequence[str] | None = None) -> Pair:
    """(q, v) from those of Drake."""
    return _take(model, DRAKE, depth_first(model) if joints is None else _named(model, joints), q, v)
