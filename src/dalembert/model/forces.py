"""Forces on bodies, as frozen data, and functions of time and state. Each has `kind` and `bodies` (the names that it refers to)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dalembert.errors import ModelError
from dalembert.model import validate
from dalembert.model.parts import WORLD
from dalembert.model.rotation import Array


@dataclass(frozen=True)
class Wrench:
    """A constant force and torque on a body.

    frame: "body" if force and torque turn with the body, "world" if their directions are fixed in the world.
    point: where the force acts, in the body frame (default: its origin). N, N m, m.
    """

    body: str
    force: Any = (0.0, 0.0, 0.0)
    torque: Any = (0.0, 0.0, 0.0)
    point: Any = (0.0, 0.0, 0.0)
    frame: str = "body"
    kind: ClassVar[str] = "wrench"

    def __post_init__(self) -> None:
        owner = f"wrench on body {self.body!r}"
        for what in ("force", "torque", "point"):
            object.__setattr__(self, what, tuple(validate.vector(owner, what, getattr(self, what), 3).tolist()))
        if self.frame not in ("body", "world"):
            raise ModelError(f"{owner}: frame is {self.frame!r}; expected 'body' or 'world'.")

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it acts on."""
        return (self.body,)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, **self.__dict__}


@dataclass(frozen=True)
class Damper:
    """Viscous drag on a body against the world: torque -angular omega, force -linear v of the centre of mass. N m s, N s/m."""

    body: str
    angular: float = 0.0
    linear: float = 0.0
    kind: ClassVar[str] = "damper"

    def __post_init__(self) -> None:
        owner = f"damper on body {self.body!r}"
        for what in ("angular", "linear"):
            object.__setattr__(self, what, validate.number(owner, what, getattr(self, what), 0.0))

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it acts on."""
        return (self.body,)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, **self.__dict__}


@dataclass(frozen=True)
class Spring:
    """A spring and damper along the line between a point of a body and a point of another body or of the world.

    d = |x_b - x_a|,  n = (x_b - x_a)/d,  tension T = stiffness (d - rest_length) + damping d_dot,  force T n on a and -T n on b
    energy stiffness (d - rest_length)^2/2
    At d = 0 the line has no direction and there is no force: for rest_length = 0 that is the limit of the elastic force, for
    rest_length > 0 the unstable equilibrium of a compressed spring.
    Points are in the frames of their bodies (those of the world in world coordinates). N/m, m, N s/m.
    """

    body_a: str
    body_b: str
    point_a: Any = (0.0, 0.0, 0.0)
    point_b: Any = (0.0, 0.0, 0.0)
    stiffness: float = 0.0
    rest_length: float = 0.0
    damping: float = 0.0
    kind: ClassVar[str] = "spring"

    def __post_init__(self) -> None:
        owner = f"spring between {self.body_a!r} and {self.body_b!r}"
        if self.body_a == WORLD:
            raise ModelError(f"{owner}: body_a is the world; expected a body (the world may be body_b).")
        if self.body_a == self.body_b:
            raise ModelError(f"{owner}: both ends are on one body; expected two bodies, or a body and 'world'.")
        for what in ("point_a", "point_b"):
            object.__setattr__(self, what, tuple(validate.vector(owner, what, getattr(self, what), 3).tolist()))
        for what in ("stiffness", "rest_length", "damping"):
            object.__setattr__(self, what, validate.number(owner, what, getattr(self, what), 0.0))
        if self.stiffness == 0.0 and self.damping == 0.0:
            raise ModelError(f"{owner}: stiffness and damping are both 0; expected at least one > 0.")

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it acts on."""
        return (self.body_a,) if self.body_b == WORLD else (self.body_a, self.body_b)

    def potential(self, x_a: Array, x_b: Array) -> Array:
        """stiffness (d - rest_length)^2/2 from the world positions of the ends, (..., 3)."""
        return 0.5 * self.stiffness * (np.linalg.norm(x_b - x_a, axis=-1) - self.rest_length) ** 2

    def force(self, x_a: Array, x_b: Array, v_a: Array, v_b: Array) -> Array:
        """Force on end a in world axes from the world positions and velocities of the ends; on end b it is the opposite."""
        line = x_b - x_a
        d = np.linalg.norm(line, axis=-1, keepdims=True)
        n = line / np.where(d > 0.0, d, 1.0)
        rate = np.sum(n * (v_b - v_a), axis=-1, keepdims=True)
        return (self.stiffness * (d - self.rest_length) + self.damping * rate) * n

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, **self.__dict__}


@dataclass(frozen=True)
class FunctionForce:
    """Joint forces as a function of time and state: function(t, q, v) -> tau (nv,). The model keeps it but cannot write it to a file."""

    function: Callable[[float, Array, Array], Array]
    kind: ClassVar[str] = "function"
    bodies: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        try:
            inspect.signature(self.function, follow_wrapped=False).bind(0.0, None, None)
        except TypeError:
            raise ModelError(
                f"force {self.name!r}: it cannot be called as f(t, q, v); expected a function that returns tau (nv,)."
            ) from None
        except ValueError:  # a compiled function that does not tell its signature
            return

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(getattr(self.function, "__qualname__", repr(self.function)))

    def to_dict(self) -> dict[str, Any]:
        """Refused: a function is not data."""
        raise ModelError(
            f"force {self.name!r} is a Python function and cannot be written as data; "
            "to_dict(drop_functions=True) leaves such forces out, or give it to simulate(control=...)."
        )


FORCES: dict[str, Any] = {f.kind: f for f in (Wrench, Damper, Spring)}


def build(force: Any) -> Any:
    """The force that a model keeps: data as it is, a function wrapped."""
    if type(force) in (*FORCES.values(), FunctionForce):
        return force
    if not callable(force) or isinstance(force, type):
        kinds = ", ".join(f.__name__ for f in FORCES.values())
        raise ModelError(f"force {force!r}: expected one of {kinds}, or a function f(t, q, v) -> tau (nv,).")
    return FunctionForce(force)


def from_dict(data: dict[str, Any]) -> Any:
    """The force that `to_dict` wrote."""
    rest = {k: x for k, x in data.items() if k != "name"}
    return FORCES[rest.pop("kind")](**rest)
