"""Plans: optimise a case, check it, compare solvers, validate an installation."""
