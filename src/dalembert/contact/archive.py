"""`ProblemArchive`: keeps problems of a run, those that were not solved and every so many, in the layout of `contact/fclib.py`.

It stands in for the solver of a machine. Of a step one problem is kept: the worst that was not solved, or, where the step is due, its first
(a step with impacts has several). A file gets a group per problem, step-000012; a folder a file per problem, which is whole or not there
whatever happens. What exists is never written to: the next free name, problems-2.h5, is taken. Not more than `most` problems are kept.
A run never fails for its archive: what goes wrong is told in a warning, and in the report.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.contact.fclib import ArchivedProblem, arrays_of, write
from dalembert.contact.problem import StepProblem
from dalembert.contact.solver import SolverOptions, StepResult
from dalembert.contact.solvers import Solver
from dalembert.contact.stored import SUFFIXES, VERSIONS, save_problem
from dalembert.errors import ArchiveError
from dalembert.io.atomic import DeferredFile


class ProblemArchive:
    """Solves by `solver`, and keeps problems. facts: path, problems, unsolved (among them), left_out, trouble: for the report."""

    def __init__(self, solver: Solver, options: SolverOptions, path: str, every: int, most: int, about: dict[str, Any]):
        """about: what is told of the run with each problem: machine, law, sides."""
        self.solver, self.options, self.every, self.most, self.about = solver, options, every, most, about
        self.wanted, self.place = Path(path).absolute(), Path()
        self.facts: dict[str, Any] = {"path": path, "problems": 0, "unsolved": 0, "left_out": 0, "trouble": ""}
        self._step: dict[str, Any] = {}
        self._due, self._failed = False, False
        self._kept: ArchivedProblem | None = None
        if not self.wanted.parent.is_dir():
            self._stop(f"the directory {str(self.wanted.parent)!r} does not exist")

    # a step ----------------------------------------------------------------------------------------------------------------------------

    def begin(self, step: int, t: float, h: float) -> None:
        """A step from time t."""
        self._step = {"step": step, "t": t, "h": h}
        self._due = self.every > 0 and step % self.every == 0
        self._kept, self._failed = None, False

    def solve(self, problem: StepProblem) -> StepResult:
        """As the solver does."""
        lam, start = problem.impulses.copy(), problem.started
        result = self.solver.solve(problem)
        first, worst = self._due and self._kept is None, not result.ok and (not self._failed or self._worse(result))
        self._failed = self._failed or not result.ok
        if (first or worst) and self._open:
            self._kept = self._copy(problem, lam, start, result)
        return result

    def end(self) -> None:
        """The step is over: write what is kept."""
        if self._kept is not None:
            self._write(self._kept)
        elif self._failed:
            self.facts["left_out"] += 1
        self._kept = None

    @property
    def _open(self) -> bool:
        return self.facts["problems"] < self.most and not self.facts["trouble"]

    def _worse(self, result: StepResult) -> bool:
        return self._kept is not None and not result.residual <= self._kept.facts["residual"]

    def _copy(self, problem: StepProblem, lam: Any, start: Any, result: StepResult) -> ArchivedProblem:
        """Arrays of the machine change with its next step."""
        p = problem
        arrays = {name: np.array(value) for name, value in arrays_of(p).items()}
        kept = StepProblem(**{**arrays, "start": np.array(start), "lam": lam}, check=False)
        facts = {
            **self._step, "residual": result.residual, "solved": result.ok, "branch": result.branch, "iterations": result.iterations,
            "factorisations": result.factorisations, **self.about,
        }  # fmt: skip
        return ArchivedProblem(f"step-{facts['step']:06d}", kept, self.options, p.impulses.copy(), np.array(result.x), facts)

    # files -----------------------------------------------------------------------------------------------------------------------------

    def _write(self, kept: ArchivedProblem) -> None:
        try:
            if not self.facts["problems"]:
                self.place = claim(self.wanted)
                self.facts["path"] = str(Path(self.facts["path"]).with_name(self.place.name))
            if self.place.is_dir():
                save_problem(self.place / f"{kept.name}.h5", kept)
            else:
                append(self.place, kept)
        except Exception as error:  # whatever it is, the run goes on
            self._stop(str(error) or type(error).__name__)
            return
        self.facts["problems"] += 1
        self.facts["unsolved"] += not kept.facts["solved"]

    def _stop(self, trouble: str) -> None:
        self.facts["trouble"] = trouble
        warnings.warn(f"problems of steps are not archived in {self.facts['path']!r} any more: {trouble}. The run goes on.", stacklevel=4)


def claim(wanted: Path) -> Path:
    """A new file, or a folder without problems; of that name or the next free one. A name without a suffix is that of a folder."""
    folder = wanted.is_dir() or not wanted.suffix
    for k in range(1, 10_000):
        place = wanted if k == 1 else wanted.with_name(f"{wanted.stem}-{k}{wanted.suffix}")
        try:
            if folder and place.is_dir() and not any(f.suffix in SUFFIXES for f in place.iterdir()):
                return place
            if folder:
                place.mkdir()
            else:
                os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666))
            return place
        except FileExistsError:
            continue
    raise ArchiveError(f"{str(wanted)!r} and all names beside it are taken.")


def append(path: Path, problem: ArchivedProblem) -> None:
    """A group for the problem, into a file that may be empty."""
    import h5py

    empty = path.stat().st_size == 0
    file = DeferredFile(os.open(path, os.O_RDWR | os.O_CLOEXEC))
    try:
        with h5py.File(file, "w" if empty else "r+", libver=VERSIONS, track_order=True) as h5:
            write(h5.create_group(_free(h5, problem.name)), replace(problem, path=str(path)))
        if file.error is not None:
            raise file.error
    finally:
        file.close()


def _free(h5: Any, name: str) -> str:
    """A name that no group has: a simulation that was set back repeats its steps."""
    return next(n for k in range(1, 10**6) if (n := name if k == 1 else f"{name}-{k}") not in h5)
