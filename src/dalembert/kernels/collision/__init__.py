"""Collisions within a step: gaps of convex bodies, instants of contact, impacts, resting contacts, on any variational step of a tree."""
