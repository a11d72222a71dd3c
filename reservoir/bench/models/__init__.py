"""CLPSO's models on benchmark functions (Yu et al. 2020)."""
