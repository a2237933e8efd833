"""The parts of a study, in the order of the report."""
