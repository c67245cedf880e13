"""Columns of the account of a tree, at the end of its state, behind the control that is held: sums from the start of the run."""

CONTROL = 0  # work of the control, J,
FUNCTION = 1  # of forces that were given as functions,
WRENCH = 2  # of wrenches,
DAMPING = 3  # of dampers in joints, on bodies and in springs,
LIMITS = 4  # of joint limits that give way
PUSH = 5  # integral of sum |tau| of the control: 0 as long as it is silent
IMPULSE = 6  # of everything from outside, reactions apart: angular about the world origin, linear
SIZE = 12

DRIVE_BEFORE = 1  # so far before the account, in states of machines with drives alone: their work, J

WORKS = ("control", "function", "wrench", "damping", "limits")
