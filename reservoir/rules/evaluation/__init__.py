"""How well rules serve on years that they never saw."""
