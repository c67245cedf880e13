"""Other numbers for the same machine: `model.with_values({"rod.mass": 2.0, "gravity": (0, 0, -1.6)})`.

    part            values
    body            mass, inertia, com                                   the others of a body stay: inertia does not follow mass
    joint           damping, friction, stiffness, armature, limits, rest, compliance, damping_time, strength, torque_strength,
                    max_force, max_torque, max_velocity, force_limits, drive_limits; drive and velocity of a driven one
    loop joint      the same; length of a distance
    force           what it says of itself: Wrench force, torque; Damper angular, linear; Spring stiffness, rest_length, damping
    motor           limit, gear, kp, kv
    (the model)     gravity

The new model is frozen and remembers the one it comes from, its `origin`. What was decided and compiled for that is taken over: the arrays
of the tree are copied and the records of what changed are written anew (model/patch_tree.py), plans are moved (`Plan.on`) where both have
the same features. Kinds, axes, anchors and parents are the structure of a machine, which stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import alike
from dalembert.model.features import acting
from dalembert.model.loops import ACTING, Loop
from dalembert.model.motors import Motor
from dalembert.model.parts import DRIVEN, Body, Joint

if TYPE_CHECKING:
    from dalembert.model.model import Model

STORES = ("_bodies", "_joints", "_loops", "_motors", "_forces")


class Values:
    """The part of `Model` that changes numbers."""

    def with_values(self: Any, values: Mapping[str, Any]) -> Model:
        """A frozen model with other numbers, {"part.value": number}: "rod.mass", "knee.damping", "spring1.stiffness", "gravity".

        Costs microseconds where a model built anew costs milliseconds: arrays and plans of this one are patched. List: model/values.py.
        """
        return changed(self.frozen(), values)

    def set_values(self: Any, values: Mapping[str, Any]) -> None:
        """Other numbers in this very model, {"part.value": number}: as `with_values`. A refusal leaves it as it was."""
        self._change()
        _write(self, _wanted(self, values))

    @property
    def value_names(self: Any) -> tuple[str, ...]:
        """Names that `with_values` takes."""
        parts = (f"{name}.{what}" for store in STORES for name in getattr(self, store) for what in _values(self, store, name))
        return ("gravity", *dict.fromkeys(parts))

    def alike(self: Any, columns: Mapping[str, Any]) -> Any:
        """(n,): which of many machines with other values differ in numbers alone: model/alike.py."""
        return alike.alike(self, columns)

    @property
    def origin(self: Any) -> Any:
        """The model that this one was made from by `with_values`, if that has the same features; else None."""
        return self.kept("origin").get("plans") if self._frozen else None


def _values(model: Any, store: str, name: str) -> tuple[str, ...]:
    """What of a part can be changed."""
    if store == "_bodies":
        return ("mass",) if model._bodies[name].particle else ("mass", "inertia", "com")
    if store == "_motors":
        return ("limit", "gear", "kp", "kv")
    if store == "_forces":
        return model._forces[name].values()  # type: ignore[no-any-return]
    if store == "_loops":
        loop = model._loops[name]
        return (*ACTING, *(["length"] if loop.kind == "distance" else []), *_driven(loop))
    if name in model._implicit.values():
        return ()
    return (*ACTING, *_driven(model._joints[name]))


def _driven(joint: Any) -> list[str]:
    return [what for what in DRIVEN if getattr(joint, what) is not None]


def changed(base: Any, values: Mapping[str, Any]) -> Model:
    """The frozen model `base` with other numbers."""
    wanted = _wanted(base, values)
    m = base.copy()
    _write(m, wanted)
    m._frozen = True
    m.kept("touching").update(base.kept("touching"))
    root = base.origin or base
    features = acting(m)
    found = root if features == acting(root) else base
    m.kept("origin").update(tree=found, plans=found if features == acting(found) else None)
    result: Model = m
    return result


def _wanted(model: Any, values: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """{(store, part): {value: number}}"""
    if not isinstance(values, Mapping):
        raise ModelError(f"with_values: got {values!r}; expected a dictionary such as {{'rod.mass': 2.0}}.")
    wanted: dict[tuple[str, str], dict[str, Any]] = {}
    for full, value in values.items():
        store, name, what = ("", "", full) if full == "gravity" else _find(model, full)
        wanted.setdefault((store, name), {})[what] = value
    return wanted


def _write(model: Any, wanted: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Parts with other numbers in the place of those that are there: all of them, or none."""
    rebuilt = {(store, name): _rebuilt(getattr(model, store)[name], given) for (store, name), given in wanted.items() if store}
    if ("", "") in wanted:
        model.gravity = wanted["", ""]["gravity"]
    for (store, name), part in rebuilt.items():
        getattr(model, store)[name] = part


def _find(model: Any, full: Any) -> tuple[str, str, str]:
    """(store, part, value) of a name."""
    part, _, what = str(full).rpartition(".")
    owners = [store for store in STORES if part in getattr(model, store)]
    found = [store for store in owners if what in _values(model, store, part)]
    if len(found) > 1:
        kinds = " and ".join(store[1:] for store in found)
        raise ModelError(f"with_values: {full!r} is the name of values of parts of the same name among {kinds}; rename one of them.")
    if found:
        return found[0], part, what
    if any(hasattr(getattr(model, store)[part], what) or what == "pose" for store in owners):
        able = ", ".join(dict.fromkeys(w for store in owners for w in _values(model, store, part)))
        raise ModelError(
            f"with_values: {full!r} belongs to the structure of the machine, which stays; values of {part!r} that can be changed: "
            f"{able or 'none'}. For another structure change a copy(): remove the part and add it anew."
        )
    raise UnknownNameError("value", full, model.value_names)


def _rebuilt(part: Any, given: dict[str, Any]) -> Any:
    """A part with other numbers, checked as in the builder."""
    if isinstance(part, Body) and part.particle:
        return Body.point(part.name, given.get("mass", part.mass), part.position, part.shapes)
    if isinstance(part, Body):
        fields = {"mass": part.mass, "inertia": part.inertia, "com": part.com, **given}
        return Body.build(part.name, pose=(part.position, part.quaternion), shapes=part.shapes, physical=part.physical, **fields)
    if isinstance(part, Joint):
        return Joint.build(**{**part.__dict__, **given})
    if isinstance(part, Loop):
        return Loop.build(**{**part.__dict__, **given})
    if isinstance(part, Motor):
        return Motor.build(**{**{"kp": None, "kv": None}, **part.to_dict(), **given})
    return type(part)(**{**part.__dict__, **given})
