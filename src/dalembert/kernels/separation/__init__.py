"""Distance, depth and separating planes of convex polytopes that are given by their vertices."""
