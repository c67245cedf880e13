"""Where things are in the flat arrays of a tree of links.

A link is a rigid body behind one primitive joint; its frame sits at the joint. Primitive joints: revolute about z, prismatic along z,
spherical, free. A joint of
several degrees of freedom is a chain of links of which only the last has mass. Links are numbered so that a parent comes before its
children.

    g_i = g_parent (R_tree, p_tree) g_joint(q_i)

Vectors are in link axes unless marked; twists and wrenches are angular first. Whole numbers are stored as floats.
"""

# kinds of primitive joints
REVOLUTE, PRISMATIC, SPHERICAL, FREE = 0, 1, 2, 3
NQ_OF = (1, 1, 4, 7)
NV_OF = (1, 1, 3, 6)

# system: header
LINKS = 0  # number of links
NQ = 1
NV = 2
GRAVITY = 3  # world
LOADS = 6  # number of groups of loads
AT_LOADS = 7  # where they start: load_layout.py
AT_HELD = 8  # in state: control that is held over a step (nv), just before the account
PASSIVE = 9  # 1 if a joint has damping or stiffness, or a force is a function
AT_Q = 10  # in work: stage configuration (nq)
AT_V = 11  # in work: stage velocity (nv)
AT_TAU = 12  # in work: generalised force (nv)
AT_ACC = 13  # in work: acceleration (nv)
AT_FREE = 14  # in work: where the stepper's own region starts
STEPPER_DATA = 15  # where the stepper's own numbers start in system
OPTIONS = 16  # eight numbers of the stepper
AT_HINT = 24  # in state: last internal step of an adaptive method
AT_CALL = 25  # in work: time at which a step began; then t, q, v of a call of FUNCTION, and its answer (nv)
STEPPER_WORK = 26  # numbers that the stepper needs in work from AT_FREE on; set by its `prepare`
FUNCTION = 27  # address of the machine code of forces that were given as functions; 0: none
CONSTRAINTS = 28  # number of constraint rows, those on positions first: constraint_layout.py
HOLONOMIC = 29  # how many of them are constraints on positions; the others are on velocities alone
AT_CONSTRAINTS = 30  # where their records start
STAGED = 31  # 1: after a step its stages are in work, by the tableau of `lie_rk.py` at STEPPER_DATA
HEADER = 32

# system: one record per link, from HEADER on
PARENT = 0  # -1: the world
KIND = 1
Q_AT = 2
V_AT = 3
R_TREE = 4  # parent axes <- joint axes, by rows
P_TREE = 13
MASS = 16
MOMENT = 17  # mass times centre of mass
INERTIA = 20  # about the link's origin: xx, yy, zz, xy, xz, yz
ARMATURE = 26
DAMPING = 27
STIFFNESS = 28
REST = 29
LIMIT_LOW = 30  # joint limits, +-inf where there are none
LIMIT_HIGH = 31
LIMIT_STIFFNESS = 32  # of limits that give way; 0: not in force
CARRIED = 33  # last link of the joint, if that joint hangs on the world; else -1
LINK_SIZE = 34

# work: one record per link, from 0 on
R = 0  # parent axes <- link axes (9)
P = 9  # origin of the link in parent axes (3)
VEL = 12  # twist (6)
BIAS = 18  # velocity-dependent acceleration (6)
A = 24  # articulated inertia: angular block (9), coupling block (9), linear block (9)
B = 33
M = 42
FORCE = 51  # bias wrench (6)
U = 57  # inertia times joint axis (6); spherical and free joints use their own solve
D_INV = 63
RESIDUAL = 64  # tau - S^T FORCE (up to 6)
ACC = 70  # spatial acceleration (6)
R_W = 76  # world axes <- link axes (9)
P_W = 85  # origin in the world (3)
SOLVE = 88  # matrix and right side of a 6x6 solve (42)
SCRATCH = 130

INFO_SIZE = 4
