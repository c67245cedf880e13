"""Where things are in the flat arrays of one rigid body.

All internal work is done in principal axes P at the reference point: the centre of mass of a free body, the pivot of a body that
turns about a fixed point. Momenta are those of the node (never multiplied by h).
"""

from dalembert.kernels._fields import Part, Record

LOAD = Record(Part("point", 3, "axes P"), Part("force", 3, "world"), Part("torque", 3, "world"))
LOAD_SIZE = LOAD.size

# constants of a run; behind them LOADS loads that are constant in the world
SYSTEM = Record(
    Part("MASS", 1, "kg"),
    Part("INERTIA", 3, "principal inertias about the reference point"),
    Part("GRAVITY", 3, "world"),
    Part("ARM", 3, "centre of mass from the reference point, axes P (zero for a free body)"),
    Part("PIVOTED", 1, "1 if the reference point is fixed in the world"),
    Part("BODY_TORQUE", 3, "constant in body axes, about the reference point"),
    Part("BODY_FORCE", 3, "constant in body axes"),
    Part("DAMPED", 1, "1 if there is damping"),
    Part("DAMPING", 36, "6x6 by rows: wrench = -D (omega, v of the reference point), axes P"),
    Part("TOL", 1, "of iterations"),
    Part("MAX_ITERATIONS", 1, "of a step"),
    Part("Q_BP", 4, "quaternion of P in the body frame"),
    Part("COM", 3, "centre of mass in the body frame"),
    Part("Q_W0", 4, "attitude of the body frame at the reference configuration (spherical joint)"),
    Part("OPTIONS", 8, "numbers that belong to the stepper"),
    Part("FORCED", 1, "1 if anything but damping and a control acts: gravity, a constant load"),
    Part("LOADS", 1, "number of loads that are constant in the world"),
)
MASS, INERTIA, GRAVITY, ARM, PIVOTED, BODY_TORQUE, BODY_FORCE, DAMPED, DAMPING = SYSTEM.starts[:9]
TOL, MAX_ITERATIONS, Q_BP, COM, Q_W0, OPTIONS, FORCED, LOADS = SYSTEM.starts[9:]

# the checkpoint
STATE = Record(
    Part("X", 3, "centre of mass, world (free body)"),
    Part("Q", 4, "quaternion of P in the world"),
    Part("ANGULAR", 3, "angular momentum about the reference point, axes P"),
    Part("LINEAR", 3, "linear momentum, world (free body)"),
    Part("RATE", 3, "angular velocity of the last interval, axes P"),
    Part("DRIFT", 3, "velocity of the centre of mass in the last interval, world (free body)"),
    Part("STARTED", 1, "1 after the first step"),
    Part("IMPULSE", 6, "of all known forces so far: angular (about the world origin; about the pivot), linear"),
    Part("WORK", 1, "of all forces but gravity so far"),
    Part("STEERED", 1, "1 once a control is held"),
    Part("HELD", 6, "control that is held over a step, dual to v of the joint: nv numbers as they were given, of a pivot three"),
    Part("HELD_TORQUE", 3, "the same about the reference point, axes P"),
    Part("HELD_FORCE", 3, "axes P (free body)"),
)
X, Q, ANGULAR, LINEAR, RATE, DRIFT, STARTED, IMPULSE, WORK, STEERED, HELD, HELD_TORQUE, HELD_FORCE = STATE.starts
STATE_SIZE = STATE.size

WORKSPACE = Record(Part("WORK_MATRIX", 36, "of a Newton step"), Part("WORK_VECTOR", 12, "its right side"))
WORK_MATRIX, WORK_VECTOR = WORKSPACE.starts
WORK_SIZE = WORKSPACE.size

# info
ITERATIONS = 0
RESIDUAL = 1
INFO_SIZE = 4
