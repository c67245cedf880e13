"""What is planned: a Model or a Lagrangian, seen as formulas, with the names and bounds of its coordinates and inputs.

tau = B u:  inputs u are the motors of a machine, each the force on its joint (N, N m), limited as the motor is. A machine without
motors has an input on every degree of freedom of its joints; free bodies have inputs only where a machine has nothing else. Limits of
joints, speeds and forces, of the model or of the file that it came from, are bounds of the plan: the springs by which a stepper holds
limits are no part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, singledispatch
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnknownNameError, UnsupportedError
from dalembert.kernels.tree import layout as at
from dalembert.lagrangian import Lagrangian
from dalembert.lagrangian.charts import Chart
from dalembert.lagrangian.row_formulas import RowFormula
from dalembert.lagrangian.tree_formulas import TreeFormula
from dalembert.model import Model
from dalembert.model.features import acting
from dalembert.systems import as_system

#: taken out of the model that is planned: bounds of the plan, or contacts that are planned, avoided, or left out with a note (passing.py)
ASIDE = ("limits", "contact", "velocity limits", "force limits")
#: known to the formulas
KNOWN = {"tree", "gravity", "damping", "stiffness", "armature", "spring", "wrench", "loops", "nonholonomic"}

ITERATIONS, SHARE = 50, 1e-6  # of Newton's method for a velocity, and the least part of its step


class Machine:
    """Formulas (`chart`, `both`, `lagrangian`) and numbers of what is planned."""

    formulas: Any
    rows: RowFormula | None = None  # of loops, rolling and blades
    row_notes: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()  # features that plans leave out, and that nobody asked to ignore
    turning: Array  # of v: rates of angles, whose step must stay well below a turn

    def __init__(self, system: Any, inputs: Any):
        self.system = system
        self.nq, self.nv = system.nq, system.nv
        self.q_names, self.v_names = list(system.column_names("q")), list(system.column_names("v"))
        self.B, self.u_names, self.u_limits = self._inputs(inputs)
        self.nu = self.B.shape[1]

    # inputs --------------------------------------------------------------------------------------------------------------------------

    def _default_inputs(self) -> tuple[Array, list[str], Array]:
        return np.eye(self.nv), list(self.v_names), np.tile([-np.inf, np.inf], (self.nv, 1))

    def parts(self, which: str) -> dict[str, slice]:
        """Where joints are in "q" or "v"; of a Lagrangian its coordinates."""
        return {name: slice(i, i + 1) for i, name in enumerate(self.q_names)}

    def _columns(self, name: str) -> list[int]:
        """Degrees of freedom of a name."""
        parts = self.parts("v")
        if name in parts:
            return list(range(parts[name].start, parts[name].stop))
        if name in self.v_names:
            return [self.v_names.index(name)]
        raise UnknownNameError("input: joint or degree of freedom", name, [*parts, *self.v_names])

    def _inputs(self, given: Any) -> tuple[Array, list[str], Array]:
        """(B, names, limits (nu, 2)) from None, names of joints or degrees of freedom, or a matrix (nv, nu)."""
        if given is None:
            return self._default_inputs()
        if isinstance(given, str) or (isinstance(given, Sequence) and all(isinstance(x, str) for x in given)):
            names = [given] if isinstance(given, str) else list(given)
            columns = [c for name in names for c in self._columns(name)]
            if len(set(columns)) != len(columns):
                raise OptionError(f"inputs = {names}: a degree of freedom is named twice.")
            limits = self._force_limits()[columns] if columns else np.zeros((0, 2))
            return np.eye(self.nv)[:, columns], [self.v_names[c] for c in columns], limits
        try:
            B = np.asarray(given, dtype=float)
        except (TypeError, ValueError) as error:
            raise OptionError(f"inputs: neither names nor a matrix of numbers ({error}).") from None
        if B.ndim != 2 or B.shape[0] != self.nv or not np.isfinite(B).all():
            raise OptionError(f"inputs: a matrix of shape {B.shape}; expected finite numbers (nv, inputs) = ({self.nv}, ...): tau = B u.")
        return B, [f"u{i}" for i in range(B.shape[1])], np.tile([-np.inf, np.inf], (B.shape[1], 1))

    def _force_limits(self) -> Array:
        return np.tile([-np.inf, np.inf], (self.nv, 1))

    # bounds that the machine brings --------------------------------------------------------------------------------------------------

    def q_limits(self) -> Array:
        """(nq, 2)"""
        return np.tile([-np.inf, np.inf], (self.nq, 1))

    def v_limits(self) -> Array:
        """(nv, 2)"""
        return np.tile([-np.inf, np.inf], (self.nv, 1))

    # numbers -------------------------------------------------------------------------------------------------------------------------

    def momentum(self, q: Array, v: Array) -> Array:
        """dL/dv"""
        return np.array(self._momentum(q, v)).ravel()

    def known_momentum(self, node: Any) -> Array | None:
        """Momentum of a node whose velocity is given: where q is given too, or where a machine at rest has none."""
        if not np.isfinite(node.v).all():
            return None
        if np.isfinite(node.q).all():
            return self.momentum(node.q, node.v)
        return np.zeros(self.nv) if node.at_rest and self.still else None

    @cached_property
    def still(self) -> bool:
        """No momentum at rest: of a Lagrangian with terms linear in v there is some."""
        rng = np.random.default_rng(0)
        return not any(self.momentum(rng.normal(size=self.nq), np.zeros(self.nv)).any() for _ in range(3))

    def velocity(self, q: Array, p: Array) -> Array:
        """v of a node, from dL/dv (q, v) = p + G^T mu, G v = 0, with L quadratic in v."""
        n, zero = self.nv, np.zeros(self.nv)
        offset = self.momentum(q, zero)
        M = np.column_stack([self.momentum(q, e) - offset for e in np.eye(n)])
        if self.rows is not None:
            G = self.rows.matrix(q)
            m = len(G)
            whole = np.block([[M, -G.T], [G, np.zeros((m, m))]])
            return np.asarray(np.linalg.lstsq(whole, np.concatenate([p - offset, np.zeros(m)]), rcond=None)[0][:n], dtype=float)
        return np.asarray(np.linalg.solve(M, p - offset), dtype=float)

    def momenta(self, q: Array, v: Array) -> Array:
        """dL/dv of many nodes, (n, nv)."""
        return np.array(self._momentum.map(len(q))(q.T, v.T)).T

    def lifts(self, a: Array, b: Array) -> Array:
        """x with a tau(x) = b of many pairs, (n, nv): of the same sheet, so a turn of more than half is not shortened."""
        return np.array(self._lift.map(len(a))(a.T, b.T)).T

    def _prepare(self) -> None:
        q, v, a, b = (ca.SX.sym(x, n) for x, n in (("q", self.nq), ("v", self.nv), ("a", self.nq), ("b", self.nq)))
        self._momentum = ca.Function("momentum", [q, v], [self.formulas.both(q, v)[0]])
        self._lift = ca.Function("lift", [a, b], [self.formulas.chart.lift(a, b)])


class TreeMachine(Machine):
    """A Model."""

    def __init__(self, model: Model, inputs: Any, ignore: Any):
        self.whole = model.frozen()
        left = self.whole.without(ignore) if ignore else self.whole
        self.aside = aside = tuple(name for name in ASIDE if name in acting(left))
        self.ignore = (*model.check_features(ignore), *aside)
        reduced = left.without(aside) if aside else left
        unknown = sorted(acting(reduced) - KNOWN)
        if unknown:
            raise UnsupportedError(
                f"a plan of {model.name!r} does not know {', '.join(unknown)}; leave it out by ignore=({', '.join(map(repr, unknown))},).",
                tuple(unknown),
            )
        self.reduced = reduced.frozen()
        super().__init__(self.whole, inputs)
        self.formulas = TreeFormula(self.reduced)
        if self.reduced.loops or self.reduced.nonholonomic:
            self.rows = RowFormula(self.formulas)
        self.turning = np.zeros(self.nv, dtype=bool)
        for link in self.formulas.tree.links:
            n = at.NV_OF[link.kind]
            self.turning[link.v_at : link.v_at + n] = [link.turn != 0.0] if n == 1 else [True] * 3 + [False] * (n - 3)
        self._prepare()

    def _default_inputs(self) -> tuple[Array, list[str], Array]:
        motors = self.whole.motors
        if not motors:
            driven = [joint for joint in self.whole.joints if joint.kind != "free"] or list(self.whole.joints)
            return self._inputs([joint.name for joint in driven if joint.coordinates.nv])
        slices = self.whole.v_slices()
        B = np.zeros((self.nv, len(motors)))
        for i, motor in enumerate(motors):
            if motor.joint not in slices:
                raise UnsupportedError(
                    f"motor {motor.name!r} acts on {motor.joint!r}, which closes a loop: give inputs=, a list of joints or a matrix."
                )
            B[slices[motor.joint].start, i] = 1.0
        limits = np.array([motor.limit or (-np.inf, np.inf) for motor in motors], dtype=float).reshape(-1, 2)
        return B, [motor.name for motor in motors], limits

    def parts(self, which: str) -> dict[str, slice]:
        return self.whole.q_slices() if which == "q" else self.whole.v_slices()

    def _force_limits(self) -> Array:
        found, slices = super()._force_limits(), self.whole.v_slices()
        for name, most in self._rated("effort").items():
            found[slices[name]] = [-most, most]
        for motor in self.whole.motors:
            if motor.limit is not None and motor.joint in slices:
                found[slices[motor.joint].start] = motor.limit
        return found

    def _rated(self, what: str) -> dict[str, float]:
        """Efforts or velocities of joints that the file of the machine gives."""
        given = (self.whole.source or {}).get(what, {})
        return {name: float(most) for name, most in given.items() if name in self.whole.v_slices() and 0.0 < most < np.inf}

    def q_limits(self) -> Array:
        found, slices = super().q_limits(), self.whole.q_slices()
        for joint in self.whole.joints:
            if joint.limits is not None and slices[joint.name].stop - slices[joint.name].start == 1:
                found[slices[joint.name].start] = joint.limits
        return found

    def v_limits(self) -> Array:
        found, slices = super().v_limits(), self.whole.v_slices()
        for name, most in self._rated("velocity").items():
            found[slices[name]] = [-most, most]
        for joint in self.whole.joints:
            if joint.max_velocity > 0.0:
                found[slices[joint.name]] = [-joint.max_velocity, joint.max_velocity]
        return found


class FlatFormula:
    """A Lagrangian as the formulas of a stage."""

    def __init__(self, system: Lagrangian):
        self.chart, self._f = Chart.flat_of(system.nv), system.formulas
        self._values = ca.DM(system.parameter_vector)

    def _at(self, expression: Any) -> Any:
        return ca.substitute(expression, self._f.p, self._values) if self._values.numel() else expression

    def both(self, q: Any, v: Any) -> tuple[Any, Any]:
        """(dL/dv, dL/dq + forces)"""
        return self._at(self._f.momentum(q, v)), self._at(self._f.slope(q, v) + self._f.force(q, v, 0.0))

    def lagrangian(self, q: Any, v: Any) -> Any:
        """L"""
        return self._at(self._f.L(q, v))


class FlatMachine(Machine):
    """A Lagrangian."""

    def __init__(self, system: Lagrangian, inputs: Any, ignore: Any):
        self.whole = self.reduced = system.without(ignore) if ignore else system
        self.ignore = system.check_features(ignore)
        f = self.whole.formulas
        rows = {"holonomic": f.holonomic_rows, "pfaffian": f.pfaffian_rows}
        for what, n in rows.items():
            if n:
                raise UnsupportedError(f"a plan of {system!r} does not know {what} constraints.")
        q, v, t = ca.SX.sym("q", system.nv), ca.SX.sym("v", system.nv), ca.SX.sym("t")
        if f.depends(f.force(q, v, t), t):
            raise UnsupportedError(f"a plan of {system!r} does not know forces that depend on time.")
        super().__init__(self.whole, inputs)
        self.formulas = FlatFormula(self.whole)
        self.turning = np.zeros(self.nv, dtype=bool)
        self._prepare()
        q, v = ca.SX.sym("q", self.nq), ca.SX.sym("v", self.nv)
        self._mass = ca.Function("mass", [q, v], [ca.jacobian(self.formulas.both(q, v)[0], v)])

    def velocity(self, q: Array, p: Array) -> Array:
        """v of a node, from dL/dv (q, v) = p: by Newton's method, at once where L is quadratic in v."""
        v, missing = np.zeros(self.nv), p - self.momentum(q, np.zeros(self.nv))
        if not np.isfinite(missing).all():
            return np.full(self.nv, np.nan)
        least = 4.0 * np.finfo(float).eps * np.abs(p).max(initial=0.0)
        for _ in range(ITERATIONS):
            size = np.abs(missing).max(initial=0.0)
            if size <= least:
                break
            step, share = np.linalg.lstsq(np.array(self._mass(q, v)), missing, rcond=None)[0], 1.0
            while not np.abs(p - self.momentum(q, v + share * step)).max(initial=0.0) < size and share > SHARE:
                share *= 0.5  # also where L is no number
            if share <= SHARE:
                break
            v = v + share * step
            missing = p - self.momentum(q, v)
        return v


