"""Names of imported parts: those of the file, made unique and fit for our models; unnamed parts get one."""

from __future__ import annotations

from dalembert.importers.notes import Notes
from dalembert.model.parts import WORLD


class Names:
    """Unique names of bodies, joints, loops, motors and keyframes; each kind has its own, but loops share those of joints."""

    def __init__(self, notes: Notes):
        self.notes = notes
        self.taken: dict[str, set[str]] = {"body": {WORLD}, "joint": set(), "loop": set(), "motor": set(), "keyframe": set()}
        self.changed: dict[str, dict[str, str]] = {what: {} for what in self.taken}  # ours: the file's

    def give(self, what: str, wanted: str, fallback: str) -> str:
        """`wanted`, or `fallback` if the part has no name, changed as little as needed."""
        base = (wanted or fallback).replace("/", ".")
        name, n = base, 1
        taken = self.taken[what] | (self.taken["joint"] if what == "loop" else set())
        while name in taken:
            n += 1
            name = f"{base}_{what}" if n == 2 else f"{base}_{what}{n}"
        self.taken[what].add(name)
        if wanted and name != wanted:
            self.changed[what][name] = wanted
            self.notes.add("names that were changed", f"{what} {wanted!r} is now {name!r}")
        return name
