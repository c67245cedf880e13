"""Where things are in the arrays of a system given by a Lagrangian.

A step is a list of moves. A move solves a block of equations r(z) = 0 for unknowns z, if it has one, and then writes the next state; what
r, its derivative, the first guess and the next state are, is machine code made from formulas, called by address. All of it reads one
vector

    x = (t, h, p, state, z)          time, step, parameters, state, unknowns

state = (q, y, w, time, extra, multipliers, work, impulse of each symmetry, u), where y is the momentum or the velocity of the node, w the
velocity of the interval before it, and u the control that is held over a step. The parameters are at the end of the system array.
"""

# header of the system array
N, PARAMS, STATE, MOVES, TOL, MAX_ITERATIONS, RANK_TOL = 0, 1, 2, 3, 4, 5, 6
LEDGER, LEDGER_SIZE, AT_LEDGER, UNKNOWNS, START, WORK_SIZE, MULTIPLIERS = 7, 8, 9, 10, 11, 12, 13
HEADER = 14

# record of a block: behind the header, the nodal one first
UNKNOWN, MAIN, GUESS, RESIDUAL, UPDATE, REVEALING, LINEAR = 0, 1, 2, 3, 4, 5, 6
BLOCK = 7

# x = work[0:]
T, H, P = 0, 1, 2

INFO_SIZE = 3
