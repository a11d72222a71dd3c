"""Experiments on ring PSO (Mussi, Nashed and Cagnoni 2011)."""
