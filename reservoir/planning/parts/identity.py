"""What a run in parts is, so that only the same run goes on with parts that are kept."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from reservoir.hydro.identity import reservoir_digests
from reservoir.hydro.inflow import COMPANIONS
from reservoir.planning.search import Method
from reservoir.problems.reservoir.record import RecordProblems


def run_identity(problems: RecordProblems, method: Method, place: str) -> dict[str, Any]:
    """Everything that decides what a run finds, as JSON has it.

    Parameters
    ----------
    problems : RecordProblems
    method : Method
    place : str
        The devices that search.
    """
    inflow, hashed = problems.inflow, hashlib.sha256()
    for each in (inflow.flow_m3s, inflow.rng_stream_ids, *(getattr(inflow, name) for name in COMPANIONS)):
        hashed.update(b"" if each is None else np.ascontiguousarray(each).tobytes())
    reservoir = problems.model.reservoir
    identity = {
        "program": _version(),
        "reservoir": reservoir_digests(reservoir) | {"end value": reservoir.end_value_gwh_per_hm3},
        "inflow": hashed.hexdigest(),
        "years": inflow.years,
        "solver": method.solver,
        "seed": method.seed,
        "settings": dict(method.options),
        "reference": method.reference,
        "engine-only": method.engine_only,
        **({"best": True} if method.best else {}),
        "device": place,
    }
    found: dict[str, Any] = json.loads(json.dumps(identity, default=str))
    return found


def _version() -> str:
    try:
        return version("reservoir")
    except PackageNotFoundError:
        return ""
