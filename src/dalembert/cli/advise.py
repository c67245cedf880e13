"""`dalembert advise`: how large may the step be?"""

from __future__ import annotations

from typing import Annotated

import typer

from dalembert.cli import _shell as shell

NAME = "advise"
EXAMPLES = shell.examples("dalembert advise tennis-racket", "dalembert advise heavy-top --stepper cayley")


def command(
    scene: Annotated[str, typer.Argument(help="Name of a scene, or a model.json.")],
    stepper: Annotated[str | None, typer.Option("--stepper", "-s", help="One method; default: all that run the scene.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The advice as JSON.")] = False,
) -> None:
    """Print step sizes for which the equations of a step are proved, or were found, to be solvable at the start of a scene."""
    from dalembert.advising import advise
    from dalembert.families import find_family
    from dalembert.registry import steppers
    from dalembert.runs.choice import unhandled

    found = shell.find_scene(scene)
    model = found.model()
    family = find_family(model)
    able = [s for s in steppers(system=family.kind) if not unhandled(model, family, s) and (s.proved or family.kind != "tree")]
    names: list[str | None] = [stepper] if stepper is not None else [s.name for s in able]
    advices = [
        advise(model, model.check_q(found.q0), model.check_v(found.v0), name) for name in names or [None]
    ]  # None: it says why there is none
    if as_json:
        import json

        typer.echo(json.dumps([a.to_dict() for a in advices], indent=2))
    else:
        typer.echo("\n\n".join(a.text for a in advices))
