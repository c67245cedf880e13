"""The one loop over steps. Everything that changes between runs reaches it as the address of a kernel or as an array.

    for each step:  control is sampled at the node, or read from a table, and held in the state;
                    substeps w_1 h, w_2 h, ... of a composition (w = (1,) without one);
                    every `every` steps the state and the solver log are written out;
                    where an account is kept, `ledger` enters each substep into it, called at both of its ends

A step that fails leaves the state as it was before that step.
"""

from numba import types

from dalembert.kernels._jit import ARRAY, CONTROL, HOLD, NODAL, STEP, by_address, inline, kernel
from dalembert.kernels.status import NOT_FINITE, OK

# counter: index of the next step, next row to write, step of the first row of the table
STEP_INDEX, ROW, TABLE_START = 0, 1, 2
# where the control comes from
NO_CONTROL, FUNCTION, TABLE = 0, 1, 2
# log columns, one row per recorded interval
LOG_COLUMNS = ("iterations", "max_iterations", "residual", "substeps")
ITERATIONS, MAX_ITERATIONS, RESIDUAL, SUBSTEPS = 0, 1, 2, 3

_MATRIX = types.float64[:, ::1]
#: status = ledger(t, h, end, system, state, work, info): enter a step of size h into the account; t is the time of its end 0 or 1
LEDGER = types.int64(types.float64, types.float64, types.int64, ARRAY, ARRAY, ARRAY, ARRAY)
_WHOLE, _NUMBER, _FLAG = types.int64, types.float64, types.boolean
LOOP = types.int64(
    *(_WHOLE,) * 6, _FLAG, _FLAG, _NUMBER, _NUMBER, _WHOLE, _WHOLE, *(ARRAY,) * 10, types.int64[::1], _MATRIX, _MATRIX, _MATRIX
)  # fmt: skip
call_step, call_ledger, call_nodal = by_address("step", STEP), by_address("ledger", LEDGER), by_address("nodal", NODAL)
call_hold, call_control = by_address("hold", HOLD), by_address("control", CONTROL)


@kernel
def no_control(t, q, v, out):
    """Stands in where a run has no compiled control."""


@kernel
def no_ledger(t, h, end, system, state, work, info):
    """Stands in where a run keeps no account."""
    return OK


@inline
def finite(a):
    """True if no entry is infinite or not a number: 0 x is 0 for finite x only."""
    x, y, z, w = 0.0, 0.0, 0.0, 0.0  # four sums: one would wait for each addition
    n = a.shape[0]
    whole = n - n % 4
    for i in range(0, whole, 4):
        x += 0.0 * a[i]
        y += 0.0 * a[i + 1]
        z += 0.0 * a[i + 2]
        w += 0.0 * a[i + 3]
    for i in range(whole, n):
        x += 0.0 * a[i]
    return x + y + z + w == 0.0


@kernel
def run(
    step, ledger, nodal, hold, control, source, use_ledger, show,
    t0, h, n, every, weights, system, state, previous, work, info, q, v, tau, tally, counter, table, states, log,
):  # fmt: skip
    """Up to n steps; counter holds the index of the next step and the next row to write. Returns the status of the last step.

    step, ledger, nodal, hold, control: addresses (`_jit.address_of`). source: of the control; table: one row of it for each step.
    t0: time of step 0. show: q and v are those of the last node at the end.
    """
    for _ in range(n):
        t = t0 + counter[STEP_INDEX] * h
        for i in range(state.shape[0]):
            previous[i] = state[i]
        if source == FUNCTION:
            call_nodal(nodal, system, state, work, q, v)
            call_control(control, t, q, v, tau)
            call_hold(hold, system, state, tau)
        elif source == TABLE:
            call_hold(hold, system, state, table[counter[STEP_INDEX] - counter[TABLE_START]])
        status = OK
        for s in range(weights.shape[0]):
            hs = weights[s] * h
            if use_ledger:
                call_ledger(ledger, t, hs, 0, system, state, work, info)
            status = call_step(step, t, hs, system, state, work, info)
            tally[ITERATIONS] += info[0]
            tally[MAX_ITERATIONS] = max(tally[MAX_ITERATIONS], info[0])
            tally[RESIDUAL] = max(tally[RESIDUAL], info[1])
            tally[SUBSTEPS] += info[2]
            t += hs
            if status != OK:
                break
            if use_ledger:
                call_ledger(ledger, t, hs, 1, system, state, work, info)
        if status == OK and not finite(state):
            status = NOT_FINITE
        if status != OK:
            for i in range(state.shape[0]):
                state[i] = previous[i]
            return status
        counter[STEP_INDEX] += 1
        if counter[STEP_INDEX] % every == 0:
            row = counter[ROW]
            for i in range(state.shape[0]):
                states[row, i] = state[i]
            for i in range(tally.shape[0]):
                log[row, i] = tally[i]
                tally[i] = 0.0
            counter[ROW] = row + 1
    if show:
        call_nodal(nodal, system, state, work, q, v)
    return OK


@kernel
def nodal_rows(nodal, system, states, work, q, v):
    """Configuration and velocity of every row of recorded states."""
    for i in range(states.shape[0]):
        call_nodal(nodal, system, states[i], work, q[i], v[i])


NODAL_ROWS = types.void(types.int64, ARRAY, _MATRIX, ARRAY, _MATRIX, _MATRIX)
