"""CLPSO's models on the eight functions: Tables 3, 4 and 7 of Yu et al. 2020 (Complexity 6589658, section 5)."""

from reservoir.bench.models.experiment import run

__all__ = ["run"]
