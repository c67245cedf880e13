"""Kernels that come with a release: optimised LLVM bitcode, turned into machine code for the user's processor in a tenth of the time.

    python -m dalembert.kernels._stored FOLDER      compiles everything (`dalembert warm`) and stores it; `make wheel` does

An entry is used where the sources below the kernel, Numba, llvmlite and Python are those it was made with, and the processor has all that
it was optimised for (x86-64-v3: AVX2, FMA, BMI); else the kernel is compiled. `DALEMBERT_STORED` names another folder than `stored`.
"""

import functools
import hashlib
import lzma
import os
import pickle
import platform
import sys
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding as ll
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from dalembert.kernels import _cache

LEVEL = "x86-64-v3"
NEEDED = ("avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe")


def folder() -> Path:
    """Where entries lie."""
    return Path(os.environ.get("DALEMBERT_STORED") or Path(__file__).parent / "stored")


@functools.cache
def _fits_here() -> bool:
    """Whether entries may run on this processor. A processor chosen by hand (NUMBA_CPU_NAME) is one that was not asked for."""
    if platform.machine() not in ("x86_64", "AMD64") or os.environ.get("NUMBA_CPU_NAME"):
        return False
    features = ll.get_host_cpu_features()
    return all(features.get(name, False) for name in NEEDED)


def _file(function: Any, args: Any) -> Path:
    """The entry of a kernel for arguments of these types."""
    path = Path(function.__code__.co_filename)
    sources = _cache.sources_hash(path, _cache.sources_root())
    made_with = (
        numba.__version__,
        llvmlite.__version__,
        sys.version_info[:2],
        sources,
        function.__module__,
        function.__qualname__,
        str(args),
    )
    return folder() / f"{function.__name__}-{hashlib.sha256(repr(made_with).encode()).hexdigest()[:20]}.xz"


def write(function: Any, result: Any) -> None:
    """Store what was just compiled."""
    _, *rest = result._reduce()
    folder().mkdir(parents=True, exist_ok=True)
    payload = (result.library._final_module.as_bitcode(), *rest)
    _file(function, result.signature.args).write_bytes(lzma.compress(dumps(payload)))


def read(function: Any, args: Any, target: Any, library: Any) -> Any:
    """The compiled kernel from its entry, in a new library; None where there is none that fits."""
    if not folder().is_dir() or not _fits_here():
        return None
    path = _file(function, args)
    if not path.is_file():
        return None
    bitcode, fndesc, environment, signature, objectmode, lifted, annotation, reload_init, environments = pickle.loads(
        lzma.decompress(path.read_bytes())
    )
    library.adopt(ll.parse_bitcode(bitcode))
    entry = target.get_executable(library, fndesc, environment)
    for other in environments:
        library.codegen.set_env(other.env_name, other)
    result: Any = CompileResult
    return result(
        typing_context=target.typing_context,
        target_context=target,
        entry_point=entry,
        typing_error=None,
        type_annotation=annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        fndesc=fndesc,
        library=library,
        call_helper=None,
        environment=environment,
        metadata=None,
        reload_init=reload_init,
        referenced_envs=environments,
    )


def store_all(where: str) -> None:
    """Compile every kernel for LEVEL into a folder; the user's cache is left alone."""
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as nowhere:
        own = {"DALEMBERT_STORE_INTO": where, "DALEMBERT_STORED": where, "DALEMBERT_CACHE_DIR": nowhere}
        cpu = {"NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": ""}
        subprocess.run([sys.executable, "-m", "dalembert", "warm"], env={**os.environ, **own, **cpu}, check=True)


if __name__ == "__main__":
    store_all(sys.argv[1])
