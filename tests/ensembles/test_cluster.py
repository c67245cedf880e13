"""Studies on a cluster: a killed worker and a killed scheduler lose no sample; every row once, bit for bit as undisturbed."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from tests.ensembles.machines import Slow, double_pendulum

import dalembert as dal
from dalembert.ensembles import cluster as cluster_module

distributed = pytest.importorskip("distributed", reason="the extra `distributed` is not installed")
STARTS = np.random.default_rng(2).uniform(-2, 2, (48, 2))
GIVEN = {"stepper": "midpoint", "h": 0.01, "t_end": 0.5}
LOOPBACK = "127.0.0.1"


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


def test_a_killed_worker_loses_no_sample():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, host=LOOPBACK, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        killer = threading.Timer(0.7, os.kill, (pids[0], signal.SIGKILL))
        killer.start()
        found = study(executor=client, observe=Slow())
        assert all(host["versions"]["dalembert"] == dal.__version__ and host["machine"]["cpu"] for host in found.meta["hosts"].values())
        killer.join()
        assert pids[0] not in client.run(os.getpid).values()  # it was killed, and another one stands in
    same(found, study())


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


def served(tmp_path, name):
    """A scheduler and a worker of their own: (processes, address)."""
    file = tmp_path / f"{name}.json"
    run = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", LOOPBACK, "--port", "0", "--no-dashboard", "--no-show"]
    scheduler = subprocess.Popen([*run, "--scheduler-file", str(file)], stderr=subprocess.DEVNULL)
    for _ in range(300):
        if file.exists() and file.stat().st_size:
            break
        time.sleep(0.1)
    run = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard"]
    worker = subprocess.Popen([*run, "--no-nanny", "--host", LOOPBACK, "--death-timeout", "120"], stderr=subprocess.DEVNULL)
    import json

    return (scheduler, worker), json.loads(file.read_text())["address"]


def test_a_killed_scheduler_leaves_rows_from_which_the_same_call_goes_on(tmp_path):
    path = tmp_path / "study.h5"
    parts, address = served(tmp_path, "first")
    try:
        rows = threading.Event()

        def kill():
            while not rows.is_set():
                journal = tmp_path / "study.h5.journal"
                if journal.exists() and dal.load_study(path).done.sum() >= 6:
                    parts[0].send_signal(signal.SIGKILL)
                    return
                time.sleep(0.1)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(dal.SimulationError, match="cluster was lost"):
            study(executor=address, observe=Slow(), save=path)
        rows.set()
        killer.join()
        before = int(dal.load_study(path).done.sum())
        assert 0 < before < len(STARTS)
    finally:
        for part in parts:
            part.kill()
            part.wait()
    same(study(observe=Slow(), save=path, workers=1), study())
    same(dal.load_study(path), study())
