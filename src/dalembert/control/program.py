"""A nonlinear program of blocks, given to IPOPT with its own derivatives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.blocks import Assembly, Block
from dalembert.control.scaling import Scales, scales_of
from dalembert.errors import OptionError

#: of IPOPT: tight, silent; the order of elimination that is quickest on chains of stages; a barrier that adapts: plans that begin at limits
#: of joints then take a third of the iterations (humanoid), others as many as before; bounds are relaxed by 1e-10, as what is one step of
#: the simulator to 1e-9 should keep its limits as well; rows hold to 1e-10, which costs an iteration at most; a step that the curved
#: dynamics refuse is corrected up to eight times before it is shortened (cart-pole: 12 iterations for 16; the other scenes never need more
#: than IPOPT's four)
IPOPT: dict[str, Any] = {
    "tol": 1e-9, "print_level": 0, "sb": "yes", "max_iter": 1000, "mumps_pivot_order": 0, "mu_strategy": "adaptive",
    "bound_relax_factor": 1e-10, "constr_viol_tol": 1e-10, "max_soc": 8,
}  # fmt: skip


Watch = Callable[[Array, float, Array], bool]


class Program:
    """Variables z with bounds, parameters, and blocks. `solve` may be called as often as wanted.

    names: of the variables, in words. least, most: bounds of z. units: of z, where they are not 1 (control/units.py).
    """

    def __init__(
        self,
        least: Array,
        most: Array,
        names: Callable[[int], str],
        blocks: Sequence[Block],
        parameters: Array,
        options: dict[str, Any],
        units: Array | None = None,
    ):
        self.least, self.most, self.names = least, most, names
        self.parameters = np.asarray(parameters, dtype=float)
        self.assembly = assembly = Assembly(len(least), len(self.parameters), blocks)
        self.blocks = assembly.blocks
        self.lower = np.concatenate([b.lower.ravel() for b in self.blocks] or [np.zeros(0)])
        self.upper = np.concatenate([b.upper.ravel() for b in self.blocks] or [np.zeros(0)])
        self.options = {**IPOPT, **options}
        self.units, self._measured = units, False
        self.scales: Scales | None = None  # of the search, known from its first guess
        self._solvers: dict[Any, Any] = {}
        self._alone = threading.Lock()  # CasADi's functions, and the callback, serve one search at a time
        self._callback = _Callback(len(least), assembly.rows, len(self.parameters))
        z, p = assembly.z, assembly.p
        s, lam = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", assembly.rows)
        cost, rows = assembly.value()
        self.value = ca.Function("value", [z, p], [cost, rows])
        self._gradient = ca.Function("grad_f", [z, p], [cost, assembly.gradient()], ["x", "p"], ["f", "grad_f_x"])
        self._jacobian = ca.Function("jac_g", [z, p], [rows, assembly.jacobian()], ["x", "p"], ["g", "jac_g_x"])
        self._hessian = ca.Function(
            "hess_lag", [z, p, s, lam], [assembly.hessian(s, lam)], ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
        )
        self._solver(self.options)  # wrong options are said here

    def _solver(self, options: dict[str, Any]) -> Any:
        """IPOPT with some options; kept."""
        if not all(isinstance(value, (bool, int, float, str, np.number)) for value in options.values()):
            raise OptionError(f"dmoc has no such options, nor does IPOPT take them: {_listed(options)}")
        key = tuple(sorted(options.items()))
        if key not in self._solvers:
            z, p = self.assembly.z, self.assembly.p
            value, gradient, jacobian, hessian = self.value, self._gradient, self._jacobian, self._hessian
            if self.scales is not None:
                value, gradient, jacobian, hessian = self.scales.scaled(self)
            cost, rows = value(z, p)
            given: dict[str, Any] = {
                "ipopt": options, "print_time": False, "error_on_fail": False, "iteration_callback": self._callback,
                "show_eval_warnings": False, "grad_f": gradient, "jac_g": jacobian, "hess_lag": hessian,
            }  # fmt: skip
            program: Any = {"x": z, "p": p, "f": cost, "g": rows}
            try:
                self._solvers[key] = ca.nlpsol("plan", "ipopt", program, given)
            except RuntimeError as error:
                said = [line.split(": ", 1)[-1] for line in str(error).splitlines() if "ption" in line or "mismatch" in line]
                raise OptionError(f"dmoc has no such options, nor does IPOPT take them: {_listed(options)} ({' '.join(said)})") from None
        return self._solvers[key]

    def solve(self, z: Array, multipliers: tuple[Array, Array] | None = None, watch: Watch | None = None, **ipopt: Any) -> Result:
        """From z, and with the multipliers (of rows, of bounds) of an earlier solution from there.

        watch(z, cost, rows): called after each iteration; True ends the search.
        """
        with self._alone:
            return self._solve(z, multipliers, watch, ipopt)

    def _solve(self, z: Array, multipliers: tuple[Array, Array] | None, watch: Watch | None, ipopt: dict[str, Any]) -> Result:
        if not self._measured:
            self._measured, self.scales = True, scales_of(self, z)
            if self.scales is not None:
                self._solvers.clear()
        solver, scales = self._solver({**self.options, **ipopt}), self.scales
        start: dict[str, Any] = {"x0": z, "lbx": self.least, "ubx": self.most, "lbg": self.lower, "ubg": self.upper}
        if multipliers is not None:
            start |= {"lam_g0": multipliers[0], "lam_x0": multipliers[1]}
        self._callback.watch = watch if watch is None or scales is None else scales.watched(watch)
        try:
            found = solver(p=self.parameters, **(start if scales is None else scales.inwards(start)))
        finally:
            self._callback.watch = None
        return Result(found if scales is None else scales.outwards(found), solver.stats())


def _listed(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items() if IPOPT.get(name) != value) or "(defaults)"


class _Callback(ca.Callback):  # type: ignore[misc]
    """Hands each iterate on to `watch`; non-zero ends the search."""

    def __init__(self, n: int, rows: int, parameters: int):
        ca.Callback.__init__(self)
        self.sizes = {"x": n, "g": rows, "lam_x": n, "lam_g": rows, "lam_p": parameters, "f": 1}
        self.watch: Watch | None = None
        self.construct("watch", {})

    def get_n_in(self) -> int:
        return int(ca.nlpsol_n_out())

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return str(ca.nlpsol_out(i))

    def get_name_out(self, i: int) -> str:
        return "ret"

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self.sizes[ca.nlpsol_out(i)], 1)

    def eval(self, arguments: Any) -> list[float]:
        if self.watch is None:
            return [0]
        if getattr(self.watch, "waits", bool)():  # turning an iterate into arrays takes as long as a tenth of an iteration
            self.watch.iteration += 1  # type: ignore[attr-defined]
            return [int(self.watch.stop)]  # type: ignore[attr-defined]
        named = {ca.nlpsol_out(i): a for i, a in enumerate(arguments)}
        return [int(self.watch(np.array(named["x"]).ravel(), float(named["f"]), np.array(named["g"]).ravel()))]


class Result:
    """What IPOPT found."""

    def __init__(self, found: dict[str, Any], stats: dict[str, Any]):
        self.z = np.array(found["x"]).ravel()
        self.cost = float(np.array(found["f"]).item())
        self.rows = np.array(found["g"]).ravel()
        self.multipliers = np.array(found["lam_g"]).ravel(), np.array(found["lam_x"]).ravel()
        self.status, self.success, self.iterations = str(stats["return_status"]), bool(stats["success"]), int(stats["iter_count"])
        self.stats = stats
