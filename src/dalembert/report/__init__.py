"""The parts of a report: one file per law that is judged."""
