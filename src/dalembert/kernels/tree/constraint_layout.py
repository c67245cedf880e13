"""Where things are in the records of the constraints of a tree.

There is one record per row. Link A carries the parent, link B the child; -1 is the world. Points and directions are in link axes (those of
the world for -1). First come the rows on positions (`HOLONOMIC` of the header), then those on velocities alone.
"""

from dalembert.kernels._fields import Part, Record

# what a row holds to zero; p_A, p_B: world positions of the two points, d = p_B - p_A, a: fixed in A, b: fixed in B
SHIFT_WORLD = 0  # a . d, a given in world axes
SHIFT = 1  # a . d
ANGLE = 2  # a . b - value
TURN = 3  # a . w, w the rotation vector of (R_A turn_A)^T R_B turn_B, a given in the axes of w
DISTANCE = 4  # |d| - value
COUPLING = 5  # q_B - p(q_A), p a polynomial; the links are those of the two joints
BLADE = 6  # velocity of the point of B across the blade: b . (v_B - v_A)(p_B)
CONTACT = 7  # a wheel or ball of radius `value` with centre p_B and axle b (0: a ball) on the plane through p_A with normal a
TILT = 8  # sqrt(2 / (1 + a . c)) a . b, c the axis of B: how far the axis a of A is tilted from it, seen along b
DRIVE = 9  # q_B - f(t), f by machine code or a table; the link is that of the coordinate. These rows are the last ones on positions

OPPOSITE = 1e-14  # 1 + a . c of a tilt below this: axes that are opposite to round-off

# which component of a contact
HEADING, SIDEWAYS, HEIGHT = 0, 1, 2

CONSTRAINT = Record(
    Part("ROW_KIND", 1, "what the row holds to zero"),
    Part("ROW_LINK_A", 1, "-1: the world"),
    Part("ROW_LINK_B", 1, "-1: the world"),
    Part("ROW_POINT_A", 3, "on A"),
    Part("ROW_POINT_B", 3, "on B"),
    Part("ROW_A", 3, "direction a"),
    Part("ROW_B", 3, "direction b"),
    Part("ROW_VALUE", 1, "value"),
    Part("ROW_WHICH", 1, "contact: component"),
    Part("ROW_TURN_A", 9, "turn: by rows; contact of a ball: its heading, fixed in A"),
    Part("ROW_TURN_B", 9, "turn: by rows; tilt: the axis, fixed in B"),
    Part("ROW_DEGREE", 1, "coupling: number of coefficients; drive: number of pieces of its table, 0 where it is machine code"),
    Part("ROW_POLYNOMIAL", 1, "coupling: where in system they are, lowest first; drive: where the table is"),
    Part("ROW_FUNCTION", 1, "drive: address of the machine code, t -> (f, f', f'')"),
)
ROW_KIND, ROW_LINK_A, ROW_LINK_B, ROW_POINT_A, ROW_POINT_B, ROW_A, ROW_B, ROW_VALUE, ROW_WHICH = CONSTRAINT.starts[:9]
ROW_TURN_A, ROW_TURN_B, ROW_DEGREE, ROW_POLYNOMIAL, ROW_FUNCTION = CONSTRAINT.starts[9:]
ROW_SIZE = CONSTRAINT.size

TABLE_HEAD = 2  # table of a drive: from where to where it has a value, then its pieces:
PIECE = 5  # where a piece starts, and coefficients of powers of the time from there, lowest first
