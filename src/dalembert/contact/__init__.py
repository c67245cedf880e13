"""Contact between bodies: what touches, and the velocities and impulses of one step."""
