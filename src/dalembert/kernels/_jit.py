"""The only file that decorates kernels.

    @kernel                      a compiled function, specialised by its arguments on first use
    @inline                      the same, but copied into its callers: for the small helpers of an inner loop
    @disjoint                    as @inline, for loops over arrays that do not overlap
    @wide                        as @kernel, for roots that move six numbers at a time: straight-line arithmetic is put into vectors
    @apart                       the same, but never copied into its callers: for what is large and called from several places
    @far(SIG)                    a kernel of one signature that is compiled when it is first called, however large its callers
    @slotted(SIG)                a far kernel that data choose: slot_of(function) is its number, by_slot(name, SIG) makes call(number, ...)
    first_class(function, SIG)   fixes a kernel's one signature: only then can it be handed to a loop as a first-class value
    front(call)                  a function for Python, which checks its arguments, and for compiled code, which gets the bare body
    @packed(SIG, count)          a kernel for Python, whose first arguments are handed over as one number: see `_packed.py`
    call_at(address, x, i, y, j) calls machine code made elsewhere, void f(const double *x, double *y), from compiled code
    prefetch(x, at)              asks for memory before it is needed
    named_numbers(...)           read(system): a stretch of numbers as a named tuple; see `_fields.py`

How kernels are compiled is in `_lean.py`, where the result is kept in `_cache.py`.
"""

import contextlib
import ctypes
import functools
import sys
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import populate_array

from dalembert.kernels import _cache
from dalembert.kernels._far import Far, call_by_address, call_by_slot, raise_pending, with_pointers
from dalembert.kernels._lean import LeanDispatcher
from dalembert.kernels._packed import Packed, Plain, behind_a_table

# Kernels allocate nothing, so they need no reference counts: measured, those cost 100 to 200 ns per step of a rigid body. Allocation is
# then an error.
_NO_REFERENCES: dict[str, Any] = {"_nrt": False}
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}
_config: Any = numba.config
_njit: Any = numba.njit
JIT_DISABLED = bool(_config.DISABLE_JIT)

ARRAY = types.float64[::1]
#: status = step(t, h, system, state, work, info)
STEP = types.int64(types.float64, types.float64, ARRAY, ARRAY, ARRAY, ARRAY)
BOOL, INT, REAL, VOID = types.boolean, types.int64, types.float64, types.void
#: nodal(system, state, work, q, v): configuration and velocity at the node that the state describes
NODAL = types.void(ARRAY, ARRAY, ARRAY, ARRAY, ARRAY)
#: hold(system, state, tau): write the generalised force that is held over the next step into the state
HOLD = types.void(ARRAY, ARRAY, ARRAY)
#: control(t, q, v, out)
CONTROL = types.void(types.float64, ARRAY, ARRAY, ARRAY)


def _folder(function: Callable[..., Any]) -> Path | None:
    """Where compiled code of a function's file is kept; None where nothing can be kept."""
    directory = _cache.directory()
    if directory is None:
        return None
    path = Path(function.__code__.co_filename)
    return directory / (_cache.sources_hash(path, _cache.sources_root()) if path.is_file() else "typed")


@contextlib.contextmanager
def cache_in(folder: Path) -> Iterator[None]:
    """Point Numba's cache to ours while a function is prepared, and leave other users of Numba alone."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _config.CACHE_DIR = before


def _plain(function: Callable[..., Any], cache: bool = True, **options: Any) -> Any:
    """Numba's own way: for code that may allocate and raise. Its files have the names of those of kernels, so they lie apart."""
    folder = _folder(function) if cache and not JIT_DISABLED else None
    folder = None if folder is None else folder.with_name(f"{folder.name}-plain")
    if folder is None:
        return _njit(**_OPTIONS, **options)(function)
    with cache_in(folder):
        return _njit(cache=True, **_OPTIONS, **options)(function)


