"""Models from URDF and MJCF files, and states in the conventions of other simulators."""

from __future__ import annotations

import os
from collections.abc import Sequence

from dalembert.errors import OptionError
from dalembert.importers.notes import ModelImportWarning, Notes
from dalembert.importers.reading import open_source
from dalembert.model import Model

__all__ = ["ModelImportWarning", "load_model"]


def load_model(
    source: str | os.PathLike[str],
    floating_base: bool | None = None,
    package_dirs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
) -> Model:
    """A Model from a URDF or MJCF file, or from an XML text (it begins with "<").

    floating_base: True gives the root of a URDF tree (or the one root body of an MJCF file without joints) a free joint; False fixes it.
    None: as the file says; the root of a URDF tree is then fixed to the world, with a warning if it has mass.
    package_dirs: directories below which `package://` names and other files are looked for, beside the model's own directory and those
    of the environment variable ROS_PACKAGE_PATH. Files anywhere else are refused.

    What is not carried over is named in one ModelImportWarning and kept in `model.import_report`.
    """
    if floating_base is not None and not isinstance(floating_base, bool):
        raise OptionError(f"load_model: floating_base is {floating_base!r}; expected True, False or None.")
    dirs = (package_dirs,) if isinstance(package_dirs, (str, os.PathLike)) else tuple(package_dirs)
    given = open_source(source, dirs)
    notes = Notes()
    if given.format == "mjcf":
        from dalembert.importers.mjcf import load
    else:
        from dalembert.importers.urdf import load
    model = load(given, floating_base, notes)
    model.source["report"] = notes.lines()
    notes.warn(given.owner)
    return model
