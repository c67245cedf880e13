"""Contact of bodies: detection, the solution of a step, files of problems of steps, and signed distances of convex polytopes.

problems = dal.contact.load_problems("problems.h5")       # of a run with archive_failures="problems.h5"
dal.contact.resolve(problems[0])                          # as in the run, bit for bit
dal.contact.resolve(problems[0], method="split").residual
dal.contact.sshlp(A, B).distance                          # of two convex bodies, vertices (n, 3)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dalembert.contact.boxed import with_boxes
    from dalembert.contact.fclib import ArchivedProblem
    from dalembert.contact.overlaps import exclude_overlaps
    from dalembert.contact.problem import StepProblem
    from dalembert.contact.resolution import Resolution, resolve, resolve_by_all
    from dalembert.contact.separation import sshlp
    from dalembert.contact.signed_distance import SignedDistance
    from dalembert.contact.stored import load_problem, load_problems, save_problem

_PUBLIC = {
    "ArchivedProblem": "fclib",
    "Resolution": "resolution",
    "SignedDistance": "signed_distance",
    "StepProblem": "problem",
    "exclude_overlaps": "overlaps",
    "load_problem": "stored",
    "load_problems": "stored",
    "resolve": "resolution",
    "resolve_by_all": "resolution",
    "save_problem": "stored",
    "sshlp": "separation",
    "with_boxes": "boxed",
}
__all__ = [
    "ArchivedProblem",
    "Resolution",
    "SignedDistance",
    "StepProblem",
    "exclude_overlaps",
    "load_problem",
    "load_problems",
    "resolve",
    "resolve_by_all",
    "save_problem",
    "sshlp",
    "with_boxes",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
