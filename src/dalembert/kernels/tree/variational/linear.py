"""Newton's matrix of a step, by the method: `factor.py` for one configuration, `factor_both.py` for the two of the trapezoidal rule."""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.layout import STEPPER_DATA
from dalembert.kernels.tree.variational.factor import factor, solve
from dalembert.kernels.tree.variational.factor_both import factor_both, solve_both
from dalembert.kernels.tree.variational.layout import F_SIDE, FACTOR, HV, L_BAR, METHOD, SIDE_0, SIDE_1, SIDE_M
from dalembert.kernels.tree.variational.residual import EULER, MIDPOINT, TRAPEZOIDAL, slot


@inline
def factor_step(h, system, work):
    """Eliminate the matrix at the records that `residual` has filled. False if it is singular."""
    method = int(system[int(system[STEPPER_DATA]) + METHOD])
    fac, x, l = slot(system, FACTOR), slot(system, HV), slot(system, L_BAR)
    if method == TRAPEZOIDAL:
        return factor_both(system, work, slot(system, SIDE_0), slot(system, SIDE_1), fac, x, l, h)
    side = slot(system, SIDE_M) if method == MIDPOINT else slot(system, SIDE_0)
    wl = h if method == EULER else 0.5 * h
    return factor(system, work, side, fac, x, l, slot(system, F_SIDE), wl, h - wl, method == MIDPOINT)


@inline
def solve_any(system, work, side, both, e, dv):
    """work[dv:] = -J^-1 work[e:] with the matrix that was factored last; both: by `factor_both`."""
    if both:
        solve_both(system, work, slot(system, SIDE_0), slot(system, SIDE_1), slot(system, FACTOR), e, dv)
    else:
        solve(system, work, side, slot(system, FACTOR), e, dv)
