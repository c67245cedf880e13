"""Where the elimination for two configurations (`factor_both.py`) keeps its numbers: one record of BOTH_SIZE numbers per link.

A joint of n degrees of freedom (1, spherical 3) has n columns of twelve numbers for each of s, a, u, w, then D or its inverse, then the
right side. A free joint keeps the record of `base.py` instead.
"""

from dalembert.kernels._fields import Part, Record
from dalembert.kernels.tree.variational.layout import FACTOR_SIZE

ELIMINATED = Record(
    Part("INERTIA", 144, "A, 12 x 12 by rows"),
    Part("FRAME_0", 12, "axes and origin of the link in the root link at the first node"),
    Part("FRAME_1", 12, "at the second node"),
    Part("COLUMNS", 160, "s, then a, u, w, D, the right side"),
)
INERTIA, FRAME_0, FRAME_1, COLUMNS = ELIMINATED.starts
SOLVED = Record(Part("BIAS", 12, "B, in the place of A, which is dead after the factorisation"), Part("MOVE", 12, "y"))
BIAS, MOVE = SOLVED.starts
FREE = Record(Part("FREE_RECORD", FACTOR_SIZE, "of a free joint, in the place of the frames and columns"), start=FRAME_0)
(FREE_RECORD,) = FREE.starts
BOTH_SIZE = max(ELIMINATED.size, FREE.size)
