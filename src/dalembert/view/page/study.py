"""The page of a study: table, conclusion, the runs laid over each other in space, errors over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def study_page(study: Any, path: Any) -> Path:
    raise NotImplementedError
