"""Arguments that stay the same from call to call, handed over as one number.

    @packed(SIGNATURE, count)        (`_jit.py`) a kernel whose first `count` arguments are kept
    bound = kernel.bind(*values)     writes their table
    bound.call(bound.address, *rest) calls kernel(*values, *rest)

Python hands an array to compiled code in 15 to 25 ns and counts its references, so that a call with two dozen arguments takes longer than
many kernels. Here the first arguments lie in a table of 64-bit words that is written once:

    array       address of its numbers, then its lengths; contiguous
    number      its bits: float64, int64, or 0 and 1 for False and True

The kernel is compiled behind a function that reads the table. Arrays must not be replaced or made longer while the table is in use.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

_WORD = ir.IntType(64)


class Bound(NamedTuple):
    """A kernel with arguments that are kept: call(address, *rest). kept: what the address stands for."""

    call: Callable[..., Any]
    address: int
    kept: Any


class Packed:
    """A kernel with a table. entry(): its compiled code, made when it is first needed. kernel: without the table, for compiled callers."""

    def __init__(self, kinds: Sequence[Any], entry: Callable[[], Callable[..., Any]], kernel: Any):
        self._kinds, self._entry, self.kernel = kinds, entry, kernel

    def bind(self, *values: Any) -> Bound:
        """With these arguments kept."""
        numbers = table(self._kinds, values)
        return Bound(self._entry(), numbers.ctypes.data, (numbers, values))


class Plain:
    """The same without the compiler."""

    def __init__(self, function: Callable[..., Any]):
        self.kernel = function

    def bind(self, *values: Any) -> Bound:
        """With these arguments kept."""
        return Bound(lambda address, *rest: self.kernel(*values, *rest), 0, values)


def words(kind: Any) -> int:
    """How many words an argument takes."""
    return 1 + kind.ndim if isinstance(kind, types.Array) else 1


def table(kinds: Sequence[Any], values: Sequence[Any]) -> np.ndarray:
    """The words of some arguments."""
    out: list[int] = []
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(kind, types.Array):
            if not value.flags.c_contiguous:
                raise ValueError("an array that is kept in a table must be contiguous")
            out += [value.ctypes.data, *value.shape]
        else:
            out.append(int(np.array(value, dtype=float if kind == types.float64 else np.int64).view(np.int64)))
    return np.array(out, dtype=np.int64)


@functools.cache
def reader(kind: Any) -> Any:
    """An intrinsic read(address, place): the argument of that type at a place of a table."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = builder.inttoptr(args[0], _WORD.as_pointer())
        found = [builder.load(builder.gep(first, [builder.add(args[1], _WORD(k))])) for k in range(words(kind))]
        if isinstance(kind, types.Array):
            return _array(context, builder, kind, found)
        if kind == types.float64:
            return builder.bitcast(found[0], ir.DoubleType())
        return builder.trunc(found[0], context.get_value_type(kind)) if kind == types.boolean else found[0]

    @intrinsic
    def read(typing_context, address, place):  # type: ignore[no-untyped-def]
        return kind(types.int64, types.int64), generate

    return read


def _array(context: Any, builder: Any, kind: Any, found: Sequence[Any]) -> Any:
    """A contiguous array from its address and lengths."""
    made = context.make_array(kind)(context, builder)
    size, lengths = _WORD(8), found[1:]
    strides = [size]
    for length in reversed(lengths[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(found[0], made.data.type)
    populate_array(made, data=data, shape=lengths, strides=strides, itemsize=size, meminfo=None)
    return made._getvalue()


def behind_a_table(function: Callable[..., Any], inner: Any, kinds: Sequence[Any]) -> Any:
    """outer(address, *rest), which reads the first arguments of a kernel from a table. It claims to stand in the kernel's file."""
    code = function.__code__
    names, count = code.co_varnames[: code.co_argcount], len(kinds)
    places = [sum(map(words, kinds[:k])) for k in range(count)]
    scope: dict[str, Any] = {f"read{k}": reader(kind) for k, kind in enumerate(kinds)}
    scope |= {"inner": inner, "__name__": function.__module__}
    rest = ", ".join(names[count:])
    given = ", ".join(f"read{k}(table, {place})" for k, place in enumerate(places))
    text = "\n" * (code.co_firstlineno - 1) + f"def outer(table, {rest}): return inner({given}, {rest})"
    exec(compile(text, code.co_filename, "exec"), scope)
    outer = scope["outer"]
    outer.__name__, outer.__qualname__, outer.__doc__ = function.__name__, function.__qualname__, function.__doc__
    return outer
