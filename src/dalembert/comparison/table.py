"""Plain-text tables."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(x: float, digits: int = 2) -> str:
    """'1.2e-09'; '-' for what does not exist; '0' for zero."""
    if not math.isfinite(x):
        return "-"
    return "0" if x == 0.0 else f"{x:.{digits - 1}e}"


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the first column to the left, the others to the right."""
    widths = [max(len(head), *(len(row[i]) for row in rows)) if rows else len(head) for i, head in enumerate(heads)]

    def line(cells: Sequence[str]) -> str:
        padded = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, widths, strict=True))]
        return "  ".join(padded).rstrip()

    return "\n".join([line(heads), "  ".join("-" * w for w in widths), *(line(row) for row in rows)])
