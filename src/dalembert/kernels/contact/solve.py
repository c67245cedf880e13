"""The one entry of the direct solvers: what is wanted is a number, so that all of them are compiled once, with one factor.

    START            bounds, D, R, blocks of constraints, lam <- P(lam), then SHIFT; the largest |J start| (SPEED).
                     NEW_PAIR: the pattern must be made anew
    NEWTON           at most MOST new factors from work.start and work.lam
    INTERIOR_START   cold start of the interior point
    INTERIOR         at most MOST iterations; then lam = the best so far, x = x(lam), their residual
    SHIFT            b <- b + max(mu |u_t| - least, 0) at work.lam, and the residual of that law (`residual.py`)
    ISLANDS          islands of bodies and the residual of each, after START or SHIFT; their number is the answer

`contact/solver.py` puts them together.
"""

from dalembert.kernels._jit import kernel, wide
from dalembert.kernels.contact.codes import (
    CONE,
    FLOOR,
    FROM_ZERO,
    INTERIOR,
    INTERIOR_START,
    ISLANDS,
    LEAST,
    MORE,
    MOST,
    NEW_PAIR,
    NEWTON,
    PAIRS,
    RESIDUAL,
    SCALE,
    SLOW,
    SPEED,
    START,
    TOLERANCE,
)
from dalembert.kernels.contact.interior import interior
from dalembert.kernels.contact.interior_point import start as interior_start
from dalembert.kernels.contact.islands import islands
from dalembert.kernels.contact.newton import newton
from dalembert.kernels.contact.pattern import find_slots
from dalembert.kernels.contact.products import row_velocities, times_rows, velocities
from dalembert.kernels.contact.residual import by_islands, natural, prepare, project, shift_of
from dalembert.kernels.status import OK


@kernel
def shift(step, work, least, info):
    """SHIFT: x = x(lam), the residual of the step as it was given, b."""
    velocities(step, work.lam, work.x)
    u = work.rows[0]
    row_velocities(step, step.b, work.lam, work.x, u)
    info[RESIDUAL] = natural(step, work, least, work.lam, u)
    for c in range(step.kind.shape[0]):
        if step.kind[c] == CONE:
            i = step.first[c]
            work.b[i] = step.b[i] + shift_of(step.mu[c], u[i + 1], u[i + 2], least)
    return OK


@kernel
def begin(step, pattern, factor, work, options, info):
    """START"""
    pairs = find_slots(step.bodies, pattern, factor.slot)
    if pairs < 0:
        return NEW_PAIR
    info[PAIRS] = pairs
    prepare(step, work, options[FLOOR], options[SCALE])
    times_rows(step, work.start, work.rows[0])
    fastest = 0.0
    for r in range(step.sigma.shape[0]):
        fastest = max(fastest, abs(work.rows[0, r]))
    info[SPEED] = fastest
    for r in range(step.sigma.shape[0]):
        work.b[r] = step.b[r]
    project(step, work, work.lam)
    return shift(step, work, options[LEAST], info)


@kernel
def _interior(step, pattern, factor, work, options, info):
    """INTERIOR"""
    least = options[LEAST]
    status = interior(step, pattern, factor, work, options[TOLERANCE], options[MOST], options[FLOOR], least, info)
    if status == MORE:
        return MORE
    for r in range(step.sigma.shape[0]):
        work.lam[r] = work.best[r]
    project(step, work, work.lam)
    best = info[RESIDUAL]
    velocities(step, work.lam, work.x)
    for i in range(step.free.shape[0]):
        work.start[i] = work.x[i]
    row_velocities(step, work.b, work.lam, work.x, work.rows[0])
    info[RESIDUAL] = natural(step, work, least, work.lam, work.rows[0]) if best < 1e300 else best
    return status


@wide
def run(what, step, pattern, factor, work, options, info):
    """See the head of the file."""
    if what == START:
        return begin(step, pattern, factor, work, options, info)
    if what == NEWTON:
        if options[SCALE] > 0.0:
            prepare(step, work, options[FLOOR], options[SCALE])
        return newton(
            step, pattern, factor, work, options[TOLERANCE], options[MOST], options[FROM_ZERO] > 0.0, info[SPEED] > options[SLOW], info
        )
    if what == INTERIOR_START:
        interior_start(step, work, info)
        return OK
    if what == INTERIOR:
        return _interior(step, pattern, factor, work, options, info)
    if what == ISLANDS:
        count = islands(step.bodies, work.island[: step.masses.shape[0]])
        by_islands(step, work, options[LEAST], work.lam, work.rows[0], count)
        return count
    return shift(step, work, options[LEAST], info)
