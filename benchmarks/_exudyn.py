"""Exudyn on the heavy top: a rigid body with the Lie group node (rotation vector), a spherical joint, the implicit trapezoidal rule.

The fast module without range checks, nothing written, one thread, steps of one size. Of its index-3 and index-2 forms with spectral radius
1 only the second (`TrapezoidalIndex2`) survives this top; of its Newton settings the quickest is found by trying all.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import numpy as np

Array = np.ndarray


def load() -> Any:
    """The module; ImportError where it is not installed."""
    sys.exudynFast = True  # type: ignore[attr-defined]
    import exudyn

    return exudyn


def make(exu: Any, mass: float, inertia: Array, com: Array, omega: Array, g: float) -> tuple[Any, int]:
    """(system, node): upright at the start, the tip at the origin."""
    from exudyn import itemInterface as item

    mbs = exu.SystemContainer().AddSystem()
    ground = mbs.AddObject(item.ObjectGround())
    node = mbs.AddNode(item.NodeRigidBodyRotVecLG(referenceCoordinates=[*com, 0, 0, 0], initialVelocities=[*np.cross(omega, com), *omega]))
    body = mbs.AddObject(item.ObjectRigidBody(mass=mass, inertia=[*inertia, 0, 0, 0], nodeNumber=node))
    ends = [
        mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=ground, localPosition=[0, 0, 0])),
        mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=body, localPosition=[-float(x) for x in com])),
    ]
    mbs.AddObject(item.ObjectJointSpherical(markerNumbers=ends))
    weight = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=body))
    mbs.AddLoad(item.LoadMassProportional(markerNumber=weight, loadVector=[0, 0, -g]))
    mbs.Assemble()
    return mbs, node


def settings(exu: Any, h: float, n: int, modified: bool, tangent: bool, solver: str) -> Any:
    """n steps of h."""
    s = exu.SimulationSettings()
    s.timeIntegration.endTime, s.timeIntegration.numberOfSteps = n * h, n
    s.timeIntegration.verboseMode, s.timeIntegration.adaptiveStep = 0, False
    s.timeIntegration.generalizedAlpha.spectralRadius = 1.0
    s.timeIntegration.generalizedAlpha.lieGroupAddTangentOperator = tangent
    s.timeIntegration.newton.useModifiedNewton = modified
    s.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = modified
    s.solution.file.write, s.solution.sensors.active = False, False
    s.linearSolver.solverType = getattr(exu.LinearSolverType, solver)
    s.parallel.numberOfThreads = 1
    return s


class Top:
    """The heavy top, ready to run."""

    def __init__(self, exu: Any, h: float, *top: Any):
        self.exu, self.h, self.top = exu, h, top
        choices = itertools.product((False, True), (True, False), ("EXUdense", "EigenDense"))
        self.best = min(choices, key=lambda choice: min(self.run(2000, *choice)[0] for _ in range(3)))

    def run(self, n: int, *choice: Any) -> tuple[float, Array]:
        """(CPU microseconds per step, centre of mass at the end) of n steps; building is not counted."""
        mbs, node = make(self.exu, *self.top)
        chosen = settings(self.exu, self.h, n, *(choice or self.best))
        began = time.process_time()
        mbs.SolveDynamic(chosen, solverType=self.exu.DynamicSolverType.TrapezoidalIndex2)
        seconds = time.process_time() - began
        return 1e6 * seconds / n, np.array(mbs.GetNodeOutput(node, self.exu.OutputVariableType.Position))
