"""Change keys of a reservoir file, or of a system's files: all keys are read again, so that every check holds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.hydro.reservoir import Reservoir, differing_parts, reservoir_digests
from reservoir.hydro.system import System, link_names
from reservoir.io.edited_file import differences, edited, place_of
from reservoir.io.reservoir_toml.draft import ONE_OF, WAYS_TO_POWER, known_unit, parsed
from reservoir.io.reservoir_toml.reader import is_system, reservoir_of_tree
from reservoir.io.reservoir_toml.writer import write_reservoir, write_system
from reservoir.io.system_file import FileText, content_and_tree, system_of
from reservoir.io.workbook import WORKBOOK

#: Values by dotted key of a file, such as ``storage.upper_hm3``, as TOML has them; None leaves a key out. Those of a
#: reservoir of a system, or of a link (``upper to lower:lost_share``), stand behind its name and a colon.
Changes = Mapping[str, Any]
#: Keys and sections of which a file has one: a change of one replaces the others.
_INSTEAD = (
    *(*ONE_OF, WAYS_TO_POWER),
    ("objective.goal", "objective.weights"),
    ("links.travel_steps", "links.travel_hours"),
)
#: Sections of a system file that have entries.
_SITES, _LINKS = "reservoirs", "links"
#: Keys of an entry of a system file that name files beside it.
_FILES = ("file", "inflow_file")


@dataclass(frozen=True)
class FileKeys:
    """The keys of a reservoir, or of a system and its reservoirs, as files have them, or would have them.

    Parameters
    ----------
    content : bytes
        Of the file.
    tree : mapping
        Its sections and keys.
    source : str
        What messages call the file; those that it names are beside it.
    files : mapping of int to FileText
        What these hold, by the places of the reservoirs in it; of those that can be read.
    """

    content: bytes
    tree: Mapping[str, Any]
    source: str
    files: Mapping[int, FileText] = field(default_factory=dict)

    @staticmethod
    def of(base: Reservoir | System) -> FileKeys:
        """The keys of the file that a reservoir or a system was read from; of one made otherwise, of a file to write.

        Raises
        ------
        InputError
            If no file can contain it.
        """
        with suppress(InputError):
            keys = FileKeys.read(base.content, base.source)
            if is_system(keys.tree) == isinstance(base, System) and _is_same(keys.changed({}), base):
                return keys
        text = write_system(base) if isinstance(base, System) else write_reservoir(base)
        return FileKeys.read(text.encode(), Path(base.source).name if isinstance(base, System) else base.source)

    @staticmethod
    def read(content: bytes, source: str) -> FileKeys:
        """The keys of a file, and of those that it names.

        Raises
        ------
        InputError
            If it is no TOML, or a workbook.
        """
        _require_text(content, source)
        tree = parsed(content, source)
        files = dict[int, FileText]()
        for place, entry in enumerate(_entries(tree, _SITES)):
            with suppress(InputError):  # of which is told who reads or changes it
                if "file" in entry:
                    files[place] = content_and_tree(Path(source).parent / entry["file"])
        return FileKeys(content, tree, source, files)

    def changed(self, changes: Changes) -> Any:
        """Read the keys with changes: a `Reservoir`, or a `System`.

        A changed key replaces the same quantity in another unit, and other ways to say the same
        (``plant.unit_capacity_mw`` by ``plant.installed_capacity_mw``).

        Raises
        ------
        InputError
            With every mistake, as `reservoir.read_system` does; of a reservoir of a system, keys are those of changes.
        """
        tree, trees = self._with(changes)
        if not is_system(tree):
            return reservoir_of_tree(tree, self.source)
        files = {
            place: file if trees[place] == file.tree else FileText(b"", trees[place])
            for place, file in self.files.items()
        }
        try:
            return system_of(b"", self.source, tree, files=files)
        except InputError as refused:
            raise InputError(map(_typed, refused.mistakes)) from None

    def edited(self, changes: Changes, folder: Path, name: str) -> dict[Path, bytes]:
        """The texts of the files with changes, from which is read what `changed` gives; all else stays as it is.

        Parameters
        ----------
        changes : mapping
        folder, name : Path, str
            Where they are going to be, and the stem of the first. The files of changed reservoirs of a system are
            ``NAME.RESERVOIR.toml``; those of others are named where they are.

        Raises
        ------
        InputError
            If there is no such reservoir, or a key cannot be changed as it is written.
        """
        tree, trees = self._with(changes)
        beside, files = Path(self.source).parent, dict[Path, bytes]()
        for place, (entry, called) in enumerate(zip(_entries(tree, _SITES), self._names(_SITES), strict=True)):
            for key in (key for key in _FILES if key in entry):
                entry[key] = Path(os.path.relpath(beside / entry[key], folder)).as_posix()
            if place in trees and trees[place] != self.files[place].tree:
                path, (content, before) = folder / f"{name}.{called}.toml", self.files[place]
                files[path] = edited(content, called, dict(differences(before, trees[place])))
                entry |= {"name": called, "file": path.name}
        return {folder / f"{name}.toml": edited(self.content, self.source, dict(differences(self.tree, tree)))} | files

    def as_written(self, key: str) -> str:
        """A key that may be typed without its unit, as the file has it; raises as `place_of` does."""
        (section, index), dotted = self._place(key)
        *sections, last = dotted.split(".")
        if section == _SITES and index in self.files:
            *_, written = place_of(self.files[index].tree, sections, last, self._names(section)[index])
        else:
            inside: list[str | int] = [section, index] if section else []
            *_, written = place_of(self.tree, [*inside, *sections], last, self.source)
        return f"{key.removesuffix(last)}{written}"

    def _names(self, section: str) -> list[str]:
        """Of the entries of a section of a system file: its reservoirs, or the links between them."""
        entries = _entries(self.tree, section)
        if section == _LINKS:
            return link_names((each.get("from"), each.get("to")) for each in entries)
        return [str(each.get("name", Path(str(each.get("file", ""))).stem)) for each in entries]

    def _place(self, key: str) -> tuple[tuple[str, int], str]:
        """Section and place of the entry that a key is of (no section, of none), and the key without its name."""
        (called, _, dotted), sites = key.rpartition(":"), self._names(_SITES)
        for section in (_SITES, _LINKS):
            if called in (names := self._names(section)):
                return (section, names.index(called)), dotted
        if called:
            names = [*sites, *self._names(_LINKS)]
            expected = f"one of {', '.join(names)}" if names else "a key without the name of a reservoir"
            raise InputError(
                "is no reservoir or link of this file", expected, file=self.source, column=key, value=called
            )
        return (_SITES if len(sites) == 1 else "", 0), dotted

    def _with(self, changes: Changes) -> tuple[dict[str, Any], dict[int, dict[str, Any]]]:
        """All keys with changes, and those of the files named."""
        tree, trees = deepcopy(dict(self.tree)), {place: dict(file.tree) for place, file in self.files.items()}
        by_entry: dict[tuple[str, int], dict[str, Any]] = {}
        for key, value in changes.items():
            entry, dotted = self._place(key)
            by_entry.setdefault(entry, {})[f"{_LINKS}.{dotted}" if entry[0] == _LINKS else dotted] = value
        for (section, place), own in by_entry.items():
            changed = _entries(tree, section)[place] if section else tree
            if section == _LINKS:
                changed = {_LINKS: changed}
            elif "file" in changed:
                content, of_file = self.files.get(place) or content_and_tree(Path(self.source).parent / changed["file"])
                _require_text(content, changed["file"])
                changed = trees[place] = deepcopy(dict(of_file))
            _change(changed, own)
        return tree, trees


def _require_text(content: bytes, file: str) -> None:
    """Refuse a workbook."""
    if content.startswith(WORKBOOK):
        mend = f"write one with `reservoir new NAME --from {file}`, and give it by --reservoir"
        raise InputError("is a workbook, which is not edited", "a reservoir file (TOML)", mend, file=file)


def _entries(tree: Mapping[str, Any], section: str) -> Sequence[dict[str, Any]]:
    """The entries of a section of a system file; of another file none."""
    return tree.get(section, ()) if is_system(tree) else ()


def _is_same(read: Reservoir | System, base: Reservoir | System) -> bool:
    """Whether what was read is what is planned, which may have been changed since it was read itself."""
    if isinstance(read, System) or isinstance(base, System):
        return write_system(read) == write_system(base)  # type: ignore[arg-type] # both are
    return read.name == base.name and not differing_parts(read, reservoir_digests(base))


def _typed(wrong: Mistake) -> Mistake:
    """A mistake of a reservoir or a link of a system at the key of a change."""
    name, column = re.search(r" \(reservoir (\S+)\)$", wrong.file or ""), wrong.column
    if inline := re.fullmatch(rf"(?:(?:{_SITES}|{_LINKS})\.)?(\S+) \((?:reservoir )?(.+)\)", column):
        return replace(wrong, column=f"{inline[2]}:{inline[1]}")
    return replace(wrong, column=f"{name[1]}:{column}") if name else wrong


def _change(tree: dict[str, Any], changes: Changes) -> None:
    """Put changes in the place of what says the same."""
    for dotted in changes:
        for key in (dotted, *_replaced(dotted)):
            section, _, written = key.rpartition(".")
            table, name = _table(tree, section), known_unit(section, written)[0]
            for same in [each for each in table if known_unit(section, each)[0] == name]:
                del table[same]
    for dotted, value in changes.items():
        section, _, written = dotted.rpartition(".")
        if value is not None:
            _table(tree, section, made=True)[written] = deepcopy(value)
    plant = _table(tree, "plant")
    if "plant.units" not in changes and not any(key.startswith("unit_") for key in plant):
        plant.pop("units", None)  # counts what is no longer given


def _replaced(dotted: str) -> Iterator[str]:
    """Other keys and sections that a changed key takes the place of."""
    section, _, written = dotted.rpartition(".")
    name = f"{section}.{known_unit(section, written)[0]}."
    for keys in _INSTEAD:
        own = [key for key in keys if name.startswith(f"{key}.")]
        yield from (key for key in keys if own and key not in own)


def _table(tree: dict[str, Any], section: str, *, made: bool = False) -> dict[str, Any]:
    """A section; where there is none, an empty one that is `made` there, or stands alone."""
    for part in filter(None, section.split(".")):
        if not isinstance(tree.get(part), dict):
            if not made:
                return {}
            tree[part] = {}
        tree = tree[part]
    return tree
