"""What `dalembert inspect` says of a system given by a Lagrangian."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from dalembert.lagrangian import Lagrangian


def tell(s: Lagrangian, as_json: bool) -> None:
    """Coordinates, parameters, constraints, features, symmetries, methods."""
    data = describe(s)
    if as_json:
        import json

        typer.echo(json.dumps(data, indent=2))
        return
    typer.echo(f"{s.name or 'model'}: system given by its Lagrangian, {s.n} coordinate{'s' if s.n > 1 else ''}")
    for what, found in data.items():
        if what != "name":
            typer.echo(f"  {what}: {_words(found) or 'none'}")


def describe(s: Lagrangian) -> dict[str, Any]:
    """Plain data about a system."""
    from dalembert.families import find_family
    from dalembert.registry import steppers
    from dalembert.runs.choice import unhandled

    family = find_family(s)  # type: ignore[arg-type]
    able = [x.name for x in steppers(system="lagrangian") if not unhandled(s, family, x)]  # type: ignore[arg-type]
    how = dict(zip(s.symmetry_names, s.affine_symmetries, strict=True))
    return {
        "name": s.name,
        "coordinates": list(s.names),
        "parameters": s.to_dict()["params"],
        "holonomic constraints": s.formulas.holonomic_rows,
        "constraints on velocities": s.formulas.pfaffian_rows,
        "features": sorted(s.formulas.features),
        "symmetries": {name: "affine in q" if affine else "not affine in q" for name, affine in how.items()},
        "methods": able,
    }


def _words(found: Any) -> str:
    if isinstance(found, dict):
        return ", ".join(f"{k} = {x}" if isinstance(x, (int, float)) else f"{k} ({x})" for k, x in found.items())
    return ", ".join(found) if isinstance(found, list) else str(found or "")
