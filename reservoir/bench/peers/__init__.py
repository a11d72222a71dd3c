"""The race against other libraries: the time until every year is near its reference optimum, side by side in one run.

`libraries` lists them. Each has one module, ``<library>_search.py``, which alone imports it, and only in the processes
in which it runs: what is not installed is reported, and no error.
"""

from reservoir.bench.peers.figure import draw_peers
from reservoir.bench.peers.race import PeerRace, time_peers

__all__ = ["PeerRace", "draw_peers", "time_peers"]
