"""The page of a comparison: table, conclusion, the runs laid over each other in space, errors over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def comparison_page(result: Any, path: Any) -> Path:
    raise NotImplementedError
