"""From a plan to a trajectory."""
