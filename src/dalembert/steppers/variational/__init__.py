"""Variational integrators for trees: a method is a discrete Lagrangian, one kernel (`kernels/tree/variational/step.py`) runs them all."""
