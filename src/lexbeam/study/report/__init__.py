"""How a report is made of text, tables and figures, and written to files."""
