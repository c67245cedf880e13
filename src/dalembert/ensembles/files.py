"""Studies in files: a checksummed journal while samples are run, one HDF5 file at the end.

The journal (`study.h5.journal`) has a record for each job that is done: SIGKILL loses the jobs that were under way, and nothing else. The
same call goes on from it, if the study is the same: its fingerprint is that of samples, machine, stepper, step, time and options.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.ensembles.identity import digest
from dalembert.ensembles.rows import Rows
from dalembert.ensembles.samples import Samples
from dalembert.ensembles.study import PENDING, Study
from dalembert.errors import ArchiveError
from dalembert.io.archive import Variable, read_archive, write_archive
from dalembert.io.atomic import file_path
from dalembert.io.journal import Journal, is_locked, read_journal

FORMAT = "dalembert study 1"
NUMBERS = ("index", "code", "steps", "t", "q", "v")
PATIENCE, PAUSE = 10.0, 0.02  # s: of a reader while a live writer is at the head of its journal, and between two looks
GRACE = 2.0  # s: of a reader before a journal that is empty, whose writer has made it and not yet taken its lock


class _Begun(ArchiveError):
    """A journal without samples: its writer has just begun, or was killed there."""


def journal_path(path: Path) -> Path:
    """Of a study that is not finished."""
    return path.with_name(path.name + ".journal")


def fingerprint(samples: Samples, meta: dict[str, Any]) -> str:
    """Of what decides the rows of a study."""
    found = hashlib.sha256(json.dumps(meta, sort_keys=True, default=digest).encode())
    if samples.columns is not None:
        for name, column in samples.columns.items():
            found.update(name.encode() + str(column.shape).encode() + np.ascontiguousarray(column).tobytes())
    else:
        found.update(json.dumps([samples[i] for i in range(len(samples))], sort_keys=True, default=_same_json).encode())
    return found.hexdigest()


def _same_json(x: Any) -> Any:
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else digest(x)


def _json(x: Any) -> Any:
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else repr(x)


class Ledger:
    """The file of a study while it runs."""

    def __init__(self, path: Path, journal: Journal):
        self.path, self.journal = path, journal

    @classmethod
    def open(cls, given: Any, study: Study, overwrite: bool) -> Ledger | None:
        """Continue or begin. None: the study is there already, whole; its rows are then in `study`."""
        path = file_path("ensemble", given)
        journal, mark = journal_path(path), study.meta["fingerprint"]
        if path.exists() and not overwrite:
            before = read_study(path)
            _same(path, before.meta.get("fingerprint"), mark)
            _take(study, before)
            if study.done.all():
                return None
        header = {"format": FORMAT, "fingerprint": mark, "meta": study.meta, **_sample_text(study.samples)}
        if journal.exists() and not overwrite and not _begun(journal, header):
            opened = Journal.reopen(journal)
            try:
                _same(journal, opened.header.get("fingerprint"), mark)
                content = read_journal(journal)
                for rows in _rows_of(content.arrays):
                    study.add(rows)
                made = cls(path, opened)
                if "sample 0" not in content.arrays:
                    made._append_samples(study.samples)  # it was killed before
            except BaseException:
                opened.close()
                raise
            return made
        made = cls(path, Journal.create(journal, header, overwrite=True))
        made._append_samples(study.samples)
        if study.done.any():
            made.append(_some(study, np.flatnonzero(study.done)))
        return made

    def _append_samples(self, samples: Samples) -> None:
        if samples.columns:
            self.journal.append({f"sample {k}": np.atleast_1d(column) for k, column in enumerate(samples.columns.values())})

    def append(self, rows: Rows) -> None:
        """Rows of a job; observed columns are those of its samples."""
        texts = [text.encode() for text in rows.errors]
        record = {name: np.atleast_1d(getattr(rows, name)) for name in NUMBERS}
        record |= {f"observed {name}": column for name, column in rows.observed.items()}
        record["error length"] = np.array([len(text) for text in texts], dtype=np.int64)
        record["error text"] = np.frombuffer(b"".join(texts), dtype=np.uint8)
        # widths and names of columns may differ from job to job where machines do, so each record says what it holds
        name = f"job {self.journal.records} "
        self.journal.append({f"{name}{key}": value for key, value in record.items()})

    def close(self, study: Study) -> None:
        """One HDF5 file; the journal goes when all samples are in it."""
        try:
            if study.done.all():
                write_study(study, self.path, overwrite=True)
                self.journal.discard()
        finally:
            self.journal.close()


def _begun(journal: Path, header: dict[str, Any]) -> bool:
    """True for a journal whose writer was killed before its head was written: there is nothing in it that could be lost."""
    content = read_journal(journal)
    if content.header is not None:
        return False
    if journal.stat().st_size < len(json.dumps(header)):
        return not is_locked(journal)
    raise ArchiveError(f"{str(journal)!r} is damaged at its head, and no row can be read; choose another name, or overwrite=True.")


def _same(path: Path, found: Any, wanted: str) -> None:
    if found != wanted:
        raise ArchiveError(
            f"{str(path)!r} is another study: samples, machine, stepper, step, time, options, control, observers or version differ; choose "
            "another name, or overwrite=True."
        )


def _sample_text(samples: Samples) -> dict[str, Any]:
    if samples.columns is not None:
        return {"sample names": list(samples.columns)}
    return {"sample rows": json.loads(json.dumps([samples[i] for i in range(len(samples))], default=_json))}


def _rows_of(arrays: dict[str, np.ndarray]) -> list[Rows]:
    """Jobs of a journal."""
    jobs: dict[str, dict[str, np.ndarray]] = {}
    for key, value in arrays.items():
        if key.startswith("job "):
            _, number, name = key.split(" ", 2)
            jobs.setdefault(number, {})[name] = value
    out = []
    for job in jobs.values():
        ends = np.cumsum(job["error length"])
        data = job["error text"].tobytes()
        errors = [data[end - n : end].decode() for n, end in zip(job["error length"], ends, strict=True)]
        observed = {name.removeprefix("observed "): value for name, value in job.items() if name.startswith("observed ")}
        out.append(_rows(job, errors, observed))
    return out


def _rows(numbers: dict[str, np.ndarray], errors: list[str], observed: dict[str, np.ndarray]) -> Rows:
    index, code, steps, t, q, v = (numbers[name] for name in NUMBERS)
    return Rows(index, code, steps, t, q, v, errors, observed)


def _some(study: Study, at: np.ndarray) -> Rows:
    r = study._rows
    return Rows(
        r.index[at], r.code[at], r.steps[at], r.t[at], r.q[at], r.v[at], [r.errors[int(i)] for i in at],
        {name: column[at] for name, column in r.observed.items()},
    )  # fmt: skip


def _take(study: Study, other: Study) -> None:
    """Rows that another study of the same samples has."""
    at = np.flatnonzero(other.done)
    if len(at):
        study.add(_some(other, at))


def write_study(study: Study, given: Any, overwrite: bool = False) -> None:
    """One HDF5 file that any reader of netCDF4 opens."""
    path, r = file_path("save", given), study._rows
    found = [Variable("code", r.code, ("sample",)), Variable("steps", r.steps, ("sample",)), Variable("t", r.t, ("sample",), "s")]
    found += [Variable("q", r.q, ("sample", "coordinate")), Variable("v", r.v, ("sample", "rate"))]
    found += [Variable("status", study.status.tolist(), ("sample",)), Variable("error", r.errors, ("sample",))]
    columns = study.samples.columns
    for group, table in (("samples", columns or {}), ("observed", r.observed)):
        for k, (name, column) in enumerate(table.items()):
            dims = ("sample", *(f"{group}_{k}_{axis}" for axis in range(column.ndim - 1)))
            found.append(Variable(f"{group}/column{k}", column, dims, long_name=name))
    attributes = {
        "format": FORMAT, "title": study.meta.get("title", "study"), "source": "dalembert", "meta": study.meta,
        "observed": list(r.observed), **{k.replace(" ", "_"): x for k, x in _sample_text(study.samples).items()},
    }  # fmt: skip
    write_archive(path, found, attributes, overwrite=overwrite)


def read_study(given: Any) -> Study:
    """A study from its file, or from the journal of one that is under way or was killed."""
    path = file_path("load_study", given)
    journal, began = journal_path(path), time.monotonic()
    while not path.exists():
        if not journal.exists() and not path.exists():  # in this order: the file is there before the journal goes
            raise ArchiveError(f"{str(path)!r} does not exist.")
        try:
            return _from_journal(journal)
        except ArchiveError as error:
            begins = isinstance(error, _Begun) and time.monotonic() - began < _patience(journal)
            if not begins and not path.exists():  # else it was finished meanwhile
                raise
            time.sleep(PAUSE)
    return _from_file(path)


def _patience(journal: Path) -> float:
    """How long a journal without samples is waited for."""
    if is_locked(journal):
        return PATIENCE
    try:
        return GRACE if journal.stat().st_size == 0 else 0.0
    except FileNotFoundError:  # it was finished, or discarded
        return GRACE


def _from_file(path: Path) -> Study:
    data, attributes = read_archive(path)
    if attributes.get("format") != FORMAT:
        raise ArchiveError(f"{str(path)!r} holds no study; dal.load reads runs.")
    n = len(data["code"])
    names = attributes.get("sample_names")
    columns = None if names is None else {name: np.asarray(data[f"samples/column{k}"]) for k, name in enumerate(names)}
    study = Study(Samples(columns, attributes.get("sample_rows"), n), attributes["meta"])
    observed = {name: np.asarray(data[f"observed/column{k}"]) for k, name in enumerate(attributes["observed"])}
    numbers = {name: np.asarray(data[name]) for name in NUMBERS if name != "index"}
    at = np.flatnonzero(numbers["code"] != PENDING)
    found = {name: column[at] for name, column in {"index": np.arange(n), **numbers}.items()}
    study.add(_rows(found, [str(data["error"][i]) for i in at], {name: column[at] for name, column in observed.items()}))
    return study


def _from_journal(journal: Path) -> Study:
    content = read_journal(journal)
    header = content.header
    if header is None:
        raise _Begun(f"{str(journal)!r} has no readable head; there are no rows in it.")
    if header.get("format") != FORMAT:
        raise ArchiveError(f"{str(journal)!r} holds no study.")
    names = header.get("sample names")
    missing = [name for k, name in enumerate(names or ()) if f"sample {k}" not in content.arrays]
    if missing:
        raise _Begun(f"{str(journal)!r} was cut off before its samples were written; there are no rows in it.")
    columns = None if names is None else {name: content.arrays[f"sample {k}"] for k, name in enumerate(names)}
    rows = header.get("sample rows")
    study = Study(Samples(columns, rows), {**header["meta"], "running": is_locked(journal)})
    for part in _rows_of(content.arrays):
        study.add(part)
    return study
