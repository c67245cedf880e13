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

# info
PIVOTS = 0
PLACE = 1  # index of what is wrong with the input
SYMMETRIC = 2  # 1 where M equals its transpose
SCALE = 3  # common factor of z: see `scaling.py`
INFO = 8  # how many there are; 4 to 7 are those of `polish.py` and `guard.py`

# what is wrong with the input: answers of `prepare` beside SOLVED
BAD = 10  # the least of them
BAD_MATRIX = 10
BAD_VECTOR = 11
BAD_BOUNDS = 12
BAD_START = 13

MATRIX = types.float64[:, ::1]
INTS = types.int64[::1]
INT_MATRIX = types.int64[:, ::1]
#: status, pivots, residual, relative residual = run(options, side, S, A, B, V, I, info, M, q, lower, upper, z, w)
RUN = types.Tuple((types.int64, types.int64, types.float64, types.float64))(
    ARRAY, INTS, MATRIX, MATRIX, MATRIX, MATRIX, INT_MATRIX, ARRAY, MATRIX, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY
)
KEPT = 8  # arguments of `run` that problems of one size share
