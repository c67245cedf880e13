"""Energy-momentum method in director coordinates, reduced to the discrete null space.

    M (v_1 - v_0)/h = -dV_01 - G(m)^T lambda,   q_1 - q_0 = h (v_0 + v_1)/2,   g(q_1) = 0,   m = (q_0 + q_1)/2

with a discrete gradient dV_01.(q_1 - q_0) = V_1 - V_0. Constraints are quadratic, so that lambda does no work: energy and momenta are
conserved to round-off, at every h for which the step can be solved. Not symplectic. The step is in kernels/directors/energy_momentum.py.

v is that of the scheme, which is not exactly tangential: G(q) v = O(h^2), without drift. Steps forward and back return to the start; yet
the method is not entered as self-adjoint: the part of v across the constraints changes its sign from step to step, which compositions
do not average out: measured, they stay of order 2.

References: betsch2006, gonzalez1999.
"""

from typing import Any

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.kernels.directors import layout as at
from dalembert.kernels.directors.energy_momentum import step
from dalembert.registry import MAX_ITERATIONS, TOL, register
from dalembert.steppers.directors.null_space import HANDLES


def prepare(system: Array, options: dict[str, Any]) -> None:
    """Velocities of nodes stay as they are: every coordinate must have a mass."""
    s = at.LAYOUT.named(system[at.HEADER : at.HEADER + at.LAYOUT.size])
    if not (system[s.at_mass : s.at_mass + s.n] > 0.0).all():
        raise UnsupportedError(
            "stepper 'energy-momentum' keeps a velocity of every director, so each body needs mass along all principal axes (a slender "
            "rod, a plate or a point mass has none along some); give them a little thickness, or use 'null-space'."
        )
    system[at.HEADER + at.LAYOUT.names.index("project")] = 0.0


register(
    name="energy-momentum",
    summary="energy-momentum scheme in director coordinates: both are conserved to round-off",
    system="directors",
    order=2,
    conserves=("momentum: exactly", "energy: exactly"),
    handles=HANDLES,
    limitations="dense: effort grows with the cube of the number of bodies; compositions do not raise its order",
    options=(TOL, MAX_ITERATIONS),
    references=("betsch2006", "gonzalez1999"),
    rank=2,
    prepare=prepare,
)(step)
