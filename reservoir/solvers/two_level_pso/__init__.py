"""PSO with bests of two levels (Li and Liu 2017)."""
