"""What happens where two bodies touch: friction, restitution, compliance, damping, moving surfaces.

Where nothing else is said, shapes decide: the larger friction, restitution, torsion and rolling of the two, as MuJoCo does, or those of the
shape of higher priority in an imported file, as far as the larger `condim` there says that they count; compliance and damping time are
those of the method. `Model.add_contact(a, b, ...)` says it for two bodies, or for a body and the "world"; what it leaves out stays as the
shapes and the method have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import validate
from dalembert.model.parts import WORLD

#: how friction falls with the slip speed
FRICTION_LAWS = ("smooth", "linear")


@dataclass(frozen=True)
class Contact:
    """Law of contact of two bodies; None: see the head of model/materials.py. compliance in m/N, damping_time in s. Friction mu_s falls to
    mu_k = kinetic_friction with the slip speed v, eta = slip_speed (m/s), alpha = 1 - mu_k/mu_s (lacoursiere2007, 10.55):

        smooth    mu = mu_s (1 - alpha v/sqrt(eta^2 + v^2))            linear    mu = mu_s (1 - alpha min(v/eta, 1))

    friction may be two numbers: mu_1 along friction_axis, a direction fixed in a (in axes of a; world axes where that is the world), as
    far as it lies in the plane of contact, mu_2 across it; kinetic_friction is then that of the larger, the other falls in proportion.

    torsion, rolling (m): torque about the normal, and against rolling, per normal force. surface_velocity (m/s, world axes): of the surface
    of a along itself, as of a belt.
    """

    a: str
    b: str
    friction: float | tuple[float, float] | None = None
    restitution: float | None = None
    compliance: float | None = None
    damping_time: float | None = None
    kinetic_friction: float | None = None
    slip_speed: float | None = None
    friction_law: str | None = None
    torsion: float | None = None
    rolling: float | None = None
    surface_velocity: tuple[float, ...] | None = None
    friction_axis: tuple[float, ...] | None = None

    @classmethod
    def build(
        cls,
        a: str,
        b: str,
        friction: Any = None,
        friction_axis: Any = None,
        friction_law: str | None = None,
        surface_velocity: Any = None,
        **numbers: Any,
    ) -> Contact:
        """Check everything that can be checked without the model."""
        owner = f"contact of {a!r} and {b!r}"
        if friction_law is not None and not validate.known(friction_law, FRICTION_LAWS):
            raise UnknownNameError(f"friction_law of the {owner}", friction_law, list(FRICTION_LAWS))
        moving = None
        if surface_velocity is not None:
            moving = tuple(validate.vector(owner, "surface_velocity", surface_velocity, 3).tolist())
        mu, axis = _directed(owner, friction, friction_axis)
        if a == b:
            raise ModelError(f"add_contact: both names are {a!r}; expected two bodies, or a body and 'world'.")
        checked = {what: None if x is None else validate.number(owner, what, x, 0.0) for what, x in numbers.items()}
        bounce = checked.get("restitution")
        if bounce is not None and bounce > 1.0:
            raise ModelError(f"{owner}: restitution is {bounce}; expected a number from 0 to 1.")
        if checked.get("slip_speed") == 0.0:
            raise ModelError(f"{owner}: slip_speed is 0; expected a number > 0.")
        if checked.get("kinetic_friction") is None and (friction_law is not None or checked.get("slip_speed") is not None):
            raise ModelError(f"{owner}: friction_law and slip_speed say how friction falls to kinetic_friction, which is missing.")
        return cls(a, b, mu, **checked, friction_law=friction_law, surface_velocity=moving, friction_axis=axis)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: arguments of `Model.add_contact`."""
        return {k: x for k, x in self.__dict__.items() if x is not None}


def _directed(owner: str, friction: Any, axis: Any) -> tuple[Any, Any]:
    """friction, a number or two of them, and its axis of length 1."""
    if axis is not None:
        axis = tuple(validate.direction(owner, "friction_axis", axis).tolist())
    if friction is None or validate.alone(friction):
        return (None if friction is None else validate.number(owner, "friction", friction, 0.0)), axis
    two = tuple(validate.vector(owner, "friction", friction, 2).tolist())
    if min(two) < 0.0:
        raise ModelError(f"{owner}: friction is {two}; expected numbers >= 0.")
    if axis is None:
        raise ModelError(f"{owner}: friction is {two}, along and across friction_axis, which is missing.")
    return two, axis


class Contacts:
    """The part of `Model` that has to do with the laws of contact."""

    @property
    def contacts(self: Any) -> list[Contact]:
        """Laws of contact of pairs of bodies, in the order in which they were added."""
        return list(self._contacts.values())

    def add_contact(
        self: Any,
        a: str,
        b: str,
        friction: Any = None,
        restitution: float | None = None,
        compliance: float | None = None,
        damping_time: float | None = None,
        kinetic_friction: float | None = None,
        slip_speed: float | None = None,
        friction_law: str | None = None,
        torsion: float | None = None,
        rolling: float | None = None,
        surface_velocity: Any = None,
        friction_axis: Any = None,
    ) -> Contact:
        """Say how two bodies, or a body and the "world", touch, in place of what their shapes say.

        friction: Coulomb coefficient; restitution: 0 to 1; compliance (m/N), damping_time (s): how the contact gives way and how fast it
        returns; with both it is a spring and damper that does not pull. None: what the shapes say (the larger of the two), or the
        method. Each pair once.

        kinetic_friction: to which friction falls with the slip speed, slip_speed (0.01 m/s unless given): scale of that, friction_law:
        "smooth" (default) or "linear"; torsion, rolling (m): torques about the normal and against rolling, per normal force;
        surface_velocity (m/s, world axes): of the surface of a along itself, as of a belt. friction=(mu_1, mu_2) with friction_axis, a
        direction fixed in a: along and across it. Formulas: model/materials.py.
        """
        self._change()
        for name in (a, b):
            if not validate.known(name, (*self._bodies, WORLD)):
                raise UnknownNameError("body of a contact", name, [*self._bodies, WORLD])
        law = Contact.build(
            a, b, friction, friction_axis, friction_law, surface_velocity, restitution=restitution, compliance=compliance,
            damping_time=damping_time, kinetic_friction=kinetic_friction, slip_speed=slip_speed, torsion=torsion, rolling=rolling,
        )  # fmt: skip
        if frozenset((a, b)) in self._contacts:
            raise ModelError(f"add_contact: the model has a contact of {a!r} and {b!r} already; remove_contact takes it out.")
        self._contacts[frozenset((a, b))] = law
        return law

    def remove_contact(self: Any, a: str, b: str) -> None:
        """Leave it to the shapes of the two bodies again."""
        self._change()
        if frozenset((a, b)) not in self._contacts:
            raise UnknownNameError("contact", f"{a} - {b}", [f"{x.a} - {x.b}" for x in self.contacts])
        del self._contacts[frozenset((a, b))]
