"""Networks trained by particle swarms: Tables 1 to 5 of Li and Liu 2017 (HEART), measured again."""

from reservoir.bench.networks.experiment import run

__all__ = ["run"]
