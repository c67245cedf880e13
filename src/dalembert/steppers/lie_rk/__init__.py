"""Lie-group Runge-Kutta methods for trees: a method is a tableau, one engine (`kernels/lie_rk.py`) runs them all."""
