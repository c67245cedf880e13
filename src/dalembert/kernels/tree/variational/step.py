"""One step of a variational integrator on a tree: solve e(v) = 0 for the interval velocity (`newton.py`), then move on.

    q_k+1 = q_k tau(h v),    p_k+1 = Ad_tau^T (p_k + h f_left) + h f_right                                 (`retraction.py`)

A step that does not converge, or that turns far and does not keep the balance of energy between its nodes (`trust.py`), is repeated
by Newton's method from the last velocity with a new matrix each time and a line search, then in 2, 4, 8 ... equal parts. Where energy has
run away no part helps: the run ends.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.status import OK, RUNAWAY, SINGULAR
from dalembert.kernels.tree.kinematics import place
from dalembert.kernels.tree.layout import AT_CALL, CONSTRAINTS, LINKS, NQ, NV, STEPPER_DATA
from dalembert.kernels.tree.variational.constrained import add_impulses, begin
from dalembert.kernels.tree.variational.drives import drive_work, driven, enter_drives
from dalembert.kernels.tree.variational.history import next_stage, predict, remember
from dalembert.kernels.tree.variational.layout import (
    ASIDE,
    F_LEFT,
    F_RIGHT,
    GAIN,
    HV,
    METHOD,
    MIDPOINT,
    P_OLD,
    Q_NEW,
    Q_OLD,
    RESCUE,
    RETRACTION,
    SAVED,
    SIDE_0,
    SIDE_SIZE,
    SOFT,
    E,
    V,
)
from dalembert.kernels.tree.variational.newton import ITERATIONS, RESIDUAL, newton
from dalembert.kernels.tree.variational.retraction import retract, right_momentum
from dalembert.kernels.tree.variational.singular import project
from dalembert.kernels.tree.variational.trust import doubtful, trusted, work_done
from dalembert.kernels.tree.variational.vectors import copy

SUBSTEPS = 2  # info, behind those of Newton's method
TRIALS = 10  # as it is, with a line search, then in 2, 4, ..., 256 parts


@kernel
def set_up(h, system, state, work, careful):
    """Copy the node to work, predict the velocity, place what does not change during the iteration."""
    nq, data = int(system[NQ]), int(system[STEPPER_DATA])
    q_old, side = int(system[data + Q_OLD]), int(system[data + SIDE_0])
    copy(state, 0, work, q_old, nq)
    copy(state, nq, work, int(system[data + P_OLD]), int(system[NV]))
    predict(system, state, work, h, int(system[data + V]), careful)
    if int(system[data + METHOD]) != MIDPOINT:
        for i in range(int(system[LINKS])):
            place(system, work, i, q_old, side + i * SIDE_SIZE)
    if system[CONSTRAINTS] != 0.0 or system[data + SOFT] != 0.0:
        begin(system, work)


@kernel
def move_on(h, system, state, work):
    """Advance the state with the velocity that was found."""
    nq, nv = int(system[NQ]), int(system[NV])
    data = int(system[STEPPER_DATA])
    exponential = system[data + RETRACTION] != 0.0
    q_old, q_new, p_old = int(system[data + Q_OLD]), int(system[data + Q_NEW]), int(system[data + P_OLD])
    v, x, out = int(system[data + V]), int(system[data + HV]), int(system[data + E])
    bound = system[CONSTRAINTS] != 0.0
    drives, before, t = bound and driven(system), 0.0, work[int(system[AT_CALL])]
    if bound:
        add_impulses(system, work, 1.0, p_old)
    if drives:
        before = state[drive_work(state)]
        enter_drives(t, system, state, work, q_old)
    check, status = doubtful(h, system, state, work), OK
    if check:
        work_done(h, system, work)
    for i in range(nv):
        work[x + i] = h * work[v + i]
    retract(system, work, q_old, x, q_new, exponential, False)
    right_momentum(system, work, h, x, p_old, int(system[data + F_LEFT]), int(system[data + F_RIGHT]), out, exponential)
    if bound and not project(h, system, work, q_new, out):
        return SINGULAR
    if drives:
        enter_drives(t + h, system, state, work, q_new)
        work[int(system[data + ASIDE]) + GAIN] += state[drive_work(state)] - before
    if check:
        status = trusted(system, state, work, out)
        if status != OK:
            return status
    copy(work, q_new, state, 0, nq)
    copy(work, out, state, nq, nv)
    remember(system, state, work, h, v)
    return OK


@kernel
def step(t, h, system, state, work, info):
    """One step, and where it fails and rescue is on, the same once more with a line search, then in parts (info[SUBSTEPS] of them)."""
    data = int(system[STEPPER_DATA])
    rescue = system[data + RESCUE] != 0.0
    saved, size = int(system[data + SAVED]), state.shape[0]
    info[ITERATIONS], info[RESIDUAL], info[SUBSTEPS] = 0.0, 0.0, 0.0
    copy(state, 0, work, saved, size)
    status = OK
    parts = 1
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
        if status in (OK, RUNAWAY) or not rescue:
            break
        copy(work, saved, state, 0, size)
    next_stage(system, state)
    if status == OK and parts > 1:
        info[SUBSTEPS] = parts
    return status
