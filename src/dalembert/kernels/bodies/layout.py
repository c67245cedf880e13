"""Where things are in the system array of joints between free bodies.

A joint has two ends, A on the parent and B on the child: body, place, frame. Its frames have the axes of the world at the reference
configuration, so directions are written as the user gave them. A measure of a joint is a number that changes with the poses of its bodies
(a residual, a coordinate) or a rate alone. A row asks something of one measure, and a constraint is what a solver takes together:
one row, or all rows by which a joint holds its bodies.

    joints -> measures (value, Jacobian)   one record for each shift, turn, angle
    constraints -> rows -> measures        law of kernels/contact/codes.py, compliance, damping, bounds, target

Targets are what changes from step to step: first the inputs of motors, then the functions of drives, then the last rates of rotors.
NaN: a motor that is off, a rate that is not known yet.
"""

from dalembert.kernels._fields import Part, Record

# what a measure is. d: from the place on A to that on B; q: quaternion from frame A to frame B; a: fixed in A, b, c: in B unless marked
SHIFT_WORLD = 0  # a . d, a in world axes
SHIFT = 1  # a . d
LOCK = 2  # 2 a . q_v, of the q with q_s >= 0
TILT = 3  # 2 a . q_v, of q as it comes: its sign does not jump where a hinge has made half a turn
CROSS = 4  # scale (a . b - value)
DISTANCE = 5  # |d| - value
ABOUT = 6  # angle about a; angles (6 to 8) are in (-pi, pi] and continued
FIRST = 7  # first angle of a universal joint with axes a, b
SECOND = 8  # its second angle
VECTOR = 9  # a . log(q)
BEND = 10  # |log(q)|
SPIN = 11  # rate alone: b . (omega_B - omega_A)
SPEED = 12  # rate alone: of the turn of B from A, along what it is now: |omega_B - omega_A|
SLIP = 13  # rate alone: spin of B from A along what it is now (VALUE 0) or across it (1, 2); its value is the length of the spin
PACE = 14  # rate alone: velocity of the place on B along what it is now
HEIGHT = 15  # wheel or ball of radius `value`, centre at the place on B, axle b (0: a ball), over the plane of A with normal a
HEADING = 16  # rate alone: velocity of its lowest point along the heading (of a ball: c, fixed in A)
SIDEWAYS = 17  # rate alone: velocity of its lowest point along normal x heading
BLADE = 18  # rate alone: velocity of the place on B along b
SCALAR = 19  # 2 q_s

# what a row asks of a measure
POSITION, VELOCITY, INERTIA = 0, 1, 2
COUPLED, PICKED = 3, 4  # of a coupling of joints: kernels/bodies/couplings.py
FOLLOWING = 5  # of a turn that is given: kernels/bodies/following.py

HEADER = Record(
    Part("JOINTS", 1, "number of joints"),
    Part("MEASURES", 1, "number of measures"),
    Part("CONSTRAINTS", 1, "number of constraints"),
    Part("ROWS", 1, "number of rows"),
    Part("MOTORS", 1, "number of motors"),
    Part("DRIVES", 1, "number of drives"),
    Part("ROTORS", 1, "number of rows with an inertia of their own"),
    Part("COMPANIONS", 1, "number of bodies that couplings need beside those that are there"),
    Part("AT_JOINTS", 1, "where the records of joints start,"),
    Part("AT_MEASURES", 1, "of measures,"),
    Part("AT_CONSTRAINTS", 1, "of constraints,"),
    Part("AT_ROWS", 1, "of rows,"),
    Part("AT_MOTORS", 1, "of motors,"),
    Part("AT_DRIVES", 1, "of drives"),
)
JOINTS, MEASURES, CONSTRAINTS, ROWS, MOTORS, DRIVES, ROTORS, COMPANIONS = HEADER.starts[:8]
AT_JOINTS, AT_MEASURES, AT_CONSTRAINTS, AT_ROWS, AT_MOTORS, AT_DRIVES = HEADER.starts[8:]
HEADER_SIZE = HEADER.size

JOINT = Record(
    Part("BODY_A", 1, "parent; -1: the world"),
    Part("BODY_B", 1, "child; -1: the world"),
    Part("ARM_A", 3, "from the centre of mass to the place, body axes (of the world: from its origin)"),
    Part("ARM_B", 3, "the same"),
    Part("FRAME_A", 4, "quaternion of the joint frame in the body"),
    Part("FRAME_B", 4, "the same"),
    Part("FIRST_MEASURE", 1, "its first measure"),
    Part("LAST_MEASURE", 1, "and the one behind its last"),
)
BODY_A, BODY_B, ARM_A, ARM_B, FRAME_A, FRAME_B, FIRST_MEASURE, LAST_MEASURE = JOINT.starts
JOINT_SIZE = JOINT.size

