"""Kernels that are compiled when a run first needs them.

    @far(SIGNATURE)     a root of its own; compiled callers reach it through a slot that holds its address

A step that handles every kind of joint, load and constraint would make each user wait for all of them. What few machines need is `far`:
its callers are compiled, cached and optimised without it. The slot is a pair (address, resolver), known to the linker by name, so that
machine code from the cache finds it in every process:

    address == 0  ->  resolver()  ->  Python takes the GIL, compiles or loads the kernel, and writes the address

Where the caller is not to know which kernel it calls, data hold where the slot is (`slot`, `call_by_slot`).

A call costs about 2 ns more than a direct one. If compiling is interrupted or fails, the kernel returns 0 and the error is raised when
control is back in Python (`raise_pending`).
"""

import ctypes
import inspect
from collections.abc import Callable
from typing import Any

from llvmlite import binding as ll
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import _Intrinsic

_WORD = ir.IntType(64)
_SLOT = ir.ArrayType(_WORD, 2)
_RESOLVER = ir.FunctionType(ir.VoidType(), [])
#: what `raise_pending` will raise
PENDING: list[BaseException] = []


def raise_pending() -> None:
    """Raise what went wrong while a far kernel was compiled."""
    if PENDING:
        error = PENDING[0]
        PENDING.clear()
        raise error


class Far(_Intrinsic):  # type: ignore[misc]
    """A far kernel: for compiled code a call through its slot, for Python the kernel itself."""

    def __init__(self, dispatcher: Any, sig: Any, address: Callable[[Any, Any], int]):
        name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"
        self.dispatcher, self.sig = dispatcher, sig
        self._slot = (ctypes.c_int64 * 2)()
        self._resolver = ctypes.CFUNCTYPE(None)(lambda: self._resolve(address))
        self._slot[1] = ctypes.cast(self._resolver, ctypes.c_void_p).value or 0
        ll.add_symbol(name, ctypes.addressof(self._slot))
        define: Any = _call_through(name, sig)
        asked = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        define.__signature__ = inspect.Signature([asked, *inspect.signature(dispatcher.py_func).parameters.values()])
        super().__init__(name, define)
        self.__doc__ = dispatcher.py_func.__doc__
        self._register()

    def _resolve(self, address: Callable[[Any, Any], int]) -> None:
        try:
            self._slot[0] = address(self.dispatcher, self.sig)
        except BaseException as error:  # compiled code cannot carry it: kept until Python has control again
            PENDING.append(error)

    @property
    def slot(self) -> int:
        """Where the slot is."""
        return ctypes.addressof(self._slot)

    def __call__(self, *args: Any) -> Any:
        """From Python."""
        return self.dispatcher(*args)


def call_by_address(name: str, sig: Any) -> Any:
    """An intrinsic call(address, *arguments): the kernel of that signature at an address. Arguments are positional."""
    whole = sig.return_type(types.int64, *sig.args)

    def define(typing_context: Any, address: Any, *args: Any) -> Any:
        return whole, generate

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        returned = context.get_value_type(sig.return_type)
        kind = ir.FunctionType(returned, [context.get_value_type(a) for a in sig.args])
        value = builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])
        return context.get_dummy_value() if sig.return_type == types.void else value

    return _positional(name, define, "address", len(sig.args))


def with_pointers(sig: Any) -> Any:
    """A signature with bare pointers in place of arrays: they pass in registers, while the seven words of an array do not."""
    return sig.return_type(*(types.CPointer(a.dtype) if isinstance(a, types.Array) else a for a in sig.args))


def call_by_slot(name: str, sig: Any) -> Any:
    """An intrinsic call(slot, *arguments): the kernel `with_pointers` whose slot is at an address, called without a wrapper."""
    whole, bare = sig.return_type(types.int64, *sig.args), with_pointers(sig)

    def define(typing_context: Any, slot: Any, *args: Any) -> Any:
        return whole, generate

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        given = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(sig.args, args[1:], strict=True)
        ]
        return _through(context, builder, builder.inttoptr(args[0], _SLOT.as_pointer()), bare, given, native=True)

    return _positional(name, define, "slot", len(sig.args))


def _positional(name: str, define: Any, first: str, count: int) -> Any:
    """An intrinsic that takes a number and so many arguments."""
    names = ["typing_context", first, *(f"a{i}" for i in range(count))]
    define.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names])
    call = _Intrinsic(name, define)
    call._register()
    return call


def _call_through(name: str, sig: Any) -> Callable[..., Any]:
    """Typing and code of a call through the slot of this name."""

    def define(typing_context: Any, *args: Any) -> Any:
        return sig, generate

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        slot = builder.module.globals.get(name) or cgutils.add_global_variable(builder.module, _SLOT, name)
        return _through(context, builder, slot, sig, args)

    return define


def _through(context: Any, builder: Any, slot: Any, sig: Any, args: Any, native: bool = False) -> Any:
    """Code of a call through a slot. native: by Numba's own convention, (where the result goes, where an error goes, arguments)."""
    address, resolver = (builder.gep(slot, [_WORD(0), _WORD(k)]) for k in (0, 1))
    with builder.if_then(builder.icmp_unsigned("==", builder.load(address), _WORD(0)), likely=False):
        builder.call(builder.inttoptr(builder.load(resolver), _RESOLVER.as_pointer()), [])
    returned = None if sig.return_type == types.void else context.get_value_type(sig.return_type)
    out = None if returned is None else cgutils.alloca_once_value(builder, ir.Constant(returned, 0))
    found = builder.load(address)
    with builder.if_then(builder.icmp_unsigned("!=", found, _WORD(0)), likely=True):
        if native:
            kind = context.call_conv.get_function_type(sig.return_type, sig.args)
            result, error = (cgutils.alloca_once(builder, a.pointee) for a in kind.args[:2])
            builder.call(builder.inttoptr(found, kind.as_pointer()), [result, error, *args])
            value = builder.load(result)
        else:
            kind = ir.FunctionType(returned or context.get_value_type(types.void), [context.get_value_type(a) for a in sig.args])
            value = builder.call(builder.inttoptr(found, kind.as_pointer()), args)
        if out is not None:
            builder.store(value, out)
    return context.get_dummy_value() if out is None else builder.load(out)
