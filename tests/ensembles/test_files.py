"""Studies in files: killed and continued, damaged, of another study; every sample once, equal to the undisturbed study bit for bit."""

import os
import shutil
import signal
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest
from tests.ensembles.machines import double_pendulum, wait_for

import dalembert as dal
from dalembert.ensembles import files
from dalembert.ensembles.files import Ledger

STARTS = np.random.default_rng(1).uniform(-2, 2, (60, 2))
GIVEN = {"stepper": "midpoint", "h": 0.01, "t_end": 1.0, "observe": dal.observers.EnergyChange()}

SCRIPT = """
import sys
import numpy as np
import dalembert as dal
from tests.ensembles.machines import double_pendulum, wait_for
from dalembert.ensembles import ensemble as module
from dalembert.ensembles.files import Ledger

kept, count = Ledger.append, []
def watched(self, rows):
    kept(self, rows)
    count.append(1)
    print("row", flush=True)
    if len(count) == 3:
        sys.stdin.read()  # until it is killed
Ledger.append = watched
starts = np.random.default_rng(1).uniform(-2, 2, (60, 2))
given = {"observe": dal.observers.EnergyChange(), "save": sys.argv[1], "workers": 2}
dal.ensemble(double_pendulum(), {"q0": starts}, "midpoint", h=0.01, t_end=1.0, **given)
"""


def undisturbed():
    return dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN)


def same(a, b):
    for name in ("q", "v", "t", "steps"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert list(a.status) == list(b.status) and a.error == b.error
    for name, column in a.observed.items():
        np.testing.assert_array_equal(column, b.observed[name])


def test_a_study_comes_back_from_its_file(tmp_path):
    path = tmp_path / "study.h5"
    study = dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path)
    read = dal.load_study(path)
    same(study, read)
    np.testing.assert_array_equal(read.samples.columns["q0"], STARTS)
    np.testing.assert_array_equal(dal.rerun(read, 5).q[-1], study.q[5])
    assert list(tmp_path.iterdir()) == [path]  # no journal is left
    with h5py.File(path) as file:
        assert file["q"].shape == (60, 2)


def test_a_finished_study_is_returned_without_running(tmp_path):
    path = tmp_path / "study.h5"
    first = dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path)
    written = path.stat().st_mtime_ns
    again = dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path)
    same(first, again)
    assert path.stat().st_mtime_ns == written


def test_another_study_is_refused(tmp_path):
    path = tmp_path / "study.h5"
    dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path)
    for change in ({"h": 0.02}, {"stepper": "trapezoidal"}, {"t_end": 2.0}):
        with pytest.raises(dal.ArchiveError, match="another study"):
            dal.ensemble(double_pendulum(), {"q0": STARTS}, **{**GIVEN, **change}, save=path)
    with pytest.raises(dal.ArchiveError, match="another study"):
        dal.ensemble(double_pendulum(), {"q0": STARTS + 1e-15}, **GIVEN, save=path)
    other = dal.ensemble(double_pendulum(), {"q0": STARTS[:3]}, **GIVEN, save=path, overwrite=True)
    same(other, dal.load_study(path))


def test_a_killed_study_goes_on_and_computes_nothing_twice(tmp_path):
    path = tmp_path / "study.h5"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (os.getcwd(), *sys.path)))}
    run = subprocess.Popen([sys.executable, "-c", SCRIPT, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    for _ in range(3):
        assert run.stdout.readline().strip() == b"row"
    run.send_signal(signal.SIGKILL)
    run.wait()
    partial = dal.load_study(path)  # readable at any time
    before = int(partial.done.sum())
    assert 0 < before < 60 and not path.exists()
    ran = []
    from dalembert.ensembles.tasks import CompiledTask

    kept = CompiledTask.__call__

    def counted(self, index, samples):
        ran.extend(index.tolist())
        return kept(self, index, samples)

    CompiledTask.__call__ = counted
    try:
        study = dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path)
    finally:
        CompiledTask.__call__ = kept
    assert sorted(ran) == sorted(np.flatnonzero(~partial.done).tolist())  # each that was missing, once
    same(study, undisturbed())
    same(dal.load_study(path), undisturbed())


def test_a_torn_journal_loses_only_its_last_record(tmp_path):
    path = tmp_path / "study.h5"
    whole = undisturbed()
    from dalembert.ensembles.files import Ledger, _some
    from dalembert.ensembles.study import Study

    study = Study(whole.samples, whole.meta)
    ledger = Ledger.open(path, study, False)
    for k in range(0, 30, 10):
        ledger.append(_some(whole, np.arange(k, k + 10)))
    ledger.journal.close()
    journal = tmp_path / "study.h5.journal"
    data = journal.read_bytes()
    journal.write_bytes(data[:-7])
    assert int(dal.load_study(path).done.sum()) == 20
    again = dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path)
    same(again, whole)


