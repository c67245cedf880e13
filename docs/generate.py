"""Pages and parts of pages that are made from the library itself: steppers, compositions, scenes, peers, methods of complementarity,
friction models, commands, public names.

`conf.py` writes them to `_generated/` when the documentation is built; pages include them. `pages()` gives the same text to the tests.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import dalembert as dal


def cell(text: Any) -> str:
    """Text that is safe in a cell of a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("*", "\\*")


def table(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *([cell(x) for x in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def code(text: Any) -> str:
    """`text`"""
    return f"`{text}`" if text != "" else ""


def yes(fact: bool) -> str:
    """'yes' or nothing."""
    return "yes" if fact else ""


# steppers ----------------------------------------------------------------------------------------------------------------------------


def of_models() -> list[Any]:
    """Steppers of bodies and trees, and those in director coordinates."""
    return [s for s in dal.steppers() if s.system != "lagrangian"]


def stepper_table() -> str:
    """One line per stepper of bodies and trees, best first."""
    heads = ("stepper", "order", "momentum", "energy", "energy of the free body", "self-adjoint", "symplectic")
    return table(
        heads,
        [
            (
                f"[{s.name}](#{anchor(s)})",
                s.order,
                s.promise("momentum") or "",
                s.promise("energy") or "",
                s.promise("energy of the free body") or "",
                yes(s.self_adjoint),
                yes(s.symplectic),
            )
            for s in of_models()
        ],
    )


def lagrangian_table() -> str:
    """One line per stepper of Lagrangians, best first."""
    heads = ("stepper", "order", "momentum", "energy", "constraints", "self-adjoint", "symplectic", "holonomic", "nonholonomic")
    return table(
        heads,
        [
            (
                f"[{s.name}](#{anchor(s)})",
                "adaptive" if s.adaptive else s.order,
                *(s.promise(what) or "" for what in ("momentum", "energy", "constraint")),
                *(yes(x) for x in (s.self_adjoint, s.symplectic, "holonomic" in s.handles, "nonholonomic" in s.handles)),
            )
            for s in dal.steppers(system="lagrangian")
        ],
    )


def anchor(s: Any) -> str:
    """Name of a stepper's section: bodies, Lagrangians and director coordinates have methods of the same name."""
    return f"stepper-{s.system}-{s.name}" if s.system in ("lagrangian", "directors") else f"stepper-{s.name}"


def stepper_sections(steppers: Iterable[Any]) -> str:
    """Everything that is known of each stepper."""
    return "\n".join(_stepper_section(s) for s in steppers)


def _stepper_section(s: Any) -> str:
    lines = [f"({anchor(s)})=", f"### {s.name}", "", sentence(s.summary), "", f"- Order {s.order}."]
    lines.append(f"- Conserves: {', '.join(s.conserves) or 'nothing'}.")
    lines.append(f"- Handles: {', '.join(s.handles)}.")
    if s.limitations:
        lines.append(f"- Limits: {sentence(s.limitations)}")
    for o in s.options:
        lines.append(f"- Option `{o.name}` (default `{o.default}`): {o.meaning}; {o.expected}.")
    lines.append(f"- Sources: {', '.join(code(r) for r in s.references) or 'none'}.")
    return "\n".join(lines).replace("|", "\\|") + "\n"


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    capital = text[:1] if text[1:2] == " " and text[:1] != "a" else text[:1].upper()  # "h |omega| < 1": a symbol stays as it is
    return capital + text[1:].rstrip(".") + "."


def composition_table() -> str:
    """Compositions."""
    from dalembert.steppers.compose import COMPOSITIONS

    rows = [(code(c.name), c.order, len(c.weights), f"{abs(c.weights).max():.3g}", code(c.reference)) for c in COMPOSITIONS.values()]
    return table(("compose", "order", "substeps", "largest substep / h", "source"), rows)


def scene_table() -> str:
    """Scenes."""
    rows = [
        (code(s.name), sentence(s.summary), f"{s.h:g}", f"{s.t_end:g}", code(s.stepper), yes(s.exact is not None))
        for s in map(dal.scenes.find, dal.scenes.names())
    ]
    return table(("scene", "what", "h (s)", "t_end (s)", "stepper", "exact solution"), rows)


def plan_table() -> str:
    """Problems of optimal control."""
    from dalembert.control import scenes

    return table(("problem", "what"), [(code(s.name), sentence(s.summary)) for s in map(scenes.find, scenes.names())])


def peer_table() -> str:
    """Other programs."""
    from dalembert.peers import PEERS

    return table(("peer", "what", "order", "runs"), [(code(p.name), p.summary, p.order, ", ".join(p.handles)) for p in PEERS.values()])


# complementarity ---------------------------------------------------------------------------------------------------------------------


def lcp_table() -> str:
    """Methods of `dal.lcp`, best first."""
    from dalembert.complementarity import methods

    rows = [
        (code(m.name), sentence(m.summary), m.guarantee, yes(m.warm), code(m.fallback), m.counts, options_of(m), m.limitations)
        for m in methods()
    ]
    return table(("method", "what", "guarantee: matrices", "warm start", "fallback", "counts", "options", "limits"), rows)


def friction_table() -> str:
    """Models of friction, best first."""
    from dalembert.complementarity.friction import models

    rows = [(code(m.name), sentence(m.summary), m.law, m.guarantee, yes(m.frozen), options_of(m)) for m in models()]
    return table(("model", "what", "law", "guarantee", "`normal=`", "options"), rows)


def options_of(described: Any) -> str:
    """`name=default` of every option."""
    return ", ".join(code(f"{o.name}={o.default!r}") for o in described.options)


# commands ----------------------------------------------------------------------------------------------------------------------------


def commands() -> str:
    """Arguments and options of each command, from the command line itself."""
    import typer

    from dalembert.cli import app

    group = typer.main.get_command(app)
    return "\n".join(_command(name, command) for name, command in every_command(group))


def every_command(group: Any, before: str = "") -> list[tuple[str, Any]]:
    """Names and commands; in place of a group the commands in it."""
    found: list[tuple[str, Any]] = []
    for name, command in group.commands.items():
        found += every_command(command, f"{before}{name} ") if hasattr(command, "commands") else [(before + name, command)]
    return found


def _command(name: str, command: Any) -> str:
    rows = [
        (_names(p), p.help or "", "" if p.default is None or p.default is False or p.required else code(p.default)) for p in command.params
    ]
    text = inspect.cleandoc(command.help or "")
    examples = [
        line.strip() for line in re.sub(r"\[/?bold\]", "", command.epilog or "").split("\n") if line.strip().startswith("dalembert")
    ]
    shown = "\n".join(["```console", *(f"$ {line}" for line in examples), "```"])
    return f"## dalembert {name}\n\n{text}\n\n{table(('argument or option', 'meaning', 'default'), rows)}\n{shown}\n"


def _names(p: Any) -> str:
    if p.param_type_name == "argument":
        return code(p.name.upper()) + ("" if p.required else " (optional)")
    return ", ".join(code(o) for o in [*p.opts, *p.secondary_opts])


# public names ------------------------------------------------------------------------------------------------------------------------


def api() -> str:
    """Every public name: a table, then signature and documentation."""
    names = [n for n in dal.__all__ if n != "__version__"]
    rows = [(f"[{n}](#api-{n.lower()})", first_line(public(n))) for n in names]
    return table(("name", "what"), rows) + "\n" + "\n".join(_api_section(n, public(n)) for n in names)


def public(name: str) -> Any:
    """What a public name means; of a package that can be called, the function behind the call."""
    thing = getattr(dal, name)
    return getattr(importlib.import_module(dal._PUBLIC[name]), name) if inspect.ismodule(thing) and name in dal._PUBLIC else thing


def first_line(thing: Any) -> str:
    """First line of the documentation."""
    return inspect.cleandoc(inspect.getdoc(thing) or "").split("\n")[0]


def _api_section(name: str, thing: Any) -> str:
    lines = [f"(api-{name.lower()})=", f"## {name}", "", "```text", _heading(name, thing), "", inspect.getdoc(thing) or "", "```", ""]
    members = _members(thing)
    if members:
        lines.append(table(("member", "what"), [(code(n), first_line(x)) for n, x in members]))
    return "\n".join(lines)


def _heading(name: str, thing: Any) -> str:
    if inspect.ismodule(thing):
        return f"dalembert.{name}"
    try:
        return f"dal.{name}{_signature(thing)}"
    except (TypeError, ValueError):
        return f"dal.{name}"


def _signature(thing: Any) -> str:
    signature = inspect.signature(thing)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _members(thing: Any) -> list[tuple[str, Any]]:
    if inspect.ismodule(thing):
        return [(n, getattr(thing, n)) for n in sorted(thing.__all__)]
    if not inspect.isclass(thing) or issubclass(thing, Exception):
        return []
    found = [(n, x) for n, x in vars(thing).items() if not n.startswith("_")]
    wanted = [(n, x) for n, x in found if callable(x) or isinstance(x, (property, classmethod)) or hasattr(x, "func")]
    return [(n, x) for n, x in wanted if inspect.getdoc(x)]


# all ---------------------------------------------------------------------------------------------------------------------------------


def pages() -> dict[str, str]:
    """file name -> text."""
    return {
        "stepper-table.md": stepper_table(),
        "steppers.md": stepper_sections(of_models()),
        "lagrangian-table.md": lagrangian_table(),
        "lagrangian-steppers.md": stepper_sections(dal.steppers(system="lagrangian")),
        "compositions.md": composition_table(),
        "scenes.md": scene_table(),
        "plans.md": plan_table(),
        "peers.md": peer_table(),
        "lcp-methods.md": lcp_table(),
        "friction-models.md": friction_table(),
        "commands.md": commands(),
        "api.md": api(),
    }


def write(folder: Path) -> None:
    """Write all of them; a file whose text has not changed is left alone, so that Sphinx does not read it again."""
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
