"""Pictures of benchmarks/variational_trees.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

PEERS = ("mujoco", "pinocchio", "drake", "dart", "scipy")


def draw(result: dict[str, Any], path: Path) -> None:
    """One panel per section that was measured: cost against size, cost against error."""
    panels = [key for key in ("steps", "state", "energy") if key in result]
    if not panels:
        return
    figure, axes = plt.subplots(1, len(panels), figsize=(7 * len(panels), 7.5), layout="constrained", squeeze=False)
    for axis, key in zip(axes[0], panels, strict=True):
        axis.set_prop_cycle(color=plt.get_cmap("tab20").colors)
        if key == "steps":
            _steps(axis, result)
        else:
            _precision(axis, result[key], "error of the end state" if key == "state" else "largest energy error")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=4)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _style(name: str) -> dict[str, Any]:
    return {"linestyle": "--", "marker": "x", "alpha": 0.7} if name.startswith(PEERS) else {"linestyle": "-", "marker": "o"}


def _steps(axis: Any, result: dict[str, Any]) -> None:
    rows = result["steps"]
    for name in [name for name in dict.fromkeys(name for row in rows.values() for name in row) if name != "steps"]:
        axis.plot([int(n) for n in rows], [row.get(name, np.nan) for row in rows.values()], label=name, **_style(name))
    axis.set(xlabel="joints", ylabel="us per step (h = 0.01)", title="Cost of a step")


def _precision(axis: Any, section: dict[str, Any], label: str) -> None:
    for name, points in section["points"].items():
        good = [p for p in points if "seconds" in p and 0.0 < p["error"] < np.inf]
        if good:
            axis.plot([p["error"] for p in good], [p["seconds"] for p in good], label=name, **_style(name))
    axis.set(xlabel=label, ylabel="CPU seconds", title=f"Chain of 3, {section['t_end']:g} s", xlim=(1e-13, 10.0))
    axis.invert_xaxis()
