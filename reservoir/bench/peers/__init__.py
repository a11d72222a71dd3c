"""The race against other libraries: the time until every year is near its reference optimum, side by side in one run.

`libraries` lists them. Each is imported only in the processes in which it runs: what is not installed is reported, and
no error.
"""

from reservoir.bench.peers.figure import draw_peers
from reservoir.bench.peers.race import PeerRace, time_peers

__all__ = ["PeerRace", "draw_peers", "time_peers"]
