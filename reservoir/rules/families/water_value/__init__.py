"""Water values as a rule."""
