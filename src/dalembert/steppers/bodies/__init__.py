"""Steppers of machines cut free: bodies, joints as constraints, contacts."""
