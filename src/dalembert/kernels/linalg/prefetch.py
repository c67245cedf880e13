"""Ask for memory before it is needed. No number depends on it: without it the same comes out, later."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from dalembert.kernels._jit import JIT_DISABLED, types


def _nothing(x: Any, at: Any) -> None:
    """In plain Python there is nothing to ask for."""


def _prefetch(typing: Any, x: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), byte)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole]), "llvm.prefetch.p0"
        )
        builder.call(function, [place, whole(0), whole(3), whole(1)])  # for reading, into all caches, data
        return context.get_dummy_value()

    return types.void(x, at), generate


#: prefetch(x, at): the cache line of x[at], a flat array; at may lie beyond its end
prefetch = _nothing if JIT_DISABLED else intrinsic(_prefetch)
