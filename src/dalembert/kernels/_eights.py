"""Eight partial sums of a product of two rows, as machine code: LLVM keeps a sum of floats in the order in which it is written, so that it
puts the usual loop into no vectors.

    eight_sums(x, y) -> (a_0, ..., a_7),    a_k = x_k y_k + x_(k+8) y_(k+8) + ...     over the first 8 floor(n/8) entries
    eight_sizes(x, y)                       the same of |x_i y_i|

What is added to what, and when, is the same on every processor; one without vectors of four adds the entries one by one.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from dalembert.kernels._jit import JIT_DISABLED

_FOUR = ir.VectorType(ir.DoubleType(), 4)
_WHOLE, _INDEX = ir.IntType(64), ir.IntType(32)
_SUMS = types.UniTuple(types.float64, 8)
_FUSED = ("contract",)  # as all kernels


def _four(builder: Any, data: Any, at: Any) -> Any:
    place = builder.bitcast(builder.gep(data, [at]), _FOUR.as_pointer())
    return builder.load(place, align=8)


def _product(builder: Any, x: Any, y: Any, at: Any, sizes: bool) -> Any:
    found = builder.fmul(_four(builder, x, at), _four(builder, y, at), flags=_FUSED)
    if not sizes:
        return found
    size = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_FOUR, [_FOUR]), "llvm.fabs.v4f64")
    return builder.call(size, [found])


def _sums(sizes: bool) -> Any:
    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        arrays = [context.make_array(t)(context, builder, a) for t, a in zip(signature.args, args, strict=True)]
        x, y = (a.data for a in arrays)
        rounds = builder.lshr(cgutils.unpack_tuple(builder, arrays[0].shape, 1)[0], _WHOLE(3))
        sums = [cgutils.alloca_once_value(builder, ir.Constant(_FOUR, [0.0] * 4)) for _ in range(2)]
        with cgutils.for_range(builder, rounds) as loop:
            for half, total in enumerate(sums):
                at = builder.add(builder.shl(loop.index, _WHOLE(3)), _WHOLE(4 * half))
                builder.store(builder.fadd(builder.load(total), _product(builder, x, y, at, sizes), flags=_FUSED), total)
        found = [builder.extract_element(builder.load(total), _INDEX(k)) for total in sums for k in range(4)]
        return context.make_tuple(builder, _SUMS, found)

    @intrinsic
    def sums(typing_context, x, y):  # type: ignore[no-untyped-def]
        return _SUMS(x, y), generate

    return sums


def _plainly(x: Any, y: Any) -> Any:
    """The same without the compiler."""
    a = [0.0] * 8
    for i in range(len(x) - len(x) % 8):
        a[i % 8] += x[i] * y[i]
    return tuple(a)


def _sizes_plainly(x: Any, y: Any) -> Any:
    return _plainly(abs(x), abs(y))


eight_sums: Any = _plainly if JIT_DISABLED else _sums(False)
eight_sizes: Any = _sizes_plainly if JIT_DISABLED else _sums(True)
