"""From formulas to machine code: the instructions of a CasADi function, translated by LLVM, in milliseconds and without a C compiler.

    void f(const double *x, double *y)

A function of one vector x with one vector y becomes straight-line code. Arithmetic is IEEE, nothing is reordered. Derivatives are CasADi's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
from llvmlite import binding, ir

from dalembert.errors import ModelError

DOUBLE, INDEX = ir.DoubleType(), ir.IntType(64)
LARGE = 20_000  # instructions above which optimising costs more than it saves

_NAMES = {getattr(ca, name): name for name in dir(ca) if name.startswith("OP_")}

# functions of libm, by their number of arguments
_NAMES_1 = "exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf floor ceil log1p expm1"
_NAMES_2 = "pow atan2 fmod fmin fmax hypot remainder"
_LIBM = {f"OP_{name.upper()}": (name, 1) for name in _NAMES_1.split()}
_LIBM |= {f"OP_{name.upper()}": (name, 2) for name in _NAMES_2.split()}
_LIBM |= {"OP_CONSTPOW": ("pow", 2), "OP_COPYSIGN": ("llvm.copysign.f64", 2)}
_LIBM |= {"OP_SQRT": ("llvm.sqrt.f64", 1), "OP_FABS": ("llvm.fabs.f64", 1)}

_COMPARE = {"OP_LT": "<", "OP_LE": "<=", "OP_EQ": "==", "OP_NE": "!="}

_Emit = Callable[[ir.IRBuilder, list[Any]], Any]


def _zero() -> Any:
    return ir.Constant(DOUBLE, 0.0)


def _truth(b: ir.IRBuilder, x: Any) -> Any:
    return b.fcmp_unordered("!=", x, _zero())


def _number(b: ir.IRBuilder, x: Any) -> Any:
    return b.uitofp(x, DOUBLE)


def _sign(b: ir.IRBuilder, a: list[Any]) -> Any:
    return b.fsub(_number(b, b.fcmp_ordered(">", a[0], _zero())), _number(b, b.fcmp_ordered("<", a[0], _zero())))


_PLAIN: dict[str, _Emit] = {
    "OP_ASSIGN": lambda b, a: a[0],
    "OP_ADD": lambda b, a: b.fadd(a[0], a[1]),
    "OP_SUB": lambda b, a: b.fsub(a[0], a[1]),
    "OP_MUL": lambda b, a: b.fmul(a[0], a[1]),
    "OP_DIV": lambda b, a: b.fdiv(a[0], a[1]),
    "OP_NEG": lambda b, a: b.fneg(a[0]),
    "OP_SQ": lambda b, a: b.fmul(a[0], a[0]),
    "OP_TWICE": lambda b, a: b.fadd(a[0], a[0]),
    "OP_INV": lambda b, a: b.fdiv(ir.Constant(DOUBLE, 1.0), a[0]),
    "OP_SIGN": _sign,
    "OP_NOT": lambda b, a: _number(b, b.not_(_truth(b, a[0]))),
    "OP_AND": lambda b, a: _number(b, b.and_(_truth(b, a[0]), _truth(b, a[1]))),
    "OP_OR": lambda b, a: _number(b, b.or_(_truth(b, a[0]), _truth(b, a[1]))),
    "OP_IF_ELSE_ZERO": lambda b, a: b.select(_truth(b, a[0]), a[1], _zero()),
}


def _comparison(sign: str) -> _Emit:
    def emit(b: ir.IRBuilder, a: list[Any]) -> Any:
        compare = b.fcmp_unordered if sign == "!=" else b.fcmp_ordered
        return _number(b, compare(sign, a[0], a[1]))

    return emit


_PLAIN |= {name: _comparison(sign) for name, sign in _COMPARE.items()}


class MachineCode:
    """Compiled functions and their addresses; the code lives as long as this object."""

    def __init__(self, functions: dict[str, Any]):
        module = ir.Module(name="lagrangian")
        size = 0
        for name, function in functions.items():
            _translate(module, name, function)
            size += function.n_instructions()
        self._engine = _compile(module, size)
        self.addresses = {name: int(self._engine.get_function_address(name)) for name in functions}


def _translate(module: ir.Module, name: str, function: Any) -> None:
    """Add one CasADi function of one input and one dense output to a module."""
    pointer = DOUBLE.as_pointer()
    code = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer]), name=name)
    b = ir.IRBuilder(code.append_basic_block())
    x, y = code.args
    register: dict[int, Any] = {}
    results: list[tuple[int, Any]] = []
    for k in range(function.n_instructions()):
        op, out, into = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if op == ca.OP_CONST:
            register[out[0]] = ir.Constant(DOUBLE, function.instruction_constant(k))
        elif op == ca.OP_INPUT:
            register[out[0]] = b.load(b.gep(x, [ir.Constant(INDEX, into[1])]))
        elif op == ca.OP_OUTPUT:
            results.append((out[1], register[into[0]]))  # written last: y may overlap x
        else:
            register[out[0]] = _emit(module, b, _NAMES.get(op, str(op)), [register[i] for i in into])
    for place, value in results:
        b.store(value, b.gep(y, [ir.Constant(INDEX, place)]))
    b.ret_void()


def _emit(module: ir.Module, b: ir.IRBuilder, op: str, args: list[Any]) -> Any:
    if op in _PLAIN:
        return _PLAIN[op](b, args)
    if op in _LIBM:
        name, count = _LIBM[op]
        known = module.globals.get(name)
        return b.call(known or ir.Function(module, ir.FunctionType(DOUBLE, [DOUBLE] * count), name=name), args[:count])
    raise ModelError(f"a formula uses {op.removeprefix('OP_').lower()}, which cannot be compiled; use elementary functions.")


def _compile(module: ir.Module, size: int) -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    parsed = binding.parse_assembly(str(module))
    parsed.verify()
    machine = binding.Target.from_default_triple().create_target_machine(
        opt=2 if size < LARGE else 0, cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten()
    )
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    return engine