@pytest.mark.parametrize("damage", ["flip", "cut", "text"])
def test_a_damaged_file_is_an_error_in_words(tmp_path, damage):
    path = tmp_path / "study.h5"
    study = dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path)
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[data.find(study.q.tobytes()) + 100] ^= 0xFF
    path.write_bytes({"flip": bytes(data), "cut": bytes(data[: len(data) // 3]), "text": b"hello"}[damage])
    with pytest.raises(dal.ArchiveError):
        dal.load_study(path)


def test_a_run_is_no_study_and_there_may_be_nothing(tmp_path):
    run = tmp_path / "run.h5"
    dal.simulate(double_pendulum(), "midpoint", h=0.01, t_end=0.1, save=run)
    with pytest.raises(dal.ArchiveError, match="no study"):
        dal.load_study(run)
    with pytest.raises(dal.ArchiveError, match="does not exist"):
        dal.load_study(tmp_path / "nothing.h5")
    with pytest.raises(dal.DalembertError):
        dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=tmp_path / "no" / "folder.h5")


def test_ctrl_c_returns_what_was_run_and_the_same_call_goes_on(tmp_path):
    path = tmp_path / "study.h5"
    calls = []

    class Impatient(dal.observers.Observer):
        all_nodes = False

        def __call__(self, batch):
            calls.append(len(batch.index))
            if len(calls) == 3:
                raise KeyboardInterrupt
            return {"n": np.zeros(len(batch.index))}

    study = dal.ensemble(double_pendulum(), {"q0": STARTS}, "midpoint", h=0.01, t_end=0.1, observe=Impatient(), save=path, workers=1)
    assert 0 < study.done.sum() < 60 and study.meta["interrupted"]
    again = dal.ensemble(double_pendulum(), {"q0": STARTS}, "midpoint", h=0.01, t_end=0.1, observe=Impatient(), save=path, workers=1)
    assert again.done.all()
    np.testing.assert_array_equal(again.q, dal.ensemble(double_pendulum(), {"q0": STARTS}, "midpoint", h=0.01, t_end=0.1).q)


def test_samples_that_are_no_numbers_are_kept_as_text(tmp_path):
    path = tmp_path / "study.h5"
    samples = [{"q0": {"shoulder": 0.3}}, {"q0": {"elbow": 0.1}, "upper.mass": 2.0}]
    study = dal.ensemble(double_pendulum(), samples, "midpoint", h=0.01, t_end=0.1, save=path)
    read = dal.load_study(path)
    assert read[1].sample == samples[1]
    np.testing.assert_array_equal(dal.rerun(read, 1).q[-1], study.q[1])


def test_a_full_disk_leaves_what_was_run_in_the_file_and_in_the_error(tmp_path):
    resource = pytest.importorskip("resource")
    path, before = tmp_path / "study.h5", resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, before[1]))
        with pytest.raises(dal.ArchiveError, match="too large") as caught:
            dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert 0 < dal.load_study(path).done.sum() < 60 and caught.value.study.done.any()
    same(dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path), undisturbed())


def test_a_folder_that_vanishes_loses_no_row_in_memory(tmp_path):
    class Gone(dal.observers.Observer):
        all_nodes = False

        def __call__(self, batch):
            shutil.rmtree(tmp_path / "folder", ignore_errors=True)
            return {"n": np.zeros(len(batch.index))}

    (tmp_path / "folder").mkdir()
    given = {**GIVEN, "observe": Gone(), "workers": 1}
    with pytest.raises(dal.ArchiveError, match="does not exist") as caught:
        dal.ensemble(double_pendulum(), {"q0": STARTS}, **given, save=tmp_path / "folder" / "study.h5")
    np.testing.assert_array_equal(caught.value.study.q, undisturbed().q)


