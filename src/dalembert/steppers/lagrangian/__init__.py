"""Steppers for systems given by a Lagrangian."""
