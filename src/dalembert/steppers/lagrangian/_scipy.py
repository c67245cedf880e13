"""What the two methods of SciPy have in common; what runs them is `runs/engines/scipy.py`."""

from __future__ import annotations

from dalembert.registry import Option

SMALLEST = 1e-13  # relative tolerances below this are beyond round-off

LIMITATIONS = "constraints drift with the tolerances, and must be independent; a control, or a resumed run, starts a new solver"


def tolerances(rtol: float, atol: float) -> tuple[Option, Option]:
    """Options of an adaptive method, with their defaults."""
    relative = Option("rtol", rtol, "error of a step relative to q, v", "", lambda x: SMALLEST <= x < 1, f"a number in [{SMALLEST:g}, 1)")
    absolute = Option("atol", atol, "error of a step, added to that", "", lambda x: 0 < x < float("inf"), "a positive number")
    return relative, absolute
