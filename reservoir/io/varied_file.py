"""A reservoir file, or that of a system, with keys at other values: what is written for each variant of a batch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from reservoir.io.file_keys import FileKeys
from reservoir.io.reservoir_toml.draft import file_content


def variants_of(values: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Every combination of values of keys, by a name for files: ``full_hm3-95``, ``full_hm3-95_penalty-2``."""
    split = {key: key.rpartition(":")[::2] for key in values}
    short = {key: "-".join([*re.findall(r"[\w-]+", of), own.rpartition(".")[2]]) for key, (of, own) in split.items()}
    often = Counter(short.values())
    short = {key: name if often[name] == 1 else "-".join(re.findall(r"[\w-]+", key)) for key, name in short.items()}
    for form in ("{:.6g}", "{:.12g}"):
        variants = {
            "_".join(f"{short[key]}-{form.format(value)}" for key, value in zip(values, some, strict=True)): dict(
                zip(values, some, strict=True)
            )
            for some in product(*values.values())
        }
        if len(variants) == len([*product(*values.values())]):
            break
    return variants


def varied_files(file: Path, values: Mapping[str, float], folder: Path, name: str) -> dict[Path, bytes]:
    """What the files of a variant hold: those of a reservoir file, or of a system file, with some keys changed.

    Parameters
    ----------
    file : Path
        The file.
    values : mapping of str to float
        By dotted keys, which may lack their units; those of a reservoir of a system behind its name and a colon.
    folder, name : Path, str
        See `FileKeys.edited`.

    Raises
    ------
    InputError
        If it is a workbook, has no such reservoir, or a key in another unit or written otherwise.
    """
    keys = FileKeys.read(file_content(file), str(file))
    changes = {keys.as_written(key): int(value) if value.is_integer() else value for key, value in values.items()}
    return keys.edited(changes, folder, name)
