"""A reservoir file, or that of a system, with keys at other values: what is written for each variant of a batch."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from reservoir.errors import InputError
from reservoir.io.edited_file import Place, edited, place_of
from reservoir.io.reservoir_toml.draft import file_content, parsed
from reservoir.io.reservoir_toml.reader import is_system
from reservoir.io.workbook import WORKBOOK

#: Keys of an entry of a system file that name files beside it.
_FILES = ("file", "inflow_file")


def variants_of(values: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Every combination of values of keys, by a name for files: ``full_hm3-95``, ``full_hm3-95_penalty-2``."""
    short = {key: "-".join(filter(None, (key.rpartition(":")[0], key.rpartition(".")[2]))) for key in values}
    often = Counter(short.values())
    short = {key: name if often[name] == 1 else key.replace(":", "-").replace(".", "-") for key, name in short.items()}
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
        By dotted keys as the file has them, those of a reservoir of a system behind its name and a colon.
    folder, name : Path, str
        Where they are going to be, and the stem of the first, which names the others.

    Raises
    ------
    InputError
        If it is a workbook, has no such reservoir, or a key in another unit or written otherwise.
    """
    content = file_content(file)
    if content.startswith(WORKBOOK):
        mend = f"write one with `reservoir new NAME --from {file}`, and give it by --reservoir"
        raise InputError("is a workbook, which is not edited", "a reservoir file (TOML)", mend, file=str(file))
    tree = parsed(content, str(file))
    changes: dict[int, dict[Place, Any]] = {}
    own: dict[Place, Any] = {}
    entries = tree["reservoirs"] if is_system(tree) else []
    names = [str(each.get("name", Path(str(each.get("file", ""))).stem)) for each in entries]
    for key, value in values.items():
        site, _, dotted = key.rpartition(":")
        *sections, last = dotted.split(".")
        number = int(value) if value.is_integer() else value
        if site and site not in names:
            expected = f"one of {', '.join(names)}" if names else "a key without the name of a reservoir"
            raise InputError("is no reservoir of this file", expected, file=str(file), column=key, value=site)
        if not site and len(entries) != 1:
            own[place_of(tree, sections, last, str(file))] = number
            continue
        index = names.index(site) if site else 0
        if "file" in entries[index]:
            changes.setdefault(index, {})[(*sections, last)] = number
        else:
            own[place_of(tree, ("reservoirs", index, *sections), last, str(file))] = number
    files = dict[Path, bytes]()
    for index, entry in enumerate(entries):
        for key in (key for key in _FILES if key in entry):
            own["reservoirs", index, key] = Path(os.path.relpath(file.parent / entry[key], folder)).as_posix()
        if index in changes:
            source = file.parent / entry["file"]
            given = file_content(source)
            of_site = parsed(given, str(source))
            places = {place_of(of_site, key[:-1], str(key[-1]), str(source)): v for key, v in changes[index].items()}
            path = folder / f"{name}.{names[index]}.toml"
            files[path] = edited(given, str(source), places)
            own |= {("reservoirs", index, "name"): names[index], ("reservoirs", index, "file"): path.name}
    return {folder / f"{name}.toml": edited(content, str(file), own)} | files