def test_a_journal_cut_or_changed_anywhere_gives_right_rows_or_words(tmp_path):
    """Every 41st byte of a journal: cut there, and changed there. Rows that are read are those of the undisturbed study."""
    from dalembert.ensembles.files import Ledger, _some
    from dalembert.ensembles.study import Study

    path, whole = tmp_path / "study.h5", undisturbed()
    ledger = Ledger.open(path, Study(whole.samples, whole.meta), False)
    for k in range(0, 60, 20):
        ledger.append(_some(whole, np.arange(k, k + 20)))
    ledger.journal.close()
    journal = tmp_path / "study.h5.journal"
    data, counts = journal.read_bytes(), {"words": 0, "rows": 0}
    for at in range(0, len(data), 41):
        changed = bytearray(data)
        changed[at] ^= 4
        for damaged in (data[:at], bytes(changed)):
            journal.write_bytes(damaged)
            try:
                found = dal.load_study(path)
            except dal.ArchiveError:
                counts["words"] += 1
                continue
            counts["rows"] += 1
            assert not found.done.any() or (found.q[found.done] == whole.q[found.done]).all()
            np.testing.assert_array_equal(found.samples.columns["q0"], STARTS)
    assert counts["words"] > 50 and counts["rows"] > 50


@pytest.mark.parametrize("cut", [0, 20, 700])
def test_a_study_killed_while_its_head_is_written_begins_anew(tmp_path, cut):
    path, journal = tmp_path / "study.h5", tmp_path / "study.h5.journal"
    from dalembert.ensembles.files import Ledger
    from dalembert.ensembles.study import Study

    whole = undisturbed()
    Ledger.open(path, Study(whole.samples, whole.meta), False).journal.close()
    journal.write_bytes(journal.read_bytes()[:cut])
    same(dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path), whole)


def test_a_study_is_no_run(tmp_path):
    dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=tmp_path / "study.h5")
    with pytest.raises(dal.ArchiveError, match="load_study"):
        dal.load(tmp_path / "study.h5")


def test_a_study_that_has_just_begun_is_read_once_its_samples_are_there(tmp_path, monkeypatch):
    """The samples are written once a reader has looked, and found the head alone."""
    path, journal, looked = tmp_path / "study.h5", tmp_path / "study.h5.journal", threading.Event()
    append, read = Ledger._append_samples, files._from_journal

    def late(self, samples):
        looked.wait(240)  # the head is written, the samples are not
        append(self, samples)

    def seen(there):
        try:
            return read(there)
        except files._Begun:
            looked.set()
            raise

    monkeypatch.setattr(Ledger, "_append_samples", late)
    monkeypatch.setattr(files, "_from_journal", seen)
    monkeypatch.setattr(files, "PATIENCE", 240.0)
    writer = threading.Thread(target=lambda: dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path))
    writer.start()
    wait_for(lambda: journal.exists() and journal.stat().st_size, "the journal")
    np.testing.assert_array_equal(dal.load_study(path).samples.columns["q0"], STARTS)
    assert looked.is_set()
    writer.join()
    same(dal.load_study(path), undisturbed())


def test_a_journal_whose_writer_has_not_yet_taken_its_lock_is_waited_for(tmp_path):
    """It is there, and empty; the study comes while a reader waits. Without a writer the reader says so after a while."""
    path, journal = tmp_path / "study.h5", tmp_path / "study.h5.journal"
    journal.touch()
    writer = threading.Thread(target=lambda: dal.ensemble(double_pendulum(), {"q0": STARTS}, **GIVEN, save=path))
    writer.start()
    np.testing.assert_array_equal(dal.load_study(path).samples.columns["q0"], STARTS)
    writer.join()
    path.unlink()
    journal.touch()
    with pytest.raises(dal.ArchiveError, match="no readable head"):
        dal.load_study(path)
