"""The machine in words: bodies and joints as a nested list with masses; of a Lagrangian its coordinates and constraints."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from dalembert.lagrangian import Lagrangian
from dalembert.model import Model
from dalembert.model.parts import WORLD
from dalembert.view.page.markup import Markup, join, more, pairs, section, tag

MOST = 400  # bodies of the list
OPEN = 24  # bodies of a list that is not folded


def machine(system: Any) -> Markup:
    """The section of a page."""
    return section("Model", tag("p", system.describe(), class_="lead"), *_words(system), name="model")


@singledispatch
def _words(system: Any) -> list[Markup]:
    return []


@_words.register
def _(system: Lagrangian) -> list[Markup]:
    f = system.formulas
    facts = [("coordinates", ", ".join(system.names)), ("symmetries", ", ".join(system.symmetry_names) or "none declared")]
    facts += [("constraints on positions", str(f.holonomic_rows)), ("constraints on velocities", str(f.pfaffian_rows))]
    return [tag("div", pairs(facts), class_="card")]


@_words.register
def _(system: Model) -> list[Markup]:
    below, carried = carriers(system)
    gravity = ", ".join(f"{g:g}" for g in system.gravity)
    facts = [("bodies", str(len(system.bodies))), ("mass", f"{system.total_mass:.6g} kg"), ("degrees of freedom", str(system.nv))]
    facts += [("gravity", f"({gravity}) m/s²")]
    left = [x for x in system.loops if x.name not in carried]
    tree = tag("ul", tag("li", tag("b", "world"), _below(system, below, WORLD, [MOST])), class_="tree")
    out = [tag("div", pairs(facts), class_="card"), more("Bodies and joints", tree, open_=len(system.bodies) <= OPEN)]
    if left:
        out.append(more("Joints that close loops", tag("ul", *(tag("li", f"{x.name}: {x.kind}, {x.parent} – {x.child}") for x in left))))
    if system.forces:
        out.append(more("Forces", tag("ul", *(tag("li", _force(f)) for f in system.forces))))
    return out


def _force(force: Any) -> str:
    return f"{force.name}: {force.kind}" if getattr(force, "name", "") else str(getattr(force, "kind", type(force).__name__))


def carriers(model: Model) -> tuple[dict[str, list[Any]], set[str]]:
    """Joints below each body, and the names of loop joints among them.

    A machine that was cut free for its run has free bodies and loop joints: there the first loop joint of a child carries it.
    """
    loops: dict[str, Any] = {}
    for x in model.loops:
        loops.setdefault(x.child, x)
    below: dict[str, list[Any]] = {}
    above: dict[str, str] = {}
    carried = set()
    for joint in model.joints:
        chosen = joint
        if joint.coordinates.absolute and joint.child in loops and not _under(above, loops[joint.child].parent, joint.child):
            chosen = loops[joint.child]
            carried.add(chosen.name)
        above[joint.child] = chosen.parent
        below.setdefault(chosen.parent, []).append(chosen)
    return below, carried


def _under(above: dict[str, str], body: str, other: str) -> bool:
    """Whether a body hangs below another, or is it."""
    while body in above:
        if body == other:
            return True
        body = above[body]
    return body == other


def _below(model: Model, below: dict[str, list[Any]], body: str, left: list[int]) -> Markup:
    """The list of what a body carries, written with a stack: chains may be deeper than Python calls."""
    parts: list[str] = []
    stack: list[Any] = [("list", iter(below.get(body, ())))] if below.get(body) else []
    if stack:
        parts.append("<ul>")
    while stack:
        joint = next(stack[-1][1], None)
        if joint is None or left[0] <= 0:
            parts.append("</ul>" if left[0] > 0 or joint is None else "<li>…</li></ul>")
            stack.pop()
            if stack:
                parts.append("</li>")
            continue
        left[0] -= 1
        parts.append(f"<li>{_line(model, joint)}")
        if below.get(joint.child):
            parts.append("<ul>")
            stack.append(("list", iter(below[joint.child])))
        else:
            parts.append("</li>")
    return Markup("".join(parts))


def _line(model: Model, joint: Any) -> Markup:
    own = model.body(joint.child)
    mass = "frame" if own.massless else f"{own.mass:.6g} kg"
    return join(
        [tag("b", own.name), " ", tag("span", mass, class_="mass"), " ", tag("span", f"{joint.name}: {joint.kind}", class_="joint")]
    )
