"""What an import could not carry over: one warning, one list."""

from __future__ import annotations

import warnings
from collections.abc import Iterable


class ModelImportWarning(UserWarning):
    """Parts of a file that the model does not have; the message names them."""


class Notes:
    """Collects what is not carried over, by topic, in the order in which it was met."""

    def __init__(self) -> None:
        self._topics: dict[str, list[str]] = {}

    def add(self, topic: str, names: str | Iterable[str] = ()) -> None:
        """A topic, and the names of the parts it concerns."""
        found = self._topics.setdefault(topic, [])
        found += [n for n in ([names] if isinstance(names, str) else names) if n not in found]

    def lines(self) -> list[str]:
        """'tendons (2): left, right'"""
        return [f"{topic} ({len(names)}): {', '.join(names)}" if names else topic for topic, names in self._topics.items()]

    def warn(self, owner: str) -> None:
        """The one warning, if there is anything to say."""
        if not self._topics:
            return
        short = [f"{topic} ({len(names)}): {_some(names)}" if names else topic for topic, names in self._topics.items()]
        warnings.warn(
            f"{owner}: not carried over: {'; '.join(short)}. model.import_report lists everything.", ModelImportWarning, stacklevel=3
        )


def _some(names: list[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f", ... ({len(names) - most} more)" if len(names) > most else "")
