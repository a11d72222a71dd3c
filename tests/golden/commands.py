"""Digests of the tables that commands write, but for the seconds in them."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

EXPERIMENTS = ("case", "clpso", "ann", "ring-pso", "tsp", "dsmga2", "functions")

#: Columns and keys that measure time or tell of the machine: they differ from run to run.
_VOLATILE = re.compile(r"seconds|_s$|per_second|ratio|part_of_limit|created|machine|packages|version|sha256|runs_per")


def command_digests(device: str, folder: Path) -> Iterator[tuple[str, str]]:
    """A label and a digest for each table that the commands write below a folder."""
    for label, words in _calls(device, folder):
        command = [sys.executable, "-m", "reservoir", *words]
        subprocess.run(command, check=False, capture_output=True, text=True, timeout=1800)
        yield from _tables(label, folder / label)


def _calls(device: str, folder: Path) -> Iterator[tuple[str, list[str]]]:
    def out(label: str) -> list[str]:
        return ["--out", str(folder / label), "--force"]

    on = ["--device", device]
    yield "plan", ["plan", *on, *out("plan")]
    yield "plan", ["rules", str(folder / "plan"), "--force"]
    yield "lshade", ["plan", "--solver", "lshade", *on, *out("lshade")]
    yield "observed", ["plan", "--case", "xiaowan-observed", "--solver", "dp", *out("observed")]
    for experiment in EXPERIMENTS:
        yield f"bench-{experiment}", ["bench", experiment, "--quick", *on, *out(f"bench-{experiment}")]


def _tables(label: str, folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        name = f"{label}/{path.relative_to(folder)}"
        if path.suffix == ".csv":
            yield name, _of_text(_steady_csv(path))
        elif path.suffix == ".json" and path.name != "bench.json":
            yield name, _of_text(json.dumps(_steady(json.loads(path.read_text("utf-8")))))


def _steady_csv(path: Path) -> str:
    text = path.read_text("utf-8")
    if text.startswith("#"):
        return text
    table = pd.read_csv(io.StringIO(text), dtype=str)
    return table[[name for name in table if not _VOLATILE.search(name)]].to_csv(index=False)


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(each) for key, each in value.items() if not _VOLATILE.search(key)}
    return [_steady(each) for each in value] if isinstance(value, list) else value


def _of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
