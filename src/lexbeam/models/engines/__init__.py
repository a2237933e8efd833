"""Models that the search can drive, one module a runtime."""
