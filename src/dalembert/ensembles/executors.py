"""Who does the jobs of a study: threads where the loop over samples is compiled, processes where Python takes part, or a cluster.

Each yields (job, rows) as they are done, in any order, and holds few jobs at a time, so that results do not pile up. A job whose process
dies is done again, sample by sample; a sample that kills its process twice more is a row that says so.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

import cloudpickle
import numpy as np

from dalembert.ensembles.rows import KILLED, Rows, empty_rows
from dalembert.ensembles.samples import Samples
from dalembert.errors import SimulationError

AHEAD = 2  # jobs under way for each worker
RETRIES = 2  # of one sample whose process dies


@dataclass(frozen=True)
class Job:
    """Samples that are run together."""

    index: np.ndarray
    samples: Samples


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@dataclass(frozen=True)
class Told:
    """What another process is told of a task. script: whether it must run the script of this process first, to know its functions."""

    task: bytes
    script: bool


def packed(task: Any) -> Told | None:
    """The task for another process; None if there is no way.

    Functions go by the name of their module. Those without a name, and those of a script, a notebook or a prompt, go as they are, so that
    no process runs the script again; where that fails, functions of a script go by name, and the script needs its guard.
    """
    try:
        found = pickle.dumps(task)
    except Exception:  # whatever the user's own objects raise
        found = None
    if found is not None and b"__main__" not in found:
        return Told(found, script=False)
    try:
        return Told(bytes(cloudpickle.dumps(task)), script=False)
    except Exception:
        return Told(found, script=True) if found is not None and hasattr(sys.modules["__main__"], "__file__") else None


def here(task: Any, jobs: list[Job]) -> Iterator[tuple[Job, Rows]]:
    """One after the other, in this thread."""
    for job in jobs:
        yield job, task(job.index, job.samples)


def threads(task: Any, jobs: list[Job], workers: int) -> Iterator[tuple[Job, Rows]]:
    """Threads of this process: the compiled loop lets them run side by side."""
    with ThreadPoolExecutor(workers) as pool:
        waiting, under_way = deque(jobs), dict[Future[Rows], Job]()
        try:
            while waiting or under_way:
                while waiting and len(under_way) < AHEAD * workers:
                    job = waiting.popleft()
                    under_way[pool.submit(task, job.index, job.samples)] = job
                for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                    yield under_way.pop(done), done.result()
        finally:
            for future in under_way:
                future.cancel()


def processes(task: Told, jobs: list[Job], workers: int) -> Iterator[tuple[Job, Rows]]:
    """Processes of this machine, told of the task by `packed`.

    Where one dies, the samples that were under way are run one by one, to know which is to blame.
    """
    waiting, under_way = deque(jobs), dict[Future[Rows], Job]()
    while waiting:
        try:
            yield from _pooled(task, waiting, under_way, workers)
        except BrokenProcessPool:
            suspects = [piece for job in under_way.values() for piece in _smaller(job)]
            under_way.clear()
            yield from _one_by_one(task, suspects)


class _Pool(ProcessPoolExecutor):
    """Processes that know the task, and are seen to live. They start in `submit`."""

    def __init__(self, told: Told, workers: int):
        super().__init__(workers, mp_context=get_context("spawn"), initializer=_take, initargs=(told.task,))
        self.told = told
        try:
            self.submit(_alive).result()
        except BrokenProcessPool:
            self.shutdown(cancel_futures=True)
            raise SimulationError(
                "ensemble: worker processes die as soon as they start. In a script the call must stand below "
                "`if __name__ == '__main__':`, and functions above it; executor='here' runs in this process."
            ) from None

    def submit(self, *given: Any, **more: Any) -> Future[Any]:
        with nullcontext() if self.told.script else _script_hidden():
            return super().submit(*given, **more)


@contextmanager
def _script_hidden() -> Iterator[None]:
    """Processes that start now do not run the script of this one, which multiprocessing finds by these two names."""
    names: dict[str, Any] = sys.modules["__main__"].__dict__
    kept: dict[str, Any] = {name: names.pop(name) for name in ("__file__", "__spec__") if name in names}
    names["__spec__"] = None
    try:
        yield
    finally:
        del names["__spec__"]
        names.update(kept)


def _pooled(task: Told, waiting: deque[Job], under_way: dict[Future[Rows], Job], workers: int) -> Iterator[tuple[Job, Rows]]:
    with _Pool(task, workers) as pool:
        try:
            while waiting or under_way:
                while waiting and len(under_way) < AHEAD * workers:
                    job = waiting.popleft()
                    under_way[pool.submit(_do, job)] = job
                for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                    rows = done.result()
                    yield under_way.pop(done), rows
        finally:
            for future in under_way:
                future.cancel()


def _one_by_one(task: Told, suspects: list[Job]) -> Iterator[tuple[Job, Rows]]:
    pool: ProcessPoolExecutor | None = None
    try:
        for job in suspects:
            rows = None
            for _ in range(RETRIES):
                pool = pool or _Pool(task, 1)
                try:
                    rows = pool.submit(_do, job).result()
                    break
                except BrokenProcessPool:
                    pool.shutdown(cancel_futures=True)
                    pool = None
            yield job, _lost(job) if rows is None else rows
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def _smaller(job: Job) -> list[Job]:
    """After a death: each sample by itself, since one of them may be to blame."""
    return [Job(job.index[k : k + 1], job.samples.some(np.array([k]))) for k in range(len(job.index))]


def _lost(job: Job) -> Rows:
    rows = empty_rows(job.index, 0, 0)
    rows.code[:] = KILLED
    return replace(rows, errors=["the process that ran it was killed, each time it was tried"] * len(job.index))


_task: Any = None


def _take(task: bytes) -> None:
    global _task
    _task = pickle.loads(task)  # of our own making, from the process that started this one


def _alive() -> bool:
    return True


def _do(job: Job) -> Rows:
    found: Rows = _task(job.index, job.samples)
    return found
