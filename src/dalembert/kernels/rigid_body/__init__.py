"""One rigid body, free or turning about a fixed point: what every stepper of it shares."""
