"""Digests of tables and texts, but for what measures time or tells of the machine."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

#: Columns and keys that differ from run to run.
_VOLATILE = re.compile(
    r"seconds|_s$|per_(?:\w+_)?second|(?:^|_)ratio|part_of_limit|created|machine|packages|version|sha256|runs_per|^cpu"
)
#: What sentences say of the same: times, devices, and folders.
_SAID = re.compile(r"\b[\d.,]+ (?:ms|s|seconds|minutes|MB)\b|/tmp/[^\s\"',:;]+")


def digest_of_table(*tables: pd.DataFrame) -> str:
    """Of all numbers of tables, to the last bit."""
    return digest_of_text("".join(_steady_table(each).to_csv() for each in tables))


def digest_of_text(text: str) -> str:
    """Of a text, without the times and folders in it."""
    return hashlib.sha256(_SAID.sub("", text).encode()).hexdigest()[:24]


def digests_of_files(label: str, folder: Path) -> Iterator[tuple[str, str]]:
    """A label and a digest for each table, rule and array below a folder."""
    for path in sorted(folder.rglob("*")):
        name = f"{label}/{path.relative_to(folder)}"
        if path.suffix == ".csv":
            yield name, digest_of_text(_steady_csv(path))
        elif path.suffix == ".json" and path.name != "bench.json" and ".zarr" not in name:
            yield name, digest_of_json(path.read_text("utf-8"))
        elif path.suffix in (".nc", ".zarr"):
            yield from _digests_of_arrays(name, path)
        elif path.suffix == ".toml":
            yield name, digest_of_text(path.read_text("utf-8"))


def digest_of_json(text: str) -> str:
    """Of a JSON text."""
    return digest_of_text(json.dumps(_steady(json.loads(text))))


def _digests_of_arrays(name: str, path: Path) -> Iterator[tuple[str, str]]:
    import xarray

    with xarray.open_dataset(path, decode_times=False, **({"consolidated": False} if path.is_dir() else {})) as dataset:
        for variable in sorted(map(str, dataset.variables)):
            if not _VOLATILE.search(variable):
                values = np.ascontiguousarray(dataset[variable].values)
                yield f"{name}:{variable}", digest_of_text(f"{values.shape} {values.tolist()!r}")


def _steady_csv(path: Path) -> str:
    text = path.read_text("utf-8")
    return (
        text if text.startswith("#") else _steady_table(pd.read_csv(io.StringIO(text), dtype=str)).to_csv(index=False)
    )


def _steady_table(table: pd.DataFrame) -> pd.DataFrame:
    return table[[name for name in table if not _VOLATILE.search(str(name))]]


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(each) for key, each in value.items() if not _VOLATILE.search(key)}
    return [_steady(each) for each in value] if isinstance(value, list) else value
