"""dalembert: structure-preserving multibody dynamics.

    import dalembert as dal

    m = dal.Model("top")
    m.add_body("rotor", mass=1.0, inertia=(1, 1, 2), com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "rotor")
    traj = dal.simulate(m, h=0.01, t_end=10, v0={"tip": (0, 0, 20)})
    print(traj.report().text)

Names are imported when they are first used: importing the package itself is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Model": "dalembert.model",
    "Body": "dalembert.model",
    "Joint": "dalembert.model",
    "Wrench": "dalembert.model",
    "Damper": "dalembert.model",
    "Spring": "dalembert.model",
    "Motor": "dalembert.model",
    "Lagrangian": "dalembert.lagrangian",
    "Directors": "dalembert.directors",
    "lcp": "dalembert.complementarity",
    "LCPResult": "dalembert.complementarity",
    "Sphere": "dalembert.model",
    "Box": "dalembert.model",
    "Capsule": "dalembert.model",
    "Cylinder": "dalembert.model",
    "Ellipsoid": "dalembert.model",
    "Plane": "dalembert.model",
    "HeightField": "dalembert.model",
    "Mesh": "dalembert.model",
    "Convex": "dalembert.model",
    "simulate": "dalembert.runs.simulate",
    "resume": "dalembert.runs.resume",
    "load": "dalembert.runs.recording",
    "load_model": "dalembert.importers",
    "Simulation": "dalembert.runs.simulation",
    "Trajectory": "dalembert.runs.trajectory",
    "compiled": "dalembert.runs.controls",
    "steppers": "dalembert.registry",
    "stepper": "dalembert.user_stepper",
    "check_stepper": "dalembert.contracts.check",
    "advise": "dalembert.advising",
    "derivatives": "dalembert.sensitivity",
    "ensemble": "dalembert.ensembles",
    "rerun": "dalembert.ensembles",
    "design": "dalembert.ensembles",
    "load_study": "dalembert.ensembles",
    "Study": "dalembert.ensembles",
    "compare": "dalembert.comparison",
    "work_precision": "dalembert.comparison",
    "cite": "dalembert.citations",
    "DalembertError": "dalembert.errors",
    "ModelError": "dalembert.errors",
    "OptionError": "dalembert.errors",
    "UnknownNameError": "dalembert.errors",
    "UnsupportedError": "dalembert.errors",
    "AssemblyError": "dalembert.errors",
    "ArchiveError": "dalembert.errors",
    "SimulationError": "dalembert.errors",
}
_MODULES = {
    "so3": "groups.so3",
    "se3": "groups.se3",
    "se2": "groups.se2",
    "quat": "groups.quat",
    "scenes": "scenes",
    "contact": "contact",
    "control": "control",
    "monitors": "runs.monitors",
    "observers": "ensembles.observers",
    "verification": "verification",
}
_OPTIONAL = {"envs": "envs"}  # need an extra of the package

__all__ = [*_PUBLIC, *_MODULES, "__version__"]

if TYPE_CHECKING:
    from dalembert import contact, control, scenes, verification
    from dalembert.advising import advise
    from dalembert.citations import cite
    from dalembert.comparison import compare, work_precision
    from dalembert.complementarity import LCPResult, lcp
    from dalembert.contracts.check import check_stepper
    from dalembert.directors import Directors
    from dalembert.ensembles import Study, design, ensemble, load_study, observers, rerun
    from dalembert.errors import (
        ArchiveError,
        AssemblyError,
        DalembertError,
        ModelError,
        OptionError,
        SimulationError,
        UnknownNameError,
        UnsupportedError,
    )
    from dalembert.groups import quat, se2, se3, so3
    from dalembert.importers import load_model
    from dalembert.lagrangian import Lagrangian
    from dalembert.model import (
        Body,
        Box,
        Capsule,
        Convex,
        Cylinder,
        Damper,
        Ellipsoid,
        HeightField,
        Joint,
        Mesh,
        Model,
        Motor,
        Plane,
        Sphere,
        Spring,
        Wrench,
    )
    from dalembert.registry import steppers
    from dalembert.runs import monitors
    from dalembert.runs.controls import compiled
    from dalembert.runs.recording import load
    from dalembert.runs.resume import resume
    from dalembert.runs.simulate import simulate
    from dalembert.runs.simulation import Simulation
    from dalembert.runs.trajectory import Trajectory
    from dalembert.sensitivity import derivatives
    from dalembert.user_stepper import stepper


def __getattr__(name: str) -> Any:
    if name in _MODULES or name in _OPTIONAL:
        value: Any = importlib.import_module(f"dalembert.{_MODULES.get(name) or _OPTIONAL[name]}")
    elif name in _PUBLIC:
        value = getattr(importlib.import_module(_PUBLIC[name]), name)
    else:
        raise AttributeError(f"module 'dalembert' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_OPTIONAL})
