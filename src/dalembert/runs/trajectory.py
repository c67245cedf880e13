"""`Trajectory`: what a run computed, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.families import find_family
from dalembert.kernels.loop import LOG_COLUMNS, SUBSTEPS
from dalembert.registry import Stepper
from dalembert.runs import environment
from dalembert.runs.engines import find_engine
from dalembert.runs.plan import Plan
from dalembert.runs.ragged import COLUMNS, MEMORY, NO_TABLES, Table, Tables, last_node
from dalembert.systems import System, as_system


def since_first(unpacked: dict[str, Any]) -> dict[str, Any]:
    """What whole states tell, with work and impulse counted from the first node: those of a run may be from further back."""
    return {**unpacked, **{name: unpacked[name] - unpacked[name][:1] for name in ("work", "impulse")}}


class Trajectory:
    """Nodes of a run. Arrays have one row per recorded node (N + 1), `v_interval`, `control` and `solver` one per recorded interval (N).

    t (s), q, v, energy, kinetic, potential (J), momentum (angular about the world origin, linear), poses (N + 1, bodies, 4, 4).
    Of a Lagrangian: momentum has one column per declared symmetry, and there are no poses.
    status: "ok", "interrupted", or what failed; meta: stepper, h, options, versions, machine.
    """

    def __init__(
        self,
        model: System,
        stepper: Stepper,
        meta: dict[str, Any],
        t: Array,
        states: Array,
        log: Array,
        unpacked: dict[str, Any],
        tables: Tables = NO_TABLES,
    ):
        self.model: Any = model
        self.stepper, self.meta = stepper, meta
        self.t, self.states, self._log, self._tables = t, states, log, tables
        self.q, self.v = unpacked["q"], unpacked["v"]
        self._v_interval = unpacked["v_interval"]
        self.work, self.impulse = unpacked["work"], unpacked["impulse"]
        self._account: dict[str, Array] = unpacked.get("account", {"forces": self.work})
        self._multipliers = unpacked.get("multipliers")
        self._held = unpacked["control"] if "control" in unpacked else np.full_like(self.v, np.nan)

    @classmethod
    def of_nodes(
        cls,
        system: System,
        t: Any,
        q: Any,
        v: Any,
        control: Any = None,
        meta: dict[str, Any] | None = None,
        stepper: Stepper | None = None,
    ) -> Trajectory:
        """A trajectory from nodes that something else computed: another program, a measurement, an optimisation.

        t (N + 1,), q (N + 1, nq), v (N + 1, nv); control (N, nv): what was held over each interval. meta: what is known of the run, of
        `traj.meta`. What only an engine knows (work, impulse, solver) is NaN or 0, and there are no contacts and events.
        """
        whole: Any = as_system(system, "of_nodes").frozen()
        try:
            t, q, v = np.array(t, dtype=float), np.array(q, dtype=float), np.array(v, dtype=float)
        except (TypeError, ValueError) as error:
            raise OptionError(f"of_nodes: t, q, v are no arrays of numbers ({error}).") from None
        n = len(t) if t.ndim else 0
        if t.ndim != 1 or n < 1 or q.shape != (n, whole.nq) or v.shape != (n, whole.nv):
            raise OptionError(
                f"of_nodes: t, q, v have the shapes {t.shape}, {q.shape}, {v.shape}; expected (N + 1,), (N + 1, {whole.nq}), "
                f"(N + 1, {whole.nv})."
            )
        method = stepper if stepper is not None else Stepper("nodes", "nodes that were given", "any", 1, python=True)
        known = {
            "stepper": method.name, "method": method.name, "family": find_family(whole).name, "h": float(t[1] - t[0]) if n > 1 else 0.0,
            "t_end": float(t[-1]), "every": 1, "compose": None, "options": {}, "ignore": [],
            "control": None if control is None else "array",
            "versions": environment.versions(), "machine": environment.machine(), "status": "ok", **(meta or {}),
        }  # fmt: skip
        known.pop("tables", None)
        nan = np.full(n, np.nan)
        unpacked = {"q": q, "v": v, "v_interval": v, "work": nan, "impulse": np.tile(nan[:, None], (1, len(whole.momentum_names)))}
        held = np.zeros((n - 1, whole.nv)) if control is None else np.array(control, dtype=float)
        if held.shape != (n - 1, whole.nv):
            raise OptionError(f"of_nodes: control has the shape {held.shape}; expected (N, nv) = {(n - 1, whole.nv)}.")
        unpacked["control"] = np.concatenate([np.zeros((1, whole.nv)), held])
        return cls(whole, method, known, t, np.concatenate([q, v], axis=1), np.zeros((n, len(LOG_COLUMNS))), unpacked)

    def __getstate__(self) -> dict[str, Any]:
        """Pickled like a file of it: without what can be computed anew, and without forces that are functions, which are no data."""
        self.v_interval  # noqa: B018  what is yet to be computed is no data
        state = {k: x for k, x in self.__dict__.items() if k not in ("_run_model", "_loads", "_v_interval")}
        state["model"] = self.model.portable
        return state

    @property
    def h(self) -> float:
        """Step size, s."""
        return float(self.meta["h"])

    @property
    def status(self) -> str:
        """'ok', 'interrupted', or a sentence that says what failed."""
        return str(self.meta["status"])

    @property
    def _first(self) -> tuple[Array, Array]:
        """q and v of the first node."""
        return self.q[0], self.v[0]

    @property
    def _last_state(self) -> Array:
        """The checkpoint."""
        return self.states[-1]

    @property
    def _last_tables(self) -> Tables:
        """The ragged part of the checkpoint."""
        return last_node(self._tables)

    @property
    def _table_rows(self) -> dict[str, int]:
        """Rows of each ragged table but the memory."""
        return {name: len(table.rows) for name, table in self._tables.items() if name != MEMORY}

    @property
    def _splits(self) -> int:
        """Recorded intervals in which a step was split."""
        return int(np.count_nonzero(self._log[:, SUBSTEPS]))

    @property
    def _blocks(self) -> Iterator[tuple[Array, Array, Array, Tables]]:
        """(t, states, log, tables) of all nodes, in parts."""
        yield self.t, self.states, self._log, self._tables

    @property
    def contacts(self) -> Table:
        """Contacts of the nodes, a ragged table: `contacts.of(k)` are the rows of node k, `contacts["gap"]` is a column of all of them,
        `t[contacts.nodes]` their times. Without rows where the run had no contacts."""
        return self._table("contacts")

    @property
    def events(self) -> Table:
        """What happened between the nodes, a ragged table: rows of node k are events of the recorded interval before it."""
        return self._table("events")

    @property
    def tables(self) -> dict[str, Table]:
        """All ragged tables of the run by name, one count per node."""
        return {name: self._table(name) for name in (*COLUMNS, *(x for x in self.meta.get("tables", ()) if x not in (*COLUMNS, MEMORY)))}

    def _table(self, name: str) -> Table:
        found = self._tables.get(name)
        return Table.empty(COLUMNS[name], len(self)) if found is None else found

    @cached_property
    def v_interval(self) -> Array:
        """(N, nv) velocity of the interval before each node but the first."""
        found = self._v_interval() if callable(self._v_interval) else self._v_interval
        return np.asarray(found)[1:]

    @cached_property
    def kinetic(self) -> Array:
        """Kinetic energy of the nodes, J."""
        return self._run_model.kinetic_energy(self.q, self.v)

    @cached_property
    def potential(self) -> Array:
        """Potential energy of the nodes, J."""
        return self._run_model.potential_energy(self.q)

    def _find_mechanics(self) -> None:
        """Compute kinetic, potential and momentum at once, where all of them are wanted and the run left nothing out."""
        if self._run_model is self.model and not {"kinetic", "potential", "momentum"} & self.__dict__.keys():
            self.__dict__.update(zip(("kinetic", "potential", "momentum"), self.model._mechanics(self.q, self.v), strict=True))

    @property
    def energy(self) -> Array:
        """Total energy of the nodes, J."""
        return self.kinetic + self.potential

    @cached_property
    def momentum(self) -> Array:
        """(angular about the world origin, linear), of a Lagrangian dL/dv . xi of each symmetry; the discrete Noether momentum where the
        stepper has one."""
        return self.model.momentum(self.q, self.v)

    @cached_property
    def poses(self) -> Array:
        """World poses of the body frames; UnsupportedError for a Lagrangian, which has none."""
        return self.model.poses(self.q)

    @cached_property
    def constraint(self) -> Array:
        """Residuals of the constraints on positions at the nodes, (N + 1, rows): loops, heights of rolling joints, drives; m, rad, cosines.

        Rows: the first ones of `model.constraint_labels`. A tree without loops has none. Of a Lagrangian: g(q, t), its holonomic rows.
        """
        return np.asarray(self.model.constraint_errors(self.q, self.t))

    @property
    def solver(self) -> dict[str, Array]:
        """Newton effort per recorded interval: iterations (sum), max_iterations (of one step), residual (largest), substeps.

        residual: of one body the last relative residual; of trees and Lagrangians the last correction relative to the velocity; of adaptive
        methods the error of an internal step relative to its tolerance.
        substeps > 0: steps that did not converge were split into so many parts, which breaks symplecticity there.
        """
        return {name: self._log[1:, i] for i, name in enumerate(self.log_columns)}

    @property
    def log_columns(self) -> tuple[str, ...]:
        """What the engine wrote down of each interval."""
        return tuple(self.meta.get("log_columns", LOG_COLUMNS))

    @property
    def control(self) -> Array:
        """(N, nv) generalised force, dual to v, that was held over each recorded interval: the control, with every > 1 that of the last
        step of the interval, and forces given as functions where the stepper holds them. Where the machine runs in coordinates of its
        bodies ("spook"), v is that of the machine that was given, and forces of its motors are counted.

        0 in runs without a control; NaN in files of versions that did not keep it.
        """
        if self.meta.get("control") is None:
            return np.zeros((len(self) - 1, self._held.shape[1]))
        return self._held[1:]

    @property
    def _nodal_control(self) -> Array:
        """(N + 1, nv) control at the nodes, as `reaction` takes it."""
        held = self.control
        if self.meta.get("control") is None or len(self) == 1:
            return np.zeros_like(self.v)
        if self.meta["every"] > 1:
            return np.concatenate([np.full_like(held[:1], np.nan), held])
        return np.concatenate([held, held[-1:]])

    @property
    def account(self) -> dict[str, Array]:
        """What was exchanged with the outside in each recorded interval (N rows), by the engine itself, step by step.

        "control", "function", "wrench", "damping", "limits", "drive": work of each kind of force of a tree, J; "forces": of all forces
        without a potential, of a body or a Lagrangian; "impacts": what those of a Lagrangian gave. "impulse": (N, 6) angular about the
        world origin and linear, of all forces from outside but reactions of joints; of a Lagrangian (N, symmetries). Their sums from the
        first node are `work` and `impulse`.
        NaN where no account is kept: plain Python steppers; and the impulse in runs of trees under gravity and springs alone.
        """
        works = {name: np.diff(column) for name, column in self._account.items() if name != "push"}
        return {**works, "impulse": np.diff(self.impulse, axis=0)}

    def reaction(self, joint: str, drive: bool = False) -> Array:
        """What a joint exerts at the nodes, from their states; see model/reactions.py.

        Under a control: with what is held over the step after the node, at the last node over the step before. With every > 1 only the step
        before a node is known, and nothing at the first node: NaN.

        Loop, rolling, knife-edge: multipliers (N + 1, rows of the joint), in the order of `model.constraint_labels`; N for rows in m, N m
        for rows in rad. A positive one pushes the child towards a larger residual, the parent the other way.
        Joint of the tree: (N + 1, 6), torque about the anchor and force on the child by its parent, in the axes of the child body.
        drive=True: the force or torque of the drive of a joint alone, (N + 1, driven coordinates), positive towards a larger coordinate.
        Of a machine that ran in coordinates of its bodies ("spook") all joints have multipliers, those of the step before each node itself,
        with contacts, friction and motors in it; rows are those by which the joint holds its bodies (model/body_measures.py), NaN at the
        first node.
        Of a Lagrangian: `joint` is "holonomic" or "pfaffian", and the answer the multipliers (N + 1, rows); see lagrangian/forces.py.
        """
        own = getattr(find_engine(self.stepper.engine_name), "reaction", None)
        if own is not None:
            return np.asarray(own(Plan.from_meta(self.model, self.stepper, self.meta), self.states, joint, drive))
        return np.asarray(self._run_model.reaction(self, joint, drive=True) if drive else self._run_model.reaction(self, joint))

    def joint(self, name: str) -> Any:
        """(q, v): coordinates (N + 1, nq of the joint) and rates of one joint at the nodes, also of one that closes a loop.

        Those of loop joints come from the poses of their bodies; angles are continued from node to node. See model/loop_coordinates.py.
        """
        return self.model.joint_states(self, name)

    @property
    def multipliers(self) -> dict[str, Array]:
        """Of a Lagrangian: "holonomic" and "pfaffian" multipliers of the discrete equations themselves, (N, rows), as forces.

        They belong to the interval before a node (its last step), not to a node: see lagrangian/forces.py. `reaction` has those of the
        nodes.
        """
        return dict(self._run_model.multipliers(self))

    @cached_property
    def _run_model(self) -> Any:
        """The model without the features that the run ignored."""
        return self.model.without(self.meta.get("ignore", ()))

    @cached_property
    def _loads(self) -> Any:
        """Accelerations and multipliers of the nodes."""
        from dalembert.model.reactions import loads

        return loads(self._run_model, self.q, self.v, self._nodal_control, self.t)

    def at(self, t: float) -> tuple[Array, Array]:
        """(q, v) at a time between nodes: along the geodesic in q (of a Lagrangian: straight), linear in v."""
        if not isinstance(t, (int, float, np.number)) or isinstance(t, np.complexfloating) or not self.t[0] <= t <= self.t[-1]:
            raise OptionError(f"t = {t!r} is outside the run [{self.t[0]:g}, {self.t[-1]:g}] s.")
        k = min(max(int(np.searchsorted(self.t, t, side="right")) - 1, 0), max(len(self.t) - 2, 0))
        if len(self.t) == 1:
            return self.q[0].copy(), self.v[0].copy()
        s = (t - self.t[k]) / (self.t[k + 1] - self.t[k])
        if s in (0.0, 1.0):
            return self.q[k + int(s)].copy(), self.v[k + int(s)].copy()
        q = self.model.integrate(self.q[k], s * self.model.difference(self.q[k], self.q[k + 1]))
        return q, (1 - s) * self.v[k] + s * self.v[k + 1]

    def report(self) -> Any:
        """What was conserved, with a verdict."""
        from dalembert.report.make import make_report

        return make_report(self)

    def save(self, path: Any, overwrite: bool = False) -> None:
        """Write everything to one HDF5 file that netCDF4 and xarray open too."""
        from dalembert.runs.recording import write_trajectory

        write_trajectory(self, path, overwrite=overwrite)

    def plot(self, path: Any = None, panels: Any = None, theme: str = "light") -> Any:
        """Energy, momentum, angular velocity on the momentum sphere; to a file if a path is given.

        Of a machine: errors of energy and of the momenta that the report judges, joint angles and velocities, energies, the solver's work,
        closing of loops or angular velocities, and the machine itself.
        Of a Lagrangian: coordinates, velocities, energy, momenta of the symmetries, residuals of the constraints, phase portrait.
        panels: others than these, by name: "energy", "energy-error", "phase:elbow", "section:elbow=0.5", "account", ...; see `view.panels`.
        theme: "light", "dark".
        """
        from dalembert.view.plots import plot_trajectory

        return plot_trajectory(self, path, panels, theme)

    def picture(self, path: Any = None, **options: Any) -> Any:
        """An image of the machine in light and shadow, for papers: .png, or .pdf, .svg with the image in it. Without a path: a PIL image.

        t: time, s (the end of the run); size: (1600, 1200) pixels; theme: "light", "dark", "paper"; camera: "iso", "front", "side", "top",
        (azimuth, elevation) in degrees, or (position, focus, up); exposures: how many earlier ones are seen, faint, or a list of their
        times; trails: bodies whose centres of mass leave a path, or pairs (body, point in its frame); contacts: arrows of contact forces;
        frames: axes of the bodies; transparent: no background. Needs PyVista (dalembert[view]); without it a plainer picture is drawn,
        with a warning.
        """
        self.model.needs_bodies("picture")
        from dalembert.view.render import picture_trajectory

        return picture_trajectory(self, path, **options)

    def page(self, path: Any) -> Any:
        """One self-contained HTML file: verdict, replay in space, diagrams, events, model, options, how to repeat the run."""
        from dalembert.view.page.run import run_page

        return run_page(self, path)

    def animate(self, path: Any, **options: Any) -> Any:
        """A GIF of the moving bodies, or a film (.mp4, .webm) of them in light and shadow; returns the path that was written.

        Options: fps, speed or seconds (of playing time), size (pixels), max_frames, renderer ("auto", "painter", "pyvista"), progress; by
        PyVista also theme, camera, trails, contacts, frames as in `picture`. See `view.animate`.
        """
        self.model.needs_bodies("animate")
        from dalembert.view.animate import animate_trajectory

        return animate_trajectory(self, path, **options)

    def view(self, *others: Any, port: int = 8080, host: str = "127.0.0.1", beside: bool = False, block: bool = False) -> Any:
        """Show the motion again in a browser, with a time slider, on a page of this computer: `.url` of what is returned, `.close()`.

        others: further runs, or lists of them, drawn as ghosts, or side by side with beside=True. block: return when the page is closed, or
        on Ctrl-C. host: another one lets other computers in, with a token. See docs/viewer.md.
        """
        from dalembert.view.web.fronts import view_trajectories

        return view_trajectories((self, *others), port=port, host=host, beside=beside, block=block)

    def to_xarray(self) -> Any:
        """An xarray.Dataset with named columns and units."""
        from dalembert.runs.tables import to_xarray

        return to_xarray(self)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame indexed by time."""
        from dalembert.runs.tables import to_pandas

        return to_pandas(self)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return (
            f"Trajectory({self.model.name!r}, {self.meta['method']}, h = {self.h:g} s, {len(self)} nodes, "
            f"t = {self.t[0]:g} ... {self.t[-1]:g} s, {self.status})"
        )

    def _repr_html_(self) -> str:
        from dalembert.view.notebook import trajectory_html

        return trajectory_html(self)
