"""Compilation of kernels as whole programs: what a root calls is linked into it, optimised once and turned into machine code once.

Numba compiles every function on its own: each caller links, optimises and generates all that it calls anew, and every function gets two
wrappers and a file in the cache. Of kernels that only other kernels call nothing of that is used. Here a function has two lives:

    inner   called from compiled code: kept as LLVM's raw intermediate code, never optimised alone, neither wrapped nor cached
    root    called from Python or taken by address (`first_class`): linked with all inner code below it, optimised, generated, cached

Arguments that are constants in the source (`load3(a, 0)`) are not types of their own: one version of a function serves all of them.

This reaches into parts of Numba that are not public (`CodeLibrary`, `Dispatcher`): its version is pinned.
"""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding as ll
from numba.core import cgutils, compiler, sigutils, types, typing
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher

from dalembert.kernels import _stored
from dalembert.kernels._typing import Flags, lean_passes, loaded, remembering

_ENVIRONMENT = "_ZN08NumbaEnv"


class LeanLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of one function. Inner code stays raw; a root gathers the raw code of everything below it."""

    inner = False
    wide = False

    def add_llvm_module(self, ll_module: Any) -> None:
        """Take code in as it is: passes over single functions are repeated by those over the whole."""
        self._final_module.link_in(ll_module)

    def add_linking_library(self, library: Any) -> None:
        """Remember what is called; only code of Numba itself is ready by itself."""
        if not isinstance(library, LeanLibrary):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def below(self) -> Iterator[Any]:
        """Every library that this one needs, each once."""
        seen, waiting = {id(self)}, list(self._linking_libraries)
        while waiting:
            library = waiting.pop()
            if id(library) not in seen:
                seen.add(id(library))
                yield library
                if isinstance(library, LeanLibrary):
                    waiting.extend(library._linking_libraries)

    def _gather(self, module: Any) -> None:
        for library in self.below():
            self._reload_init.update(library._reload_init)
            part = library.raw() if isinstance(library, LeanLibrary) else library._get_module_for_linking()
            module.link_in(part, preserve=True)

    def raw(self) -> Any:
        """The code of this function alone, to be linked into several roots."""
        if self._shared_module is None:
            self._shared_module = _shared(self._final_module.clone())
        return self._shared_module

    def _ensure_finalized(self) -> None:
        if not self.inner:
            super()._ensure_finalized()

    def _get_module_for_linking(self) -> Any:
        """For callers that are not kernels: this function with all that it calls."""
        if not self.inner:
            return super()._get_module_for_linking()
        module = self._final_module.clone()
        self._gather(module)
        return _shared(module)

    def finalize(self) -> None:
        """Link, optimise, generate."""
        self._codegen._check_llvm_bugs()
        self._raise_if_finalized()
        self._gather(self._final_module)
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)  # type: ignore[attr-defined]

    def _optimize_final_module(self) -> None:
        """One round of all passes. Numba's first, cheap one serves reference counts, of which kernels have none; it inlines before anything
        is simplified, which makes the rest slow (measured: 40 % of the time)."""
        self._final_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._module_pass_manager(**({"slp_vectorize": True} if self.wide else {}))
        passes.run(self._final_module, builder)

    def adopt(self, module: Any) -> None:
        """Take optimised code of a root and generate machine code."""
        self.enable_object_caching()
        self._final_module = module
        self._finalize_final_module()

    def serialize_using_object_code(self) -> Any:
        """Machine code, and names of what it defines. Nobody links a root: callers use its inner life."""
        return (self.name, "object", (self._get_compiled_object(), _names(self._final_module).as_bitcode()))


def _shared(module: Any) -> Any:
    """Mark functions so that several copies may meet and unused ones vanish."""
    for function in module.functions:
        if not function.is_declaration and function.linkage == ll.Linkage.external:
            function.linkage = "linkonce_odr"
    return module


def _names(module: Any) -> Any:
    """A module that defines the same names with nothing behind them."""
    lines = [f'define void @"{f.name}"() {{ unreachable }}' for f in module.functions if not f.is_declaration]
    lines += [f'@"{g.name}" = global i8 0' for g in module.global_variables if not g.is_declaration and not g.name.startswith(".")]
    return ll.parse_assembly(cgutils.normalize_ir_text("\n".join(lines)))


class LeanCompiler(compiler.Compiler):  # type: ignore[misc]
    """Numba's pipeline, shortened, with our library."""

    wide = False

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Any, locals: Any):
        super().__init__(remembering(typingctx), targetctx, library, args, return_type, flags, locals)
        self.state.targetctx = loaded(self.state.targetctx)
        if library is None:
            own = LeanLibrary(targetctx.codegen(), "kernel")
            own.enable_object_caching()
            own.inner, own.wide = flags.no_compile, self.wide
            self.state.library = own

    def define_pipelines(self) -> Any:
        """What kernels need of Numba's passes."""
        return [lean_passes(self.state)]


