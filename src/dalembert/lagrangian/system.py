"""`Lagrangian`: a system given by a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, OptionError, UnknownNameError, UnsupportedError
from dalembert.lagrangian.arguments import coordinate_names, named_generators, parameters, restitutions, vector
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.numbers import Numbers
from dalembert.lagrangian.reader import Reader
from dalembert.model import validate
from dalembert.systems import System

#: features of a system that a run can leave out, and the formulas they are
LEAVABLE = {
    "holonomic": ("holonomic",),
    "nonholonomic": ("pfaffian", "drive"),
    "unilateral": ("unilateral",),
    "force": ("force",),
    "damping": ("rayleigh",),
}


MOST = 100_000  # coordinates


class Lagrangian(System, kind="lagrangian"):
    """A mechanical system given by its Lagrangian. `dal.simulate` takes it like a `Model`.

    n: number of coordinates. L(q, v): a number. All functions are written with NumPy or CasADi; those that need the time take an argument
    `t`, those that need parameters an argument `p` (p.mass or p["mass"]).

    holonomic(q): m numbers that are kept at zero.  pfaffian(q): the matrix A of A v = 0, or a pair (A, w) for A v + w = 0.
    force(q, v): n generalised forces.  rayleigh(q, v): a number R, which gives the force -dR/dv.
    unilateral(q): numbers c that stay >= 0: walls, floors, stops.  restitution: of an impact there, in [0, 1], one number or one per row.
    symmetries: generators xi, each a function of q, a vector (translation) or a matrix S (xi = S q); or {name: generator}. The momentum
    dL/dv . xi of each is reported. L must be invariant, which is checked.
    params: {name: number or list of numbers}; `s.with_params(mass=2.0)` changes values without compiling anything anew.
    names: of the coordinates.
    """

    def __init__(
        self,
        n: int,
        L: Any,
        holonomic: Any = None,
        pfaffian: Any = None,
        force: Any = None,
        rayleigh: Any = None,
        symmetries: Any = (),
        params: Mapping[str, Any] | None = None,
        name: str = "",
        names: Sequence[str] | None = None,
        unilateral: Any = None,
        restitution: Any = None,
    ):
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= MOST:
            raise ModelError(f"Lagrangian: n is {n!r}; expected the number of coordinates, a whole number in 1 ... {MOST}.")
        if L is None:
            raise ModelError("Lagrangian: L is None; expected a function L(q, v).")
        self.n, self.name = int(n), str(name)
        self.names = coordinate_names(self.n, names)
        self._values, self._sizes = parameters({} if params is None else params)
        generators = named_generators(symmetries)
        self.symmetry_names = tuple(generators)
        given = {"L": L, "holonomic": holonomic, "pfaffian": pfaffian, "force": force, "rayleigh": rayleigh, "unilateral": unilateral}
        self.formulas = Reader(self).formulas({k: x for k, x in given.items() if x is not None}, generators)
        self.restitution = restitutions(restitution, self.formulas.unilateral_rows)
        self._programs: dict[Any, Any] = {}
        self._check_invariance()

    # parameters ----------------------------------------------------------------------------------------------------------------------

    @property
    def params(self) -> dict[str, Any]:
        """Values of the parameters."""
        return {k: (float(x[0]) if self._sizes[k] is None else x.copy()) for k, x in self._values.items()}

    @property
    def parameter_vector(self) -> Array:
        """All parameters one after another, in the order in which they were given."""
        return np.concatenate([np.zeros(0), *self._values.values()])

    def with_params(self, **values: Any) -> Lagrangian:
        """The same system with other values of some parameters. Nothing is read or compiled anew."""
        new, sizes = parameters(values)
        for name, size in sizes.items():
            if name not in self._sizes:
                raise UnknownNameError("parameter", name, self._sizes)
            if size != self._sizes[name]:
                wanted = "a number" if self._sizes[name] is None else f"{self._sizes[name]} numbers"
                raise OptionError(f"parameter {name!r} is {values[name]!r}; expected {wanted}, as when the system was made.")
        other = object.__new__(Lagrangian)
        other.__dict__.update(self.__dict__)
        other.__dict__.pop("_numbers", None)
        other._values = {**self._values, **new}
        return other

    @property
    def any_numbers_start(self) -> bool:
        """Without constraints."""
        f = self.formulas
        return not (f.holonomic_rows or f.pfaffian_rows or f.unilateral_rows)

    def with_values(self, values: Mapping[str, Any]) -> Lagrangian:
        """`with_params`, by a mapping: what systems of all kinds have."""
        return self.with_params(**values)

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names that `with_values` takes."""
        return tuple(self._sizes)

    def alike(self, columns: Mapping[str, Any]) -> Any:
        """(n,): finite parameters of the right sizes, whatever they are."""
        found = [np.isfinite(column.reshape(len(column), -1)).all(axis=1) for column in columns.values()]
        sizes = all(column.shape[1:] == (() if self._sizes[name] is None else (self._sizes[name],)) for name, column in columns.items())
        return np.logical_and.reduce(found) & sizes

    @staticmethod
    def check_features(names: Any) -> tuple[str, ...]:
        """Names of features that a run may ignore, one or several, as a tuple; UnknownNameError for others."""
        return validate.names("feature to ignore", names, LEAVABLE, {})

    def without(self, names: Any) -> Lagrangian:
        """The same system without force, damping, holonomic, nonholonomic or unilateral constraints, as named; itself if none is there."""
        left_out = {function for name in self.check_features(names) for function in LEAVABLE[name]}
        if not left_out & set(self.formulas.functions):
            return self
        other = object.__new__(Lagrangian)
        other.__dict__.update({k: x for k, x in self.__dict__.items() if k != "_numbers"})
        other.formulas = Formulas(self.n, {k: f for k, f in self.formulas.functions.items() if k not in left_out})
        other.restitution = self.restitution if other.formulas.unilateral_rows else ()
        other._programs = self._programs.setdefault(("without", tuple(sorted(left_out))), {})  # their code lives as long as this system's
        return other

    # what the rest of the library asks a system ----------------------------------------------------------------------------------------

    references = ("casadi",)

    def check_start(self, stepper: Any, q: Array, v: Array, ignore: tuple[str, ...] = ()) -> None:
        """OptionError where a start is singular or violates constraints."""
        from dalembert.lagrangian.consistency import check_consistent

        check_consistent(self, stepper, q, v)

    def reaction(self, traj: Any, joint: str) -> Array:
        """Multipliers (N + 1, rows) of the "holonomic" or "pfaffian" constraints at the nodes of a run: see lagrangian/forces.py."""
        from dalembert.lagrangian.forces import constraint_forces

        return constraint_forces(traj, joint)

    def multipliers(self, traj: Any) -> dict[str, Array]:
        """Multipliers of the discrete equations of a run: see lagrangian/forces.py."""
        from dalembert.lagrangian.forces import interval_multipliers

        return interval_multipliers(traj)

    def extra_variables(self, traj: Any) -> list[tuple[str, Any, str, str]]:
        """Residuals and forces of the constraints; nothing where there are none."""
        found = []
        if self.formulas.holonomic_rows:
            found.append(("constraint", traj.constraint, "holonomic_row", "residuals of the holonomic constraints"))
        if traj._multipliers is not None and traj._multipliers.shape[1]:
            what = "forces of the constraints (holonomic, Pfaffian) in the interval before the node"
            found.append(("multipliers", traj._multipliers, "constraint_row", what))
        return found

    @property
    def driven(self) -> bool:
        """True where constraints depend on time."""
        return "driven" in self.formulas.features

    def describe(self) -> str:
        """Coordinates and constraints in words."""
        f = self.formulas
        rows = ((f.holonomic_rows, "on positions"), (f.pfaffian_rows, "on velocities"), (f.unilateral_rows, "on one side"))
        constraints = [f"{n} {'constraint' if n == 1 else 'constraints'} {what}" for n, what in rows if n]
        return ", ".join([f"{self.n} {'coordinate' if self.n == 1 else 'coordinates'}", *constraints])

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.n

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.n

    momentum_meaning = "momentum dL/dv . xi of each declared symmetry"

    @property
    def momentum_names(self) -> tuple[str, ...]:
        """The symmetries."""
        return self.symmetry_names

    @property
    def momentum_units(self) -> tuple[str, ...]:
        """A formula does not tell."""
        return ("",) * len(self.symmetry_names)

    def column_names(self, which: str) -> list[str]:
        """Names of the columns of "q", and with a 'd' before them of "v"."""
        return [name if which == "q" else f"d{name}" for name in self.names]

    def column_units(self, which: str) -> list[str]:
        """A formula does not tell."""
        return [""] * self.n

    @property
    def forces(self) -> tuple[Any, ...]:
        """None beside those of the formulas."""
        return ()

    @property
    def numbers(self) -> Numbers:
        """The formulas as functions of arrays."""
        if "_numbers" not in self.__dict__:
            self.__dict__["_numbers"] = Numbers(self.formulas, self.parameter_vector)
        return self.__dict__["_numbers"]  # type: ignore[no-any-return]

    def frozen(self) -> Lagrangian:
        """Itself: a Lagrangian does not change."""
        return self

    def neutral(self) -> Array:
        """q = 0."""
        return np.zeros(self.n)

    def integrate(self, q: Array, dq: Array) -> Array:
        """q + dq."""
        return np.asarray(q, dtype=float) + dq

    def difference(self, q0: Array, q1: Array) -> Array:
        """q1 - q0."""
        return np.asarray(q1, dtype=float) - q0

    def check_q(self, q: Any = None) -> Array:
        """q as an array of n numbers; zeros by default. {coordinate: number} sets single ones."""
        return vector(self, "q0", q)

    def check_v(self, v: Any = None) -> Array:
        """v as an array of n numbers; zeros by default."""
        return vector(self, "v0", v)

    def poses(self, q: Any) -> Array:
        """UnsupportedError: a formula has no bodies."""
        raise UnsupportedError(
            f"{self!r} has no bodies, so no poses, pictures of bodies or animations; traj.q and traj.plot() show its motion."
        )

    def energy(self, q: Array, v: Array) -> Array:
        """E = v . dL/dv - L, J."""
        return self.numbers.energy(q, v)

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """E(q, v) - E(q, 0)."""
        return self.numbers.energy(q, v) - self.potential_energy(q)

    def potential_energy(self, q: Array) -> Array:
        """E(q, 0) = -L(q, 0)."""
        return self.numbers.energy(q, np.zeros_like(np.asarray(q, dtype=float)))

    def momentum(self, q: Array, v: Array) -> Array:
        """dL/dv . xi for each declared symmetry."""
        return self.numbers.noether(q, v)

    def momentum_size(self, q: Array, v: Array) -> Array:
        """sum over i, j of |xi_i M_ij v_j|, and |xi . p(q, 0)|, for each symmetry: what round-off in its momentum is relative to.

        Terms of the momentum may cancel: a system at rest as a whole has none.
        """
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        xi, M = np.abs(self.generators(q)), np.abs(self.mass_matrix(q, v))
        still = np.abs(self.canonical_momentum(q, np.zeros_like(v)))
        terms = np.einsum("...ij,...j->...i", M, np.abs(v)) + still
        return np.asarray(np.einsum("...ik,...i->...k", xi, terms))

    def generators(self, q: Array) -> Array:
        """xi(q), one column per declared symmetry: (..., n, symmetries)."""
        count = self.formulas.symmetries
        if not count:
            return np.zeros((*np.shape(q)[:-1], self.n, 0))
        found = self.numbers._call("generators", lambda q, v, t, u: ca.vec(self.formulas.generators(q).T), q, None)
        return found.reshape(*np.shape(q)[:-1], self.n, count)

    @property
    def affine_symmetries(self) -> tuple[bool, ...]:
        """Whether each generator is of the form S q + b: these act on q such that discrete Lagrangians keep their momenta."""
        q = ca.SX.sym("q", self.n)
        xi = self.formulas.generators(q)
        slopes = [ca.simplify(ca.vec(ca.jacobian(xi[:, i], q))) for i in range(self.formulas.symmetries)]
        return tuple(not self.formulas.depends(slope, q) for slope in slopes)

    def canonical_momentum(self, q: Array, v: Array) -> Array:
        """p = dL/dv."""
        return self.numbers.momentum(q, v)

    def mass_matrix(self, q: Array, v: Any = None) -> Array:
        """M = d2L/dv2."""
        return self.numbers.mass(q, np.zeros(self.n) if v is None else v)

    def accelerations(self, q: Array, v: Array, t: float = 0.0, tau: Any = None) -> Array:
        """Accelerations under all forces and constraints (differentiated twice)."""
        return self.numbers.acceleration(q, v, t, np.zeros(self.n) if tau is None else np.asarray(tau, dtype=float))

    def constraint_errors(self, q: Array, t: Any = 0.0) -> Array:
        """g(q, t)."""
        return self.numbers.holonomic(q, t)

    def gaps(self, q: Array) -> Array:
        """c(q), the unilateral constraints: >= 0 where they are kept."""
        return self.numbers.unilateral(q)

    def velocity_errors(self, q: Array, v: Array, t: Any = 0.0) -> Array:
        """(dg/dt along v, A v + w)."""
        return self.numbers.rates(q, v, t)

    def assemble(self, q: Any, v: Any = None, fixed: tuple[str, ...] = ()) -> tuple[Array, Array]:
        """The nearest (q, v) that meets the constraints; coordinates named in `fixed` stay."""
        from dalembert.lagrangian.consistency import assemble

        return assemble(self, q, v, fixed)

    # files ---------------------------------------------------------------------------------------------------------------------------

    def to_dict(self, drop_functions: bool = False) -> dict[str, Any]:
        """Plain data, formulas included."""
        return {
            "kind": "lagrangian",
            "n": self.n,
            "name": self.name,
            "names": list(self.names),
            "params": {k: (float(x[0]) if self._sizes[k] is None else x.tolist()) for k, x in self._values.items()},
            "symmetries": list(self.symmetry_names),
            "restitution": list(self.restitution),
            "formulas": self.formulas.text(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Lagrangian:
        """The inverse of `to_dict`."""
        made = object.__new__(cls)
        made.n, made.name, made.names = int(data["n"]), data["name"], tuple(data["names"])
        made._values, made._sizes = parameters(data["params"])
        made.symmetry_names = tuple(data["symmetries"])
        made.formulas = Formulas.from_text(made.n, data["formulas"])
        made.restitution = tuple(data.get("restitution", ()))
        made._programs = {}
        return made

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        """Pickled and copied as plain data; machine code is made anew where it is used."""
        return Lagrangian.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        f = self.formulas
        parts = [f"{self.n} coordinate{'s' if self.n > 1 else ''}"]
        counts = {"holonomic": f.holonomic_rows, "pfaffian": f.pfaffian_rows, "unilateral": f.unilateral_rows, "symmetries": f.symmetries}
        parts += [f"{m} {what}" for what, m in counts.items() if m]
        return f"Lagrangian({self.name!r}, {', '.join(parts)})" if self.name else f"Lagrangian({', '.join(parts)})"

    def _check_invariance(self) -> None:
        """dL/dq . xi + dL/dv . (dxi/dq) v = 0 at random states, to round-off of its terms; ModelError names what is no symmetry."""
        if not self.symmetry_names:
            return
        rng = np.random.default_rng(7)
        for scale in (1.0, 0.3):
            change, size = self.numbers.invariance(scale * rng.standard_normal((20, self.n)), rng.standard_normal((20, self.n)))
            usable = np.isfinite(change).all(axis=1) & np.isfinite(size).all(axis=1)
            wrong = np.abs(change[usable]) > 1e-9 * size[usable] + 1e-300
            for i, name in enumerate(self.symmetry_names):
                if wrong[:, i].any():
                    raise ModelError(
                        f"{self!r}: {name} is no symmetry: along it the Lagrangian changes by {np.abs(change[usable][:, i]).max():.3g}."
                    )
