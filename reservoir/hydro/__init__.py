"""The physics, in float64; knows nothing of solvers, files of results, or screens."""
