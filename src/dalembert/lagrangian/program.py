"""A program: what a stepper does with a system, as expressions, and their machine code in the arrays that the compiled loop wants.

A stepper for Lagrangians is one function that returns a `Program`: moves, each with a block of equations to be solved (or none) and the
next state. The loop and Newton's method are the same for all of them (`kernels/lagrangian/`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.lagrangian import layout as at
from dalembert.lagrangian.formulas import Formulas
from dalembert.machine_code import MachineCode

EPS = float(np.finfo(float).eps)
ROUND_OFF = 16 * EPS


class Scope:
    """Symbols of a step: t, h, and the state's parts q, y (momentum or velocity), w (velocity of the interval before), time, extra, u (the
    control that is held)."""

    def __init__(self, formulas: Formulas, extra: int = 0):
        n, self.formulas = formulas.n, formulas
        self.n, self.extra_size = n, extra
        self.multipliers = formulas.holonomic_rows + formulas.pfaffian_rows
        self.ledger_size = 1 + formulas.symmetries
        self.t, self.h, self.u = ca.SX.sym("t"), ca.SX.sym("h"), ca.SX.sym("u", n)
        self.q, self.y, self.w, self.time = ca.SX.sym("q", n), ca.SX.sym("y", n), ca.SX.sym("w", n), ca.SX.sym("time")
        self.extra, self.mu = ca.SX.sym("extra", extra), ca.SX.sym("mu", self.multipliers)
        self.ledger = ca.SX.sym("ledger", self.ledger_size)
        self.state = ca.vertcat(self.q, self.y, self.w, self.time, self.extra, self.mu, self.ledger, self.u)
        self.inputs = ca.vertcat(self.t, self.h, formulas.p, self.state)

    def next(self, q: Any, y: Any, w: Any, extra: Any = None, mu: Any = None, time: Any = None) -> Any:
        """The next state but for u, which stays; multipliers, as forces, that are not given are 0 and extra entries stay."""
        mu = ca.SX(self.multipliers, 1) if mu is None else mu
        time = self.t + self.h if time is None else time
        return ca.densify(ca.vertcat(q, y, w, time, self.extra if extra is None else extra, mu, self.ledger))

    def floor(self, speed: Any = None) -> Any:
        """Round-off of a velocity found from differences of q, from speeds and from impulses: 16 eps (|q|/h + |w| + h sum |force|/m).

        Forces that hold each other leave the round-off of each of them.
        """
        f, h = self.formulas, ca.fabs(self.h)
        speed = self.w if speed is None else speed
        own = f.force(self.q, speed, self.t)
        push = ca.fabs(f.slope(self.q, speed)) + ca.fabs(own) + ca.fabs(self.u)
        gain = ca.norm_inf(push / ca.fmax(ca.fabs(ca.diag(f.mass(self.q, speed))), 1e-300))
        return ROUND_OFF * (ca.norm_inf(self.q) / h + ca.norm_inf(speed) + h * gain)


@dataclass
class Block:
    """Equations residual(unknowns) = 0. The first `main` unknowns decide about convergence; floor: their round-off.

    revealing: equations may be redundant, and are then solved as far as they are independent. linear: one correction solves them.
    """

    unknowns: Any
    residual: Any
    guess: Any
    floor: Any
    main: int
    revealing: bool = False
    linear: bool = False


@dataclass
class Move:
    """A block to be solved, if any, and the state that follows from its solution."""

    update: Any
    block: Block | None = None


@dataclass
class Program:
    """Moves of a step, the state at the start from symbols (q, v) at time 0, and how a node's velocity is found (None: y is it)."""

    scope: Scope
    moves: list[Move]
    start: tuple[Any, Any, Any]  # symbols q, v; the state
    nodal: Block | None = None
    functions: dict[str, Any] = field(default_factory=dict)  # more code for who runs it: name -> (inputs, output)
    record: tuple[float, ...] = ()  # more numbers behind the records of the blocks
    room: int = 0  # more numbers in the workspace, before those of the solver


