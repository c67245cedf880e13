"""Which study is it? A digest of what is no text: controls, observers, functions that build machines.

Two calls are one study if what they were given is the same: numbers of arrays, code and constants of functions, what they enclose, fields
of objects. Names of the world around a function (globals) and compiled extensions are not looked into. Addresses take no part, so that
another process finds the same digest.
"""

from __future__ import annotations

import functools
import hashlib
import types
from typing import Any

import numpy as np

from dalembert.systems import System

DEEPEST = 12


def digest(x: Any) -> str:
    """Of anything, for hexadecimal eyes."""
    found = hashlib.sha256()
    for piece in _pieces(x, ()):
        found.update(piece.encode(errors="backslashreplace") if isinstance(piece, str) else piece)
        found.update(b"\0")
    return found.hexdigest()


def _pieces(x: Any, above: tuple[int, ...]) -> list[str | bytes]:
    """What decides x. above: what x is inside of."""
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
        return [f"{type(x).__name__} {x!r}"]
    if id(x) in above or len(above) > DEEPEST:
        return ["..."]
    inside = (*above, id(x))
    if isinstance(x, (np.ndarray, np.generic)):
        held: Any = _pieces(x.tolist(), inside) if x.dtype.hasobject else [np.ascontiguousarray(x).tobytes()]
        return [f"array {x.dtype.str} {x.shape}", *held]
    if isinstance(x, dict):
        return ["mapping", *_all([part for key, value in x.items() for part in (key, value)], inside)]
    if isinstance(x, (set, frozenset)):
        return ["set", *sorted(digest(item) for item in x)]
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, *_all(x, inside)]
    return [_name(x), *_all(_parts(x), inside)]


def _all(items: Any, above: tuple[int, ...]) -> list[str | bytes]:
    return [piece for item in items for piece in (*_pieces(item, above), ";")]


def _name(x: Any) -> str:
    named = x if isinstance(x, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)) else type(x)
    return f"{getattr(named, '__module__', '')}.{getattr(named, '__qualname__', getattr(named, '__name__', ''))}"


def _parts(x: Any) -> list[Any]:
    """What an object is made of."""
    if isinstance(x, System):
        return [x.kind, x.data_for_file()]
    if isinstance(x, types.FunctionType):
        cells = [cell.cell_contents for cell in x.__closure__ or () if _full(cell)]
        return [x.__code__, x.__defaults__, x.__kwdefaults__, cells]
    if isinstance(x, types.CodeType):
        return [x.co_code, x.co_names, x.co_consts]
    if isinstance(x, types.MethodType):
        return [x.__func__, x.__self__]
    if isinstance(x, functools.partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, (type, types.ModuleType, types.BuiltinFunctionType)):
        return []
    inner = getattr(x, "python", None) or getattr(x, "py_func", None)  # a compiled control, a function of Numba
    if isinstance(inner, types.FunctionType):
        return [inner]
    fields = dict(getattr(x, "__dict__", {}))
    methods = [f.__code__ for _, f in sorted(vars(type(x)).items()) if isinstance(f, types.FunctionType)]
    return [sorted(fields), *(fields[name] for name in sorted(fields)), *methods]


def _full(cell: Any) -> bool:
    """False for what is enclosed and not yet known."""
    try:
        return bool((cell.cell_contents,))
    except ValueError:
        return False
