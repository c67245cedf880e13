"""Columns of the account of a tree, at the end of its state, behind the control that is held: sums from the start of the run."""

from dalembert.kernels._fields import Part, Record

ACCOUNT = Record(
    Part("CONTROL", 1, "work of the control, J,"),
    Part("FUNCTION", 1, "of forces that were given as functions,"),
    Part("WRENCH", 1, "of wrenches and other forces without a potential,"),
    Part("DAMPING", 1, "of dampers in joints, on bodies and in springs,"),
    Part("LIMITS", 1, "of joint limits that give way"),
    Part("PUSH", 1, "integral of sum |tau| of the control: 0 as long as it is silent"),
    Part("IMPULSE", 6, "of everything from outside, reactions apart: angular about the world origin, linear"),
)
CONTROL, FUNCTION, WRENCH, DAMPING, LIMITS, PUSH, IMPULSE = ACCOUNT.starts
SIZE = ACCOUNT.size

DRIVE_BEFORE = 1  # so far before the account, in states of machines with drives alone: their work, J

WORKS = ("control", "function", "wrench", "damping", "limits")
