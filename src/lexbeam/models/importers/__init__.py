"""Ways of bringing a model in, one module a format."""
