"""Motors: what turns inputs into joint forces. A motor drives the one coordinate of a revolute or prismatic joint through a gear.

    kind      joint force, clipped to `limit`        input u
    torque    gear u                                 motor torque (N m) or force (N)
    position  gear (kp (u - gear q) - kv gear v)     motor position (rad, m)
    velocity  gear kv (u - gear v)                   motor speed (rad/s, m/s)

gear is the ratio motor / joint: the motor moves by gear q, and its force acts gear-fold on the joint (power is kept). With gear = 1 the
laws are u, kp (u - q) - kv v and kv (u - v).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, OptionError, UnknownNameError, UnsupportedError
from dalembert.model import validate
from dalembert.model.parts import check_name

if TYPE_CHECKING:
    from dalembert.model.model import Model

GAINS: dict[str, tuple[str, ...]] = {"torque": (), "velocity": ("kv",), "position": ("kp", "kv")}  # gains of each kind


@dataclass(frozen=True)
class Motor:
    """A motor on a joint; limit = (least, greatest) joint force or None; gains that the kind does not use are 0."""

    name: str
    joint: str
    kind: str = "torque"
    limit: tuple[float, float] | None = None
    gear: float = 1.0
    kp: float = 0.0
    kv: float = 0.0

    @classmethod
    def build(cls, name: str, joint: str, kind: str, limit: Any, gear: Any, kp: Any, kv: Any) -> Motor:
        """Check everything that can be checked without the model."""
        check_name("motor", name)
        owner = f"motor {name!r}"
        if not validate.known(kind, GAINS):
            raise UnknownNameError(f"kind of {owner}", kind, GAINS)
        g = validate.number(owner, "gear", gear)
        if g == 0.0:
            raise ModelError(f"{owner}: gear is 0; expected a ratio that is not 0.")
        gains = {what: _gain(owner, kind, what, value) for what, value in (("kp", kp), ("kv", kv))}
        return cls(name, joint, kind, _limit(owner, limit), g, **gains)

    def force(self, u: Array, q: Array, v: Array) -> Array:
        """Joint force from the input and the joint's coordinate and rate, over any leading dimensions."""
        if self.kind == "torque":
            tau = self.gear * u
        elif self.kind == "position":
            tau = self.gear * (self.kp * (u - self.gear * q) - self.kv * self.gear * v)
        else:
            tau = self.gear * self.kv * (u - self.gear * v)
        return tau if self.limit is None else np.clip(tau, *self.limit)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: arguments of `Model.add_motor`."""
        unused = {"kp", "kv"} - set(GAINS[self.kind])
        return {k: v for k, v in self.__dict__.items() if k not in unused}


def _gain(owner: str, kind: str, what: str, value: Any) -> float:
    if what not in GAINS[kind]:
        if value is not None:
            raise ModelError(f"{owner}: {what} is {value!r}, but a {kind} motor does not use it.")
        return 0.0
    if value is None and (kind, what) == ("position", "kv"):
        return 0.0
    if value is None:
        raise ModelError(f"{owner}: {what} is missing; a {kind} motor needs it.")
    return validate.number(owner, what, value, 0.0, strict=(kind, what) != ("position", "kv"))


def _limit(owner: str, value: Any) -> tuple[float, float] | None:
    """A pair, or one number for plus and minus."""
    if value is None:
        return None
    if validate.alone(value):
        bound = validate.number(owner, "limit", value, 0.0, strict=True)
        return -bound, bound
    return validate.interval(owner, "limit", value)


def inputs(model: Model, u: Any) -> Array:
    """Inputs (..., motors) from an array or {motor: value} (the others 0)."""
    names = [m.name for m in model.motors]
    if isinstance(u, Mapping):
        for name in u:
            if name not in names:
                raise UnknownNameError("motor in u", name, names)
        return np.array([float(u.get(name, 0.0)) for name in names])
    full = np.asarray(u, dtype=float)
    if full.ndim == 0 or full.shape[-1] != len(names):
        raise OptionError(f"motor inputs u have shape {full.shape}; expected (..., {len(names)}): {', '.join(names) or 'no motors'}.")
    return full


def forces(model: Model, u: Any, q: Array, v: Array) -> Array:
    """Joint forces of all motors, (..., nv); motors on one joint add."""
    given = inputs(model, u)
    closing = [m.name for m in model.motors if m.joint in model._loops]
    if closing:
        raise UnsupportedError(f"motors {', '.join(map(repr, closing))} act on joints that close loops, which have no coordinates in q.")
    sq, sv = model.q_slices(), model.v_slices()
    tau = np.zeros((*np.broadcast_shapes(given.shape[:-1], q.shape[:-1], v.shape[:-1]), model.nv))
    for i, motor in enumerate(model.motors):
        at_q, at_v = sq[motor.joint].start, sv[motor.joint].start
        tau[..., at_v] += motor.force(given[..., i], q[..., at_q], v[..., at_v])
    return tau
