"""A model as plain data, as files hold it, and back."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.model import forces, shapes, validate
from dalembert.model.parts import Keyframe

if TYPE_CHECKING:
    from dalembert.model.model import Model


class AsData:
    """The part of `Model` that reads and writes data."""

    def to_dict(self: Any, drop_functions: bool = False) -> dict[str, Any]:
        """Plain data that `from_dict` reads. Forces that are functions are refused, or left out if drop_functions."""
        implicit = set(self._implicit.values())
        return {
            "name": self.name,
            "gravity": self.gravity.tolist(),
            "bodies": [b.to_dict() for b in self.bodies],
            "joints": [j.to_dict() for j in self.joints if j.name not in implicit],
            "motors": [m.to_dict() for m in self.motors],
            "keyframes": [k.to_dict() for k in self.keyframes],
            "forces": [{"name": n, **f.to_dict()} for n, f in self._forces.items() if not (drop_functions and f.kind == "function")],
            "order": [j.name for j in self.joints],
            **({"loops": [loop.to_dict() for loop in self.loops]} if self._loops else {}),
            **({"nonholonomic": [j.to_dict() for j in self.nonholonomic]} if self._nonholonomic else {}),
            **({"excluded": sorted(sorted(pair) for pair in self._excluded)} if self._excluded else {}),
            **({"contacts": [x.to_dict() for x in self.contacts]} if self._contacts else {}),
            **({"source": copy.deepcopy(self.source)} if self.source else {}),
            **({"world_shapes": [s.to_dict() for s in self.world_shapes]} if self.world_shapes else {}),
        }

    @classmethod
    def from_dict(cls: Any, data: Mapping[str, Any]) -> Model:
        """The model that `to_dict` wrote."""
        m: Model = cls(data["name"], data["gravity"])
        for b in data["bodies"]:
            given = {**b, "shapes": [shapes.from_dict(s) for s in b["shapes"]]}
            (m.add_particle if given.pop("particle", False) else m.add_body)(**given)
        for j in data["joints"]:
            m.add_joint(**j)
        for loop in data.get("loops", ()):
            m.add_loop(**loop)
        for constraint in data.get("nonholonomic", ()):
            m.add_joint(**constraint)
        m._joints = {name: m._joints[name] for name in data["order"]}
        for motor in data.get("motors", ()):
            m.add_motor(**motor)
        for k in data.get("keyframes", ()):
            m._keyframes[k["name"]] = Keyframe(k["name"], *(validate.frozen(np.array(k[x], dtype=float)) for x in "qv"))
        for f in data["forces"]:
            m.add_force(forces.from_dict(f), f.get("name"))
        for a, b in data.get("excluded", ()):
            m.exclude(a, b)
        for law in data.get("contacts", ()):
            m.add_contact(**law)
        m.source = copy.deepcopy(dict(data.get("source", {})))
        m.world_shapes = tuple(shapes.from_dict(s) for s in data.get("world_shapes", ()))
        return m
