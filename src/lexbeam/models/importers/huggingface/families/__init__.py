"""The families of checkpoints that can be imported, one module each."""
