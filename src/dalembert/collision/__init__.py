"""What collides in the variational collision stepper: shapes of a model as solids and walls of compiled arrays."""
