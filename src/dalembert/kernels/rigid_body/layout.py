"""Where things are in the flat arrays of one rigid body.

All internal work is done in principal axes P at the reference point: the centre of mass of a free body, the pivot of a body that
turns about a fixed point. Momenta are those of the node (never multiplied by h).
"""

# system: constants of a run
MASS = 0
INERTIA = 1  # principal inertias about the reference point
GRAVITY = 4  # world
ARM = 7  # centre of mass from the reference point, axes P (zero for a free body)
PIVOTED = 10  # 1 if the reference point is fixed in the world
BODY_TORQUE = 11  # constant in body axes, about the reference point
BODY_FORCE = 14  # constant in body axes
DAMPED = 23
DAMPING = 24  # 6x6 by rows: wrench = -D (omega, v of the reference point), axes P
TOL = 60
MAX_ITERATIONS = 61
Q_BP = 62  # quaternion of P in the body frame
COM = 66  # centre of mass in the body frame
Q_W0 = 72  # attitude of the body frame at the reference configuration (spherical joint)
OPTIONS = 76  # eight numbers that belong to the stepper
FORCED = 84  # 1 if anything but damping and a control acts: gravity, a constant load
LOADS = 85  # number of loads that are constant in the world, then 9 numbers each: point (axes P), force, torque (world)
LOAD_SIZE = 9

# state: the checkpoint
X = 0  # centre of mass, world (free body)
Q = 3  # quaternion of P in the world
ANGULAR = 7  # angular momentum about the reference point, axes P
LINEAR = 10  # linear momentum, world (free body)
RATE = 13  # angular velocity of the last interval, axes P
DRIFT = 16  # velocity of the centre of mass in the last interval, world (free body)
STARTED = 19  # 1 after the first step
IMPULSE = 20  # of all known forces so far: angular (about the world origin; about the pivot), linear
WORK = 26  # of all forces but gravity so far
STEERED = 27  # 1 once a control is held
HELD = 28  # control that is held over a step, dual to v of the joint: nv numbers as they were given, of a pivot three
HELD_TORQUE = 34  # the same about the reference point, axes P
HELD_FORCE = 37  # axes P (free body)
STATE_SIZE = 40

# work
WORK_MATRIX = 0  # 36
WORK_VECTOR = 36  # 6
WORK_SIZE = 48

# info
ITERATIONS = 0
RESIDUAL = 1
INFO_SIZE = 4
