"""The part of `Model` that closes loops between bodies: loop joints by order and by name, and how far they are from being closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import loops
from dalembert.model.joints import KINDS
from dalembert.model.loops import Loop
from dalembert.model.parts import WORLD, Body, Joint

#: the anchor that is meant where none is given: told from an origin that is given by identity
ORIGIN = (0, 0, 0)


class Loops(ABC):
    """The part of `Model` that has to do with closed loops."""

    _bodies: dict[str, Body]
    _joints: dict[str, Joint]
    _loops: dict[str, Loop]

    @abstractmethod
    def _change(self) -> None: ...

    @abstractmethod
    def _give_name(self, name: str) -> None: ...

    def add_loop(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        anchor: ArrayLike = ORIGIN,
        axis: ArrayLike = (0, 0, 1),
        axis2: ArrayLike | None = None,
        point: ArrayLike | None = None,
        turn: ArrayLike | None = None,
        length: float | None = None,
        polynomial: ArrayLike | None = None,
        drive: Any = None,
        **acting: Any,
    ) -> Loop:
        """Close a loop between two bodies, without coordinates of its own; arguments: model/loops.py.

        kind: spherical fixed revolute prismatic cylindrical universal planar homokinetic slot; "distance": anchor and point stay `length`
        apart (None: as they are at the reference configuration); "coupling": parent and child are joints, q_child = polynomial of q_parent.
        anchor not given: where a particle is that the loop meets, else the origin; of a distance also point None: where the child is, if
        that is a particle.
        acting: damping, friction, stiffness, limits, rest of kinds that joints have too; compliance, damping_time, strength of all.
        drive: as of a joint. They are data: `forward_dynamics` knows damping and stiffness; steppers refuse what they do not handle, as
        "loop damping" and the like.
        """
        self._change()
        anchor, point = self._ends(kind, parent, child, anchor, point)
        loop = Loop.build(name, kind, parent, child, anchor, axis, axis2, point, turn, length, polynomial, drive, **acting)
        known: Any = {**self._joints, **self._loops} if kind == "coupling" else self._bodies
        for role, end in (("parent", parent), ("child", child)):
            if end not in known and not (role == "parent" and end == WORLD):
                raise UnknownNameError(f"{role} of loop {name!r}", end, [*known, *([WORLD] if role == "parent" else [])])
            if kind == "coupling" and end in known and getattr(KINDS.get(known[end].kind), "nq", 0) != 1:
                raise ModelError(f"loop {name!r}: joint {end!r} ({known[end].kind}) has not one degree of freedom; expected one.")
        self._give_name(name)
        self._loops[name] = loop
        return loop

    def _ends(self, kind: str, parent: Any, child: Any, anchor: Any, point: Any) -> tuple[Any, Any]:
        """Anchor and point where they are not given: particles are met where they are, all else in the origin of the world."""
        ours, theirs = (b.position if b is not None and b.particle else None for b in map(self._body_or_none, (parent, child)))
        if kind == "distance" and point is None:
            point = theirs
        if anchor is ORIGIN:
            place = ours if ours is not None or kind == "distance" else theirs
            anchor = ORIGIN if place is None else place
        return anchor, point

    def _body_or_none(self, name: Any) -> Body | None:
        return self._bodies.get(name) if isinstance(name, str) else None

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Loop joints in the order in which they were added; they own no coordinates."""
        return tuple(self._loops.values())

    def loop(self, name: str) -> Loop:
        """The loop joint of that name."""
        if name not in self._loops:
            raise UnknownNameError("loop", name, self._loops)
        return self._loops[name]

    def loop_errors(self: Any, q: ArrayLike) -> dict[str, Array]:
        """How far each loop is from being closed, {name: (..., rows)}; rows: model/loops.py. Metres, radians, cosines, coordinates."""
        return loops.errors(self, np.asarray(q, dtype=float))
