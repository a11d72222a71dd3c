"""All solvers on random reservoirs (`reservoir.zoo`)."""
