"""Where a variational step keeps its numbers.

system   from STEPPER_DATA on: STEP, its options and where the parts of the workspace start; STATE, where the parts of the state start; the
         table of the prediction: for each stage of a composition its weight, then the coefficients of 1, 2, ..., HISTORY velocities
work     from AT_FREE on: the parts of STEP
state    the parts of STATE

A method is a rule for sides: the configurations at which it evaluates the Lagrangian, with equal weights. FIRST is q_k, SECOND q_k+1,
MIDDLE q_k+1/2.

    s = places(system)    work[s.v + i], s.tol
    n = notes(system)     state[n.rate]
"""

from dalembert.kernels._fields import Count, Layout, Part, Real
from dalembert.kernels.tree.layout import STEPPER_DATA

FIRST, SECOND, MIDDLE = 0, 1, 2
HISTORY = 12  # interval velocities that are kept
STAGE_SIZE = 1 + HISTORY * HISTORY  # of the table
DENSE_MOST = 8  # joints up to which dense matrices are cheaper

STEP = Layout(
    "Step",
    Count("links", "number of links"),
    Count("nq", "coordinates"),
    Count("nv", "velocities"),
    Count("m", "rows of constraints"),
    Count("total", "rows of constraints, then of springs between points, whose stiffness enters Newton's matrix as further rows"),
    Count("holonomic", "rows of constraints on positions; they come first"),
    # the rule
    Count("first", "first side"),
    Count("end", "one more than the last side"),
    Count("inside", "1: the side lies between the nodes"),
    Real("left", "part of h with which forces of the side enter the first node"),
    Real("turn", "a joint that turns by more than this in a step makes the step doubtful (rad): see trust.py"),
    Count("side", "where the records of the first side start in work"),
    # options
    Real("tol", "size of the last correction relative to the velocity"),
    Count("max_iterations", "of Newton's method"),
    Count("exponential", "retraction: 0 Cayley, 1 exponential"),
    Count("rescue", "1: repeat a step that failed with damped Newton steps, then with smaller steps"),
    Count("stages", "substeps of the composition"),
    Count("table", "where the table of the prediction starts in system"),
    Count("small", "1: a dense matrix instead of one that is eliminated link by link"),
    Count("held", "control that is held over the step (nv), in the copy of the state at saved"),
    # vectors
    Part("v", "nv", "velocity of the interval, the unknown"),
    Part("dv", "nv", "correction"),
    Part("e", "nv", "residual"),
    Part("l", "nv", "dL/dv, averaged over the sides"),
    Part("f_left", "nv", "force that belongs to the first node"),
    Part("f_right", "nv", "force that belongs to the second node"),
    Part("l_side", "nv", "dL/dv of a second side"),
    Part("f_side", "nv", "dL/dq and forces of one side"),
    Part("hv", "nv", "h v, or a part of it"),
    Part("p_old", "nv", "momentum at the first node"),
    Part("trial", "nv", "where a line search started from"),
    Part("delta", "nv", "direction of a line search"),
    Part("q_new", "nq", "configuration at the second node"),
    Part("q_mid", "nq", "configuration between the nodes"),
    Part("q_old", "nq", "configuration at the first node"),
    Part("saved", "state", "the state before the step"),
    # records of links at the sides
    Part("side_0", "links side", "at the first node"),
    Part("side_1", "links side", "at the second node"),
    Part("side_m", "links side", "between them"),
    # constraints and springs
    Part("impulses", "m", "at the first node"),
    Part("gap", "total", "residuals where the constraints have to hold"),
    Part("right", "total", "residuals at some configuration; right side of the small matrix"),
    Part("change", "total", "correction of the impulses"),
    Part("order", "2 total", "order of the rows and columns of the small matrix,"),
    Part("scales", "total", "scale of its rows"),
    Part("rank", 1, "and its rank"),
    Part("schur", "total total", "the small matrix, rows_new reply^T, eliminated"),
    Part("rows_old", "total nv", "Jacobian at the first node"),
    Part("rows_new", "total nv", "Jacobian where the constraints have to hold"),
    Part("reply", "total nv", "Newton's matrix^-1 rows_old^T, by rows"),
    Part("spare_rows", "total nv", "Jacobian elsewhere"),
    # what is known of singular positions, doubtful steps and limits: singular.py, trust.py, side.py
    Part("later", 1, "how much later than at the second node this step takes its rows (s)"),
    Part("solved", 1, "1: this step has been solved with rows taken later, and now is with those of the node"),
    Part("small_rows", 1, "1: rows that vanish beside others do so everywhere"),
    Part("usual", 1, "rank of the small matrix of a step that was found beside a position too"),
    Part("usual_node", 1, "the same of the matrix of a node"),
    Part("lift", 1, "by how much the small matrix lifts round-off of positions: far near singular positions"),
    Part("gain", 1, "kinetic energy that the forces of a doubtful step give (J)"),
    Part("gain_noise", 1, "and its round-off"),
    Part("touched", 1, "1: a limit pushes in this step"),
    Part("dense", "small 2 nv nv", "J and df/dv of small trees"),
    Part("factor", "links factor", "records of the elimination"),
)

STATE = Layout(
    "State",
    Part("q", "nq", "configuration of the node"),
    Part("p", "nv", "momentum of the node"),
    Part("history", f"{HISTORY} nv", "velocities of earlier intervals, latest first"),
    Part("known", 1, "how many of them the prediction may use"),
    Part("stage", 1, "of the composition, that comes next"),
    Part("base", 1, "h of the composition"),
    Part("misfit", 1, "|h| times the first correction of the last step (rad, m)"),
    Part("rate", 1, "by how much a second correction was smaller than the first, when last there were two; 0: not known"),
    Part("rate_misfit", 1, "misfit at that time"),
    Part("rate_step", 1, "|h| at that time"),
    Part("noise", 1, "correction over velocity at which the iteration last ceased to converge: round-off of long chains"),
    Part("ceiling", 1, "kinetic energy that the motion cannot have; 0: forces may drive it"),
    Part("held", "nv", "control that is held over a step"),
    Part("account", "account", "see kernels/tree/account_layout.py"),
)

places = STEP.reader(STEPPER_DATA)
notes = STATE.reader(STEPPER_DATA, STEP.size)

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
