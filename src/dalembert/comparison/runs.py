"""`dal.compare`: several methods, one model, one table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dalembert.comparison import measures
from dalembert.comparison.methods import Method, check_one_body, make_method
from dalembert.comparison.reference import Reference, make_reference
from dalembert.comparison.table import number, text_table
from dalembert.errors import OptionError
from dalembert.model import Model
from dalembert.peers import Outcome, is_peer
from dalembert.trajectory import Trajectory

HEADS = ("method", "h (s)", "steps", "CPU (s)", "energy drift", "energy band", "momentum", "group", "attitude (rad)", "verdict")


@dataclass(frozen=True)
class Row:
    """One method.

    seconds: CPU time of the steps. energy_drift, energy_band, momentum: relative, see `comparison.measures`.
    group: largest departure of |q| from 1. attitude: angle between the end of the run and the reference, rad.
    verdict: of the report; '-' for peers, which promise nothing.
    """

    label: str
    h: float
    steps: int
    seconds: float
    energy_drift: float
    energy_band: float
    momentum: float
    group: float
    attitude: float
    verdict: str
    status: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        measured = (self.energy_drift, self.energy_band, self.momentum, self.group, self.attitude)
        return (self.label, f"{self.h:g}", str(self.steps), number(self.seconds), *(number(x) for x in measured), self.verdict)


@dataclass(frozen=True)
class Comparison:
    """Rows of a comparison, the trajectories behind them in the same order, and what end states were measured against."""

    model: Model
    t_end: float
    rows: tuple[Row, ...]
    trajectories: tuple[Trajectory, ...] = field(repr=False)
    reference: Reference

    @property
    def text(self) -> str:
        """Plain text: the table, the reference, and what failed."""
        lines = [f"{self.model.name or 'model'}, t = 0 ... {self.t_end:g} s", text_table(HEADS, [r.cells for r in self.rows])]
        lines.append("energy relative to the largest kinetic energy, momentum to the largest momentum; CPU time of the steps alone.")
        lines.append(f"attitude: end of the run against: {self.reference.text}.")
        lines += [f"{r.label}: {r.status}" for r in self.rows if r.status != "ok"]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists; None where a number does not exist."""
        rows = [{k: None if isinstance(x, float) and not math.isfinite(x) else x for k, x in asdict(r).items()} for r in self.rows]
        return {
            "model": self.model.name,
            "t_end": self.t_end,
            "reference": self.reference.text,
            "reference_uncertainty": self.reference.uncertainty,
            "rows": rows,
        }

    def plot(self, path: Any = None) -> Any:
        """Energy and momentum errors of all methods over time; to a file if a path is given."""
        from dalembert.view.compare_plots import plot_comparison

        labels = [f"{r.label}, h = {r.h:g} s" for r in self.rows]
        curves = [
            {"label": label, "t": t.t, "energy_error": measures.energy_error(t), "momentum_error": measures.momentum_error(t)}
            for label, t in zip(labels, self.trajectories, strict=True)
        ]
        return plot_comparison(curves, path)

    def __str__(self) -> str:
        return self.text


def compare(m: Model, methods: Sequence[Any], t_end: float, q0: Any = None, v0: Any = None, reference: Any = None) -> Comparison:
    """Run several methods on one model from one state.

    methods: (name, h), (name, h, composition) or (adaptive peer, h, rtol); a name is that of a stepper, "cayley+suzuki4",
    "mujoco:rk4", "scipy:dop853", ...
    reference: None (the exact solution if it is known, else a fine run), "exact", "none", the name of a method, or a function t -> q.

        dal.compare(m, [("cayley", 0.01), ("cayley", 0.01, "suzuki4"), ("mujoco:rk4", 0.01)], t_end=10, v0=...).text
    """
    if not isinstance(m, Model):
        raise OptionError(f"compare: the first argument is {type(m).__name__!r}; expected a Model.")
    chosen = [make_method(entry) for entry in methods]
    if not chosen:
        raise OptionError("compare: no methods were given; expected a list such as [('cayley', 0.01), ('tln', 0.01)].")
    model = m.frozen()
    check_one_body("compare", model)
    for method in chosen:
        method.check(model)
    q, v = model.check_q(q0), model.check_v(v0)
    outcomes = [method.run(model, q, v, t_end) for method in chosen]
    judge = make_reference(model, reference, q, v, t_end, min(method.h for method in chosen))
    rows = tuple(make_row(method, outcome, judge) for method, outcome in zip(chosen, outcomes, strict=True))
    return Comparison(model, float(t_end), rows, tuple(o.traj for o in outcomes), judge)


def make_row(method: Method, outcome: Outcome, judge: Reference) -> Row:
    """Measure one run. A run that failed is measured up to its failure and has no end state."""
    traj = outcome.traj
    whole = traj.status == "ok"
    energy = measures.energy(traj)
    if is_peer(method.name):
        verdict = "-" if whole else "fail"
    else:
        verdict = traj.report().verdict if whole else "fail"
    return Row(
        label=method.label,
        h=traj.h,
        steps=len(traj) - 1,
        seconds=outcome.seconds,
        energy_drift=energy.drift,
        energy_band=energy.band,
        momentum=measures.momentum(traj),
        group=measures.group_error(traj),
        attitude=judge.error(traj.model, traj.q[-1]) if whole else float("nan"),
        verdict=verdict,
        status=traj.status,
    )
