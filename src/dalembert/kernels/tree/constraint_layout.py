"""Where things are in the records of the constraints of a tree.

There is one record per row. Link A carries the parent, link B the child; -1 is the world. Points and directions are in link axes (those of
the world for -1). First come the rows on positions (`HOLONOMIC` of the header), then those on velocities alone.
"""

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

ROW_KIND = 0
ROW_LINK_A = 1
ROW_LINK_B = 2
ROW_POINT_A = 3
ROW_POINT_B = 6
ROW_A = 9
ROW_B = 12
ROW_VALUE = 15
ROW_WHICH = 16  # contact: component
ROW_TURN_A = 17  # turn: 9 numbers by rows; contact of a ball: its heading, fixed in A
ROW_TURN_B = 26  # turn: 9 numbers by rows; tilt: the axis, fixed in B
ROW_DEGREE = 35  # coupling: number of coefficients; drive: number of pieces of its table, 0 where it is machine code
ROW_POLYNOMIAL = 36  # coupling: where in system they are, lowest first; drive: where the table is
ROW_FUNCTION = 37  # drive: address of the machine code, t -> (f, f', f'')
ROW_SIZE = 38

TABLE_HEAD = 2  # table of a drive: from where to where it has a value, then its pieces:
PIECE = 5  # where a piece starts, and coefficients of powers of the time from there, lowest first