@singledispatch
def machine_of(given: Any, inputs: Any = None, ignore: Any = ()) -> Any:
    """The machine of a system: of a Model or a Lagrangian, others register theirs."""
    raise UnsupportedError(f"dmoc: {as_system(given, 'dmoc')!r} has no formulas for a plan; a Model or a Lagrangian has.")


@machine_of.register
def _of_formula(given: Lagrangian, inputs: Any = None, ignore: Any = ()) -> FlatMachine:
    return FlatMachine(given, inputs, ignore)


@machine_of.register
def _of_bodies(given: Model, inputs: Any = None, ignore: Any = ()) -> TreeMachine:
    if given.nv == 0:
        raise OptionError(f"dmoc: {given!r} has no degree of freedom.")
    return TreeMachine(given, inputs, ignore)


def bound(owner: str, given: Any, names: list[str], groups: Mapping[str, Sequence[int]], default: Array) -> Array:
    """(n, 2) from None, a number (plus and minus), a pair, arrays, or {name or joint: the same}; where nothing is given, the default."""
    out = np.array(default, dtype=float)
    n = len(names)
    if given is None:
        return out
    if isinstance(given, Mapping):
        for name, value in given.items():
            at_ = [names.index(name)] if name in names else list(groups.get(name, ()))
            if not at_:
                raise UnknownNameError(f"{owner}: name", name, [*names, *groups])
            out[at_] = _pair(f"{owner}[{name!r}]", value, len(at_))
        return out
    return _pair(owner, given, n)


def _pair(owner: str, value: Any, n: int) -> Array:
    if value is None:
        return np.tile([-np.inf, np.inf], (n, 1))
    try:
        low, high = (-float(value), float(value)) if np.ndim(value) == 0 else value
        pair = np.stack([np.broadcast_to(np.asarray(x, dtype=float), (n,)) for x in (low, high)], axis=1)
    except (TypeError, ValueError):
        raise OptionError(
            f"{owner} is {value!r}; expected a number (plus and minus it) or a pair (least, most), numbers or {n} of them."
        ) from None
    if np.isnan(pair).any() or (pair[:, 0] > pair[:, 1]).any():
        raise OptionError(f"{owner}: least {pair[:, 0].tolist()} and most {pair[:, 1].tolist()}; expected least <= most, without NaN.")
    return pair
