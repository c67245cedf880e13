"""What a run ran on: versions and machine, recorded because bit-for-bit repetition needs both to be the same."""

from __future__ import annotations

import importlib.metadata
import platform
from functools import cache
from pathlib import Path


def versions() -> dict[str, str]:
    """Versions of what takes part in the arithmetic."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """Parsing the metadata of a package takes a millisecond."""
    names = ("dalembert", "numpy", "numba", "llvmlite", "casadi", "scipy", "h5py")
    return {"python": platform.python_version(), **{n: importlib.metadata.version(n) for n in names}}


def machine() -> dict[str, str]:
    """The CPU as compiled code sees it."""
    return {"cpu": _cpu(), "model": _cpu_model(), "system": platform.system(), "architecture": platform.machine()}


@cache
def _cpu() -> str:
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())


@cache
def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        with info.open() as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    return platform.processor()
