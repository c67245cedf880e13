"""Newton's matrix of a step, by the method: `factor.py` for one configuration, `factor_both.py` for the two of the trapezoidal rule,
`dense.py` for one configuration of a small tree."""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.layout import NV, STEPPER_DATA
from dalembert.kernels.tree.variational.dense import factor_dense, solve_dense
from dalembert.kernels.tree.variational.factor import factor, solve
from dalembert.kernels.tree.variational.factor_both import factor_both, solve_both
from dalembert.kernels.tree.variational.layout import (
    DENSE,
    EULER,
    F_SIDE,
    FACTOR,
    HV,
    L_BAR,
    METHOD,
    MIDPOINT,
    SIDE_0,
    SIDE_1,
    SIDE_M,
    TRAPEZOIDAL,
)


@inline
def factor_step(h, system, work):
    """Eliminate the matrix at the records that `residual` has filled. False if it is singular."""
    data = int(system[STEPPER_DATA])
    method = int(system[data + METHOD])
    fac, x, l = int(system[data + FACTOR]), int(system[data + HV]), int(system[data + L_BAR])
    if method == TRAPEZOIDAL:
        return factor_both(system, work, int(system[data + SIDE_0]), int(system[data + SIDE_1]), fac, x, l, h)
    side = int(system[data + SIDE_M]) if method == MIDPOINT else int(system[data + SIDE_0])
    wl = h if method == EULER else 0.5 * h
    if system[data + DENSE] != 0.0:
        return factor_dense(system, work, side, fac, int(system[data + DENSE]), wl, h - wl)
    return factor(system, work, side, fac, x, l, int(system[data + F_SIDE]), wl, h - wl, method == MIDPOINT)


@inline
def solve_any(system, work, side, both, e, dv):
    """work[dv:] = -J^-1 work[e:] with the matrix that was factored last; both: by `factor_both`."""
    data = int(system[STEPPER_DATA])
    if system[data + DENSE] != 0.0:
        solve_dense(work, int(system[data + DENSE]), int(system[NV]), e, dv)
    elif both:
        solve_both(system, work, int(system[data + SIDE_0]), int(system[data + SIDE_1]), int(system[data + FACTOR]), e, dv)
    else:
        solve(system, work, side, int(system[data + FACTOR]), e, dv)
