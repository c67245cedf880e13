"""Columns of the account of a tree, at the end of its state, behind the control that is held: sums from the start of the run."""

CONTROL = 0  # work of the control, J,
FUNCTION = 1  # of forces that were given as functions,
WRENCH = 2  # of wrenches and other forces without a potential,
DAMPING = 3  # of dampers in joints, on bodies and in springs,
LIMITS = 4  # of joint limits that give way
PUSH = 5  # integral of sum |tau| of the control: 0 as long as it is silent
IMPULSE = 6  # of everything from outside, reactions apart: angular about the world origin, linear
SIZE = 12

WORKS = ("control", "function", "wrench", "damping", "limits")
