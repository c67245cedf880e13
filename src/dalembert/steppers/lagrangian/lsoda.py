"""LSODA, through SciPy: Adams and BDF formulas of variable order and step, switching when the problem becomes stiff.

On q' = v, v' = a(q, v, t); constraints are differentiated to accelerations. h only says where nodes are: the error follows rtol and
atol. For comparison: accurate at first, and its energy creeps at a rate that the tolerances set.

References: petzold1983, scipy, lacoursiere2007 (section 6.3).
"""

from dalembert.registry import register
from dalembert.steppers.lagrangian._entry import ANY
from dalembert.steppers.lagrangian._scipy import LIMITATIONS, tolerances

register(
    name="lsoda",
    summary="SciPy's LSODA (Adams and BDF, adaptive), for comparison",
    system="lagrangian",
    order=12,
    adaptive=True,
    handles=ANY,
    limitations=LIMITATIONS,
    options=tolerances(1.5e-8, 1.5e-8),
    references=("petzold1983", "scipy", "lacoursiere2007"),
    rank=92,
    engine="scipy:LSODA",
)(None)
