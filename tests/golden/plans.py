"""Digests of what every engine plans for an invented lake, through public names alone."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reservoir
from tests.golden.lake import LAKES, write_files
from tests.golden.tables import digest_of_table

FEW = {"evaluations": 4000}
SWARM = {"particles": 32, "generations": 100}
ISLANDS = {"islands": 2, "island_size": 32, "iterations": 60, "migrate_every": 15}
#: What engines are given beside their defaults, in one call each.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "clpso": [
        SWARM,
        *({**SWARM, "model": each} for each in ("basic", "intermediate", "final")),
        *({**SWARM, "model": "final", "random": each} for each in ("host", "kernel")),
        {**SWARM, "exemplars": "strict"},
        {**SWARM, "exchange_interval": 5},
    ],
    "clpso-sequential": [SWARM],
    "lshade": [FEW, {**FEW, "archive_fraction": 2.6}, {**FEW, "polish": True}],
    "lshade-sequential": [FEW],
    "ann-pso": [SWARM, {**SWARM, "random": "congruential"}],
    "ann-pso-parallel": [SWARM],
    "island-ga": [{**ISLANDS, "scheme": each} for each in ("lim-is", "lim-cg", "tim", "sak", "slk")],
    "island-ga-sequential": [ISLANDS],
    "ring-pso": [SWARM],
    "ring-pso-sequential": [SWARM],
    "dsmga2": [{"generations": 3, "model": each} for each in ("on-demand", "sequential", "lossless", "lossy")],
    "dp": [{}],
    "dp-opencl": [{}],
}
#: Engines that plan every lake, and those that plan a record as one problem.
_ALL_LAKES = ("clpso", "clpso-sequential", "lshade", "lshade-sequential", "dp", "dp-opencl")
_RECORDS = ("clpso", "lshade", "dp", "dp-opencl")
_BRIEF = {"most_sweeps": 2, "window_steps": 12}


def plan_digests(device: str, only: str = "") -> Iterator[tuple[str, str]]:
    """A label and a digest for each plan; of what cannot be planned so, the reason."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_files(folder)
        for label, lake, call in _calls():
            if re.search(only, label):
                yield label, _digest(folder / f"{lake}.toml", folder / "record-6.csv", device=device, **call)


def _calls() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for engine, settings in SETTINGS.items():
        for given in settings:
            words = (f"{key}={value}" for key, value in given.items())
            yield " ".join((engine, "plain", *words)), "plain", {"solver": engine, **given}
    for lake in LAKES:
        for engine in _ALL_LAKES if lake != "plain" else ():
            yield f"{engine} {lake}", lake, {"solver": engine, **SETTINGS[engine][0]}
    for lake in ("losses", "power", "firm-power", "revenue"):
        for engine in _RECORDS:
            brief = _BRIEF if engine in ("clpso", "lshade") else {}
            call = {"solver": engine, "horizon": "record", **SETTINGS[engine][0], **brief}
            yield f"{engine} {lake} record", lake, call
    yield "dp losses 2 years", "losses", {"solver": "dp", "horizon": 2}
    yield "dp free from 2001-06", "free", {"solver": "dp", "start": "2001-06", "start_hm3": 80.0}


def _digest(lake: Path, record: Path, **call: Any) -> str:
    try:
        plan = reservoir.optimise(
            reservoir.read_reservoir(lake), reservoir.read_inflow(record), reference=False, engine_only=True, **call
        )
    except reservoir.ReservoirError as error:
        return f"refused: {error}".replace(str(lake.parent), "")
    return digest_of_table(plan.schedule(), plan.summary())
