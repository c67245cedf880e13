"""A study as a file (TOML): what `dalembert sweep` runs.

model = "double-pendulum"            # a scene, or a file: URDF, MJCF, JSON; relative to the file of the study
stepper = "midpoint"
h = 0.01
t_end = 10.0
save = "study.h5"
observe = ["energy", "statistics q"] # energy: largest change; statistics q | v | energy
[options]                            # of the stepper
[samples]
design = "sobol"                     # sobol, halton, latin-hypercube, random, grid; or csv = "samples.csv", a column for each name
n = 1024                             # of a grid: points for each name
seed = 1
[samples.ranges]
"q0.hinge" = [-1.0, 1.0]
"rod.mass" = { normal = [1.0, 0.05] }
"""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.ensembles.observers import SERIES, EnergyChange, Observer, Statistics
from dalembert.ensembles.samples import Samples, design, read_samples
from dalembert.errors import ArchiveError, OptionError, UnknownNameError

KEYS = ("model", "stepper", "h", "t_end", "save", "observe", "every", "compose", "ignore", "options", "samples")
SAMPLE_KEYS = ("csv", "design", "n", "seed", "ranges")
OWN = ("executor", "save", "workers", "overwrite", "progress", "names", "q0", "v0", "control")  # arguments of `ensemble`, no options
DESIGNS = ("sobol", "halton", "latin-hypercube", "random", "grid")
LARGEST = 2**24  # bytes of a file that tells of a study
MOST = 10**8  # samples of a grid


def read_sweep(path: Any) -> dict[str, Any]:
    """The entries of a file, known and of the right kind; `samples` are read."""
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST:
            raise OptionError(f"{str(path)!r} has {file.stat().st_size} bytes; a study is told in at most {LARGEST}.")
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArchiveError(f"cannot read {str(path)!r}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"{str(path)!r} is no TOML: {error}.") from None
    for key in found:
        if key not in KEYS:
            raise UnknownNameError(f"entry of {str(path)!r}", key, KEYS)
    for key in ("model", "samples"):
        if key not in found:
            raise OptionError(f"{str(path)!r} has no entry {key!r}; expected model = ... and [samples].")
    for key, kind, word in (
        ("model", str, "text"),
        ("save", str, "text"),
        ("options", dict, "a table"),
        ("observe", (str, list), "a list"),
    ):
        if key in found and not isinstance(found[key], kind):
            raise OptionError(f"{str(path)!r}: {key} is {found[key]!r}; expected {word}.")
    for key in found.get("options", {}):
        if key in (*KEYS, *OWN):
            raise OptionError(f"{str(path)!r}: [options] are those of the stepper, and {key!r} is none of them.")
    found["samples"] = samples_of(found["samples"], file.parent)
    found["observe"] = observers_of(found.get("observe", []))
    return found


def samples_of(given: Any, folder: Path) -> Samples:
    """Samples of the table [samples]."""
    if not isinstance(given, dict):
        raise OptionError("samples: expected a table [samples] with csv = ..., or design, n and [samples.ranges].")
    for key in given:
        if key not in SAMPLE_KEYS:
            raise UnknownNameError("entry of [samples]", key, SAMPLE_KEYS)
    if "csv" in given:
        if len(given) > 1:
            raise OptionError(f"samples: csv and {sorted(set(given) - {'csv'})}; expected csv alone, or a design without it.")
        return _from_csv(folder / str(given["csv"]))
    told, seed = given.get("ranges", {}), given.get("seed", 0)
    if not isinstance(told, dict) or isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise OptionError(f"samples: ranges = {told!r}, seed = {seed!r}; expected a table [samples.ranges] and a whole number >= 0.")
    ranges = {name: _range(name, value) for name, value in told.items()}
    kind, n = given.get("design", "sobol"), given.get("n", 0)
    if kind not in DESIGNS:
        raise UnknownNameError("design of samples", kind, DESIGNS)
    if kind == "grid":
        return _grid(ranges, n)
    return design(_sampler(kind, len(ranges), seed), n, ranges)


def _range(name: str, value: Any) -> Any:
    """(least, most), or a distribution: {normal = [mean, deviation]}, {lognormal = [median, deviation of the logarithm]}."""
    from scipy import stats

    if not isinstance(value, dict):
        return value
    try:
        [(kind, (a, b))] = value.items()
        a, b = float(a), float(b)
        if not (np.isfinite([a, b]).all() and (b > 0.0 or kind == "uniform") and (a > 0.0 or kind != "lognormal")):
            raise ValueError
        made = {"normal": lambda: stats.norm(a, b), "lognormal": lambda: stats.lognorm(b, scale=a), "uniform": lambda: (a, b)}[kind]
        return made()
    except (KeyError, TypeError, ValueError):
        raise OptionError(
            f"samples: the range of {name!r} is {value!r}; expected [least, most], {{normal = [mean, deviation > 0]}} or "
            "{lognormal = [median > 0, deviation of the logarithm > 0]}."
        ) from None


def _sampler(kind: str, k: int, seed: Any) -> Any:
    from scipy.stats import qmc

    if kind == "random":
        return np.random.default_rng(seed)
    return {"sobol": qmc.Sobol, "halton": qmc.Halton, "latin-hypercube": qmc.LatinHypercube}[kind](max(1, k), seed=seed)


def _grid(ranges: dict[str, Any], n: Any) -> Samples:
    """All combinations of n numbers of each range, the last name the quickest."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 1 or not ranges:
        raise OptionError(f"samples: a grid of n = {n!r} points for each of {list(ranges)}; expected n >= 1 and [samples.ranges].")
    if n ** len(ranges) > MOST:
        raise OptionError(
            f"samples: a grid of {n} points for each of {len(ranges)} names has {float(n ** len(ranges)):.3g}; at most {MOST:.0e}."
        )
    axes = []
    for name, pair in ranges.items():
        try:
            low, high = (float(x) for x in pair)
        except (TypeError, ValueError):
            raise OptionError(f"samples: the range of {name!r} is {pair!r}; a grid needs [least, most].") from None
        axes.append(np.linspace(low, high, n))
    whole = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    return read_samples(whole, list(ranges))


def _from_csv(path: Path) -> Samples:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
        if not lines:
            raise OptionError(f"{str(path)!r} is empty; expected a line of names and lines of as many numbers.")
        names, *rows = lines
        return read_samples(np.array([[float(x) for x in row] for row in rows]).reshape(len(rows), len(names)), names)
    except OSError as error:
        raise ArchiveError(f"cannot read {str(path)!r}: {error.strerror}.") from None
    except OptionError:
        raise
    except (ValueError, UnicodeDecodeError) as error:
        raise OptionError(f"{str(path)!r}: expected a line of names and lines of as many numbers ({error}).") from None


def observers_of(given: Any) -> dict[str, Observer]:
    """{name: observer} of ["energy", "statistics q"]."""
    out: dict[str, Observer] = {}
    for text in [given] if isinstance(given, str) else list(given):
        kind, _, of = str(text).partition(" ")
        if text == "energy":
            out["energy"] = EnergyChange()
        elif kind == "statistics" and of in SERIES:
            out[of] = Statistics(of)
        else:
            raise UnknownNameError("observer", text, ["energy", *(f"statistics {name}" for name in SERIES)])
    return out
