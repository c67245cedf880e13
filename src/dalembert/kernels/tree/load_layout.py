"""The record of a load: a force of the model on one link or between two, one record behind the other in the system array.

The first numbers are the same for all loads; behind them each kind of force has numbers of its own (`load_record`). What a load does is
told by far kernels whose slots stand in its record (`_jit.slot_of`), so compiled code knows no kinds of forces:

    apply(system, work, at)                     adds the wrench to FORCE of its links with the opposite sign (`loads.push`)
    energy(system, work, at)                    potential energy
    power(system, work, at)                     power of what has no potential, where only a part of the force has one
    matrix(system, work, at, frame, to, wl)     adds wl times minus the derivative of the wrench by the twist of its link to the 6x6 matrix
                                                at work[to:], in the frame (axes, origin) at work[frame:]: for Newton's method
    row(system, work, at, out)                  writes the derivative of a length by the velocities to work[out:]; with ROW_STIFFNESS and
                                                ROW_DAMPING the force along it enters Newton's method

at: where the record starts. World poses of the links are known; for `apply` and `power` their twists too. All but `apply` may be missing;
`matrix` and `row` change how fast Newton's method converges, not to what.
"""

from dalembert.arrays import Array
from dalembert.kernels._fields import Part, Record
from dalembert.kernels._jit import ARRAY, INT, REAL, VOID, by_slot
from dalembert.kernels.tree.layout import AT_LOADS, LOADS

APPLY_SIGNATURE = VOID(ARRAY, ARRAY, INT)
ENERGY_SIGNATURE = POWER_SIGNATURE = REAL(ARRAY, ARRAY, INT)
MATRIX_SIGNATURE = VOID(ARRAY, ARRAY, INT, INT, INT, REAL)
ROW_SIGNATURE = VOID(ARRAY, ARRAY, INT, INT)

HEAD = Record(
    Part("size", 1, "numbers in the record: the next one starts behind them"),
    Part("link", 1, "that it acts on"),
    Part("link_b", 1, "that it acts on too; -1: the world, or none"),
    Part("apply", 1, "slot of its kernel"),
    Part("energy", 1, "slot; 0: it has no potential"),
    Part("power", 1, "slot; 0: of a force with a potential none, else that of all its wrench"),
    Part("column", 1, "of the account that this power enters"),
    Part("matrix", 1, "slot, or 0"),
    Part("row", 1, "slot, or 0"),
    Part("row_stiffness", 1, "by which the force along the row answers a change of the length"),
    Part("row_damping", 1, "and its rate"),
)
SIZE, LINK, LINK_B, APPLY, ENERGY, POWER, COLUMN, MATRIX, ROW, ROW_STIFFNESS, ROW_DAMPING = HEAD.starts

call_apply = by_slot("call_apply", APPLY_SIGNATURE)
call_energy = by_slot("call_energy", ENERGY_SIGNATURE)
call_power = by_slot("call_power", POWER_SIGNATURE)
call_matrix = by_slot("call_matrix", MATRIX_SIGNATURE)
call_row = by_slot("call_row", ROW_SIGNATURE)


def load_record(*own: Part) -> tuple[Record, tuple[int, ...]]:
    """The record of a kind of force with numbers of its own, and where these are."""
    record = Record(*HEAD.parts, *own)
    return record, record.starts[len(HEAD.parts) :]


def starts(system: Array) -> list[int]:
    """Where the records of all loads are."""
    found, at = [], int(system[AT_LOADS])
    for _ in range(int(system[LOADS])):
        found.append(at)
        at += int(system[at + SIZE])
    return found
