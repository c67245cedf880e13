"""Kernels of contact: detection, matching, rows, solvers."""
