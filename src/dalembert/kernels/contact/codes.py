"""Laws of constraints, and what the solvers say of themselves. With u = J x + b + sigma lam:

BILATERAL    any number of rows   u = 0
UNILATERAL   one row              0 <= lam, u >= 0, lam u = 0
BOXED        one row              low <= lam <= high; u = 0 between, u >= 0 at low, u <= 0 at high
CONE         rows (n, t1, t2)     |lam_t| <= mu lam_n and u in the dual cone, lam . u = 0 (associated law);
                                  exact Coulomb: the same with u_n + mu |u_t| in place of u_n (De Saxce)
"""

BILATERAL, UNILATERAL, BOXED, CONE = 0, 1, 2, 3

# The state of a constraint: which piece of its projection holds. Rows of BILATERAL constraints are always INSIDE.
BELOW, INSIDE, ABOVE, SLIDING = 0, 1, 2, 3

# What `solve.run` is asked for
START, NEWTON, INTERIOR_START, INTERIOR, SHIFT, ISLANDS = 0, 1, 2, 3, 4, 5

# What it answers beside the statuses of `kernels/status.py`
MORE, NEW_PAIR = 100, 101

# Options of `solve.run`, float64. LEAST: see `residual.py`
TOLERANCE, MOST, FLOOR, LEAST, SCALE, FROM_ZERO, SLOW, OPTIONS = 0, 1, 2, 3, 4, 5, 6, 7

# What it writes, float64
RESIDUAL, FACTORS, STEPS, SOLVES, PAIRS, REPAIRED, MEAN, INTERIOR_STEPS, SPEED = 0, 1, 2, 3, 4, 5, 6, 7, 8
# of the interior point: the residual that was to be halved, and for how many iterations it was not
LEAST_FOUND, STALLED, INFO = 9, 10, 11
