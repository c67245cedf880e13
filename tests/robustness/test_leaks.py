"""Descriptors, threads, processes and memory are the same after many runs, files, studies, plots and refusals."""

import gc
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.ensembles.machines import built, double_pendulum

import dalembert as dal

STARTS = np.random.default_rng(4).uniform(-1, 1, (24, 2))
GIVEN = {"stepper": "midpoint", "h": 0.01, "t_end": 0.1}
FD = Path("/proc/self/fd")
pytestmark = pytest.mark.skipif(not FD.exists(), reason="descriptors are counted where /proc tells them")


def descriptors():
    gc.collect()
    return sorted(os.readlink(FD / name) for name in os.listdir(FD) if (FD / name).exists())


def rss():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def run_and_file(folder, k):
    path = folder / f"run{k}.h5"
    dal.simulate(double_pendulum(), q0=STARTS[k % 24], save=path, **GIVEN)
    dal.resume(path, 0.2)
    assert len(dal.load(path)) == 21


def study_and_file(folder, k):
    path = folder / f"study{k}.h5"
    found = dal.ensemble(double_pendulum(), {"q0": STARTS, "upper.mass": 1 + 0.01 * np.arange(24)}, save=path, workers=2, **GIVEN)
    dal.rerun(dal.load_study(path), 3)
    assert found.ok.all()


def refusals(folder, k):
    """What is damaged, of another study, not there, interrupted in its first moment."""
    path = folder / f"refused{k}.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n and nothing more")
    for call in (lambda: dal.load(path), lambda: dal.load_study(path), lambda: dal.load_study(folder / "none.h5")):
        with pytest.raises(dal.ArchiveError):
            call()
    other = folder / f"other{k}.h5"
    dal.ensemble(double_pendulum(), {"q0": STARTS}, save=other, **GIVEN)
    with pytest.raises(dal.ArchiveError, match="another study"):
        dal.ensemble(double_pendulum(), {"q0": STARTS + 1}, save=other, **GIVEN)
    journal = folder / f"cut{k}.h5.journal"
    journal.write_bytes(b"no journal, but long enough to have been one once" * 100)
    with pytest.raises(dal.ArchiveError):
        dal.ensemble(double_pendulum(), {"q0": STARTS}, save=folder / f"cut{k}.h5", **GIVEN)


def failing(folder, k):
    """Runs and studies whose own code raises."""

    def control(t, q, v):
        if t > 0.05:
            raise RuntimeError("enough")
        return 0 * v

    path = folder / f"failed{k}.h5"
    with pytest.raises(dal.SimulationError, match="enough"):
        dal.simulate(double_pendulum(), control=control, save=path, **GIVEN)
    dal.load(path)
    found = dal.ensemble(double_pendulum(), {"q0": STARTS[:3]}, control=control, save=folder / f"raised{k}.h5", workers=1, **GIVEN)
    assert not found.ok.any()


def plots(folder, k):
    traj = dal.simulate(double_pendulum(), q0=STARTS[k % 24], **GIVEN)
    traj.plot(folder / f"plot{k}.png")
    traj.report()


def interactive(folder, k):
    sim = dal.Simulation(double_pendulum(), stepper="midpoint", h=0.01)
    sim.step(10)
    with sim.edit() as m:
        m.add_body("more", 1.0, (0.1, 0.1, 0.1))
    sim.step(5)


@pytest.mark.parametrize("work", [run_and_file, study_and_file, refusals, failing, plots, interactive], ids=lambda f: f.__name__)
def test_descriptors_and_threads_are_as_many_as_before(work, tmp_path):
    for k in range(2):  # what is opened once and kept: fonts, kernels
        work(tmp_path, k)
    before, threads = descriptors(), threading.active_count()
    for k in range(2, 9):
        work(tmp_path, k)
    after = descriptors()
    assert len(after) <= len(before), [name for name in after if name not in before]
    assert threading.active_count() <= threads


def test_studies_in_processes_leave_neither_processes_nor_pipes(tmp_path):
    import multiprocessing

    def study(k):
        found = dal.ensemble(built, [{"links": 1 + i % 2} for i in range(4)], executor="processes", workers=2, **GIVEN)
        assert found.ok.all()

    study(0)
    before = len(descriptors())
    for k in range(2):
        study(k)
    assert len(descriptors()) <= before and not multiprocessing.active_children()


def test_memory_does_not_grow_with_the_number_of_studies_and_runs(tmp_path):
    """After 30 of each, 90 more may take 8 MB: the allocator's own. A model, its plan, arrays and rows of a study are some 100 kB, so if
    each stayed it would be 20 MB. Machines are new each time, as in a program that makes them in a loop."""

    def work(k):
        dal.simulate(double_pendulum(), q0=STARTS[k % 24], **GIVEN)
        samples = {"q0": np.tile(STARTS, (8, 1)), "upper.mass": np.linspace(0.5, 2, 192)}
        dal.ensemble(double_pendulum(), samples, observe=dal.observers.Statistics("q"), workers=1, **GIVEN)

    for k in range(30):
        work(k)
    before = rss()
    for k in range(90):
        work(k)
    assert rss() - before < 8e6
