"""`dal.cite`: the BibTeX entries of what a run used, out of the one bibliography `references.bib`."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from dalembert.errors import DalembertError, OptionError, UnknownNameError
from dalembert.runs.trajectory import Trajectory
from dalembert.steppers.compose import COMPOSITIONS

ALWAYS = ("dalembert", "numba", "numpy")
PLANNING = ("oberbloebaum2011", "kobilarov2011", "casadi", "waechter2006")


@cache
def bibliography() -> dict[str, str]:
    """key -> BibTeX entry, in the order of the file."""
    text = importlib.resources.files("dalembert").joinpath("references.bib").read_text(encoding="utf-8")
    return parse(text)


def parse(text: str) -> dict[str, str]:
    """Split BibTeX text into its entries by counting braces; DalembertError where they do not balance or a key comes twice."""
    entries: dict[str, str] = {}
    position = 0
    for found in re.finditer(r"^@(\w+)\{([^,\s]+),", text, flags=re.MULTILINE):
        if found.start() < position:
            raise DalembertError(f"bibliography: entry {found[2]!r} begins inside another one; a brace is missing.")
        position = _end(text, found.end(), found[2])
        if found[2] in entries:
            raise DalembertError(f"bibliography: two entries have the key {found[2]!r}.")
        entries[found[2]] = text[found.start() : position]
    return entries


def _end(text: str, start: int, key: str) -> int:
    depth = 1
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise DalembertError(f"bibliography: entry {key!r} is not closed.")


def keys_of(used: Any) -> tuple[str, ...]:
    """Keys of a trajectory, of a stepper, composition, peer ("cayley", "cayley+suzuki4", "mujoco:rk4") or key, or of several of these."""
    if isinstance(used, Trajectory):
        compose = used.meta["compose"]
        planned = PLANNING if used.meta.get("plan") else ()
        return (*used.model.references, *used.stepper.references, *((COMPOSITIONS[compose].reference,) if compose else ()), *planned)
    if isinstance(getattr(used, "traj", None), Trajectory):  # a plan
        return keys_of(used.traj)
    if isinstance(used, str):
        return tuple(key for name in used.split("+") for key in _keys_of_name(name.strip()))
    if isinstance(used, Iterable) and not hasattr(used, "shape"):
        return tuple(key for one in used for key in keys_of(one))
    raise OptionError(f"cite: {used!r} is neither a Trajectory nor a name.")


def _keys_of_name(name: str) -> tuple[str, ...]:
    from dalembert.peers import PEERS
    from dalembert.registry import steppers

    known: dict[str, tuple[str, ...]] = {key: (key,) for key in bibliography()}
    known |= {name: peer.references for name, peer in PEERS.items()}
    known |= {c.name: (c.reference,) for c in COMPOSITIONS.values()}
    for s in steppers():  # one name may belong to steppers for several kinds of systems
        known[s.name] = tuple(dict.fromkeys([*known.get(s.name, ()), *s.references]))
    if name not in known:
        raise UnknownNameError("method or reference", name, known)
    return known[name]


def cite(used: Any = ()) -> str:
    """BibTeX of what a run used: the stepper's sources, the composition's, this library and what it computes with.

    used: a Trajectory, a plan, or names of steppers, compositions, peers or bibliography keys.
    A reference of a user's own stepper that is not in the bibliography is named in a comment.
    """
    entries = bibliography()
    wanted = dict.fromkeys([*ALWAYS, *keys_of(used)])
    return "\n\n".join(entries.get(key, f"% {key}: not in the bibliography of dalembert") for key in wanted) + "\n"
