"""Where a variational step keeps its numbers.

state    q (nq), p (nv), then earlier interval velocities (nv each, latest first), what the prediction of the next one and its correction
         go by, the ceiling of energy, the control that is held (nv), the account
system   from STEPPER_DATA on: options, where the parts of the workspace start, and the table of the prediction: for each stage of a
         composition its weight, then the coefficients of 1, 2, ..., HISTORY velocities
work     from AT_FREE on: vectors, then one record per link for each configuration ("side") that a method evaluates, then the factors
"""

# system, from STEPPER_DATA on: options
TOL = 0  # size of the last correction relative to the velocity
MAX_ITERATIONS = 1
RETRACTION = 2  # 0: Cayley, 1: exponential
RESCUE = 3  # 1: repeat a step that failed with damped Newton steps, then with smaller steps
# where vectors start in work
V = 4  # velocity of the interval, the unknown (nv)
DV = 5  # correction (nv)
E = 6  # residual (nv)
L_BAR = 7  # dL/dv, averaged over the sides (nv)
F_LEFT = 8  # force that belongs to the first node (nv)
F_RIGHT = 9  # force that belongs to the second node (nv)
L_SIDE = 10  # dL/dv of a second side (nv)
F_SIDE = 11  # dL/dq and forces of one side (nv)
HV = 12  # h v, or a part of it (nv)
Q_NEW = 13  # configuration at the second node (nq)
Q_MID = 14  # configuration of the third side (nq)
Q_OLD = 15  # configuration at the first node (nq)
P_OLD = 16  # momentum at the first node (nv)
TRIAL = 17  # where a line search started from (nv)
SIDE_0 = 18  # records of the links at the first node
SIDE_1 = 19  # at the second node
SIDE_M = 20  # between them
FACTOR = 21  # records of the elimination
METHOD = 22  # which discrete Lagrangian: EULER, MIDPOINT, TRAPEZOIDAL
DELTA = 23  # direction of a line search (nv)
SAVED = 24  # the state before the step
SOFT = 34  # number of springs between points, whose stiffness enters Newton's matrix as further rows
# constraints and springs, m rows in all
LAMBDA = 25  # impulses at the first node (m)
ROWS_OLD = 26  # Jacobian at the first node (m nv)
ROWS_NEW = 27  # Jacobian where the constraints have to hold (m nv)
GAP = 28  # residuals there (m)
REPLY = 29  # Newton's matrix^-1 ROWS_OLD^T, by rows (m nv)
SCHUR = 30  # ROWS_NEW REPLY^T, eliminated (m m)
ORDER = 31  # order of its rows and columns (2 m), scale of its rows (m), its rank
PUSH = 32  # right side and correction of the impulses (2 m)
SPARE_ROWS = 33  # (m nv)
ASIDE = 39  # what is known of singular positions (ASIDE_SIZE)
STAGES = 35  # substeps of the composition
TABLE = 36  # where the table of the prediction starts in system
DENSE = 37  # J and df/dv of small trees (2 nv nv); 0: the tree is eliminated link by link
HELD = 38  # control that is held over the step (nv), in the copy of the state at SAVED
DATA_SIZE = 40
EULER, MIDPOINT, TRAPEZOIDAL = 0, 1, 2
DENSE_MOST = 8  # joints up to which dense matrices are cheaper

# work, from ASIDE on: of single steps, see singular.py, trust.py
LATER = 0  # how much later than at the second node this step takes its rows (s)
SOLVED = 1  # 1: this step has been solved with rows taken later, and now is with those of the node
SMALL_ROWS = 2  # 1: rows that vanish beside others do so everywhere
USUAL = 3  # rank of the small matrix of a step that was found beside a position too
USUAL_NODE = 4  # the same of the matrix of a node
LIFT = 5  # by how much the small matrix lifts round-off of positions: far near singular positions
GAIN = 6  # kinetic energy that the forces of a doubtful step give (J), and its round-off: see trust.py
GAIN_NOISE = 7
TOUCHED = 8  # 1: a limit pushes in this step: see side.py
ASIDE_SIZE = 9

# state, after q and p
HISTORY = 12  # interval velocities that are kept
KNOWN = 0  # how many of them the prediction may use
STAGE = 1  # of the composition, that comes next
BASE = 2  # h of the composition
MISFIT = 3  # |h| times the first correction of the last step (rad, m)
RATE = 4  # by how much a second correction was smaller than the first, when last there were two; 0: not known
RATE_MISFIT = 5  # misfit at that time
RATE_STEP = 6  # |h| at that time
NOISE = 7  # correction over velocity at which the iteration last ceased to converge: round-off of long chains
CEILING = 8  # kinetic energy that the motion cannot have; 0: forces may drive it
STATE_TAIL = 9
STAGE_SIZE = 1 + HISTORY * HISTORY  # of the table

# record of a link at one configuration. R, P and VEL as in kernels/tree/layout.py
MOM = 18  # momentum of the subtree (6)
WRENCH = 24  # forces on the subtree (6)
FALL = 30  # gravity in link axes (3)
STOP = 33  # stiffness of a joint limit that is exceeded
SIDE_SIZE = 34

# record of a link in the elimination, in axes of the root link of its tree and about one origin (`one_joint.py`)
INERTIA = 0  # A, 6 x 6 by rows; dead after the factorisation
BIAS = 0  # B (6), in its place
MOVE = 6  # y (6)
FRAME = 36  # axes (9) and origin (3) of the link there; dead after the factorisation
# one degree of freedom
SHIFT = 48  # s (6)
ROW = 54  # a (6)
UP = 60  # u / D (6)
DOWN = 66  # w (6)
D_INV = 72
RIGHT = 73  # (e + a^T B) / D
# spherical: the same with three columns of six numbers
BALL_SHIFT = 48
BALL_ROW = 66
BALL_UP = 84
BALL_DOWN = 102
BALL_D = 120  # inverse of D (9)
BALL_RIGHT = 129  # (3)
# free: the root
FREE_ROW = 48  # T, three blocks (27)
FREE_D = 75  # inverse of D (36)
FREE_RIGHT = 111  # (6)
FREE_SPARE = 117  # (36)
FACTOR_SIZE = 160
