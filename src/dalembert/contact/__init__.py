"""Contact of bodies: detection, and the solution of a step."""
