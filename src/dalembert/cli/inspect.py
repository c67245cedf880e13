"""`dalembert inspect`: what is in a model, and what its file holds that the model does not."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli import _shell as shell

if TYPE_CHECKING:
    from dalembert.model import Joint, Model
    from dalembert.model.loops import Loop

NAME = "inspect"
EXAMPLES = shell.examples(
    "dalembert inspect heavy-top",
    "dalembert inspect robot.urdf --floating-base",
    "dalembert inspect scene.xml --package-dir ~/robots --json",
)
FILES = (".urdf", ".xml", ".mjcf")


def command(
    model: Annotated[str, typer.Argument(help="Name of a scene, a model.json, or a URDF or MJCF file.")],
    floating_base: Annotated[
        bool | None, typer.Option("--floating-base/--fixed-base", help="Free or fix the root of a file; default: as the file says.")
    ] = None,
    package_dir: Annotated[list[Path] | None, typer.Option("--package-dir", help="Where to look for package://; may be repeated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
) -> None:
    """Print the tree, masses, joints, limits, loops, motors and mobility of a model, and what an import could not carry over.

    Of a Lagrangian: coordinates, parameters, constraints, symmetries, and the methods that run it.
    """
    found: Any = _find(model, floating_base, package_dir or [])
    if hasattr(found, "formulas"):
        from dalembert.cli import _formulas

        _formulas.tell(found, as_json)
        return
    if as_json:
        import json

        typer.echo(json.dumps(_data(found), indent=2))
        return
    typer.echo(_summary(found))
    typer.echo("\n".join(_tree(found)))
    _tables(found)
    if found.source:
        report = found.import_report
        typer.secho("Not carried over from the file:" if report else "Everything was carried over from the file.", bold=True)
        for line in report:
            typer.echo(f"  - {line}")


def _find(name: str, floating_base: bool | None, package_dirs: list[Path]) -> Any:
    if not name.lower().endswith(FILES):
        return shell.find_scene(name).model()
    from dalembert.importers import ModelImportWarning, load_model

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelImportWarning)  # it is printed below the model
        return load_model(name, floating_base, package_dirs)


def _frames(m: Model) -> int:
    return sum(b.massless for b in m.bodies)


def _summary(m: Model) -> str:
    bodies = len(m.bodies) - _frames(m)
    frames = f", {_frames(m)} massless frames" if _frames(m) else ""
    gravity = ", ".join(f"{g:g}" for g in m.gravity)
    return f"{m.name or 'model'}: {bodies} bodies{frames}, {m.total_mass:.6g} kg, nq = {m.nq}, nv = {m.nv}, gravity ({gravity}) m/s^2"


def _tree(m: Model) -> list[str]:
    """Bodies below the world, each with its mass and the joint that carries it."""
    children: dict[str, list[Joint]] = {}
    for j in m.joints:
        children.setdefault(j.parent, []).append(j)
    lines = ["world" + (f"  ({len(m.world_shapes)} shapes)" if m.world_shapes else "")]
    stack = [(j, "", i == 0) for i, j in enumerate(reversed(children.get("world", [])))]
    while stack:
        joint, indent, last = stack.pop()
        body = m.body(joint.child)
        mass = "frame" if body.massless else f"{body.mass:.6g} kg"
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{body.name}  {mass}  [{joint.name}: {joint.kind}]")
        below = indent + ("   " if last else "│  ")
        stack += [(j, below, i == 0) for i, j in enumerate(reversed(children.get(body.name, [])))]
    return lines


def _tables(m: Model) -> None:
    from dalembert.model.touching import touching

    moving = [j for j in m.joints if j.coordinates.nv]
    if moving:
        at = m.v_slices()
        rows = [[j.name, j.kind, _range(at[j.name]), _limits(j), *(_number(getattr(j, k)) for k in _CONSTANTS)] for j in moving]
        shell.print_table("joints", ["joint", "kind", "v", "limits", *_CONSTANTS], rows)
    if m.loops:
        rows = [[x.name, x.kind, x.parent, x.child, _loop_value(x)] for x in m.loops]
        shell.print_table("loops", ["loop", "kind", "parent", "child", "anchor, length or coefficients"], rows)
    if m.nonholonomic:
        rows = [[x.name, x.kind, x.parent, x.child, _number(x.radius or 0.0), _direction(x.axis)] for x in m.nonholonomic]
        shell.print_table("joints on velocities", ["joint", "kind", "parent", "child", "radius", "axis"], rows)
    if m.driven:
        typer.echo(f"driven: {', '.join(m.drives)}")
    if m.loops or m.nonholonomic:
        typer.echo(_mobility(m))
    pairs = list(touching(m))
    if pairs:
        typer.echo(f"contact: {len(pairs)} pairs of bodies can touch, such as {pairs[0][0]} and {pairs[0][1]}")
    if m.motors:
        rows = [[x.name, x.joint, x.kind, f"{x.gear:g}", _pair(x.limit), _number(x.kp), _number(x.kv)] for x in m.motors]
        shell.print_table("motors", ["motor", "joint", "kind", "gear", "force limit", "kp", "kv"], rows)
    if m.keyframes:
        typer.echo(f"keyframes: {', '.join(k.name for k in m.keyframes)}")


_CONSTANTS = ("damping", "friction", "stiffness", "armature")


def _loop_value(loop: Loop) -> str:
    if loop.polynomial is not None:
        return ", ".join(f"{c:g}" for c in loop.polynomial)
    return f"{loop.length:g}" if loop.length is not None else ", ".join(f"{x:.5g}" for x in loop.anchor)


def _direction(axis: Any) -> str:
    return "" if axis is None else ", ".join(f"{x:.5g}" for x in axis)


def _mobility(m: Model) -> str:
    """Degrees of freedom and redundant rows near the reference configuration, or why they are not known."""
    from dalembert.errors import AssemblyError

    try:
        return m.redundant_constraints().text
    except AssemblyError as problem:
        return f"mobility unknown: {problem}"


def _range(s: slice) -> str:
    return str(s.start) if s.stop - s.start == 1 else f"{s.start}-{s.stop - 1}"


def _limits(j: Joint) -> str:
    return _pair(j.limits)


def _pair(pair: tuple[float, float] | None) -> str:
    return "" if pair is None else f"{pair[0]:.5g} ... {pair[1]:.5g}"


def _number(x: float) -> str:
    return f"{x:g}" if x else ""


def _data(m: Model) -> dict[str, Any]:
    return {
        "name": m.name,
        "total_mass": m.total_mass,
        "nq": m.nq,
        "nv": m.nv,
        "gravity": m.gravity.tolist(),
        "bodies": [{"name": b.name, "mass": b.mass, "com": b.com.tolist(), "shapes": [s.kind for s in b.shapes]} for b in m.bodies],
        "joints": [j.to_dict() for j in m.joints],
        "loops": [x.to_dict() for x in m.loops],
        "nonholonomic": [x.to_dict() for x in m.nonholonomic],
        **({"mobility": _mobility(m)} if m.loops or m.nonholonomic else {}),
        "motors": [x.to_dict() for x in m.motors],
        "keyframes": [k.name for k in m.keyframes],
        "not carried over": m.import_report,
    }
