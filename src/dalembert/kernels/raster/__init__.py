"""Triangles to pixels: what the animations are drawn with."""