class CompiledProgram:
    """Machine code of a program, and the layout of its arrays. Shared by all values of the parameters."""

    def __init__(self, program: Program):
        self.program, scope = program, program.scope
        blocks = [(program.nodal, None), *((m.block, m.update) for m in program.moves)]
        functions: dict[str, Any] = {}
        for k, (block, update) in enumerate(blocks):
            functions |= _functions(scope, block, update, k)
        functions["start"] = _start_function(scope, program)
        functions["ledger"] = _ledger_function(scope)
        functions |= {name: _function(list(inputs), output) for name, (inputs, output) in program.functions.items()}
        self.code = MachineCode(functions)
        self._header(blocks)

    def _header(self, blocks: list[Any]) -> None:
        scope, address = self.program.scope, self.code.addresses
        unknowns = max([scope.n, *(b.unknowns.shape[0] for b, _ in blocks if b is not None)])
        size = scope.state.shape[0]
        head = np.zeros(at.HEADER + at.BLOCK * len(blocks))
        x = scope.inputs.shape[0] + unknowns
        out = max(size, unknowns + 1, scope.ledger_size)
        head[at.N], head[at.PARAMS], head[at.STATE], head[at.MOVES] = scope.n, scope.formulas.p.shape[0], size, len(self.program.moves)
        head[at.UNKNOWNS], head[at.RANK_TOL] = unknowns, 1e-12
        head[at.LEDGER], head[at.LEDGER_SIZE] = address["ledger"], scope.ledger_size
        head[at.AT_LEDGER] = size - scope.n - scope.ledger_size
        head[at.START], head[at.MULTIPLIERS] = address["start"], scope.multipliers
        head[at.WORK_SIZE] = x + unknowns + unknowns**2 + out + 4 * unknowns + self.program.room + at.INFO_SIZE
        for k, (block, update) in enumerate(blocks):
            record = head[at.HEADER + at.BLOCK * k :][: at.BLOCK]
            if block is not None:
                record[at.UNKNOWN], record[at.MAIN] = block.unknowns.shape[0], block.main
                record[at.REVEALING], record[at.LINEAR] = block.revealing, block.linear
                record[at.GUESS], record[at.RESIDUAL] = address[f"guess{k}"], address[f"residual{k}"]
            if update is not None:
                assert update.shape == (size - scope.n, 1), "a move writes the whole state but for the control"
                record[at.UPDATE] = address[f"update{k}"]
        self.head = np.concatenate([head, self.program.record])

    def system(self, params: Array, tol: float, max_iterations: int) -> Array:
        """The system array: header, records of the blocks, parameters."""
        head = self.head.copy()
        head[at.TOL], head[at.MAX_ITERATIONS] = tol, max_iterations
        return np.concatenate([head, params])


def _functions(scope: Scope, block: Block | None, update: Any, k: int) -> dict[str, Any]:
    x = scope.inputs if block is None else ca.vertcat(scope.inputs, block.unknowns)
    found = {}
    if block is not None:
        J = ca.jacobian(block.residual, block.unknowns)
        found[f"guess{k}"] = _function([x], ca.vertcat(block.guess, block.floor))
        found[f"residual{k}"] = _function([x], ca.vertcat(block.residual, ca.vec(ca.densify(J).T)))
    if update is not None:
        found[f"update{k}"] = _function([x], update)
    return found


def _start_function(scope: Scope, program: Program) -> Any:
    q, v, state = program.start
    return _function([ca.vertcat(q, v, scope.formulas.p)], state)


def _ledger_function(scope: Scope) -> Any:
    """(power, push along each symmetry) of the forces outside the Lagrangian at a node; the unknowns are its velocity."""
    f, v = scope.formulas, ca.SX.sym("v", scope.n)
    force = f.force(scope.q, v, scope.t, scope.u)
    return _function([ca.vertcat(scope.inputs, v)], ca.vertcat(ca.dot(force, v), f.generators(scope.q).T @ force))


def _function(inputs: list[Any], output: Any) -> Any:
    return ca.Function("f", inputs, [ca.cse(ca.densify(output))])
