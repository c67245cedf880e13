"""Studies on a cluster: a killed worker, a killed scheduler and a killed client lose no sample; every row once, bit for bit as undisturbed.

What is killed is killed at a moment that is known, however slow the machine: observers wait until then.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from tests.ensembles.machines import Gate, Stuck, double_pendulum, wait_for

import dalembert as dal
from dalembert.ensembles import cluster as cluster_module

distributed = pytest.importorskip("distributed", reason="the extra `distributed` is not installed")
STARTS = np.random.default_rng(2).uniform(-2, 2, (48, 2))
GIVEN = {"stepper": "midpoint", "h": 0.01, "t_end": 0.5, "workers": 2}
LOOPBACK = "127.0.0.1"
FIRST = 6  # samples that are done before something is killed: two jobs of three

CLIENT = """
import sys
from tests.ensembles.machines import Gate
from tests.ensembles.test_cluster import FIRST, study
study(executor=sys.argv[1], observe=Gate(FIRST, sys.argv[2]), save=sys.argv[3])
"""


def study(**more):
    return dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, **more)


def same(a, b):
    assert a.done.all() and b.done.all() and list(a.status) == list(b.status)
    np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(a.v, b.v)


@pytest.fixture(autouse=True)
def paths(monkeypatch):
    """Workers import what this test imports."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (os.getcwd(), *sys.path))))


def test_a_killed_worker_loses_no_sample(tmp_path):
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, host=LOOPBACK, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        found, failed = [], []

        def run():
            try:
                found.append(study(executor=client, observe=Stuck(victim, tmp_path)))
            except BaseException as error:
                failed.append(error)

        runner = threading.Thread(target=run)
        runner.start()
        wait_for((tmp_path / "here").exists, "the job of the worker that is to be killed")
        os.kill(victim, signal.SIGKILL)
        runner.join(240)
        assert not failed and found
        hosts = found[0].meta["hosts"]
        assert all(host["versions"]["dalembert"] == dal.__version__ and host["machine"]["cpu"] for host in hosts.values())
        assert victim not in client.run(os.getpid).values()  # it was killed, and others stood in
    same(found[0], study())


@pytest.mark.parametrize(
    ("found", "said"),
    [({"versions": {"dalembert": "0.0.1"}, "machine": {}}, r"0\.0\.1"), (ModuleNotFoundError("No module named 'dalembert'"), "none")],
)
def test_a_worker_with_another_version_or_none_is_refused_by_name(found, said):
    class Elsewhere:
        def scheduler_info(self, **more):
            return {"workers": {"tcp://worker": {}}}

        def wait_for_workers(self, n, timeout):
            pass

        def run(self, function, **more):
            return {"tcp://worker": found}

    with pytest.raises(dal.OptionError, match=f"tcp://worker.*{said}"):
        study(executor=Elsewhere())


def test_a_cluster_without_workers_is_said(monkeypatch):
    monkeypatch.setattr(cluster_module, "WAIT", 1)
    with (
        distributed.LocalCluster(n_workers=0, host=LOOPBACK, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(dal.SimulationError, match="no worker for 1 s"),
    ):
        study(executor=client)


@contextmanager
def served(tmp_path, name):
    """A scheduler and a worker of their own: (scheduler, address). Both are gone afterwards."""
    file, parts = tmp_path / f"{name}.json", []

    def told():
        try:
            return json.loads(file.read_text())["address"]
        except (OSError, ValueError):  # not there yet, or half written
            return None

    try:
        run = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", LOOPBACK, "--port", "0", "--no-dashboard", "--no-show"]
        parts.append(subprocess.Popen([*run, "--scheduler-file", str(file)], stderr=subprocess.DEVNULL))
        wait_for(lambda: told() is not None, "the scheduler")
        run = [sys.executable, "-m", "distributed.cli.dask_worker", told(), "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        parts.append(subprocess.Popen([*run, "--host", LOOPBACK, "--death-timeout", "240"], stderr=subprocess.DEVNULL))
        yield parts[0], told()
    finally:
        for part in parts:
            part.kill()
            part.wait()


def rows_in(path):
    """How many rows the journal of a study has; none as long as there is no readable head, or it is gone."""
    try:
        return int(dal.load_study(path).done.sum())
    except dal.ArchiveError:
        return 0


def test_a_killed_scheduler_leaves_rows_from_which_the_same_call_goes_on(tmp_path):
    path, gate, problems = tmp_path / "study.h5", tmp_path / "open", []
    with served(tmp_path, "first") as (scheduler, address):

        def kill():
            try:
                wait_for(lambda: rows_in(path) >= FIRST, "the first rows")
            except BaseException as error:
                problems.append(error)
            scheduler.send_signal(signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(dal.SimulationError, match="cluster was lost"):
            study(executor=address, observe=Gate(FIRST, gate), save=path)
        killer.join()
    assert not problems and rows_in(path) == FIRST
    gate.touch()
    same(study(observe=Gate(FIRST, gate), save=path), study())
    same(dal.load_study(path), study())


def test_a_killed_client_leaves_rows_from_which_the_same_call_goes_on_with_the_same_scheduler(tmp_path):
    path, gate = tmp_path / "study.h5", tmp_path / "open"
    with served(tmp_path, "only") as (_, address):
        client = subprocess.Popen([sys.executable, "-c", CLIENT, address, str(gate), str(path)])
        try:
            wait_for(lambda: client.poll() is not None or rows_in(path) >= FIRST, "the first rows")
            assert client.poll() is None
        finally:
            client.kill()  # SIGKILL
            client.wait()
        before = dal.load_study(path)
        assert before.done.sum() == FIRST and not path.exists() and not before.meta["running"]
        gate.touch()
        ran = []
        with distributed.Client(address, timeout=60) as other:
            after = study(executor=Noted(other, ran), observe=Gate(FIRST, gate), save=path)
        assert sorted(i for index in ran for i in index) == sorted(np.flatnonzero(~before.done).tolist())  # each that was missing, once
    same(after, study())
    same(dal.load_study(path), study())


class Noted:
    """A client that notes which samples it is asked to run."""

    def __init__(self, client, ran):
        self._client, self._ran = client, ran

    def __getattr__(self, name):
        return getattr(self._client, name)

    def submit(self, function, task, job, **more):
        self._ran.append(job.index.tolist())
        return self._client.submit(function, task, job, **more)
