"""DOP853, through SciPy: an explicit Runge-Kutta method of order 8 with error control and dense output of order 7.

On q' = v, v' = a(q, v, t); constraints are differentiated to accelerations. h only says where nodes are: the error follows rtol and
atol. For comparison, and as a reference for short runs.

References: hairer1993, scipy.
"""

from dalembert.registry import register
from dalembert.steppers.lagrangian._entry import ANY
from dalembert.steppers.lagrangian._scipy import LIMITATIONS, tolerances

register(
    name="dop853",
    summary="SciPy's DOP853 (Runge-Kutta of order 8, adaptive), for comparison and reference",
    system="lagrangian",
    order=8,
    adaptive=True,
    handles=ANY,
    limitations=LIMITATIONS,
    options=tolerances(1e-10, 1e-12),
    references=("hairer1993", "scipy"),
    rank=91,
    engine="scipy:DOP853",
)(None)
