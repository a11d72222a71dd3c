"""Comprehensive-learning PSO (Liang et al. 2006), multipopulation in OpenCL (Yu et al. 2020)."""
