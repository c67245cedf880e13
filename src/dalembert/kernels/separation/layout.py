"""What the kernels of this folder answer, where it stands in the row of a pair, and how much room they need.

K = K1 - K2 = {x - y} is the Minkowski difference, phi(alpha) = min_(w in K) alpha.w. Lengths in m.

    status = signed_distance(X, Y, tol, patch, limit, work, out)     `distance.py`; X (n1, 3), Y (n2, 3) vertices
    status = lclp(X, Y, beta, R, tol, limit, work, out)              `ray.py`
    status = run(options, starts, work, X, Y, out)                   `run.py`: both, as Python calls them
    many(points, first, pairs, options, starts, work, out)           `run.py`: a row for every pair

    tol       round-off: lengths below tol R are zero, R the largest |x| + |y| + |z| of a vertex
    patch     vertices within patch R of a supporting plane lie in it
    limit     of pivots, of steps and of faces that are looked at
    work      (rows(n1, n2, room), 8); room: vertices that the polytope of `depth.py` may have
"""

from dalembert.kernels._fields import Part, Record
from dalembert.kernels._jit import ARRAY, INT, types

SOLVED = 0
SEPARATED = 1  # the linear program is unbounded: the line along beta misses K, and the bodies are apart
LIMIT = 2  # pivots, steps or room were used up; what is returned is a bound
UNSETTLED = 3  # beta <- alpha / |alpha| came to no end at which both are the same
BAD = 4  # no vertices, or a coordinate that is not finite: out[PLACE] is its row among those of X, then Y

OUT = Record(
    Part("h", 1, "signed distance h = phi(n): distance, or minus the depth of overlap (QCLP)"),
    Part("n", 3, "its unit normal, from body 2 to body 1"),
    Part("a1", 1, "n.x >= a1 on body 1, an equation somewhere"),
    Part("a2", 1, "n.y <= a2 on body 2; h = a1 - a2"),
    Part("x", 3, "witness on body 1: x - y = h n"),
    Part("y", 3, "witness on body 2"),
    Part("centre", 3, "one common point: the middle of the patch where faces or edges meet, halfway between the bodies"),
    Part("slack", 1, "upper bound - h, where h is a distance; h - lower bound, where it is a depth"),
    Part("steps", 1, "pivots and steps of all methods"),
    Part("g", 1, "value of the linear program with beta.alpha = 1 (LCLP)"),
    Part("alpha", 3, "its solution, not normalised"),
    Part("beta", 3, "unit vector"),
    Part("gx", 3, "witness of the linear program on body 1: gx - gy = g beta"),
    Part("gy", 3, "witness on body 2"),
    Part("ray_status", 1, "SOLVED, SEPARATED (alpha: normal of a plane between the bodies, g: infinite), UNSETTLED or LIMIT"),
    Part("place", 1, "row of what is wrong with the input"),
    Part("size", 1, "R"),
)
H, N, A1, A2, X_AT, Y_AT, CENTRE, SLACK, STEPS, G, ALPHA, BETA, GX_AT, GY_AT, RAY_STATUS, PLACE, SCALE = OUT.starts
SIZE = OUT.size

MATRIX = types.float64[:, ::1]
INT_MATRIX, INTS = types.int64[:, ::1], types.int64[::1]
RUN = INT(ARRAY, MATRIX, MATRIX, MATRIX, MATRIX, ARRAY)
MANY = INT(MATRIX, INTS, INT_MATRIX, ARRAY, MATRIX, MATRIX, MATRIX)
KEPT = 3  # arguments of `run` that calls share

# options
TOL, PATCH, PIVOTS, MODE, CHOSEN = 0, 1, 2, 3, 4
OPTIONS = (1e-14, 1e-9, 1000.0, 0.0, 1.0, 0.0, 0.0)
# which beta
NEAREST, CENTROIDS, ITERATED, GIVEN = 0, 1, 2, 3
ROOM = 64

# rows of work: the basis of the linear program or two simplices of the nearest point, then those of `depth.py` or of `patch.py`
BASIS = 8
WIDTH = 8


def rows(n1: int, n2: int, room: int = ROOM) -> int:
    """Rows of `work` for bodies of n1 and n2 vertices and a polytope of `room` vertices."""
    return BASIS + max(6 * room, 3 * (n1 + n2) + 8)
