"""PSO in a ring (Mussi, Nashed and Cagnoni 2011)."""
