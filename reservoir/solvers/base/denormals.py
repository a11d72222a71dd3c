"""Numbers too small to matter, which a CPU handles a hundred times slower than others."""

#: Velocities below this are dropped: they no longer move a float32 position, and denormal numbers are slow.
SMALLEST_VELOCITY = 1e-30
