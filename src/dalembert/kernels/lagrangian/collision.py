"""Steps of a system with unilateral constraints c(q) >= 0: the plain step and a look at c, and the first event within a step.

The state holds at `EXTRA`, for each of the k rows,

    gap = c,   rate = C v,   held (0 or 1),   pressure: the force of a held row at the node,   push: its force over the step

The motion within a step is that of the same step made shorter: q(s) is the node that a step of length s leads to (leyendecker, 12, 14).
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.events import brackets
from dalembert.kernels.lagrangian import layout as at
from dalembert.kernels.lagrangian.step import step as plain
from dalembert.kernels.status import EVENT, NOT_FINITE, OK

# record behind those of the blocks: rows, where the extra entries of the state are, what of c below zero counts as none
ROWS, EXTRA, TOL = 0, 1, 2
RECORD = 3
# what is watched of a row
GAP, LEAVING, PRESSURE, STAYING = 0.0, 1.0, 2.0, 3.0
# scratch of one row: what is watched, its value and the slope of c at the last point, and c there
MODE, VALUE, SLOPE, HEIGHT = 0, 1, 2, 3
PER_ROW = 4

ROUND_OFF = 4e-16
MOST = 80  # evaluations of one root
NOTHING = 1e-12  # of a step


@inline
def record_of(system):
    """Where the record is."""
    return at.HEADER + at.BLOCK * (int(system[at.MOVES]) + 1)


@kernel
def step(t, h, system, state, work, info):
    """The plain step; EVENT where a row is violated at its end or may be violated on the way, or where a held row would have to pull."""
    record = record_of(system)
    k, first = int(system[record + ROWS]), int(system[record + EXTRA])
    before = work.shape[0] - at.INFO_SIZE - 2 * k
    for i in range(2 * k):
        work[before + i] = state[first + i]
    status = plain(t, h, system, state, work, info)
    if status != OK:
        return status
    for i in range(k):
        if state[first + 2 * k + i] != 0.0:
            if not state[first + 3 * k + i] >= 0.0:
                return EVENT
            continue
        least = brackets.below(work[before + i], work[before + k + i], state[first + i], state[first + k + i], h)
        if not least >= -system[record + TOL]:
            return EVENT
    return OK


@kernel
def reach(t, s, system, state, trial, work, info):
    """trial: the state after a step of length s. Returns the status."""
    for i in range(state.shape[0]):
        trial[i] = state[i]
    return plain(t, s, system, trial, work, info)


@inline
def value(mode, start, now, pressure, s, tol):
    """What is watched: c; its mean rate since the node where it was 0; the force of a held row; c and half of what counts as none."""
    if mode == GAP:
        return now
    if mode == LEAVING:
        return (now - start) / s
    if mode == PRESSURE:
        return pressure
    return now - min(start, 0.0) + 0.5 * tol


@inline
def watch(system, state, i, scratch):
    """What is watched of a row from a node on, and its value there."""
    record = record_of(system)
    k, first, tol = int(system[record + ROWS]), int(system[record + EXTRA]), system[record + TOL]
    gap, rate = state[first + i], state[first + k + i]
    mode, f = GAP, gap
    if state[first + 2 * k + i] != 0.0:
        mode, f = PRESSURE, state[first + 3 * k + i]
    elif gap <= tol and rate > 0.0:
        mode, f = LEAVING, rate
    elif gap <= tol:
        mode, f = STAYING, gap - min(gap, 0.0) + 0.5 * tol
    here = PER_ROW * i
    scratch[here + MODE], scratch[here + VALUE], scratch[here + SLOPE], scratch[here + HEIGHT] = mode, f, rate, gap


@inline
def seen(system, state, trial, i, mode, s):
    """What is watched of a row, at a trial state after s."""
    record = record_of(system)
    k, first = int(system[record + ROWS]), int(system[record + EXTRA])
    return value(mode, state[first + i], trial[first + i], trial[first + 3 * k + i], s, system[record + TOL])


@kernel
def root(t, lo, hi, f_hi, i, system, state, trial, work, info, scratch, bracket):
    """The time, between lo and hi, at which what is watched of row i changes sign; the last one at which it has not. NaN: no step."""
    here = PER_ROW * i
    mode, f_lo = scratch[here + MODE], scratch[here + VALUE]
    if not f_lo > 0.0:
        return lo
    brackets.begin(bracket, lo, f_lo, hi, f_hi)
    small = ROUND_OFF * max(abs(f_lo), abs(f_hi))
    for n in range(MOST):
        x = brackets.propose(bracket, n)
        if not abs(bracket[brackets.HI] - bracket[brackets.LO]) > ROUND_OFF * abs(hi):
            break
        if reach(t, x, system, state, trial, work, info) != OK:
            return float("nan")
        f = seen(system, state, trial, i, mode, x)
        if abs(f) <= small:
            return x
        brackets.narrow(bracket, x, f)
    return bracket[brackets.LO]


@kernel
def dip(t, lo, hi, i, system, state, trial, work, info):
    """A time between lo and hi at which row i is violated, though it is not at either of them; 0: there is none. By halving its slope."""
    record = record_of(system)
    k, first = int(system[record + ROWS]), int(system[record + EXTRA])
    for _ in range(MOST):
        x = lo + 0.5 * (hi - lo)
        if not lo < x < hi or hi - lo < 1e-9 * hi:
            return 0.0
        if reach(t, x, system, state, trial, work, info) != OK:
            return 0.0
        if trial[first + i] < -system[record + TOL]:
            return x
        if trial[first + k + i] < 0.0:
            lo = x
        else:
            hi = x
    return 0.0


@inline
def crossed(system, trial, i, mode, f):
    """Whether a row is violated at a trial state, or would have to pull."""
    record = record_of(system)
    if mode == PRESSURE:
        return f < 0.0
    return trial[int(system[record + EXTRA]) + i] < -system[record + TOL]


@kernel
def locate(t, h, parts, system, state, trial, work, info, scratch, bracket, found):
    """The first event within a step h > 0, looked for at `parts` equal parts of it. Returns the status.

    found: its time from the node on and its row; h and -1 where there is none. trial: the state there. scratch: PER_ROW per row, and as
    much again.
    """
    record = record_of(system)
    k, first = int(system[record + ROWS]), int(system[record + EXTRA])
    fresh = PER_ROW * k
    for i in range(k):
        watch(system, state, i, scratch)
    found[0], found[1], lo = h, -1.0, 0.0
    for j in range(parts):
        hi = h * (j + 1) / parts
        status = reach(t, hi, system, state, trial, work, info)
        if status != OK:
            return status
        for i in range(k):
            new = fresh + PER_ROW * i
            mode = scratch[PER_ROW * i + MODE]
            scratch[new + VALUE] = seen(system, state, trial, i, mode, hi)
            scratch[new + SLOPE], scratch[new + HEIGHT] = trial[first + k + i], trial[first + i]
            if not (abs(scratch[new + HEIGHT]) < 1e300):
                return NOT_FINITE
            scratch[new + MODE] = 1.0 if crossed(system, trial, i, mode, scratch[new + VALUE]) else 0.0
        for i in range(k):
            old, new = PER_ROW * i, fresh + PER_ROW * i
            x, f = hi, scratch[new + VALUE]
            if scratch[new + MODE] == 0.0:  # not crossed
                low = brackets.below(scratch[old + HEIGHT], scratch[old + SLOPE], scratch[new + HEIGHT], scratch[new + SLOPE], hi - lo)
                if scratch[old + MODE] == PRESSURE or not low < -system[record + TOL]:
                    continue
                x = dip(t, lo, hi, i, system, state, trial, work, info)
                if x == 0.0:
                    continue
                f, scratch[new + HEIGHT] = seen(system, state, trial, i, scratch[old + MODE], x), trial[first + i]
            s = root(t, lo, x, f, i, system, state, trial, work, info, scratch, bracket)
            if scratch[old + MODE] == LEAVING and s <= NOTHING * h:  # it leaves by round-off alone
                scratch[old + MODE], scratch[old + VALUE] = STAYING, 0.5 * system[record + TOL]
                f = value(STAYING, state[first + i], scratch[new + HEIGHT], 0.0, x, system[record + TOL])
                s = root(t, lo, x, f, i, system, state, trial, work, info, scratch, bracket)
            if s != s:
                return NOT_FINITE
            if found[1] < 0.0 or s < found[0]:
                found[0], found[1] = s, i
        if found[1] >= 0.0:
            return reach(t, found[0], system, state, trial, work, info) if found[0] > 0.0 else OK
        for i in range(k):
            for j2 in range(1, PER_ROW):
                scratch[PER_ROW * i + j2] = scratch[fresh + PER_ROW * i + j2]
        lo = hi
    return OK
