"""Users' functions as first-class values that cannot hurt the loop: a control f(t, q, v, out), a step f(t, h, system, state, work, info).

    control: out = 0;  f;  where f raised: out = NaN               step: f;  where f raised: state = NaN, status OK

Numba's own wrapper of a first-class function prints an exception and goes on with whatever stands in the arrays. Here a state that is not
a number ends the run, and the engine calls the function once more from Python to learn what it raised. Indices are checked (see
`_jit.compiled`), so one out of range is such an exception and writes to no memory. The wrapper is some lines of LLVM: written in Python,
with try and except, it is 0.5 s of compilation in every process instead of 0.04 s.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock

from dalembert.kernels._jit import CONTROL, JIT_DISABLED, STEP, FirstClass, _first_class, compiled


class Guarded(FirstClass):
    """A compiled function of a user. Called from Python it raises; called by a loop it fills its fourth argument with NaN instead."""

    def __init__(self, dispatcher: Any, sig: Any):
        super().__init__(dispatcher, sig)
        name = f"dalembert_guarded_{next(_numbers)}"
        with global_compiler_lock:
            self._library = _wrapper(name, dispatcher.targetctx, dispatcher.get_compile_result(sig), clear=sig is CONTROL)
            self._address = self._library.get_pointer_to_function(name)


_numbers = itertools.count()  # names of machine code are those of the whole process


def _wrapper(name: str, context: Any, result: Any, clear: bool) -> Any:
    """Machine code of the formula in the head, as a C function of that name. clear: set the fourth argument to 0 first."""
    described = result.fndesc
    module = context.create_module("guard")
    inner = ir.Function(module, context.call_conv.get_function_type(described.restype, described.argtypes), described.llvm_func_name)
    kinds = [context.get_value_type(a) for a in described.argtypes]
    outer = ir.Function(module, ir.FunctionType(context.get_value_type(described.restype), kinds), name)
    builder = ir.IRBuilder(outer.append_basic_block("entry"))
    out = context.make_array(described.argtypes[3])(context, builder, outer.args[3])
    if clear:
        _fill(builder, out, 0.0)
    status, answer = context.call_conv.call_function(builder, inner, described.restype, described.argtypes, outer.args)
    with builder.if_then(status.is_error, likely=False):
        _fill(builder, out, float("nan"))
    builder.ret(builder.select(status.is_error, ir.Constant(answer.type, None), answer))
    library = context.codegen().create_library(f"guard of {described.qualname}")
    library.add_linking_library(result.library)
    library.add_ir_module(module)
    library.finalize()
    return library


def _fill(builder: Any, array: Any, value: float) -> None:
    with cgutils.for_range(builder, array.nitems) as loop:
        builder.store(ir.Constant(ir.DoubleType(), value), builder.gep(array.data, [loop.index]))


def guarded(function: Callable[..., Any]) -> Any:
    """A user's f(t, q, v, out), compiled with checks of indices, as a first-class value of the loop."""
    return _plainly(function) if JIT_DISABLED else Guarded(compiled(function, CONTROL), CONTROL)


def compiled_step(function: Callable[..., Any]) -> Any:
    """A user's step, compiled with checks of indices; `first_class` gives loops its guarded form."""
    dispatcher = compiled(function, STEP)
    _first_class[dispatcher] = Guarded(dispatcher, STEP)
    return dispatcher


def _plainly(function: Callable[..., Any]) -> Callable[..., None]:
    """The same without the compiler."""

    def control(t: float, q: Any, v: Any, out: Any) -> None:
        out[:] = 0.0
        try:
            function(t, q, v, out)
        except Exception:  # the engine asks the function itself what it was
            out[:] = np.nan

    return control
