"""Trajectories as labelled tables of other libraries: xarray and pandas, both optional (`pip install dalembert[tables]`)."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.runs.recording import variables

_COORDINATES = ("time", "q_name", "q_unit", "v_name", "v_unit", "momentum_name")
_INTERNAL = ("state", "memory", "memory_column")


def to_xarray(traj: Any) -> Any:
    """An xarray.Dataset with the names of the saved file: dimensions time, q_name, v_name, momentum_name, interval; units in attributes.

    Ragged tables, where the run has any: contacts (contacts_row, contacts_column) and contacts_count (time), rows of each node.
    """
    xarray = _needed("xarray", "to_xarray")
    arrays = {
        x.name: (x.dims, np.asarray(x.data), {"units": x.units, "long_name": x.long_name})
        for x in variables(traj)
        if x.name not in _INTERNAL
    }
    return xarray.Dataset(
        {name: a for name, a in arrays.items() if name not in _COORDINATES},
        coords={name: arrays[name] for name in _COORDINATES},
        attrs={
            "title": f"{traj.model.name or 'model'}: {traj.meta['method']}, h = {traj.h:g} s",
            "source": "dalembert",
            "stepper": traj.meta["method"],
            "h": traj.h,
            "status": traj.status,
        },
    )


def to_pandas(traj: Any) -> Any:
    """A pandas.DataFrame indexed by time (s): q, v, energy, kinetic, potential, momentum; `frame.attrs["units"]` maps columns to units."""
    pandas = _needed("pandas", "to_pandas")
    model = traj.model
    names = [*model.column_names("q"), *model.column_names("v"), "energy", "kinetic", "potential", *model.momentum_names]
    units = [*model.column_units("q"), *model.column_units("v"), *["J"] * 3, *model.momentum_units]
    data = np.column_stack([traj.q, traj.v, traj.energy, traj.kinetic, traj.potential, traj.momentum])
    frame = pandas.DataFrame(data, columns=names, index=pandas.Index(traj.t, name="time"))
    frame.attrs["units"] = {"time": "s", **dict(zip(names, units, strict=True))}
    return frame


def _needed(library: str, call: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError:
        raise OptionError(f"{call} needs {library}, which is not installed: pip install dalembert[tables].") from None