class WideCompiler(LeanCompiler):
    """The same for roots whose straight-line arithmetic is put into vectors."""

    wide = True


class _RootCompiler(_FunctionCompiler):  # type: ignore[misc]
    """Called where the cache had nothing."""

    announce: Callable[[], None]

    def _customize_flags(self, flags: Any) -> Any:
        flags.__class__ = Flags
        return flags

    def compile(self, args: Any, return_type: Any) -> Any:
        """From what came with the release, else anew, which is said first."""
        target = self.targetdescr.target_context
        result = _stored.read(self.py_func, args, target, LeanLibrary(target.codegen(), "kernel"))
        if result is None:
            self.announce()
            result = super().compile(args, return_type)
            if os.environ.get("DALEMBERT_STORE_INTO"):
                _stored.write(self.py_func, result)
        return result


class _InnerCompiler(_FunctionCompiler):  # type: ignore[misc]
    """Up to raw code: no wrappers, no machine code."""

    disjoint = False

    def _customize_flags(self, flags: Any) -> Any:
        flags.noalias = self.disjoint
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.__class__ = Flags
        return flags


class LeanDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A kernel: a root for Python, inner code for compiled callers."""

    def __init__(
        self,
        py_func: Any,
        targetoptions: dict[str, Any],
        keep: Callable[[Any], None],
        announce: Callable[[Any], None],
        apart: bool = False,
        disjoint: bool = False,
        wide: bool = False,
    ):
        super().__init__(py_func, {}, targetoptions, LeanCompiler)
        self._apart = apart
        self._keep = keep
        self._compiler = _RootCompiler(py_func, self.targetdescr, targetoptions, {}, WideCompiler if wide else LeanCompiler)
        self._compiler.announce = lambda: announce(self)
        self._inner_compiler = _InnerCompiler(py_func, self.targetdescr, targetoptions, {}, LeanCompiler)
        self._inner_compiler.disjoint = disjoint
        self._inner: dict[Any, Any] = {}

    def compile(self, sig: Any) -> Any:
        """The root for one signature, from the cache or anew."""
        with _no_garbage_collection():
            if isinstance(self._cache, NullCache):  # type: ignore[attr-defined]
                self._keep(self)
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Numba asks this where compiled code calls: inner code, made on first use."""
        pysig, args = self._inner_compiler.fold_argument_types(args, kws)
        args = tuple(types.unliteral(a) for a in args)
        if args not in self._inner:
            with global_compiler_lock:
                result = self._inner_compiler.compile(args, None)
                if self._apart:
                    result.library.get_function(result.fndesc.llvm_func_name).add_function_attribute("noinline")
                self.targetctx.insert_user_function(result.fndesc, result.fndesc, [result.library])
                self._inner[args] = result
        name = self.py_func.__name__
        signatures = [self._inner[args].signature]
        return typing.make_concrete_template(f"CallTemplate({name})", key=name, signatures=signatures), pysig, args, {}

    def get_overload(self, sig: Any) -> Any:
        """What lowering finds the inner code by."""
        args, _ = sigutils.normalize_signature(sig)
        return self._inner[tuple(args)].fndesc


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Compiling makes millions of objects that live; collecting in between finds nothing (measured: 8 % of the time)."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
