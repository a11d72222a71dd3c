"""Runs and points as an experiment measures them, without measuring: numbers that are easily checked."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from reservoir.bench.case import DEVICE_ENGINE, PAPER, SEQUENTIAL, STREAM, CaseStudy
from reservoir.bench.experiment import RunBudget
from reservoir.bench.models import PHASES
from reservoir.bench.result import ExperimentResult
from reservoir.bench.scaling import COLUMNS
from reservoir.bench.tables import ResultTable
from reservoir.planning.checks import Check


def run_row(engine: str, seed: int, seconds: float, **values: Any) -> dict[str, Any]:
    """A run in which every segment takes a millisecond."""
    on_device = engine == DEVICE_ENGINE
    row = {
        **{"engine": engine, "random": STREAM, "seed": seed, "counted": True, "seconds": seconds},
        "device_seconds": seconds / 2 if on_device else np.nan,
        **{"benefit_gwh": 1000.0 + seed * 1e-4, "fitness_gwh": 1000.0 + seed * 1e-4, "violation": 0.0},
        **{"worst_gap": 1e-5 * seed, "worst_year": "1953", "mean_gap": 1e-6, "generations": 100, "evaluations": 10**6},
        **{f"{name}_seconds": 1e-3 if on_device else np.nan for name in PHASES},
    }
    return row | values


@pytest.fixture
def runs() -> pd.DataFrame:
    """Four counted runs of each engine, at 0.1 s and 1 s about, and the paper's random numbers."""
    rows = [run_row(DEVICE_ENGINE, 1, 0.5, counted=False)]
    for run in range(4):
        rows.append(run_row(DEVICE_ENGINE, 1 + run, 0.1 + 0.01 * run))
        rows.append(run_row(SEQUENTIAL, 5 + run, 1.0 + 0.1 * run, benefit_gwh=1000.0 + run * 1e-4))
    rows += [run_row(DEVICE_ENGINE, 1, 0.9, counted=False, random=PAPER), run_row(DEVICE_ENGINE, 2, 0.2, random=PAPER)]
    return pd.DataFrame(rows)


@pytest.fixture
def points() -> pd.DataFrame:
    """Two sweeps, and a point that the device refused."""
    common = {"particles": 40, "devices": 1, "generations": 100, "lanes": 8, "items": 1, "swarms": 1, "runs": 3}
    speeds = {"device_seconds": 1.0, "wall_seconds": 1.1, "evaluations_per_second": 8e8, "part_of_limit": 0.1}
    rows = [
        {"sweep": sweep, "value": value, "years": 10_000, "moves_per_second": 1e9 * (1 + place), "refused": ""}
        | common
        | speeds
        for sweep, values in (("years", (62, 1000, 100_000)), ("swarms", (1, 2)))
        for place, value in enumerate(values)
    ]
    refused = {"sweep": "swarms", "value": 6, "years": 62, "particles": 40, "devices": 1, "refused": "too many items."}
    return pd.DataFrame([*rows, refused], columns=list(COLUMNS))


@pytest.fixture
def case_study(six_year_plan, two_cores, runs, points) -> CaseStudy:
    """The runs and points on two cores."""
    data = {"runs": runs, "scaling": points}
    return CaseStudy(device=two_cores, budget=RunBudget(), plan=six_year_plan, settings={}, data=data)


@pytest.fixture
def record() -> ExperimentResult:
    """A record with everything in it but figures."""
    frame = pd.DataFrame({"engine": ["a|b", "c"], "seconds": [1234.5678, np.nan], "runs": [3, 12]})
    return ExperimentResult(
        title="small on a device",
        warnings=("synthetic inflow",),
        headlines={"Speed-up": "9 times"},
        checks=(Check("violation", 0.0, 0.0), Check("speed-up", 7.0, 8.0, at_least=True)),
        tables=(ResultTable("Times", frame, ("In seconds.",), {"seconds": ",.1f"}),),
        data={"runs": frame},
        figures={},
        captions={},
        origin={"device": {"name": "a device"}, "seed": 1},
    )
