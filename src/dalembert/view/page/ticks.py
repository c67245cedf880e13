"""Numbers on the axes of a page as plain text: 10⁻³ instead of a formula, whose glyphs would stand where another font has them."""

from __future__ import annotations

import re
from typing import Any

from matplotlib.ticker import LogFormatterSciNotation, ScalarFormatter

_RAISED = str.maketrans("-−+0123456789", "⁻⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹")


class Plain(ScalarFormatter):
    """Numbers of a linear axis, with a common power as ×10⁻⁸."""

    def __init__(self) -> None:
        super().__init__(useMathText=False)

    def get_offset(self) -> str:
        return re.sub(r"(^|[+−-][\d.]+|[\d.]+)?e([+−-]?\d+)", _power, super().get_offset())


def _power(found: re.Match[str]) -> str:
    number = found[1] or ""
    return f"{'' if number == '1' else number}×10{found[2].translate(_RAISED)}"


class Powers(LogFormatterSciNotation):
    """Numbers of a logarithmic axis, 10⁻³ or 2×10⁻³."""

    def __call__(self, x: Any, pos: Any = None) -> str:
        made = super().__call__(x, pos)
        found = re.search(r"([\d.]+)\\times10\^\{([^}]*)\}|10\^\{([^}]*)\}", made)
        if found is None:
            return re.sub(r"\$|\\mathdefault|[{}]", "", made)
        power = (found[2] or found[3]).translate(_RAISED)
        return f"{found[1]}×10{power}" if found[1] else f"10{power}"


def plain_ticks(axes: Any) -> None:
    """Formatters of this file for those that matplotlib chose."""
    for axis in (axes.xaxis, axes.yaxis):
        given = axis.get_major_formatter()
        if type(given) is ScalarFormatter:
            axis.set_major_formatter(Plain())
        elif isinstance(given, LogFormatterSciNotation):
            axis.set_major_formatter(Powers())
            axis.set_minor_formatter(Powers())
