"""Dynamic programming of a system by successive approximation."""
