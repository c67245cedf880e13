"""`Directors`: a model in director coordinates, a system of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from dalembert.arrays import Array
from dalembert.directors import states
from dalembert.directors.compile import Compiled, compile_directors, work_size
from dalembert.directors.forces import Forces
from dalembert.directors.motions import Motions
from dalembert.directors.nodes import Row
from dalembert.errors import OptionError, UnsupportedError
from dalembert.kernels.directors import node as kernels
from dalembert.model import Model, validate
from dalembert.model.parts import WORLD
from dalembert.systems import System

DEPENDENT = 1e-10  # singular values of rows of loops, of the largest
START = 1e-8  # of the rows at a start, and of G v: of the largest |v|, at least 1


class Directors(Forces, Motions, System, kind="directors"):
    """A model in director coordinates.

        d = dal.Directors(model)
        traj = dal.simulate(d, "null-space", h=0.01, t_end=10.0, **d.start(q0, v0))

    q: of every body (with all that is fixed to it) its centre of mass and three unit vectors along its principal axes, of every particle
    its position; v = dq/dt. nq = nv = n. Constraints g(q) = 0 are quadratic, the mass matrix diag(mass) is constant.
    `state(q, v)` and `joint_state(q, v)` go from the coordinates of the joints and back.
    at: a configuration of the model at which rows of loops that the others imply are found; they are left out (`dropped`).
    """

    momentum_names = Model.momentum_names
    momentum_units = Model.momentum_units
    momentum_meaning = Model.momentum_meaning
    references: ClassVar[tuple[str, ...]] = ()
    forces: tuple[Any, ...] = ()

    def __init__(self, model: Model, at: Any = None):
        if not isinstance(model, Model):
            raise OptionError(f"Directors: got {type(model).__name__!r}; expected a Model.")
        self.model: Any = model.frozen()
        functions = [name for name, f in self.model._forces.items() if f.kind == "function"]
        if functions:
            raise UnsupportedError(
                f"Directors: forces {', '.join(map(repr, functions))} of model {model.name!r} are functions of the coordinates of its "
                "joints; simulate(control=d.control(f)) applies such a function."
            )
        self._at = self.model.check_q(at)
        self.compiled: Compiled = compile_directors(self.model, self._judged)
        self.name = self.model.name
        self.nq = self.nv = self.compiled.n
        self._work = np.zeros(work_size(self.compiled.system))

    def _judged(self, whole: Compiled) -> Array:
        """Director coordinates of the configuration `at`."""
        return states.from_joints(self.model, whole, self._at, np.zeros(self.model.nv))[0]

    def __repr__(self) -> str:
        return f"Directors({self.model!r})"

    def describe(self) -> str:
        """Its size in words."""
        c = self.compiled
        return f"{self.model.describe()}, {c.n} director coordinates, {len(c.rows)} constraints"

    # what it is made of --------------------------------------------------------------------------------------------------------------

    @property
    def mass(self) -> Array:
        """Diagonal of the mass matrix, (n,)."""
        return self.compiled.mass.copy()

    @property
    def constraint_labels(self) -> list[tuple[str, str]]:
        """(body or joint, row) of each constraint."""
        return [tuple(x) for x in self.compiled.labels]  # type: ignore[misc]

    @property
    def dropped(self) -> list[tuple[str, str]]:
        """Rows of loops that the others imply and that are left out."""
        return [tuple(x) for x in self.compiled.dropped]  # type: ignore[misc]

    @property
    def motions(self) -> list[str]:
        """Names of the coordinates of motion u of the spanning tree."""
        return [name for e in self.compiled.edges for name in e.names]

    # data and features -----------------------------------------------------------------------------------------------------------------

    def frozen(self) -> Directors:
        """Itself: it never changes."""
        return self

    def check_features(self, names: Any) -> tuple[str, ...]:
        """Those of the model."""
        found: tuple[str, ...] = self.model.check_features(names)
        return found

    def without(self, names: Any) -> Directors:
        """Of the model without these."""
        kept = self.kept("without")
        key = tuple(names)
        if not key:
            return self
        if key not in kept:
            kept[key] = Directors(self.model.without(key), self._at)
        found: Directors = kept[key]
        return found

    def detail(self, features: set[str]) -> str:
        """As of the model."""
        return str(self.model.detail(features))

    def parts(self, feature: str) -> list[str]:
        """As of the model."""
        return list(self.model.parts(feature))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads."""
        return {"kind": "directors", "model": self.model.to_dict(), "at": self._at.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Directors:
        """What `to_dict` wrote."""
        return cls(Model.from_dict(data["model"]), np.array(data["at"], dtype=float))

    def __getstate__(self) -> dict[str, Any]:
        return {**{k: x for k, x in self.__dict__.items() if k not in ("_kept", "_work")}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._work = np.zeros(work_size(self.compiled.system))

    def column_names(self, which: str) -> list[str]:
        """'rod.x', ..., 'rod.d3z'."""
        out = []
        for node in self._nodes():
            out += [f"{node.name}.{a}" for a in "xyz"]
            if node.rigid:
                out += [f"{node.name}.d{i}{a}" for i in (1, 2, 3) for a in "xyz"]
        return out

    def column_units(self, which: str) -> list[str]:
        """m and 1, or per second."""
        per = "" if which == "q" else "/s"
        out = []
        for node in self._nodes():
            out += [f"m{per}"] * 3 + ([f"1{per}"] * 9 if node.rigid else [])
        return out

    def _nodes(self) -> list[Any]:
        return [node for node in self.compiled.nodes.values() if node.name != WORLD]

    # states ----------------------------------------------------------------------------------------------------------------------------

    def state(self, q: Any = None, v: Any = None) -> tuple[Array, Array]:
        """(q, v) in director coordinates from those of the joints, as the model takes them; arrays of states too."""
        given = [np.asarray(x, dtype=float) if isinstance(x, np.ndarray) and x.ndim > 1 else None for x in (q, v)]
        Q = self.model.check_q(q) if given[0] is None else given[0]
        V = self.model.check_v(v) if given[1] is None else given[1]
        if Q.ndim != V.ndim:
            lead = np.broadcast_shapes(Q.shape[:-1], V.shape[:-1])
            Q, V = np.broadcast_to(Q, (*lead, Q.shape[-1])), np.broadcast_to(V, (*lead, V.shape[-1]))
        return states.from_joints(self.model, self.compiled, Q, V)

    def start(self, q: Any = None, v: Any = None) -> dict[str, Array]:
        """The same as arguments of `simulate`: {"q0": ..., "v0": ...}."""
        Q, V = self.state(q, v)
        return {"q0": Q, "v0": V}

    def joint_state(self, q: Any, v: Any) -> tuple[Array, Array]:
        """(q, v) of the joints of the model: of one state, or of nodes (N, n), along which angles are continued."""
        return states.to_joints(self.model, self.compiled, np.asarray(q, dtype=float), np.asarray(v, dtype=float))

    def check_q(self, q: Any = None) -> Array:
        """n numbers; None: the reference configuration of the model; joint coordinates by name, or a keyframe."""
        if q is None or isinstance(q, (Mapping, str)):
            return self.state(q)[0]
        return np.array(validate.vector(f"directors of model {self.name!r}", "q", q, self.nq, OptionError))

    def check_v(self, v: Any = None) -> Array:
        """n numbers; None: at rest."""
        if v is None:
            return np.zeros(self.nv)
        if isinstance(v, (Mapping, str)):
            raise OptionError(
                f"directors of model {self.name!r}: v is {v!r}; expected {self.nv} numbers. "
                "simulate(d, **d.start(q, v)) takes rates of joints."
            )
        return np.array(validate.vector(f"directors of model {self.name!r}", "v", v, self.nv, OptionError))

    def check_start(self, stepper: Any, q: Array, v: Array, ignore: tuple[str, ...] = ()) -> None:
        """OptionError where a start violates a constraint; it names the worst one."""
        g, G = self.constraints(q), self.gradients(q)
        size = max(1.0, float(np.abs(q).max()))
        self._refuse(np.abs(g) / size, "q0 violates it by", START)
        self._refuse(np.abs(G @ v) / max(1.0, float(np.abs(v).max())) / size, "v0 violates it at the rate", START)
        self._check_loops(q)
        for name, row in self.compiled.agrees:
            if self._evaluate(row, q) < 0.0:
                raise OptionError(f"directors of model {self.name!r}, joint {name!r}: the axes of its bodies are opposite at q0.")

    def _check_loops(self, q: Array) -> None:
        """Rows of loops must be independent at a start, and those that were left out must be met."""
        other = "Directors(model, at=q) judges them at another configuration."
        for joint, error in zip((x[0] for x in self.dropped), self.dropped_errors(q[None, :])[0], strict=True):
            if abs(error) > START * max(1.0, float(np.abs(q).max())):
                raise OptionError(
                    f"directors of model {self.name!r}, joint {joint!r}: a row that was left out, as the others imply it where they "
                    f"were judged, is violated by {abs(error):.3g} at q0. {other}"
                )
        if self.compiled.loops:
            rows = self.gradients(q)[-self.compiled.loops :] @ self.tree_null_space(q)
            sizes = np.linalg.svd(rows, compute_uv=False)
            if len(rows) > rows.shape[1] or sizes[-1] < DEPENDENT * sizes[0]:
                raise OptionError(f"directors of model {self.name!r}: rows of its loops depend on each other at q0. {other}")

    def dropped_errors(self, q: Array) -> Array:
        """Residuals of the rows that were left out, (N, rows)."""
        return np.array([[self._evaluate(row, x) for row in self.compiled.spare] for x in q]).reshape(len(q), -1)

    def _refuse(self, found: Array, how: str, allowed: float) -> None:
        if found.size and not found.max() <= allowed:
            joint, row = self.constraint_labels[int(np.argmax(found))]
            raise OptionError(
                f"directors of model {self.name!r}, {joint!r} ({row}): {how} {found.max():.3g}; expected at most {allowed:.1g}. "
                "d.state(q, v) gives director coordinates that meet the joints of the tree; model.assemble(q, v) closes loops."
            )

    def _evaluate(self, row: Row, q: Array) -> float:
        w = np.concatenate([np.eye(3).ravel(), np.zeros(3), q]).reshape(-1, 3)
        return float(sum(sum(x * w[i] for i, x in a.items()) @ sum(x * w[i] for i, x in b.items()) for a, b in row))

    # mechanics -------------------------------------------------------------------------------------------------------------------------

    def kinetic_energy(self, q: Any, v: Any) -> Array:
        """v.M v/2 of all states."""
        return np.asarray(0.5 * np.sum(self.compiled.mass * np.asarray(v, dtype=float) ** 2, axis=-1))

    def potential_energy(self, q: Any) -> Array:
        """Of gravity, springs and joint stiffness."""
        q = np.asarray(q, dtype=float)
        out = np.empty(q.size // self.nq)
        kernels.potential_rows(self.compiled.system, np.ascontiguousarray(q.reshape(-1, self.nq)), self._work.copy(), out)
        return out.reshape(q.shape[:-1])[()]

    def energy(self, q: Any, v: Any) -> Array:
        """Kinetic and potential energy."""
        return self.kinetic_energy(q, v) + self.potential_energy(q)

    def momentum(self, q: Any, v: Any) -> Array:
        """(angular about the world origin, linear): sum of m w x w_dot over all vectors, and of m phi_dot."""
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        w, p = (x.reshape(*x.shape[:-1], -1, 3) for x in (q, self.compiled.mass * v))
        places = np.array([node.phi - 4 for node in self._nodes()])
        return np.concatenate([np.cross(w, p).sum(axis=-2), p[..., places, :].sum(axis=-2)], axis=-1)

    def poses(self, q: Any) -> Array:
        """World poses of the body frames of the model, (..., bodies, 4, 4)."""
        return states.poses(self.model, self.compiled, np.asarray(q, dtype=float))

    def needs_bodies(self, call: str) -> None:
        """There are some."""

    def constraint_errors(self, q: Any, t: Any = 0.0) -> Array:
        """g at the nodes, (N, rows); rows: `constraint_labels`."""
        q = np.asarray(q, dtype=float)
        out = np.empty((len(q), len(self.compiled.rows)))
        kernels.constraint_rows(self.compiled.system, np.ascontiguousarray(q), self._work.copy(), out)
        return out

    def joint_states(self, traj: Any, name: str) -> Any:
        """(q, v) of a joint of the model at the nodes of a run."""
        from dalembert.model.loop_coordinates import joint_states

        return joint_states(self.model, *self.joint_state(traj.q, traj.v), name)

    def control(self, function: Callable[..., Any]) -> Callable[..., Array]:
        """A control of this system from one of the model: function(t, q, v) -> generalised forces of the joints, in joint coordinates."""

        def on_directors(t: float, q: Array, v: Array) -> Array:
            return self.joint_forces(q, function(t, *self.joint_state(q, v)))

        return on_directors
