"""Tables of level, storage and area as people keep them: which column is what, and the numbers in it."""
