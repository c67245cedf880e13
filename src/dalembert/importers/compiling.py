"""MuJoCo's compiler, with its complaints as errors of this library."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from dalembert.errors import ModelError, OptionError


def library() -> Any:
    """The module `mujoco`."""
    try:
        import mujoco
    except ImportError as problem:
        raise OptionError("load_model reads URDF and MJCF with MuJoCo's compiler, which is not installed; pip install mujoco.") from problem
    if int(mujoco.__version__.split(".")[0]) < 4:
        raise OptionError(f"load_model needs MuJoCo 4 or newer; {mujoco.__version__} is installed.")
    return mujoco


@contextlib.contextmanager
def _quiet(found: list[str]) -> Iterator[None]:
    """Collect MuJoCo's warnings instead of letting it print them and write a log file."""
    mujoco = library()
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: found.append(str(text)))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
            found += [str(w.message) for w in caught]
    finally:
        mujoco.set_mju_user_warning(before)


def compile_xml(xml: str, assets: dict[str, bytes], owner: str, edit: Callable[[Any], None] | None = None) -> tuple[Any, list[str]]:
    """(MjModel, warnings) of an XML text whose files are all in `assets`; `edit` may change the MjSpec before it is compiled."""
    mujoco = library()
    said: list[str] = []
    with _quiet(said):
        try:
            xml_files = {name: data for name, data in assets.items() if name.endswith(".xml")}
            spec = mujoco.MjSpec.from_string(xml, include=xml_files or None, assets=assets or None)
            if edit is not None:
                edit(spec)
            compiled = spec.compile()
        except ModelError:
            raise
        except (ValueError, RuntimeError, MemoryError, OverflowError, mujoco.FatalError) as problem:
            text = " ".join(str(problem).split()) or type(problem).__name__
            raise ModelError(f"{owner}: MuJoCo's compiler refuses it: {text}") from None
    return compiled, said
