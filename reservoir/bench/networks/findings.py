"""What the runs of the experiment say, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reservoir.bench.experiment import select
from reservoir.bench.networks.runs import BASELINE, NO_LOCAL, TWO_LEVEL, NetworkSetup
from reservoir.bench.samples import p_value
from reservoir.planning.checks import Check
from reservoir.planning.validation import SIGNIFICANCE

#: Time of two levels beside that without a local level, on a GPU.
MOST_TIME = 0.5
#: Of two cores and of a large GPU: speed beside the baseline on two threads, and seconds of the search for a policy.
CPU_SPEED_UP, GPU_SPEED_UP = 1.5, 35.0
CPU_SEARCH_SECONDS, GPU_SEARCH_SECONDS = 60.0, 1.0


@dataclass(frozen=True, eq=False)
class NetworkFindings:
    """Tables of runs, of errors by iteration, of speeds in turn, and of searches for a policy with their caveats."""

    setup: NetworkSetup
    runs: pd.DataFrame
    traces: pd.DataFrame
    pairs: pd.DataFrame
    searches: pd.DataFrame
    caveats: tuple[str, ...]

    @property
    def speed_up(self) -> float:
        """Median speed beside the baseline."""
        return float(np.median(self.pairs["ratio"]))


def network_checks(found: NetworkFindings) -> Iterator[Check]:
    """Claims that this device and this effort can be held to; a quick trial claims nothing."""
    setup = found.setup
    if setup.effort.quick:
        return
    if 3 in setup.tables:
        yield from _variants(setup, select(found.runs, table=3))
    if setup.small_cpu or setup.large_gpu:
        if 5 in setup.tables:
            title = f"6-30-2, 5000 samples: speed beside the baseline on {setup.threads} threads, median"
            yield Check(title, found.speed_up, GPU_SPEED_UP if setup.large_gpu else CPU_SPEED_UP, at_least=True)
        most = GPU_SEARCH_SECONDS if setup.large_gpu else CPU_SEARCH_SECONDS
        yield Check("policy search, all years of the case, s", float(found.searches["seconds"].median()), most)


def _variants(setup: NetworkSetup, runs: pd.DataFrame) -> Iterator[Check]:
    two_level, no_local, baseline = (select(runs, engine=engine) for engine in (TWO_LEVEL, NO_LOCAL, BASELINE))
    if setup.effort.runs > 1:
        title = f"training error of {TWO_LEVEL} against the {BASELINE}, t-test, p"
        yield Check(title, p_value(two_level["error"], baseline["error"]), SIGNIFICANCE, at_least=True)
    error = two_level["error"].mean() / no_local["error"].mean()
    yield Check(f"mean training error, {TWO_LEVEL} / {NO_LOCAL}", error, 1.0)
    if setup.device.kind == "GPU":
        ratio = float(two_level["seconds"].median() / no_local["seconds"].median())
        yield Check(f"time, {TWO_LEVEL} / {NO_LOCAL}", ratio, MOST_TIME)