MEASURE = Record(
    Part("WHAT", 1, "what is measured"),
    Part("DIRECTION_A", 3, "a"),
    Part("DIRECTION_B", 3, "b"),
    Part("DIRECTION_C", 3, "c"),
    Part("VALUE", 1, "value"),
    Part("SCALE", 1, "scale"),
)
WHAT, DIRECTION_A, DIRECTION_B, DIRECTION_C, VALUE, SCALE = MEASURE.starts
MEASURE_SIZE = MEASURE.size

CONSTRAINT = Record(
    Part("OF_JOINT", 1, "its joint"),
    Part("LAW", 1, "kernels/contact/codes.py"),
    Part("FIRST_ROW", 1, "its first row"),
    Part("LAST_ROW", 1, "and the one behind its last"),
    Part("HOLDS", 1, "1: its force is one that can break the joint"),
)
OF_JOINT, LAW, FIRST_ROW, LAST_ROW, HOLDS = CONSTRAINT.starts
CONSTRAINT_SIZE = CONSTRAINT.size

ROW = Record(
    Part("OF_MEASURE", 1, "what it is on"),
    Part("MODE", 1, "POSITION, VELOCITY, INERTIA, COUPLED, PICKED or FOLLOWING"),
    Part("SIGN", 1, "1 or -1: residual = sign (measure - rest - gain target)"),
    Part("REST", 1, "see above; of a velocity row: the rate that it asks for, or that bounds it"),
    Part("TARGET", 1, "which target; -1: none"),
    Part("GAIN", 1, "of the target"),
    Part("COMPLIANCE", 1, "eps, m/N or rad/(N m)"),
    Part("TAU", 1, "damping time, s,"),
    Part("STEPS", 1, "plus this many steps"),
    Part("GAMMA", 1, "1/drag of a velocity row, m/(N s) or rad/(N m s)"),
    Part("ARMATURE", 1, "inertia of an INERTIA row, kg or kg m^2"),
    Part("LEAST", 1, "of a boxed row: least force, N or N m"),
    Part("GREATEST", 1, "and greatest"),
    Part("MARGIN", 1, "of a unilateral row: it is asleep while its residual is larger, and too large to vanish within the step"),
    Part("OTHER", 1, "of a coupling: where its record starts"),
    Part("SLOTS", 1, "of a PICKED row: which slot of the companion, of a COUPLED one: how many; of a FOLLOWING one: which axis, 1 to 3"),
    Part("ACROSS", 1, "1: dry friction across the slip, a drag of GREATEST over the speed that its measure has as a value"),
)
OF_MEASURE, MODE, SIGN, REST, TARGET, GAIN, COMPLIANCE, TAU, STEPS, GAMMA, ARMATURE, LEAST, GREATEST, MARGIN, OTHER, SLOTS, ACROSS = (
    ROW.starts
)
ROW_SIZE = ROW.size

COUPLING = Record(
    Part("MEASURE_C", 1, "coordinate of the joint that follows"),
    Part("MEASURE_P", 1, "and of the one that leads; -1: none"),
    Part("ENDS", 4, "bodies A, B of the joint that follows, and of the one that leads; -1: the world"),
    Part("TERMS", 1, "number of coefficients"),
    Part("AT_COEFFICIENTS", 1, "the first coefficient; the others behind it"),
)
MEASURE_C, MEASURE_P, ENDS, TERMS, AT_COEFFICIENTS = COUPLING.starts

MOTOR = Record(
    Part("MOTOR_JOINT", 1, "its joint; -1: none, it moves nothing"),
    Part("MOTOR_MEASURE", 1, "the coordinate that it acts on"),
    Part("MOTOR_GEAR", 1, "force per unit of its input; 0: no known force, a row does the work"),
    Part("MOTOR_LEAST", 1, "least force"),
    Part("MOTOR_GREATEST", 1, "greatest force"),
)
MOTOR_JOINT, MOTOR_MEASURE, MOTOR_GEAR, MOTOR_LEAST, MOTOR_GREATEST = MOTOR.starts
MOTOR_SIZE = MOTOR.size

DRIVE = Record(
    Part("FUNCTION", 1, "address of the machine code, t -> (f, f', f''); 0: a table"),
    Part("PIECES", 1, "number of pieces of the table"),
    Part("TABLE", 1, "where in system the table is (kernels/tree/constraint_layout.py)"),
)
FUNCTION, PIECES, TABLE = DRIVE.starts
DRIVE_SIZE = DRIVE.size
