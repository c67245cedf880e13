"""Forces on bodies, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dalembert.errors import ModelError
from dalembert.model import validate


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

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, **self.__dict__}


FORCES: dict[str, Any] = {f.kind: f for f in (Wrench, Damper)}


def from_dict(data: dict[str, Any]) -> Any:
    """The force that `to_dict` wrote."""
    rest = dict(data)
    return FORCES[rest.pop("kind")](**rest)
