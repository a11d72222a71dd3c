"""What solvers can solve: problems, how their positions are written down, and their fitness."""
