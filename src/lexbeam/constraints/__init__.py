"""What a user asks for, as text: constraints and glossaries."""
