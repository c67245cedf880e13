"""Studies on a cluster of dask.distributed: the same jobs, on workers of other machines.

Few jobs are under way at a time, so that results do not pile up. A job whose worker dies is done again by another one; where that happens
too often, its samples are sent one by one, and one that kills its workers is a row that says so. Where the scheduler is lost, the rows so
far are in the file of the study, and the same call goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dalembert.ensembles.executors import AHEAD, RETRIES, Job, _lost, _smaller
from dalembert.ensembles.rows import Rows
from dalembert.errors import OptionError, SimulationError, UnsupportedError
from dalembert.runs.environment import machine, versions

LOCAL = "dask"
WAIT = 60  # s, for the first worker
#: of a cluster of this machine, whose scheduler takes its time from the workers: a profile of compiled loops tells nothing
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}


def is_cluster(executor: Any) -> bool:
    """True for a client, the address of a scheduler ("tcp://..."), and "dask": a cluster of processes on this machine."""
    return hasattr(executor, "scheduler_info") or (isinstance(executor, str) and (executor == LOCAL or "://" in executor))


@contextmanager
def connected(executor: Any, workers: int) -> Iterator[Any]:
    """A client; one that was made here is closed at the end. A cluster of this machine listens on the loopback alone."""
    if not isinstance(executor, str):
        yield executor
        return
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise UnsupportedError("ensemble: a cluster needs dask.distributed: pip install 'dalembert[distributed]'.") from None
    if executor != LOCAL:
        try:
            client = Client(executor, timeout=10)
        except OSError as error:
            raise SimulationError(f"ensemble: no scheduler answers at {executor!r} ({error}).") from None
        except ValueError as error:
            raise OptionError(f"ensemble: {executor!r} is no address of a scheduler ({error}); expected 'tcp://host:8786'.") from None
        with client:
            yield client
        return
    try:
        with dask.config.set(QUIET):
            cluster = LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
    except (OSError, RuntimeError) as error:
        raise SimulationError(
            f"ensemble: no cluster could be started ({error}). In a script the call must stand below `if __name__ == '__main__':`."
        ) from None
    with cluster, Client(cluster) as client:
        yield client


def on_cluster(executor: Any, task: Any, jobs: list[Job], workers: int, hosts: dict[str, Any]) -> Iterator[tuple[Job, Rows]]:
    """Rows as they are done, in any order. hosts: gets the versions and machines of the workers."""
    if not jobs:
        return
    with connected(executor, workers) as client:
        _await_worker(client)
        hosts |= _refuse_others(client)
        try:
            yield from _done(client, task, jobs)
        except (OSError, RuntimeError) as error:
            if isinstance(error, SimulationError):
                raise
            raise SimulationError(
                f"ensemble: the cluster was lost ({error}); with save= the same call goes on from the rows so far."
            ) from error


def _await_worker(client: Any) -> None:
    """A job that no worker takes would be waited for without end."""
    try:
        client.wait_for_workers(1, timeout=WAIT)
    except TimeoutError:
        raise SimulationError(f"ensemble: the cluster {client!r} has had no worker for {WAIT} s; start some, then call again.") from None


def _refuse_others(client: Any) -> dict[str, Any]:
    """Versions and machines of all workers. Those with another version of the library, or without it, would compute other digits."""
    mine, asked = versions()["dalembert"], client.run(_host, on_error="return")
    asked = {str(worker): found for worker, found in asked.items() if not isinstance(found, OSError)}  # one that died meanwhile has none
    others = {worker: _version(found) for worker, found in asked.items() if _version(found) != mine}
    if others:
        raise OptionError(f"ensemble: here is dalembert {mine}, and workers have others: {others}; install the same version there.")
    return asked


def _host() -> dict[str, Any]:
    """What a worker is; asked there."""
    return {"versions": versions(), "machine": machine()}


def _version(found: Any) -> str:
    return str(found["versions"]["dalembert"]) if isinstance(found, dict) else f"none ({found})"


def _done(client: Any, task: Any, jobs: list[Job]) -> Iterator[tuple[Job, Rows]]:
    """Each job brings its task along: what was scattered beforehand would be gone with the worker that holds it."""
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    waiting, known = deque(jobs), dict[str, Job]()
    running = as_completed()

    def send() -> None:
        limit = AHEAD * max(1, len(client.scheduler_info(n_workers=-1).get("workers", ())))
        while waiting and len(known) < limit:
            job = waiting.popleft()
            future = client.submit(_remote, task, job, pure=False, retries=RETRIES)
            known[future.key] = job
            running.add(future)

    send()
    for future in running:
        job = known.pop(future.key)
        if future.status == "finished":
            yield job, future.result()
        elif future.status != "error":  # cancelled or lost
            if client.status != "running":
                raise RuntimeError("its scheduler does not answer")
            waiting.append(job)
        elif isinstance(error := future.exception(), KilledWorker):
            pieces = _smaller(job) if len(job.index) > 1 else []
            waiting.extendleft(pieces)
            if not pieces:
                yield job, _lost(job)
        else:
            raise error
        send()


def _remote(task: Any, job: Job) -> Rows:
    found: Rows = task(job.index, job.samples)
    return found
