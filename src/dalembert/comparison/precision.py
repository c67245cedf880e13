"""`dal.work_precision`: error against cost over several step sizes, and the order that each method shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.comparison import measures
from dalembert.comparison.methods import make_method
from dalembert.comparison.reference import Reference, last_of, make_reference
from dalembert.comparison.table import number, text_table
from dalembert.errors import OptionError
from dalembert.lagrangian import Lagrangian
from dalembert.model import Model
from dalembert.peers import Outcome
from dalembert.runs import checks
from dalembert.systems import System, as_system

REPEATS = 3
LARGEST = 0.3  # errors above this (rad, or relative) are outside the range where an order shows


@dataclass(frozen=True)
class WorkPrecision:
    """Runs of several methods with several steps.

    table: a dict per run with method, h, steps, seconds, error, energy_error, status.
    measure: what `error` is: "attitude" (of the end, rad), "configuration" (of a tree, rad or m) or "energy" (largest departure over the
    largest kinetic energy).
    orders: slope of log error over log h by regression over the runs whose error is neither at round-off nor out of range;
    nan with fewer than two.
    """

    model: Model | Lagrangian
    t_end: float
    table: tuple[dict[str, Any], ...]
    measure: str
    reference: Reference
    orders: dict[str, float]

    @property
    def text(self) -> str:
        """Plain text: runs, observed orders, reference."""
        heads = ("method", "h (s)", "steps", "CPU (s)", f"{self.measure} error", "energy error")
        rows = [
            (r["method"], f"{r['h']:g}", str(r["steps"]), number(r["seconds"]), number(r["error"], 3), number(r["energy_error"], 3))
            for r in self.table
        ]
        lines = [f"{self.model.name or 'model'}, t = 0 ... {self.t_end:g} s", text_table(heads, rows), f"reference: {self.reference.text}."]
        orders = [f"{name} {p:.2f}" if math.isfinite(p) else f"{name} -" for name, p in self.orders.items()]
        lines.append("observed orders: " + ", ".join(orders))
        lines += [f"{r['method']}, h = {r['h']:g} s: {r['status']}" for r in self.table if r["status"] != "ok"]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists; None where a number does not exist."""

        def plain(x: Any) -> Any:
            return None if isinstance(x, float) and not math.isfinite(x) else x

        return {
            "model": self.model.name,
            "t_end": self.t_end,
            "measure": self.measure,
            "reference": self.reference.text,
            "orders": {k: plain(x) for k, x in self.orders.items()},
            "table": [{k: plain(x) for k, x in row.items()} for row in self.table],
        }

    def plot(self, path: Any = None) -> Any:
        """Error against h and against CPU time; to a file if a path is given."""
        from dalembert.view.compare_plots import plot_work_precision

        return plot_work_precision(self.table, path)

    def __str__(self) -> str:
        return self.text


def work_precision(
    m: System,
    steppers: Sequence[str],
    hs: Sequence[float],
    t_end: float,
    reference: Any = None,
    q0: Any = None,
    v0: Any = None,
    ignore: Any = (),
    progress: bool | None = None,
) -> WorkPrecision:
    """Run every method with every step size.

    steppers: names such as "cayley", "cayley+suzuki4", "mujoco:rk4"; an adaptive peer ("scipy:dop853") chooses its own steps.
    reference: None (the exact solution if it is known, else cayley+kahan-li6 at an eighth of the smallest step, for a dissipative
    model scipy:dop853, for a tree mk8, for a Lagrangian dop853), "exact", "none", the name of a method, or a function t -> q.
    The error is that of the end attitude, of a tree or a Lagrangian of the end configuration (its largest coordinate); of the energy where
    the motion is too sensitive or there is no reference. ignore: features of the model to run without, e.g. ("limits",).
    """
    as_system(m, "work_precision")
    for what, given in (("steppers", steppers), ("hs", hs)):
        if not isinstance(given, (list, tuple, np.ndarray)) or getattr(given, "ndim", 1) == 0 or not len(given):
            raise OptionError(f"work_precision: {what} is {given!r}; expected a list of at least one.")
    checks.check_progress(progress)
    t_end = checks.seconds("t_end", t_end)
    model: Any = m.frozen()
    ignore = model.check_features(ignore)
    methods = [make_method((name, h)) for name in steppers for h in hs]
    for method in methods:
        method.check(model, ignore)
    q, v = model.check_q(q0), model.check_v(v0)
    judge = make_reference(model.without(ignore), reference, q, v, t_end, min(hs), ignore, progress)
    measure = "energy" if judge.end is None else "configuration" if measures.is_tree(model) else "attitude"
    every = None if measures.is_tree(model) else 1
    table = [_entry(method.label, method.run(model, q, v, t_end, REPEATS, every, ignore, progress), judge, model) for method in methods]
    floor = max(10.0 * judge.uncertainty, 1e-13) if judge.end is not None else 1e-13
    labels = list(dict.fromkeys(method.label for method in methods))
    orders = {label: observed_order([r for r in table if r["method"] == label], floor) for label in labels}
    return WorkPrecision(model, float(t_end), tuple(table), measure, judge, orders)


def _entry(label: str, outcome: Outcome, judge: Reference, model: Any) -> dict[str, Any]:
    """One row of the table; a run that failed has no errors."""
    traj = outcome.traj
    error = energy = float("nan")
    if traj.status == "ok":
        energy = measures.energy(traj).band
        if judge.end is None:
            error = energy
        elif not traj.stepper.clocked:  # those end at a time of their own
            error = judge.error(model, last_of(model, traj))
    return {
        "method": label,
        "h": traj.h,
        "steps": (len(traj) - 1) * int(traj.meta["every"]),
        "seconds": outcome.seconds,
        "error": error,
        "energy_error": energy,
        "status": traj.status,
    }


def observed_order(rows: Sequence[dict[str, Any]], floor: float) -> float:
    """Slope of log error over log h between the floor of round-off and the range where errors are no longer small."""
    used = [(r["h"], r["error"]) for r in rows if math.isfinite(r["error"]) and floor < r["error"] < LARGEST]
    if len({h for h, _ in used}) < 2:
        return float("nan")
    h, e = np.log(np.array(used)).T
    return float(np.polyfit(h, e, 1)[0])
