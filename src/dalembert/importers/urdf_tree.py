"""Links and joints of a URDF file as checked data: names, one root, no loops, finite numbers."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dalembert.errors import ModelError

LARGEST = 1e30  # products of a few such numbers still fit
TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def floats(element: ET.Element | None, attribute: str, n: int, default: Sequence[float], owner: str) -> tuple[float, ...]:
    """n numbers of an attribute, none of them NaN or huge, or the default if it is not there."""
    text = None if element is None else element.get(attribute)
    if text is None:
        return tuple(default)
    try:
        values = tuple(float(x) for x in text.split())
    except ValueError:
        values = ()
    if len(values) != n or not all(abs(x) <= LARGEST for x in values):
        raise ModelError(f"{owner}: {attribute} is {text[:80]!r}; expected {n} finite number{'s' if n > 1 else ''} up to {LARGEST:g}.")
    return values


@dataclass(frozen=True)
class UrdfJoint:
    """A joint as the file states it."""

    name: str
    kind: str
    parent: str
    child: str
    xyz: tuple[float, ...]
    rpy: tuple[float, ...]
    axis: tuple[float, ...]
    damping: float
    friction: float
    stated_limits: bool
    limits: tuple[float, float] | None
    effort: float
    velocity: float
    mimic: dict[str, Any] | None
    tags: frozenset[str] = field(repr=False)

    def has(self, tag: str) -> bool:
        """True if the joint has such a child element."""
        return tag in self.tags

    @classmethod
    def read(cls, e: ET.Element, owner: str) -> UrdfJoint:
        """From <joint>."""
        name = e.get("name")
        if not name:
            raise ModelError(f"{owner}: a joint without a name.")
        who, kind = f"{owner}: joint {name!r}", e.get("type", "")
        if kind not in TYPES:
            raise ModelError(f"{who}: type is {kind[:50]!r}; expected one of {', '.join(TYPES)}.")
        ends = {role: (x.get("link") if (x := e.find(role)) is not None else None) for role in ("parent", "child")}
        for role, link in ends.items():
            if not link:
                raise ModelError(f"{who}: has no <{role} link=...>.")
        axis = floats(e.find("axis"), "xyz", 3, (1.0, 0.0, 0.0), who)
        if kind not in ("fixed", "floating") and math.hypot(*axis) < 1e-10:
            raise ModelError(f"{who}: axis is {axis}; expected a direction.")
        limit, dynamics, mimic = e.find("limit"), e.find("dynamics"), e.find("mimic")
        lower, upper = (floats(limit, k, 1, (0.0,), who)[0] for k in ("lower", "upper"))
        bounded = kind in ("revolute", "prismatic") and limit is not None and lower < upper
        damping, friction = (floats(dynamics, k, 1, (0.0,), who)[0] for k in ("damping", "friction"))
        if min(damping, friction) < 0:
            raise ModelError(f"{who}: damping is {damping}, friction {friction}; expected numbers >= 0.")
        return cls(
            name,
            kind,
            str(ends["parent"]),
            str(ends["child"]),
            floats(e.find("origin"), "xyz", 3, (0.0,) * 3, who),
            floats(e.find("origin"), "rpy", 3, (0.0,) * 3, who),
            axis,
            damping,
            friction,
            limit is not None,
            (lower, upper) if bounded else None,
            floats(limit, "effort", 1, (0.0,), who)[0],
            floats(limit, "velocity", 1, (0.0,), who)[0],
            None if mimic is None else _mimic(mimic, who),
            frozenset(x.tag for x in e),
        )


def _mimic(e: ET.Element, who: str) -> dict[str, Any]:
    number = {k: floats(e, k, 1, (d,), who)[0] for k, d in (("multiplier", 1.0), ("offset", 0.0))}
    return {"joint": e.get("joint", ""), **number}


class Tree:
    """Links by name (in the order of the file), joints, and the one root."""

    def __init__(self, robot: ET.Element, owner: str):
        self.materials = robot.findall("material")
        self.links: dict[str, ET.Element] = {}
        for e in robot.findall("link"):
            name = e.get("name")
            if not name or name in self.links:
                raise ModelError(f"{owner}: a link without a name." if not name else f"{owner}: two links are called {name!r}.")
            self.links[name] = e
        if not self.links:
            raise ModelError(f"{owner}: has no links.")
        self.joints = [UrdfJoint.read(e, owner) for e in robot.findall("joint")]
        self._check(owner)

    def _check(self, owner: str) -> None:
        names: set[str] = set()
        parents: dict[str, UrdfJoint] = {}
        for j in self.joints:
            if j.name in names:
                raise ModelError(f"{owner}: two joints are called {j.name!r}.")
            names.add(j.name)
            for role, link in (("parent", j.parent), ("child", j.child)):
                if link not in self.links:
                    raise ModelError(f"{owner}: joint {j.name!r}: {role} link {link!r} does not exist.")
            if j.child in parents:
                raise ModelError(f"{owner}: link {j.child!r} is the child of two joints, {parents[j.child].name!r} and {j.name!r}.")
            parents[j.child] = j
        roots = [link for link in self.links if link not in parents]
        if len(roots) != 1:
            raise ModelError(f"{owner}: root links are {', '.join(roots) or 'none (a loop)'}; expected exactly one.")
        self.root = roots[0]
        self._check_reach(owner)

    def _check_reach(self, owner: str) -> None:
        below: dict[str, list[str]] = {}
        for j in self.joints:
            below.setdefault(j.parent, []).append(j.child)
        seen, stack = set(), [self.root]
        while stack:
            link = stack.pop()
            seen.add(link)
            stack += below.get(link, [])
        lost = [link for link in self.links if link not in seen]
        if lost:
            raise ModelError(f"{owner}: links {', '.join(lost)} form a loop that does not hang on the root {self.root!r}.")
