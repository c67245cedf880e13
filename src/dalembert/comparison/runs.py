"""`dal.compare`: several methods, one model, one table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dalembert.comparison import measures
from dalembert.comparison.looks import Look, look_of
from dalembert.comparison.methods import Method, make_method
from dalembert.comparison.reference import Reference, last_of, make_reference
from dalembert.comparison.table import number, text_table
from dalembert.errors import OptionError
from dalembert.families import find_family
from dalembert.peers import Outcome, is_peer
from dalembert.runs import checks
from dalembert.runs.trajectory import Trajectory
from dalembert.systems import System, as_system


@dataclass(frozen=True)
class Row:
    """One method.

    seconds: CPU time of the steps. energy_drift, energy_band, momentum: relative, see `comparison.measures`.
    group: largest departure of |q| from 1; of a Lagrangian the largest residual of a holonomic constraint. attitude: angle between the
    end of the run and the reference, rad; of a tree or a Lagrangian the largest difference of a coordinate.
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
        return (self.label, f"{self.h:g}", str(self.steps), number(self.seconds), *self._measured, self.verdict)

    @property
    def tree_cells(self) -> tuple[str, ...]:
        """The row of a tree as text: time per step instead of that of the run."""
        return (self.label, f"{self.h:g}", str(self.steps), f"{self.us_per_step:.3g}", *self._measured, self.verdict)

    @property
    def us_per_step(self) -> float:
        """CPU time of one step, us."""
        return 1e6 * self.seconds / max(self.steps, 1)

    @property
    def _measured(self) -> tuple[str, ...]:
        return tuple(number(x) for x in (self.energy_drift, self.energy_band, self.momentum, self.group, self.attitude))


@dataclass(frozen=True)
class Comparison:
    """Rows of a comparison, the trajectories behind them in the same order, and what end states were measured against.

    scale: of the energy errors, J; None: the largest kinetic energy of each run. ignored: features of the model that were left out.
    """

    model: Any  # Model or Lagrangian
    t_end: float
    rows: tuple[Row, ...]
    trajectories: tuple[Trajectory, ...] = field(repr=False)
    reference: Reference
    scale: float | None = None
    ignored: tuple[str, ...] = ()

    @property
    def is_tree(self) -> bool:
        """True for machines of several bodies, and for Lagrangians."""
        return measures.is_tree(self.model)

    @property
    def look(self) -> Look:
        """What is shown of this kind of system."""
        return look_of(self.model)

    @property
    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Heads, and the rows as text."""
        return self.look.heads, [r.tree_cells if self.look.per_step else r.cells for r in self.rows]

    @property
    def text(self) -> str:
        """Plain text: the table, the reference, and what failed."""
        table = text_table(*self.table)
        lines = [f"{self.model.name or 'model'}, t = 0 ... {self.t_end:g} s", table]
        lines += self.notes
        lines += [f"{r.label}: {r.status}" for r in self.rows if r.status != "ok"]
        return "\n".join(lines)

    @property
    def notes(self) -> list[str]:
        """What the numbers are relative to, what end states were measured against, what was left out."""
        lines = [self.look.relative, f"{self.look.end}: end of the run against: {self.reference.text}."]
        left = f"{', '.join(self.ignored) or 'nothing'} left out for all methods alike"
        if self.look.smooth:
            lines.append(f"smooth dynamics: {left}; energy and momentum are those of one model for all.")
        elif self.ignored:
            lines.append(f"{left}.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists; None where a number does not exist."""
        rows = [{k: None if isinstance(x, float) and not math.isfinite(x) else x for k, x in asdict(r).items()} for r in self.rows]
        return {
            "model": self.model.name,
            "t_end": self.t_end,
            "reference": self.reference.text,
            "reference_uncertainty": self.reference.uncertainty,
            "rows": rows,
            **({"conclusion": self.conclusion, "ignored": list(self.ignored)} if self.is_tree else {}),
        }

    @property
    def conclusion(self) -> list[str]:
        """What the energy and the momentum of each run did, one sentence per method."""
        from dalembert.comparison.conclusion import conclude

        return conclude(self)

    @property
    def curves(self) -> list[dict[str, Any]]:
        """Label, t, energy_error and momentum_error of every run."""
        return [
            {
                "label": f"{r.label}, h = {r.h:g} s",
                "t": traj.t,
                "energy_error": measures.energy_error(traj, self.scale),
                "momentum_error": measures.momentum_error(traj),
            }
            for r, traj in zip(self.rows, self.trajectories, strict=True)
        ]

    def plot(self, path: Any = None) -> Any:
        """Energy and momentum errors of all methods over time; to a file if a path is given."""
        from dalembert.view.compare_plots import plot_comparison

        return plot_comparison(self.curves, path)

    def page(self, path: Any, progress: bool | None = None) -> Any:
        """A self-contained page (.html) with table, diagrams and the runs laid over each other in space.

        Of machines also an animation (.gif) or a picture (.png): side by side, their errors below.
        """
        if str(path).lower().endswith((".gif", ".png")):
            self.model.needs_bodies("page")
            from dalembert.view.compare_robots import write_board

            return write_board(self, path, progress)
        from dalembert.view.page.comparison import comparison_page

        return comparison_page(self, path)

    def __str__(self) -> str:
        return self.text


