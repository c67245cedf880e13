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

from functools import cache
from typing import Any

from dalembert.kernels._fields import Count, Layout, Part, Real, Record
from dalembert.kernels.tree.account_layout import SIZE
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
    Count("chord", "1: kinetic energy of straight paths between the nodes (chord.py), forces at both"),
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
    Part("ghosts", "m", "1: a row that is round-off, also beside the position"),
    Part("usual", 1, "rank of the small matrix of a step that was found beside a position too"),
    Part("usual_node", 1, "the same of the matrix of a node"),
    Part("lift", 1, "by how much the small matrix lifts round-off of positions: far near singular positions"),
    Part("reach", 1, "largest coordinate of the links that constraints join, at least 1 (m): positions are known to its round-off"),
    Part("gain", 1, "kinetic energy that the forces of a doubtful step give (J)"),
    Part("gain_noise", 1, "and its round-off"),
    Part("touched", 1, "1: a limit pushes in this step"),
    Part("dense", "small 2 nv nv", "J and df/dv of small trees"),
    Part("factor", "links factor", "records of the elimination"),
    Part("chords", "links chords", "poses of the links at both nodes"),
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
    Part("drive", "driven", "work of drives so far, J, where there are some"),
    Part("account", "account", "see kernels/tree/account_layout.py"),
)


@cache
def state_places(nq: int, nv: int, driven: bool = False) -> tuple[Any, int]:
    """Where the parts of a state start, by name, and its length."""
    found, end = STATE.lay(0, {}, {"nq": nq, "nv": nv, "driven": int(driven), "account": SIZE})
    return STATE.named(found), end


places = STEP.reader(STEPPER_DATA)
notes = STATE.reader(STEPPER_DATA, STEP.size)

# record of a link at one side; R, P and VEL as in kernels/tree/layout.py
SIDE = Record(
    Part("R", 9, "parent axes <- link axes"),
    Part("P", 3, "origin of the link in parent axes"),
    Part("VEL", 6, "twist"),
    Part("MOM", 6, "momentum of the subtree"),
    Part("WRENCH", 6, "forces on the subtree"),
    Part("FALL", 3, "gravity in link axes"),
    Part("STOP", 1, "stiffness of a joint limit that is exceeded"),
)
MOM, WRENCH, FALL, STOP = SIDE.starts[3:]
SIDE_SIZE = SIDE.size

# poses of a link at both nodes of a step, in axes of the root link of its tree at the first node (`chord.py`)
CHORD = Record(
    Part("R0", 9, "axes at the first node"),
    Part("C0", 3, "origin there"),
    Part("R1", 9, "axes at the second node"),
    Part("C1", 3, "origin there"),
    Part("DR", 9, "R1 - R0"),
    Part("DC", 3, "C1 - C0"),
    Part("IMPULSE", 6, "momentum of the subtree over the step, about the origin of the frame"),
)
R0, C0, R1, C1, DR, DC, IMPULSE = CHORD.starts
CHORD_SIZE = CHORD.size

# record of a link in the elimination, in axes of the root link of its tree and about one origin (`one_joint.py`)
ELIMINATED = Record(Part("INERTIA", 36, "A, 6 x 6 by rows"), Part("FRAME", 12, "axes and origin of the link there"))
INERTIA, FRAME = ELIMINATED.starts
SOLVED = Record(Part("BIAS", 6, "B, in the place of A, which is dead after the factorisation"), Part("MOVE", 6, "y"))
BIAS, MOVE = SOLVED.starts
ONE = Record(
    Part("SHIFT", 6, "s, of a joint of one degree of freedom"),
    Part("ROW", 6, "a"),
    Part("UP", 6, "u / D"),
    Part("DOWN", 6, "w"),
    Part("D_INV", 1, "1 / D"),
    Part("RIGHT", 1, "(e + a^T B) / D"),
    start=ELIMINATED.size,
)
SHIFT, ROW, UP, DOWN, D_INV, RIGHT = ONE.starts
BALL = Record(
    Part("BALL_SHIFT", 18, "s, of a spherical joint: three columns"),
    Part("BALL_ROW", 18, "a"),
    Part("BALL_UP", 18, "u D^-1"),
    Part("BALL_DOWN", 18, "w"),
    Part("BALL_D", 9, "inverse of D"),
    Part("BALL_RIGHT", 3, "D^-1 (e + a^T B)"),
    start=ELIMINATED.size,
)
BALL_SHIFT, BALL_ROW, BALL_UP, BALL_DOWN, BALL_D, BALL_RIGHT = BALL.starts
BASE = Record(
    Part("FREE_ROW", 27, "T of a free joint, the root: three blocks"),
    Part("FREE_D", 36, "inverse of D"),
    Part("FREE_RIGHT", 6, "D^-1 (e + a^T B)"),
    Part("FREE_SPARE", 36, "room for the inversion"),
    start=ELIMINATED.size,
)
FREE_ROW, FREE_D, FREE_RIGHT, FREE_SPARE = BASE.starts
FACTOR_SIZE = 160  # a whole number of cache lines, not less than ONE.size, BALL.size, BASE.size
