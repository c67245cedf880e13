"""The suites behind `dal.check_stepper`."""
