"""Structure-preserving multibody dynamics."""
