"""Proven bounds against the schedules of all solvers, on random reservoirs (`reservoir.zoo`)."""
