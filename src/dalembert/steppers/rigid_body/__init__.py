"""Steppers of one rigid body: free, or turning about a fixed point."""
