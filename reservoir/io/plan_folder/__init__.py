"""A plan's folder: its files, and the plan read back from them."""
