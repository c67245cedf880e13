"""One step of a system given by a Lagrangian, by machine code made from its formulas; see layout.py."""

from dalembert.kernels._jit import call_at, inline, kernel
from dalembert.kernels.full_pivot import apply, eliminate
from dalembert.kernels.gauss import solve_in_place
from dalembert.kernels.lagrangian import layout as at
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR

PATIENCE = 4  # iterations after which a small residual is enough
STALLED = 0.5  # a correction that shrinks by less than this no longer converges
SMALLEST = 1e-3  # share of a correction
NOISE = 1e-6  # relative size below which a stalled correction is round-off


@inline
def places(system):
    """Offsets in the workspace: of the state and the unknowns in x, of (r, J), of (guess, floor) or the next state, of the pivots."""
    x_state = at.P + int(system[at.PARAMS])
    x_unknown = x_state + int(system[at.STATE])
    m = int(system[at.UNKNOWNS])
    residual = x_unknown + m
    out = residual + m + m * m
    return x_state, x_unknown, residual, out, out + max(int(system[at.STATE]), m + 1)


@inline
def load(t, h, system, state, work):
    """Write t, h, p and the state into x."""
    work[at.T] = t
    work[at.H] = h
    n = int(system[at.PARAMS])
    first = system.shape[0] - n
    for i in range(n):
        work[at.P + i] = system[first + i]
    for i in range(state.shape[0]):
        work[at.P + n + i] = state[i]


@inline
def largest(work, a, n):
    """max |work[a : a + n]|, NaN if one of them is."""
    found = 0.0
    for i in range(n):
        size = abs(work[a + i])
        if not size <= found:
            found = size
    return found


@kernel
def correction(system, work, record, residual, out, pivots):
    """work[residual:] becomes the Newton correction J^-1 r. False if J is singular.

    Where equations may be redundant, the rank is found by full pivoting and dependent equations are left out.
    """
    m = int(system[record + at.UNKNOWN])
    matrix = residual + m
    if system[record + at.REVEALING] == 0.0:
        return solve_in_place(work, matrix, residual, m)
    rank = eliminate(work, matrix, pivots, m, system[at.RANK_TOL])
    apply(work, matrix, pivots, m, rank, residual, out)
    for i in range(m):
        work[residual + i] = work[out + i]
    return rank > 0


@inline
def solved(work, residual, m, main, floor):
    """Backward error: |r_i| <= floor sum_j |J_ij| over the main unknowns, so that round-off in them explains what is left of r.

    Near singular constraints corrections stay large however small r is.
    """
    for i in range(m):
        size = 0.0
        for j in range(main):
            size += abs(work[residual + m + i * m + j])
        if not abs(work[residual + i]) <= floor * size:
            return False
    return True


@inline
def move(work, z, last, m, share):
    """z = last point - share times the last correction."""
    for i in range(m):
        work[z + i] = work[last + i] - share * work[last + m + i]


@kernel
def solve(system, work, record):
    """Newton's method on r(z) = 0 from the guess. One correction below the tolerance is the last one:

    z <- z - share J^-1 r  until  |J^-1 r| <= tol |z| + floor

    in the main unknowns (velocities; multipliers follow from them linearly), floor being the round-off that the guess comes with. Later,
    or when corrections grow, a residual that round-off explains is enough. Where a correction leads to a longer one, only a share of it
    is taken: half as much until the next one is shorter, then twice as much up to 1 (not under constraints: close to dependent rows
    corrections grow by round-off alone). The number of iterations is added at the end of the workspace, and the relative size of the
    last correction kept there.
    """
    tally = work.shape[0] - at.INFO_SIZE
    m = int(system[record + at.UNKNOWN])
    main = int(system[record + at.MAIN])
    _, z, residual, out, pivots = places(system)
    last = pivots + 2 * m
    plain = system[record + at.REVEALING] == 0.0
    call_at(int(system[record + at.GUESS]), work, 0, work, out)
    for i in range(m):
        work[z + i] = work[out + i]
    floor = work[out + m]
    before, share = 0.0, 1.0
    for k in range(int(system[at.MAX_ITERATIONS])):
        call_at(int(system[record + at.RESIDUAL]), work, 0, work, residual)
        work[tally] += 1.0
        quiet = k > 0 and solved(work, residual, m, main, floor)
        regular = correction(system, work, record, residual, out, pivots)
        size, step = largest(work, z, main), largest(work, residual, main)
        noise = k >= 2 and step > STALLED * before and step <= NOISE * size
        growing = plain and k > 0 and not noise and not (regular and step < before)
        if quiet and (growing or k >= PATIENCE):
            work[tally + 1] = 0.0
            return OK
        if growing:
            share *= 0.5
            if share < SMALLEST:
                return NOT_CONVERGED
            move(work, z, last, m, share)
            continue
        if not regular:
            return SINGULAR
        if not step < 1e300:
            return NOT_FINITE
        share = 1.0 if k == 0 else min(1.0, 2.0 * share)
        for i in range(m):
            work[last + i] = work[z + i]
            work[last + m + i] = work[residual + i]
        move(work, z, last, m, share)
        size = largest(work, z, main)
        work[tally + 1] = step / size if step > floor else 0.0
        if system[record + at.LINEAR] != 0.0:
            work[tally + 1] = 0.0
            return OK
        if noise or (share == 1.0 and step <= system[at.TOL] * size + floor):
            return OK
        before = step
    return NOT_CONVERGED


@kernel
def step(t, h, system, state, work, info):
    """All moves of a step."""
    tally = work.shape[0] - at.INFO_SIZE
    work[tally], info[1], info[2] = 0.0, 0.0, 0.0
    load(t, h, system, state, work)
    x_state, _, _, out, _ = places(system)
    changing = state.shape[0] - int(system[at.N])
    for k in range(int(system[at.MOVES])):
        record = at.HEADER + at.BLOCK * (k + 1)
        if system[record + at.UNKNOWN] > 0.0:
            status = solve(system, work, record)
            info[0], info[1] = work[tally], max(info[1], work[tally + 1])
            if status != OK:
                return status
        call_at(int(system[record + at.UPDATE]), work, 0, work, out)
        for i in range(changing):
            state[i] = work[out + i]
            work[x_state + i] = work[out + i]
    return OK
