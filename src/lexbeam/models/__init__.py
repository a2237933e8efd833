"""Find, load, store and run models."""
