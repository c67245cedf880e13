"""What Numba finds out again and again while it compiles kernels, remembered.

remembering(context)   the typing context, with a memory for operators and built-in functions: Numba tries all candidates of `+` at each
                       `+` of the source (measured: 10 % of the time of a compilation)
loaded(context)        the target's context, which does not import all of Numba anew at each refresh
lean_passes(state)     Numba's passes without those that kernels have no use for: closures, array expressions, `with`, inlined overloads
Flags                  options of a compilation that are compared without writing them out
"""

from types import BuiltinFunctionType
from typing import Any

from numba.core import compiler, types, typing, untyped_passes
from numba.core import typed_passes as typed
from numba.core.cpu import CPUContext

_UNUSED = (
    untyped_passes.InlineClosureLikes,
    untyped_passes.WithLifting,
    untyped_passes.MakeFunctionToJitFunction,
    typed.InlineOverloads,
    typed.NopythonRewrites,
)


class _Remembering(typing.Context):  # type: ignore[misc]
    """A view of a typing context: the same declarations."""

    def __init__(self, context: Any):
        self.__dict__ = context.__dict__

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """As Numba does, once per built-in function and types of its arguments."""
        if kws or not isinstance(func, BuiltinFunctionType | types.Function):
            return super().resolve_function_type(func, args, kws)
        key = (func, tuple(args))
        found = _MEMORY.get(key)
        if found is None:
            found = super().resolve_function_type(func, args, kws)
            if found is not None:
                _MEMORY[key] = found
        return found


#: signatures by (function, types of arguments): Numba's own, shared by all kernels
_MEMORY: dict[Any, Any] = {}


def remembering(context: Any) -> Any:
    """The same context with a memory."""
    return context if isinstance(context, _Remembering) else _Remembering(context)


class _Loaded(CPUContext):  # type: ignore[misc]
    """Context of one compilation. Numba's own has been loaded when this one is made."""

    def load_additional_registries(self) -> None:
        """Take what was registered since, without the two dozen imports (measured: 3 % of the time, in a thousand refreshes)."""
        for registry in list(self._registries):
            self.install_registry(registry)


def loaded(context: Any) -> Any:
    """The context of one compilation, which refreshes itself cheaply."""
    context.__class__ = _Loaded
    return context


def lean_passes(state: Any) -> Any:
    """Numba's passes in their order, without those that would find nothing to do."""
    passes = compiler.DefaultPassBuilder.define_nopython_pipeline(state)
    kept = [(one, text) for one, text in passes.passes if not (isinstance(one, type) and issubclass(one, _UNUSED))]
    out = compiler.PassManager(passes.pipeline_name)
    for one, text in kept:
        out.add_pass(one, text)
    out.finalize()
    return out


class Flags(compiler.Flags):  # type: ignore[misc]
    """Options of a compilation, compared without writing them out.

    Numba enters a context with the flags for each call that it types and compares all of them by their text (measured: 10 % of the time).
    """

    __slots__ = ()
    _same_for_all = hash(tuple(sorted(compiler.Flags.options)))

    def __hash__(self) -> int:
        return self._same_for_all

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, compiler.Flags):
            return NotImplemented
        return self is other or self._values == other._values or _chosen(self) == _chosen(other)


def _chosen(flags: Any) -> dict[str, Any]:
    return {name: value for name, value in flags._values.items() if value != flags.options[name].default}
