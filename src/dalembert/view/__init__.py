"""Pictures of runs: figures, animations, notebook output. Nothing here needs a display or changes matplotlib's global state."""
