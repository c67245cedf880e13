"""Numbers by which the kernels of this folder speak: what they answer, where a variable is, and where an option is kept."""

from dalembert.kernels._jit import ARRAY, types

SOLVED = 0
RAY = 1
INFEASIBLE = 2
PIVOT_LIMIT = 3
CYCLE = 4
SINGULAR = 5

FREE = 0  # l < z < u, w = 0
LOWER = -1  # z = l, w >= 0
UPPER = 1  # z = u, w <= 0

# options
WARM = 0
LIMIT = 1
FEASIBILITY = 2
FIRST = 3  # options of the method itself: FIRST, FIRST + 1, FIRST + 2
SYMMETRIC = 7  # set by `run`

# info
PIVOTS = 0
RESIDUAL = 1
RELATIVE = 2
PLACE = 3  # index of what is wrong with the input

# what is wrong with the input: answers of `run` beside those above
BAD_MATRIX = 10
BAD_VECTOR = 11
BAD_BOUNDS = 12
BAD_START = 13

MATRIX = types.float64[:, ::1]
INTS = types.int64[::1]
INT_MATRIX = types.int64[:, ::1]
#: status = solve(M, q, lower, upper, side, z, w, options, A, B, V, I, info)
SOLVE = types.int64(MATRIX, ARRAY, ARRAY, ARRAY, INTS, ARRAY, ARRAY, ARRAY, MATRIX, MATRIX, MATRIX, INT_MATRIX, ARRAY)
