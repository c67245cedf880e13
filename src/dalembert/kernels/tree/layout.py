"""Where things are in the flat arrays of a tree of links.

A link is a rigid body behind one primitive joint; its frame sits at the joint. Primitive joints: revolute about z, prismatic along z,
spherical, free. A joint of
several degrees of freedom is a chain of links of which only the last has mass. Links are numbered so that a parent comes before its
children.

A joint of one degree of freedom moves along a screw about z, S = (turn z, slide z): revolute (1, 0), prismatic (0, 1). What both slides and
turns is of the kind PRISMATIC too, with a turn that is not 0.

    g_i = g_parent (R_tree, p_tree) g_joint(q_i)

Vectors are in link axes unless marked; twists and wrenches are angular first. Whole numbers are stored as floats.
"""

from dalembert.kernels._fields import Part, Record

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
STAGED = 31  # how the account is kept: 0 by nodes, or by the tableau of `lie_rk_stages.py` at STEPPER_DATA:
BY_STAGES, BY_ITSELF = 1, 2  # from the stages that a step leaves in work; by the step, after each of its internal steps
HEADER = 32

# system: one record per link, from HEADER on
LINK = Record(
    Part("PARENT", 1, "-1: the world"),
    Part("KIND", 1, "of the primitive joint"),
    Part("Q_AT", 1, "where its coordinates start in q"),
    Part("V_AT", 1, "and in v"),
    Part("R_TREE", 9, "parent axes <- joint axes, by rows"),
    Part("P_TREE", 3, "origin of the joint in the parent"),
    Part("MASS", 1, "kg"),
    Part("MOMENT", 3, "mass times centre of mass"),
    Part("INERTIA", 6, "about the link's origin: xx, yy, zz, xy, xz, yz"),
    Part("TURNS", 1, "rotation about z per unit of q of a joint of one degree of freedom,"),
    Part("SLIDES", 1, "shift along z"),
    Part("ARMATURE", 1, "inertia of the joint's motor"),
    Part("DAMPING", 1, "of the joint"),
    Part("STIFFNESS", 1, "of the joint"),
    Part("REST", 1, "where its spring is at rest"),
    Part("LIMIT_LOW", 1, "joint limits, +-inf where there are none"),
    Part("LIMIT_HIGH", 1, "the other one"),
    Part("LIMIT_STIFFNESS", 1, "of limits that give way; 0: not in force"),
    Part("CARRIED", 1, "last link of the joint, if that joint hangs on the world; else -1"),
)
PARENT, KIND, Q_AT, V_AT, R_TREE, P_TREE, MASS, MOMENT, INERTIA, TURNS, SLIDES = LINK.starts[:11]
ARMATURE, DAMPING, STIFFNESS, REST, LIMIT_LOW, LIMIT_HIGH, LIMIT_STIFFNESS, CARRIED = LINK.starts[11:]
LINK_SIZE = LINK.size

# work: one record per link, from 0 on
SCRATCH_RECORD = Record(
    Part("R", 9, "parent axes <- link axes"),
    Part("P", 3, "origin of the link in parent axes"),
    Part("VEL", 6, "twist"),
    Part("BIAS", 6, "velocity-dependent acceleration"),
    Part("A", 9, "articulated inertia: angular block,"),
    Part("B", 9, "coupling block,"),
    Part("M", 9, "linear block"),
    Part("FORCE", 6, "bias wrench"),
    Part("U", 6, "inertia times joint axis; spherical and free joints use their own solve"),
    Part("D_INV", 1, "inverse of the inertia along the axis"),
    Part("RESIDUAL", 6, "tau - S^T FORCE, up to six numbers"),
    Part("ACC", 6, "spatial acceleration"),
    Part("R_W", 9, "world axes <- link axes"),
    Part("P_W", 3, "origin in the world"),
    Part("SOLVE", 42, "matrix and right side of a 6x6 solve"),
)
R, P, VEL, BIAS, A, B, M, FORCE, U, D_INV, RESIDUAL, ACC, R_W, P_W, SOLVE = SCRATCH_RECORD.starts
SCRATCH = SCRATCH_RECORD.size

INFO_SIZE = 4
