"""Where things are in the arrays of a machine in director coordinates.

All coordinates are 3-vectors: of a body its centre of mass and its directors, phi, d_1, d_2, d_3; of a particle phi alone. Kernels keep
them behind four constant ones:

    w = (e_1, e_2, e_3, 0, phi, d_1, d_2, d_3, phi, ...)      q = w[12:]

so that the world has directors e_1, e_2, e_3 and the position 0, and a particle the directors of the world. A place or a direction that is
fixed in a body has three constant components, x = phi + X_1 d_1 + X_2 d_2 + X_3 d_3.

Constraints and what a potential depends on are quadratic: sums of products a.b of two vectors, each a combination of some w_i: differences
of places are formed before they are multiplied, so that nothing is lost far from the origin. Behind the header of the system array stand

    mass       n        of every coordinate
    edges      EDGE     one for each node of the spanning tree, parents first: how it hangs on its parent
    pointers   rows + terms + 1: products of the rows of all constraints, those that close loops last, then of the terms
    factors    ends of the factors a, b of the products among the entries (i, coefficient)
    kinds      3        of each term f(s): kind and two numbers

state = (q, p, held force on q, the same along u, u / h, multipliers, step before, work, impulse)
"""

from dalembert.kernels._fields import Count, Layout, Part, Real, Record

Q0 = 12  # of w
ZERO = 3  # the vector 0

#: how a node hangs on its parent
FREE, POINT, BALL, LINK, CHAIN = 0, 1, 2, 3, 4
#: primitives of a chain, and whose directors hold the axis
TURN, SLIDE = 0, 1
PARENT, CHILD = 0, 1
#: f(s) of a term of the potential energy
LINEAR, SPRING, SQUARE, ANGLE = 0, 1, 2, 3

_EDGE = Record(
    Part("type", 1, "FREE, ..."),
    Part("slot", 1, "number of the node; the world is 0"),
    Part("parent_slot", 1, "number of its parent"),
    Part("phi", 1, "vector that is its place"),
    Part("dirs", 1, "vector that is its first director"),
    Part("rigid", 1, "1: it has directors of its own"),
    Part("parent_phi", 1, "the same of the parent"),
    Part("parent_dirs", 1, ""),
    Part("u", 1, "its first coordinate of motion"),
    Part("count", 1, "how many it has"),
    Part("anchor", 3, "where the joint is in the node"),
    Part("parent_anchor", 3, "and in the parent"),
    Part("length", 1, "of a link"),
    Part("slides", 1, "1: the joint shifts"),
    Part(
        "axes",
        24,
        "three primitives: kind, whose, axis (3), a second one (3): of a slide the factor, of a turn the axis in the child, or 0",
    ),
)
TYPE, SLOT, PARENT_SLOT, PHI, DIRS, RIGID, PARENT_PHI, PARENT_DIRS, U, COUNT, ANCHOR, PARENT_ANCHOR, LENGTH, SLIDES, AXES = _EDGE.starts
EDGE, AXIS = _EDGE.size, 8
edge_record = _EDGE.filled

HEADER = 1  # system[0]: where the numbers of the layout stand
LAYOUT = Layout(
    "Directors",
    Count("n", "coordinates"),
    Count("k", "degrees of freedom of the tree"),
    Count("edges", "nodes"),
    Count("rows", "constraints"),
    Count("loops", "those of them that close loops, the last ones"),
    Count("terms", "of the potential energy"),
    Count("size", "of the full matrix: n + rows where the multipliers are unknowns"),
    Count("max_iterations", "of Newton's method"),
    Count("full", "1: the form with multipliers is solved"),
    Count("project", "1: velocities of nodes are made tangential"),
    Count("at_mass", "places in the system array"),
    Count("at_edges", ""),
    Count("at_pointers", ""),
    Count("at_factors", ""),
    Count("at_entries", ""),
    Count("at_kinds", ""),
    Real("tol", "relative correction"),
    Part("w", "w", "vectors at the node"),
    Part("w1", "w", "at the next one"),
    Part("wm", "w", "in the middle"),
    Part("rot", "9 slots", "R - 1 of the nodes"),
    Part("shift", "3 slots", "increments of their places"),
    Part("omega", "3 slots k", "their spins along the coordinates"),
    Part("P", "n k", "null-space matrix"),
    Part("J", "n k", "derivative of the next node by u"),
    Part("B", "n k", "matrix times J"),
    Part("A", "k k", "Newton's matrix"),
    Part("C", "k k", "the same, with rows of loops"),
    Part("Q", "k k", "orthogonal"),
    Part("u", "k", "increment"),
    Part("b", "k", "right-hand side"),
    Part("c", "k", "room"),
    Part("dq", "n", "increment"),
    Part("r", "n", "residual"),
    Part("f", "n", "force of the potential"),
    Part("push", "n", "held force"),
    Part("G", "rows n", "gradients of the constraints"),
    Part("g", "rows", "constraints"),
    Part("lam", "rows", "multipliers"),
    Part("N", "rows rows", "G G^T"),
    Part("grad", "n", "gradient of a term"),
    Part("K", "size size", "matrix of the full problem"),
    Part("x", "size", "its unknowns"),
)  # fmt: skip
places = LAYOUT.reader(0)

# tail of the state
BEFORE, WORK, IMPULSE, TAIL = 0, 1, 2, 8
INFO_SIZE = 3
