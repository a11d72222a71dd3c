"""Data of the experiments, ``data/bench/NAME.toml``: what papers and others found, and how to read the figures."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from reservoir import resources


@cache
def bundled(experiment: str) -> dict[str, Any]:
    """The tables of an experiment's file; keys that are whole numbers are numbers."""
    return dict(_numbered(tomllib.loads(resources.path("data", f"bench/{experiment}.toml").read_text("utf-8"))))


def _numbered(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {int(name) if name.isdecimal() else name: _numbered(each) for name, each in value.items()}
