"""Joints between free bodies as rows of one step: what they measure, what is asked of it, and states of bodies."""