def compare(
    m: System,
    methods: Sequence[Any],
    t_end: float,
    q0: Any = None,
    v0: Any = None,
    reference: Any = None,
    every: int | None = None,
    ignore: Any = (),
    progress: bool | None = None,
) -> Comparison:
    """Run several methods on one model, or on one system given by a Lagrangian, from one state.

    methods: (name, h), (name, h, composition) or (adaptive peer, h, rtol); a name is that of a stepper, "cayley+suzuki4",
    "mujoco:rk4", "scipy:dop853", ...
    reference: None (the exact solution if it is known, else a fine run), "exact", "none", the name of a method, or a function t -> q.
    every: keep the state every so many steps; None: all of one body, of a tree such that at most about 20,000 nodes are kept.
    ignore: features of the model to run without, e.g. ("limits", "joint friction").

        dal.compare(m, [("cayley", 0.01), ("cayley", 0.01, "suzuki4"), ("mujoco:rk4", 0.01)], t_end=10, v0=...).text
    """
    as_system(m, "compare")
    if not isinstance(methods, (list, tuple)) or not methods:
        raise OptionError(f"compare: methods is {methods!r}; expected a list such as [('cayley', 0.01), ('tln', 0.01)].")
    checks.check_progress(progress)
    checks.seconds("t_end", t_end)
    chosen = [make_method(entry) for entry in methods]
    model: Any = m.frozen()
    ignore = model.check_features(ignore)
    tree = measures.is_tree(model)
    for method in chosen:
        method.check(model, ignore)
    q, v = model.check_q(q0), model.check_v(v0)
    keep = every if every is not None or tree else 1
    outcomes = [method.run(model, q, v, t_end, every=keep, ignore=ignore, progress=progress) for method in chosen]
    judge = make_reference(model.without(ignore), reference, q, v, t_end, min(method.h for method in chosen), ignore, progress)
    scale = measures.kinetic_scale(o.traj for o in outcomes) if tree else None
    rows = tuple(make_row(method, outcome, judge, model, scale) for method, outcome in zip(chosen, outcomes, strict=True))
    family = find_family(model)
    ignored = tuple(sorted(family.features(model) - family.features(model.without(ignore))))
    return Comparison(model, float(t_end), rows, tuple(o.traj for o in outcomes), judge, scale, ignored)


def make_row(method: Method, outcome: Outcome, judge: Reference, model: Any, scale: float | None = None) -> Row:
    """Measure one run. A run that failed is measured up to its failure and has no end state; nor has one that ends at a time of its own."""
    traj = outcome.traj
    whole = traj.status == "ok"
    energy = measures.energy(traj, scale)
    if is_peer(method.name):
        verdict = "-" if whole else "fail"
    else:
        verdict = traj.report().verdict if whole else "fail"
    return Row(
        label=method.label,
        h=traj.h,
        steps=(len(traj) - 1) * int(traj.meta["every"]),
        seconds=outcome.seconds,
        energy_drift=energy.drift,
        energy_band=energy.band,
        momentum=measures.momentum(traj),
        group=measures.group_error(traj),
        attitude=judge.error(model, last_of(model, traj)) if whole and not traj.stepper.clocked else float("nan"),
        verdict=verdict,
        status=traj.status,
    )
