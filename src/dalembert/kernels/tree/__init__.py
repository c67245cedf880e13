"""Trees of links: kinematics and dynamics in O(n), over flat arrays."""
