"""`ensemble`: many runs that differ in their start, in numbers of the machine, or in the machine itself."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.ensembles import executors
from dalembert.ensembles.cluster import is_cluster, on_cluster
from dalembert.ensembles.executors import Job
from dalembert.ensembles.files import Ledger, fingerprint, read_study
from dalembert.ensembles.identity import digest
from dalembert.ensembles.observers import as_observers
from dalembert.ensembles.rows import Rows
from dalembert.ensembles.samples import Samples, read_samples
from dalembert.ensembles.starts import base_of, check_names
from dalembert.ensembles.study import Study
from dalembert.ensembles.tasks import Common, CompiledTask, SimulatedTask, task_of
from dalembert.errors import DalembertError, OptionError
from dalembert.runs import checks, environment
from dalembert.runs.progress import Progress
from dalembert.runs.trajectory import Trajectory
from dalembert.systems import System, system_from

EXECUTORS = ("local", "here", "threads", "processes", "dask")
LARGE, SMALL = 8, 64  # portions of what is left for each worker; no smaller than this part of all,
FEW = 8  # nor than so many samples: those that are taken together cost less


def ensemble(
    build: Any,
    samples: Any,
    stepper: str | None = None,
    h: Any = 0.01,
    t_end: float = 10.0,
    executor: Any = "local",
    observe: Any = None,
    save: Any = None,
    *,
    q0: Any = None,
    v0: Any = None,
    names: Sequence[str] | None = None,
    every: int = 1,
    control: Any = None,
    compose: str | None = None,
    ignore: Any = (),
    workers: int | None = None,
    overwrite: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> Study:
    """Run every sample; the rows of the study say how each ended, and what was observed.

    build       a Model or Lagrangian, whose starts and numbers the samples change (one compiled loop over samples, threads), or a function
                of a sample: a system, or (system, keywords of `simulate`) (processes, if it can be pickled)
    samples     a list of mappings, a mapping of columns, an array with names=, dal.design(...): see ensembles/samples.py
    observe     a function of a trajectory, an observer, or {name: one}: see ensembles/observers.py. every: nodes that these see
    executor    "local", "here" (this thread), "threads", "processes", "dask" (a cluster of processes on this machine), the address of a
                scheduler, or a client of dask.distributed. workers: how many; all cores
    q0, v0      start of the samples that give none, and of the joints that they do not name
    save        a file; the same call goes on where a study that was killed ended, and returns at once one that is finished
    stepper, h, t_end, control, compose, ignore, options: as of `simulate`

    A sample that fails is a row with a word and a sentence, no exception. Ctrl-C returns what was run; with save= the same call goes on.
    Where the disk is full or the cluster is lost, the exception has what was run as its `study`.
    """
    common = replace(_common(stepper, h, t_end, every, compose, ignore, control, observe, options), q0=q0, v0=v0)
    task = task_of(build, common)
    wanted = read_samples(samples, names)
    if isinstance(build, System):
        base_of(build, q0, v0)
        check_names(build, wanted.names)
    study = Study(wanted, _meta(task, common, wanted), task)
    study.meta["fingerprint"] = fingerprint(wanted, study.meta)
    ledger = None if save is None else Ledger.open(save, study, overwrite)
    count = executors.cores() if workers is None else _count(workers)
    if save is None or ledger is not None:
        try:
            _run(study, task, executor, count, ledger, progress)
        except DalembertError as error:
            error.study = study  # type: ignore[attr-defined]  # a full disk, a lost cluster: what was run is not lost
            raise
    return study


def _run(study: Study, task: Any, executor: Any, workers: int, ledger: Ledger | None, progress: bool | None) -> None:
    """All samples that have not been run."""
    began, jobs = time.perf_counter(), _jobs(study, task, workers)
    done = int(study.done.sum())
    try:
        with Progress(progress, "samples", done, len(study), 0.0) as bar:
            for job, rows in _executed(task, jobs, executor, workers, study.meta.setdefault("hosts", {})):
                rows = replace(rows, index=job.index)
                study.add(rows)
                if ledger is not None:
                    ledger.append(rows)
                done += len(job.index)
                bar.update(done)
    except KeyboardInterrupt:
        study.meta["interrupted"] = True
    finally:
        study.meta |= {"seconds": time.perf_counter() - began, "workers": workers}
        if ledger is not None:
            ledger.close(study)


def _executed(task: Any, jobs: list[Job], executor: Any, workers: int, hosts: dict[str, Any]) -> Iterator[tuple[Job, Rows]]:
    if is_cluster(executor):
        return on_cluster(executor, task, jobs, workers, hosts)
    if not isinstance(executor, str) or executor not in EXECUTORS:
        known = f"{EXECUTORS}, the address of a scheduler ('tcp://...') or a client of dask.distributed"
        raise OptionError(f"ensemble: executor is {executor!r}; expected one of {known}.")
    compiled = isinstance(task, CompiledTask)
    if executor == "here" or workers == 1 or len(jobs) <= 1:
        return executors.here(task, jobs)
    if executor == "threads" or (executor == "local" and compiled):
        return executors.threads(task, jobs, workers)
    told = executors.packed(task)
    if told is None and executor == "local":
        return executors.here(task, jobs)
    if told is None:
        raise OptionError(
            "ensemble: other processes cannot be told of the functions of this study (pickle); put them into a module, or executor='here'."
        )
    return executors.processes(told, jobs, workers)


def _jobs(study: Study, task: Any, workers: int) -> list[Job]:
    """What is still to be run, in portions, none that keeps too many states. They become smaller towards the end, so that no worker waits
    long for another one."""
    left, pieces, most = np.flatnonzero(~study.done), [], 16
    if isinstance(task, CompiledTask):
        most = min(task.portion(round(task.common.t_end / task.common.h)), 2048)
    least = min(max(FEW, -(-len(left) // (SMALL * workers))), -(-len(left) // (LARGE * workers)))
    while len(left):
        size = max(1, min(max(-(-len(left) // (LARGE * workers)), least), most))
        pieces.append(left[:size])
        left = left[size:]
    return [Job(piece, study.samples.some(piece)) for piece in pieces]


def _common(
    stepper: Any, h: Any, t_end: Any, every: Any, compose: Any, ignore: Any, control: Any, observe: Any, options: dict[str, Any]
) -> Common:
    observers = as_observers(observe)
    step, n = checks.step_count(checks.seconds("h", h), t_end)
    every = checks.check_every(every, n)
    looked = every if any(o.all_nodes for o in observers.values()) else 0
    return Common(stepper, step, n * step, looked, compose, ignore, control, observers, options)


def _count(workers: Any) -> int:
    if isinstance(workers, bool) or not isinstance(workers, (int, np.integer)) or workers < 1:
        raise OptionError(f"ensemble: workers is {workers!r}; expected a whole number, at least 1.")
    return int(workers)


def _meta(task: CompiledTask | SimulatedTask, common: Common, samples: Samples) -> dict[str, Any]:
    """What a file says of a study beside its rows."""
    build = task.system if isinstance(task, CompiledTask) else task.build
    system = isinstance(build, System)
    name = build.name if system else getattr(build, "__qualname__", type(build).__name__)
    return {
        "title": f"{name or 'study'}: {common.stepper or 'default stepper'}, h = {common.h:g} s, {common.t_end:g} s",
        "system": {**build.data_for_file(), "kind": build.kind} if system else None,
        "build": None if system else name,
        "stepper": common.stepper, "h": common.h, "t_end": common.t_end, "every": common.every, "compose": common.compose,
        "ignore": list(common.ignore) if not isinstance(common.ignore, str) else [common.ignore],
        "control": None if common.control is None else type(common.control).__name__,
        "given": digest([common.control, common.observers, None if system else build]),
        "q0": _told(common.q0), "v0": _told(common.v0), "observe": {key: type(one).__name__ for key, one in common.observers.items()},
        "options": _plain(common.options), "versions": environment.versions(), "machine": environment.machine(),
    }  # fmt: skip


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """As text can hold them."""
    return {name: x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x for name, x in options.items()}


def _told(state: Any) -> Any:
    """A start as text can hold it."""
    if isinstance(state, dict):
        return {name: np.asarray(x).tolist() for name, x in state.items()}
    return state if state is None or isinstance(state, str) else np.asarray(state).tolist()


def rerun(study: Study, index: int, build: Any = None, every: int = 1, control: Any = None) -> Trajectory:
    """The run of one sample, alone: bit for bit what the study computed, with all of its nodes. A failure is in its status.

    build, control: where the study comes from a file and functions took part, which no file holds.
    """
    if not isinstance(study, Study):
        raise OptionError(f"rerun: the first argument is {type(study).__name__!r}; expected a Study, of dal.ensemble or dal.load_study.")
    sample = study[index].sample
    if study.task is not None:
        return _alone(
            SimulatedTask(study.task.system if isinstance(study.task, CompiledTask) else study.task.build, study.task.common), sample, every
        )
    meta = study.meta
    found = build if build is not None else None if meta["system"] is None else system_from(meta["system"])
    if found is None:
        raise OptionError(f"rerun: the study was built by the function {meta['build']!r}, which no file holds; give it as build=.")
    if meta["control"] is not None and control is None:
        raise OptionError("rerun: a control acted in the study, which no file holds; give it as control=.")
    common = Common(meta["stepper"], meta["h"], meta["t_end"], 1, meta["compose"], tuple(meta["ignore"]), control, {}, meta["options"])
    common = replace(common, q0=meta["q0"], v0=meta["v0"])
    return _alone(SimulatedTask(found, common), sample, every)


def _alone(task: SimulatedTask, sample: dict[str, Any], every: int) -> Trajectory:
    found: Trajectory = task.simulated(sample, every=every)
    return found


def load_study(path: Any) -> Study:
    """Read a study, also one that is under way or was killed."""
    return read_study(path)
