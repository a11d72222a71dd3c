"""What must hold for a reservoir, however it was made: one set of claims for Python and for files."""
