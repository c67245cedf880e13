"""Newton's matrix of a step, by the rule: `factor.py` for one side, `factor_both.py` for both nodes, `dense.py` for one side of a small
tree, `chord_factor.py` for straight paths."""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.variational.chord_factor import factor_chord, solve_chord
from dalembert.kernels.tree.variational.dense import factor_dense, solve_dense
from dalembert.kernels.tree.variational.factor import factor, solve
from dalembert.kernels.tree.variational.factor_both import factor_both, solve_both
from dalembert.kernels.tree.variational.layout import places


@inline
def factor_step(h, system, work):
    """Eliminate the matrix at the records that `residual` has filled. False if it is singular."""
    s = places(system)
    if s.chord != 0:
        return factor_chord(h, system, work)
    if s.end - s.first == 2:
        return factor_both(system, work, s.side_0, s.side_1, s.factor, s.hv, s.l, h)
    wl = s.left * h
    if s.small != 0:
        return factor_dense(system, work, s.side, s.factor, s.dense, wl, h - wl)
    return factor(system, work, s.side, s.factor, s.hv, s.l, s.f_side, wl, h - wl, s.inside != 0)


@inline
def solve_any(system, work, side, both, e, dv):
    """work[dv:] = -J^-1 work[e:] with the matrix that was factored last; both: by `factor_both` or `factor_chord`."""
    s = places(system)
    if s.small != 0:
        solve_dense(work, s.dense, s.nv, e, dv)
    elif both and s.chord != 0:
        solve_chord(system, work, e, dv)
    elif both:
        solve_both(system, work, s.side_0, s.side_1, s.factor, e, dv)
    else:
        solve(system, work, side, s.factor, e, dv)
