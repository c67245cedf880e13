"""The tableau of a Lie-group Runge-Kutta method behind the system array, and the places of its stages in work: what the steps
(`lie_rk.py`) and their account (`lie_rk_account.py`) share.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.tree.layout import AT_CALL, AT_FREE, FUNCTION, NQ, NV, STEPPER_DATA
from dalembert.kernels.tree.record import record

# the tableau, from system[STEPPER_DATA] on; places are indices into system
STAGES = 0
ALGEBRA = 1  # 1: method of Munthe-Kaas
ERROR_ROWS = 2  # 0: fixed step, 1: a pair, 2: the triple of order 8(5, 3)
AT_SUMMED = 3  # (stages + 1) rows: a_ij, and the weights
AT_PLAN = 4  # (stages + 1) times: stage to start from, first row, number of rows
AT_ROWS = 5  # rows of the exponentials
AT_ERRORS = 6  # rows of the error estimate
EXPONENT = 7  # 1/k: the error estimate is of order h^k
RTOL = 8
ATOL = 9
MAX_SUBSTEPS = 10
HEAD = 11


@inline
def stages_of(system):
    """Number of stages."""
    return int(system[int(system[STEPPER_DATA]) + STAGES])


@inline
def tableau(system, entry):
    """An entry of the head of the tableau."""
    return system[int(system[STEPPER_DATA]) + entry]


@inline
def at_q(system, i):
    """Configuration of stage i."""
    return record(int(system[AT_FREE]), i, int(system[NQ]))


@inline
def at_x(system, i):
    """x_i; x_0 is the velocity at the start."""
    return record(at_q(system, stages_of(system) + 1), i, int(system[NV]))


@inline
def at_acc(system, i):
    """Acceleration of stage i."""
    return at_x(system, stages_of(system) + i)


@inline
def at_theta(system):
    """Exponent of the last exponential."""
    return at_acc(system, stages_of(system))


@inline
def at_v(system):
    """Velocity of the current stage."""
    return record(at_theta(system), 1, int(system[NV]))


@inline
def at_asked(system):
    """1: the next step is to enter itself into the account."""
    return record(at_v(system), 1, int(system[NV]))


def work_size(stages, nq, nv):
    """Numbers of `work` that all this takes: s + 1 configurations, s of each x and acc, Theta and v, the flag."""
    return (stages + 1) * nq + (2 * stages + 2) * nv + 1


@inline
def copy(source, i, target, k, n):
    """target[k:k+n] = source[i:i+n]"""
    for j in range(n):
        target[k + j] = source[i + j]


@kernel
def combine(h, system, work, row, first, out):
    """work[out:] += h sum_j row_j work[first + j nv:]"""
    n = int(system[NV])
    for j in range(stages_of(system)):
        c = h * system[row + j]
        if c != 0.0:
            at = record(first, j, n)
            for k in range(n):
                work[out + k] += c * work[at + k]


@inline
def velocity(h, system, work, i):
    """v_i of a stage or of the step."""
    row = int(tableau(system, AT_SUMMED)) + i * stages_of(system)
    copy(work, at_x(system, 0), work, at_v(system), int(system[NV]))
    combine(h, system, work, row, at_acc(system, 0), at_v(system))


@inline
def set_time(t, h, system, work, i):
    """Time t + c_i h of a stage, c_i = sum_j a_ij, for forces that are functions of time."""
    if system[FUNCTION] != 0.0:
        row, c = int(tableau(system, AT_SUMMED)) + i * stages_of(system), 0.0
        for j in range(stages_of(system)):
            c += system[row + j]
        work[int(system[AT_CALL]) + 1] = t + c * h
