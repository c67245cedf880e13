"""Joint limits that give way: springs beyond the limit, of joints of one degree of freedom.

    f = -k b(x)                                            b: by how much x is beyond a limit, 0 within
    f = -k (b(x + d)^2 - b(x - d)^2) / (4 d)               its mean between x - d and x + d

Both are the same where the whole way is beyond, or within. With the mean the work of a joint that meets its limit within a step is what
the spring stores; with the force at the middle each impact on a stiff limit gives or takes energy.
"""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.layout import LIMIT_HIGH, LIMIT_LOW, LIMIT_STIFFNESS


@inline
def beyond(system, at, x):
    """b(x) of the link whose record starts at `at`."""
    return max(0.0, x - system[at + LIMIT_HIGH]) + min(0.0, x - system[at + LIMIT_LOW])


@inline
def limit_force(system, at, x, d):
    """(mean force between x - d and x + d, -df/dx for d = 0, else -df/dd where x moves by as much as d does)"""
    k, ahead, behind = system[at + LIMIT_STIFFNESS], beyond(system, at, x + d), beyond(system, at, x - d)
    if ahead == 0.0 and behind == 0.0:
        return 0.0, 0.0
    if ahead * behind > 0.0 or d == 0.0:
        return -k * beyond(system, at, x), k
    mean = 0.25 * (ahead * ahead - behind * behind) / d
    return -k * mean, k * (ahead - mean) / d
