"""`Item`: one judged statement about a run; `Report`: all of them, with the worst verdict."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

PASS, WARN, FAIL, NOT_APPLICABLE = "pass", "warn", "fail", "not applicable"
_RANK = {NOT_APPLICABLE: 0, PASS: 1, WARN: 2, FAIL: 3}


def worst(verdicts: Any) -> str:
    """The worst of some verdicts; 'pass' if none of them judges anything."""
    found = max(verdicts, key=_RANK.__getitem__, default=PASS)
    return PASS if found == NOT_APPLICABLE else found


def plain(value: Any) -> float | None:
    """A finite Python float, or None."""
    return float(value) if value is not None and math.isfinite(value) else None


@dataclass(frozen=True)
class Item:
    """One statement: what was measured, what the method promises, and the verdict (pass, warn, fail, not applicable).

    measured and limit are relative errors (dimensionless) unless the text says otherwise; None where there is no finite number.
    """

    name: str
    verdict: str
    measured: float | None
    promised: str | None
    text: str
    limit: float | None = None


def item(name: str, verdict: str, measured: Any, promised: str | None, text: str, limit: Any = None) -> Item:
    """An Item whose numbers are plain and whose text ends with the verdict."""
    return Item(name, verdict, plain(measured), promised, f"{text}: {verdict}", plain(limit))


@dataclass(frozen=True)
class Report:
    """What a run kept of what its method promises."""

    head: str
    items: tuple[Item, ...]

    @property
    def verdict(self) -> str:
        """The worst verdict of the items; what is not applicable does not count."""
        return worst(i.verdict for i in self.items)

    @property
    def text(self) -> str:
        """A readable block: a head line, one line per item, the verdict."""
        return "\n".join([self.head, *(f"  {i.text}" for i in self.items), f"verdict: {self.verdict}"])

    def __getitem__(self, name: str) -> Item:
        for i in self.items:
            if i.name == name:
                return i
        raise KeyError(f"no item {name!r} in this report; it has {', '.join(i.name for i in self.items)}.")

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Plain data: strings, finite numbers and None."""
        return {"head": self.head, "verdict": self.verdict, "items": [asdict(i) for i in self.items]}
