"""Linear algebra of bodies and constraints: blocks, factors without fill, sweeps, over flat arrays."""
