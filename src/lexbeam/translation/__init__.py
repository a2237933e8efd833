"""Text in, text and report out."""
