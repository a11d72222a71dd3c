"""The physics, in float64; independent of solvers, result files and the screen."""
