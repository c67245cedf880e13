"""Where the elimination for two configurations (`factor_both.py`) keeps its numbers: one record of BOTH_SIZE numbers per link.

A joint of n degrees of freedom (1, spherical 3) has n columns of twelve numbers for each of s, a, u, w, then D or its inverse, then the
right side. A free joint keeps the record of `base.py` instead.
"""

INERTIA = 0  # A, 12 x 12 by rows; dead after the factorisation
BIAS = 0  # B (12), in its place
MOVE = 12  # y (12)
FRAME_0 = 144  # axes (9) and origin (3) of the link in the root link at the first node; dead after the factorisation
FRAME_1 = 156  # at the second node
COLUMNS = 168  # s, then a, u, w
FREE_RECORD = 144  # 160 numbers
BOTH_SIZE = 328
