"""Discrete Euler-Lagrange equations of a tree, their residual and their linearisation, all in O(n)."""
