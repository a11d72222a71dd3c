"""The whole command `reservoir plan` over ensembles of more and more years."""
