"""One step of a variational integrator on a tree: solve e(v) = 0 for the interval velocity (`newton.py`), then move on.

    q_k+1 = q_k tau(h v),    p_k+1 = Ad_tau^T (p_k + h f_left) + h f_right                 (`retraction.py`; straight paths: `chord.py`)

A step that does not converge, or that turns far and does not keep the balance of energy between its nodes (`trust.py`), is repeated
by Newton's method from the last velocity with a new matrix each time and a line search, then in 2, 4, 8 ... equal parts. Where energy has
run away no part helps: the run ends.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.status import OK, RUNAWAY, SINGULAR
from dalembert.kernels.tree.kinematics import place
from dalembert.kernels.tree.layout import AT_CALL
from dalembert.kernels.tree.variational.chord import chord_right
from dalembert.kernels.tree.variational.constrained import add_impulses, begin
from dalembert.kernels.tree.variational.drives import driven, enter_drives
from dalembert.kernels.tree.variational.history import next_stage, predict, remember
from dalembert.kernels.tree.variational.layout import SIDE_SIZE, notes, places
from dalembert.kernels.tree.variational.newton import ITERATIONS, RESIDUAL, newton
from dalembert.kernels.tree.variational.retraction import retract, right_momentum
from dalembert.kernels.tree.variational.singular import project
from dalembert.kernels.tree.variational.trust import doubtful, trusted, work_done
from dalembert.kernels.tree.variational.vectors import copy

SUBSTEPS = 2  # info, behind those of Newton's method
TRIALS = 14  # as it is, with a line search, then in 2, 4, ..., 4096 parts


@kernel
def set_up(h, system, state, work, careful):
    """Copy the node to work, predict the velocity, place what does not change during the iteration."""
    s, n = places(system), notes(system)
    copy(state, n.q, work, s.q_old, s.nq)
    copy(state, n.p, work, s.p_old, s.nv)
    predict(system, state, work, h, careful)
    if s.inside == 0:
        for i in range(s.links):
            place(system, work, i, s.q_old, s.side_0 + i * SIDE_SIZE)
    if s.total != 0:
        begin(system, work)


@kernel
def move_on(h, system, state, work):
    """Advance the state with the velocity that was found."""
    s, n = places(system), notes(system)
    drives, before, t = s.m != 0 and driven(system), state[n.drive], work[int(system[AT_CALL])]
    if s.m != 0:
        add_impulses(system, work, 1.0, s.p_old)
    if drives:
        enter_drives(t, system, state, work, s.q_old)
    check, status = doubtful(h, system, state, work), OK
    if check:
        work_done(h, system, work)
    for i in range(s.nv):
        work[s.hv + i] = h * work[s.v + i]
    retract(system, work, s.q_old, s.hv, s.q_new, s.exponential != 0, False)
    if s.chord != 0:
        chord_right(h, system, work, s.e)
    else:
        right_momentum(system, work, h, s.hv, s.p_old, s.f_left, s.f_right, s.e, s.exponential != 0)
    if s.m != 0 and not project(h, system, work, s.q_new, s.e):
        return SINGULAR
    if drives:
        enter_drives(t + h, system, state, work, s.q_new)
        work[s.gain] += state[n.drive] - before
    if check:
        status = trusted(system, state, work, s.e)
        if status != OK:
            return status
    copy(work, s.q_new, state, n.q, s.nq)
    copy(work, s.e, state, n.p, s.nv)
    remember(system, state, work)
    return OK


@kernel
def step(t, h, system, state, work, info):
    """One step, and where it fails and rescue is on, the same once more with a line search, then in parts (info[SUBSTEPS] of them)."""
    s = places(system)
    size, status, parts = state.shape[0], OK, 1
    info[ITERATIONS], info[RESIDUAL], info[SUBSTEPS] = 0.0, 0.0, 0.0
    copy(state, 0, work, s.saved, size)
    for trial in range(TRIALS):
        if trial > 1:
            parts *= 2
        for part in range(parts):
            work[int(system[AT_CALL])] = t + part * h / parts
            set_up(h / parts, system, state, work, trial > 0)
            status = newton(h / parts, system, state, work, info, trial > 0)
            if status == OK:
                status = move_on(h / parts, system, state, work)
            if status != OK:
                break
        if status in (OK, RUNAWAY) or s.rescue == 0:
            break
        copy(work, s.saved, state, 0, size)
    next_stage(system, state)
    if status == OK and parts > 1:
        info[SUBSTEPS] = parts
    return status