def _lean(function: Callable[..., Any], apart: bool = False, disjoint: bool = False, wide: bool = False, **options: Any) -> Any:
    if JIT_DISABLED:
        return function
    chosen = {"nopython": True, "forceinline": False, **_OPTIONS, **_NO_REFERENCES, **options}  # what is not chosen, callers hand down
    return LeanDispatcher(function, chosen, _keep, _say, apart, disjoint, wide)


def _keep(dispatcher: LeanDispatcher) -> None:
    """Let a root be cached: done when it is first compiled, since looking for folders costs time at import."""
    folder = _folder(dispatcher.py_func)
    if folder is not None:
        with cache_in(folder), contextlib.suppress(RuntimeError):  # no locator: a kernel typed into an interpreter has no file
            dispatcher.enable_caching()


def _say(dispatcher: LeanDispatcher) -> None:
    """A root was not in the cache."""
    _cache.announce(dispatcher.py_func.__module__, Path(dispatcher.py_func.__code__.co_filename))


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first use, cache on disk."""
    return _lean(function)


def inline(function: Callable[..., Any]) -> Any:
    """Compile into the caller (LLVM's always-inline)."""
    return _lean(function, forceinline=True)


def disjoint(function: Callable[..., Any]) -> Any:
    """As `inline`, where no array that is written overlaps another argument: loops need not ask, which short ones would take long for."""
    return _lean(function, disjoint=True, forceinline=True)


def wide(function: Callable[..., Any]) -> Any:
    """A root whose straight-line arithmetic is put into vectors (LLVM's SLP, which Numba leaves out), that of all code linked into it.

    Measured on the block factor of contacts: 38 ns for a product of 6 x 6 blocks, 17 ns so; compiling takes no longer.
    """
    return _lean(function, wide=True)


def apart(function: Callable[..., Any]) -> Any:
    """A kernel that is never copied into its callers: large, and called from several places."""
    return _lean(function, apart=True)


def far(sig: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile apart from the callers, when first called: for what few machines need. Arguments are positional."""

    def decorate(function: Callable[..., Any]) -> Any:
        if JIT_DISABLED:
            return function
        return Far(_lean(function), sig, _entry_of)

    return decorate


def _entry_of(dispatcher: Any, sig: Any) -> int:
    return int(first_class(dispatcher, sig).__wrapper_address__())


def _native_of(dispatcher: Any, sig: Any) -> int:
    return first_class(dispatcher, sig).native_address  # type: ignore[no-any-return]


@intrinsic
def _endless(typing_context, pointer):  # type: ignore[no-untyped-def]
    """The array of float64 at a pointer, longer than any."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        array = context.make_array(ARRAY)(context, builder)
        word = context.get_constant(types.intp, 8)
        long = context.get_constant(types.intp, 1 << 40)
        populate_array(array, data=args[0], shape=(long,), strides=(word,), itemsize=word, meminfo=None)
        return array._getvalue()

    return ARRAY(pointer), generate


def slotted(sig: Any) -> Callable[[Callable[..., Any]], Any]:
    """A far kernel for callers that find it by a number in an array (`slot_of`, `by_slot`): it sees arrays without their ends."""

    def decorate(function: Callable[..., Any]) -> Any:
        return function if JIT_DISABLED else Far(_lean(_of_pointers(function, sig)), with_pointers(sig), _native_of)

    return decorate


def _of_pointers(function: Callable[..., Any], sig: Any) -> Any:
    """The function behind bare pointers. Its code claims to stand in the same file, so that it is cached like that."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = (f"endless({n})" if isinstance(a, types.Array) else n for n, a in zip(names, sig.args, strict=True))
    text = "\n" * (function.__code__.co_firstlineno - 1) + f"def outer({', '.join(names)}): return inner({', '.join(given)})"
    scope: dict[str, Any] = {"endless": _endless, "inner": inline(function), "__name__": function.__module__}
    exec(compile(text, function.__code__.co_filename, "exec"), scope)
    return functools.update_wrapper(scope["outer"], function, assigned=("__name__", "__qualname__", "__doc__"), updated=())


def packed(sig: Any, count: int) -> Callable[[Callable[..., Any]], Any]:
    """A kernel for Python, one signature, whose first arguments are kept in a table: see `_packed.py`."""
    kinds, rest = sig.args[:count], sig.args[count:]

    def decorate(function: Callable[..., Any]) -> Any:
        if JIT_DISABLED:
            return Plain(function)
        inner = inline(function)
        outer = _lean(behind_a_table(function, inner, kinds))
        return Packed(kinds, lambda: bare(first_class(outer, sig.return_type(types.int64, *rest))), inner)

    return decorate


class FirstClass(types.WrapperAddressProtocol):
    """A kernel of one fixed signature: callable from Python, and a value that compiled loops take as an argument.

    Numba would look up type and address of a function at every call (measured: 190 us for a loop with five of them, 15 us so).
    """

    def __init__(self, dispatcher: Any, sig: Any):
        result = dispatcher.get_compile_result(sig)
        self.dispatcher, self._sig = dispatcher, sig
        self._address = result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)
        self.native_address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        self._entry = result.entry_point

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Any:
        """The one signature."""
        return self._sig

    def __call__(self, *args: Any) -> Any:
        """Call with exactly these types: contiguous float64 arrays, numbers, other first-class kernels."""
        out = self._entry(*args)
        raise_pending()
        return out


def bare(function: Any) -> Any:
    """What a first-class kernel calls, for callers that ask `raise_pending` themselves (0.3 us less)."""
    return function._entry if isinstance(function, FirstClass) else function


_first_class: dict[Any, FirstClass] = {}
_compiling = threading.RLock()


def _fix(function: Any, sig: Any) -> Any:
    """Compile a kernel for one signature and for no other."""
    if getattr(function, "_can_compile", False):
        function.compile(sig)
        function.disable_compile()
    return function


def first_class(function: Any, sig: Any) -> Any:
    """A kernel as a first-class value. Done on request, not at decoration: importing or listing kernels must not compile them."""
    if JIT_DISABLED or isinstance(function, FirstClass):
        return function
    found = _first_class.get(function)
    if found is None:
        with _compiling:  # two threads may ask at once
            found = _first_class.get(function) or _first_class.setdefault(function, FirstClass(_fix(function, sig), sig))
    return found


def address_of(function: Any, sig: Any) -> Any:
    """What a compiled loop takes for a kernel: the address of its machine code. Without the compiler: the function itself.

    A whole number reaches compiled code in 0.1 us, a function as a first-class argument in 3 us.
    """
    return function if JIT_DISABLED else first_class(function, sig).__wrapper_address__()


def by_address(name: str, sig: Any) -> Any:
    """call(address, *arguments) for kernels of one signature: see `address_of`."""
    return _call_plainly if JIT_DISABLED else call_by_address(name, sig)


def _call_plainly(function: Any, *args: Any) -> Any:
    return function(*args)


_by_number: list[Callable[..., Any]] = []


def slot_of(function: Any) -> int:
    """The number that stands for a slotted kernel in an array, never 0: where its slot is. Without the compiler: its place in a list.

    It holds in this process alone.
    """
    if not JIT_DISABLED:
        return int(function.slot)
    if function not in _by_number:
        _by_number.append(function)
    return _by_number.index(function) + 1


def by_slot(name: str, sig: Any) -> Any:
    """call(number, *arguments) for slotted kernels of one signature: see `slot_of`."""
    return _call_numbered if JIT_DISABLED else call_by_slot(name, sig)


def _call_numbered(number: int, *args: Any) -> Any:
    return _by_number[number - 1](*args)


def compiled(function: Callable[..., Any], sig: Any) -> Any:
    """A user's function, compiled for one fixed signature, every index checked; cached where Numba finds the function's source file.

    What is cached names its module, which other processes have to find: not that of a script that was run by `runpy` or `exec`.
    """
    if hasattr(function, "py_func"):
        function = function.py_func
    try:
        return _fix(_plain(function, cache=function.__module__ in sys.modules, boundscheck=True), sig)
    except (RuntimeError, ImportError):  # typed into an interpreter: no file to name a cache after; or cached under a module that is gone
        return _fix(_plain(function, cache=False, boundscheck=True), sig)


def front(call: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a body of compilable code: Python reaches it through `call(compiled body, *arguments)`, compiled code directly.

    So `call` may check, convert and raise, and users' compiled functions pay for none of it.
    """

    def decorate(body: Callable[..., Any]) -> Any:
        compiled_body = _plain(body)

        @functools.wraps(body)
        def public(*args: Any, **kwargs: Any) -> Any:
            return call(compiled_body, *args, **kwargs)

        @overload(public, strict=True)
        @functools.wraps(body)
        def typing(*args: Any, **kwargs: Any) -> Callable[..., Any]:
            return body

        return public

    return decorate


_DOUBLES = ir.DoubleType().as_pointer()
_FOREIGN = ir.FunctionType(ir.VoidType(), [_DOUBLES, _DOUBLES])


@intrinsic
def _call_at(typing_context, address, x, i, y, j):  # type: ignore[no-untyped-def]
    """Typing and code of `call_at`. The address is data, so a caller stays in the disk cache whatever it calls."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        places = []
        for array, offset in ((1, 2), (3, 4)):
            data = context.make_array(signature.args[array])(context, builder, args[array]).data
            places.append(builder.gep(data, [args[offset]]))
        builder.call(builder.inttoptr(args[0], _FOREIGN.as_pointer()), places)
        return context.get_dummy_value()

    return types.void(types.int64, ARRAY, types.int64, ARRAY, types.int64), generate


def _call_at_plainly(address: int, x: Any, i: int, y: Any, j: int) -> None:
    """The same without the compiler."""
    foreign = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
    foreign(x.ctypes.data + 8 * i, y.ctypes.data + 8 * j)


#: call_at(address, x, i, y, j): the machine code at the address reads x[i:] and writes y[j:], contiguous arrays of float64
call_at: Any = _call_at_plainly if JIT_DISABLED else _call_at


@intrinsic
def _prefetch(typing_context, x, at):  # type: ignore[no-untyped-def]
    """Typing and code of `prefetch`."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, whole(0), whole(3), whole(1)])  # for reading, into all caches, data
        return context.get_dummy_value()

    return types.void(x, at), generate


def _prefetch_plainly(x: Any, at: int) -> None:
    """Without the compiler there is nothing to ask for."""


#: prefetch(x, at): the cache line of x[at], a flat array; at may lie beyond its end. No number depends on it
prefetch: Any = _prefetch_plainly if JIT_DISABLED else _prefetch


_WHOLE = ir.IntType(64)
#: of a place in an array: it says to the compiler that the place is not negative
NOT_NEGATIVE = (1 << 40) - 1


def named_numbers(name: str, names: tuple[str, ...], whole: tuple[bool, ...], base: int, skip: int) -> Any:
    """read(system): the numbers system[system[base] + skip + k] as a named tuple.

    All are read at once, where a kernel begins, so that what it writes elsewhere does not make it read them again. Whole ones are marked
    as not negative, which spares the test for negative indices at each access.
    """
    kind: Any = namedtuple(name, names)  # type: ignore[misc]

    def plainly(system: Any) -> Any:
        at = int(system[base]) + skip
        return kind(*(int(system[at + k]) if whole[k] else float(system[at + k]) for k in range(len(names))))

    if JIT_DISABLED:
        return plainly
    typed = types.NamedTuple([types.int64 if w else types.float64 for w in whole], kind)

    def number(builder: Any, data: Any, at: Any, as_whole: bool) -> Any:
        x = builder.load(builder.gep(data, [at]))
        return builder.and_(builder.fptosi(x, _WHOLE), _WHOLE(NOT_NEGATIVE)) if as_whole else x

    @intrinsic
    def read(typing_context, system):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            start = builder.add(number(builder, data, _WHOLE(base), True), _WHOLE(skip))
            found = [number(builder, data, builder.add(start, _WHOLE(k)), w) for k, w in enumerate(whole)]
            return context.make_tuple(builder, typed, found)

        return typed(system), generate

    return read
