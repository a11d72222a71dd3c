"""Experiments on DSMGA-II (Li and Yu 2017)."""
