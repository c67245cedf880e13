"""Loads in the system array: forces of the model on links, in groups of one kind, group behind group.

A group is a head (`GROUP`), then one record per load: which links, and numbers of its own (`load_record`). What the loads of a group do is
told by kernels whose slots stand in the head (`_jit.slotted`), so compiled code knows no kinds of forces. A kernel serves the whole
group, `for at in range(first, last, SIZE)`, SIZE being that of its records:

    apply(system, work, first, last)        adds the wrenches to FORCE of the links with the opposite sign (`loads.push`)
    energy(system, work, first, last)       sum of the potential energies
    power(system, work, first, last)        sum of the powers of what has no potential, where only a part of the force has one
    matrix(system, work, first, last, frame, to, stride, wl)
                                            adds wl times minus the derivative of each wrench by the twist of its link i to the 6x6 matrix
                                            at work[to + stride i:], in the frame (axes, origin) at work[frame + stride i:]: for Newton
    row(system, work, first, last, out)     adds the derivatives of lengths by the velocities to zeros at work[out:], nv per load; with
                                            ROW_STIFFNESS and ROW_DAMPING the forces along them enter Newton's method

World poses of the links are known; for `apply` and `power` their twists too. All but `apply` may be missing; `matrix` and `row` change how
fast Newton's method converges, not to what. Groups without a potential come first.
"""

from collections.abc import Iterator

from dalembert.arrays import Array
from dalembert.kernels._fields import Part, Record
from dalembert.kernels._jit import ARRAY, INT, REAL, VOID, by_slot
from dalembert.kernels.tree.layout import AT_LOADS, LOADS

APPLY_SIGNATURE = VOID(ARRAY, ARRAY, INT, INT)
ENERGY_SIGNATURE = POWER_SIGNATURE = REAL(ARRAY, ARRAY, INT, INT)
MATRIX_SIGNATURE = VOID(ARRAY, ARRAY, INT, INT, INT, INT, INT, REAL)
ROW_SIGNATURE = VOID(ARRAY, ARRAY, INT, INT, INT)

GROUP = Record(
    Part("length", 1, "numbers in the group, head and records: the next one starts behind them"),
    Part("stride", 1, "numbers in a record"),
    Part("apply", 1, "slot of the kernel"),
    Part("energy", 1, "slot; 0: no potential"),
    Part("power", 1, "slot; 0: of forces with a potential none, else that of the whole wrench"),
    Part("matrix", 1, "slot, or 0"),
    Part("row", 1, "slot, or 0"),
    Part("column", 1, "of the account that the power enters"),
)
LENGTH, STRIDE, APPLY, ENERGY, POWER, MATRIX, ROW, COLUMN = GROUP.starts
GROUP_SIZE = GROUP.size

LOAD = Record(
    Part("link", 1, "that the load acts on"),
    Part("link_b", 1, "that it acts on too; -1: the world, or none"),
    Part("row_stiffness", 1, "by which the force along the row answers a change of the length"),
    Part("row_damping", 1, "and its rate"),
)
LINK, LINK_B, ROW_STIFFNESS, ROW_DAMPING = LOAD.starts

call_apply = by_slot("call_apply", APPLY_SIGNATURE)
call_energy = by_slot("call_energy", ENERGY_SIGNATURE)
call_power = by_slot("call_power", POWER_SIGNATURE)
call_matrix = by_slot("call_matrix", MATRIX_SIGNATURE)
call_row = by_slot("call_row", ROW_SIGNATURE)


def load_record(*own: Part) -> tuple[Record, tuple[int, ...]]:
    """The record of a kind of force with numbers of its own; (where these are, and last the size of the record)."""
    record = Record(*LOAD.parts, *own)
    return record, (*record.starts[len(LOAD.parts) :], record.size)


def groups(system: Array) -> Iterator[tuple[int, int]]:
    """(start, number of loads) of each group."""
    at = int(system[AT_LOADS])
    for _ in range(int(system[LOADS])):
        length = int(system[at + LENGTH])
        yield at, (length - GROUP_SIZE) // int(system[at + STRIDE])
        at += length
