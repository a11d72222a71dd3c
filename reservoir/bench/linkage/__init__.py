"""Experiments on DSMGA-II (Li and Yu 2017)."""

from reservoir.bench.linkage.experiment import run

__all__ = ["run"]
