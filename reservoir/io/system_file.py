"""System file (TOML) -> System: its reservoirs by file or inline, links, what they share; all mistakes of all files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from reservoir.errors import InputError, Mistake
from reservoir.hydro.attributes import LINK_ATTRIBUTES, SITE_ATTRIBUTES, Attribute, FileKind, Kind
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.checks import mistakes_between
from reservoir.hydro.objectives import Goal
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import Carried, InflowSource, Link, System, link_mistakes
from reservoir.io.reservoir_toml.draft import KEYS_OF, Draft, file_content, parsed, unknown_key
from reservoir.io.reservoir_toml.reader import (
    Values,
    fields_of,
    is_system,
    read_reservoir,
    read_value,
    reservoir_of_tree,
    reservoir_of_workbook,
    sound_values,
)
from reservoir.io.workbook import WORKBOOK
from reservoir.text.data_file import text_of
from reservoir.text.quantities import is_name

#: The lists of a system file, with the rows of an entry.
ENTRIES: Mapping[str, tuple[Attribute, ...]] = {"reservoirs": SITE_ATTRIBUTES, "links": LINK_ATTRIBUTES}
#: Sections that a system file shares with that of a reservoir.
_SHARED = ("objective", "horizon")
#: What the reservoirs' files may say too, if they say the same; of the objective all but the penalty.
_AGREED = ("first_month", "calendar", "step", "horizon.span")


def read_system(path: str | Path, *, step: TimeStep | str | None = None) -> System:
    """Read and check a system file with all files that it names; of one reservoir, its own file, or a workbook.

    Parameters
    ----------
    path : str or Path
        A TOML file with ``[[reservoirs]]`` and ``[[links]]``, or one that `read_reservoir` reads.
    step : TimeStep or str, optional
        Time step to plan for, in place of the one in the files.

    Returns
    -------
    System
        Volumes in hm3, flows in m3/s, travel times in steps, whatever the files' units.

    Raises
    ------
    InputError
        With every mistake in all files.
    """
    content = file_content(path)
    tree = {} if content.startswith(WORKBOOK) else parsed(content, str(path))
    if not is_system(tree):
        return System.of(read_reservoir(path, step=step))
    if step is not None and step not in tuple(TimeStep):
        raise InputError("is unknown", " or ".join(TimeStep), "give one of these", column="step", value=step)
    return _SystemFile(Path(path), content, tree, None if step is None else TimeStep(step)).system()


def names_system(path: str | Path) -> bool:
    """Whether a file is that of a system; False where it cannot be read, which its reader tells."""
    with suppress(InputError):
        content = file_content(path)
        return not content.startswith(WORKBOOK) and is_system(parsed(content, str(path)))
    return False


class _Entry(NamedTuple):
    """An entry of a list: its place, its own keys, what of a reservoir stands in it, and what messages call it."""

    section: str
    place: int
    draft: Draft
    values: Values
    inline: Mapping[str, Any]
    name: str


class _Stated(NamedTuple):
    """What a file says of what all share: where, the key as written, and the value as text and as read."""

    file: str
    key: str
    shown: object
    value: Any


@dataclass(frozen=True)
class _SystemFile:
    """A parsed system file."""

    path: Path
    content: bytes
    tree: Mapping[str, Any]
    step: TimeStep | None

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """Numbers of lines by sections and keys, entries numbered from 0: ``links.1.to``."""
        counts, prefix, places = dict[str, int](), "", dict[str, int]()
        for number, line in enumerate(text_of(self.content, str(self.path)).split("\n"), 1):
            if entry := re.match(r"\s*\[\[\s*([\w-]+)\s*\]\]", line):
                counts[entry[1]] = counts.get(entry[1], -1) + 1
                prefix = f"{entry[1]}.{counts[entry[1]]}"
                places.setdefault(prefix, number)
                places.setdefault(entry[1], number)
            elif section := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
                first, dot, rest = section[1].partition(".")
                prefix = f"{first}.{counts[first]}{dot}{rest}" if first in counts else section[1]
                places.setdefault(prefix, number)
            elif key := re.match(r"\s*([\w-]+)\s*=", line):
                places.setdefault(f"{prefix}.{key[1]}".lstrip("."), number)
        return places

    def at(self, key: str) -> str:
        """The file with the line of a key, or of the section around it."""
        while key and key not in self.lines:
            key = key.rpartition(".")[0]
        return f"{self.path}, line {self.lines[key]}" if key else str(self.path)

    def of_entry(self, mistake: Mistake, section: str, place: int, name: str) -> Mistake:
        """The same mistake with its line, and what the entry is called."""
        key = mistake.column.removeprefix(f"{section}.").removeprefix(section)
        column = f"{section}.{key}".rstrip(".") + (f" ({name})" if name else "")
        return replace(mistake, file=self.at(f"{section}.{place}.{key}"), column=column)

    def system(self) -> System:
        """The system, or InputError with every mistake."""
        draft, values, sections, mistakes = self._top()
        sites, links = self._entries("reservoirs", mistakes), self._entries("links", mistakes)
        names = {site.place: self._name_of(site, mistakes) for site in sites}
        trees = {site.place: self._tree_of(site, mistakes) for site in sites}
        shared, apart = self._agreed(draft, values, sites, trees)
        mistakes += apart
        reservoirs = [self._reservoir(site, names[site.place], trees[site.place], shared, mistakes) for site in sites]
        made = [self._link(link, shared.get("step", TimeStep.MONTH), mistakes) for link in links]
        whole = [(entry, link) for entry, link in zip(links, made, strict=True) if link is not None]
        if len(sites) == len(self.tree.get("reservoirs", ())):  # an entry that is none is told already

            def stated(place: int, key: str, problem: str, expected: str, mend: str) -> Mistake:
                wrong = Mistake(problem, expected, mend, column=key)
                if place < 0:
                    return replace(wrong, file=self.at("links"), column="links")
                entry = whole[place][0]
                value = entry.draft.entry(f"links.{key}").value
                return self.of_entry(replace(wrong, value=value), "links", entry.place, entry.name)

            mistakes += link_mistakes(list(names.values()), [link for _, link in whole], stated)
        parts = fields_of({**values, **shared}, sections)
        known = [each for each in reservoirs if each is not None]
        of_sum = {name: parts[name] for name in ("objective", "step", "first_month", "calendar") if name in parts}
        if len(known) == len(sites):
            of_sum["installed_mw"] = sum(each.installed_mw for each in known)
        mistakes += (replace(wrong, file=self.at(wrong.column)) for wrong in mistakes_between(of_sum, draft))
        if mistakes:
            raise InputError(dict.fromkeys(mistakes))
        sources = {names[site.place]: _source(site, self.path) for site in sites}
        texts = {name: parts[name] for name in ("description", "caveat")}
        return System(
            tuple(known),
            tuple(link for _, link in whole),
            **{name: parts[name] for name in ("objective", "penalty", "horizon", "first_month", "calendar", "step")},
            **texts,
            name=parts.get("name") or (self.path.stem if is_name(self.path.stem) else "system"),
            source=str(self.path),
            sha256=hashlib.sha256(self.content).hexdigest(),
            content=self.content,
            inflow_of=sources,
        )

    def _top(self) -> tuple[Draft, Values, set[str], list[Mistake]]:
        """What the file says of the system itself."""
        mistakes = list[Mistake]()
        own = {key: value for key, value in self.tree.items() if key not in ENTRIES}
        for key, value in list(own.items()):
            wrong = self._strange(key, value)
            if wrong is not None:
                mistakes.append(replace(wrong, file=self.at(key), column=key))
                del own[key]
        for section in ENTRIES:
            if not isinstance(self.tree.get(section, []), list) or self.tree.get(section, "") == []:
                mend, expected = f"write [[{section}]] above the keys of each", f"entries [[{section}]]"
                mistakes.append(Mistake("is no list", expected, mend, file=self.at(section), column=section))
        if "reservoirs" not in self.tree:
            mend = 'write [[reservoirs]] with name = "..." and file = "..." for each'
            mistakes.append(Mistake("has no reservoirs", "entries [[reservoirs]]", mend, file=str(self.path)))
        draft = Draft.of({"kind": FileKind.SYSTEM, **own}, str(self.path))
        values, sections, refused = sound_values(draft, {})
        mistakes += (replace(wrong, file=self.at(wrong.column)) for wrong in (*draft.mistakes, *refused))
        unit = fields_of(values, sections)["objective"].unit
        if "objective.penalty_gwh" in values and unit != "GWh":
            wrong = draft.mistake("objective.penalty_gwh", "is in GWh, which the objective is not")
            mistakes.append(replace(wrong, file=self.at(wrong.column), mend="write penalty in place of penalty_gwh"))
        if draft.has("objective.goal") and draft.has("objective.weights"):
            wrong = draft.mistake("objective.goal", "contradicts [objective.weights]", mend="remove one of the two")
            mistakes.append(replace(wrong, file=self.at(wrong.column)))
        if self.step is not None:
            values["step"] = self.step
        return draft, values, sections, mistakes

    @staticmethod
    def _strange(key: str, value: object) -> Mistake | None:
        """What is wrong with a key at the top that is no part of a system, if anything."""
        if isinstance(value, list) and (near := get_close_matches(key, ENTRIES, 1, 0.7)):
            return Mistake("is not a known list", f"[[{near[0]}]]", f"write [[{near[0]}]] if that is meant")
        if isinstance(value, dict) and key in KEYS_OF and key not in _SHARED:
            mend = f"move it into the file of the reservoir, or below its [[reservoirs]] as [reservoirs.{key}]"
            return Mistake("is of one reservoir, not of the system", f"one of {', '.join(_SHARED)}", mend)
        return None

    def _entries(self, section: str, mistakes: list[Mistake]) -> list[_Entry]:
        """Entries of a list, each with what is sound of its own keys."""
        given = self.tree.get(section, [])
        entries, rows = list[_Entry](), {row.name: row for row in ENTRIES[section]}
        for place, entry in enumerate(given if isinstance(given, list) else []):
            if not isinstance(entry, dict):
                wrong = Mistake("is not an entry with keys", f"[[{section}]], and its keys below it", column=section)
                mistakes.append(self.of_entry(wrong, section, place, ""))
                continue
            parts = {key for key in entry if section == "reservoirs" and key not in rows and self._is_part(key)}
            own = {key: value for key, value in entry.items() if key not in parts}
            draft, values = Draft.of({section: own}, str(self.path)), Values()
            wrong_keys = list(draft.mistakes)
            for dotted, written in draft.entries.items():
                name = dotted.removeprefix(f"{section}.")
                if name in rows:
                    try:
                        values[name] = _read(rows[name], written.scaled, dotted, draft)
                    except InputError as refused:
                        wrong_keys += refused.mistakes
                elif dotted != section and name.count(".") == 0:
                    wrong_keys.append(unknown_key(dotted, draft)[0])
            wrong_keys += (
                draft.mistake(row.key, "is missing", row.meaning, f"add {row.name} = ... below its [[{section}]]")
                for row in rows.values()
                if row.required and not draft.has(row.key)
            )
            called = entry.get("name", entry.get("file", "")) if section == "reservoirs" else _way(entry)
            name = called if isinstance(called, str) else ""
            mistakes += (self.of_entry(wrong, section, place, name) for wrong in wrong_keys)
            entries.append(_Entry(section, place, draft, values, {key: entry[key] for key in parts}, name))
        return entries

    @staticmethod
    def _is_part(key: str) -> bool:
        """Whether a key of an entry is one of a reservoir file."""
        return any(row.name == key for row in KEYS_OF[""])

    def _name_of(self, site: _Entry, mistakes: list[Mistake]) -> str:
        """The name of a reservoir within the system, if only by the name of its file."""
        file = site.values.get("file", "")
        if "name" not in site.values and not site.draft.has("reservoirs.name") and not is_name(Path(file).stem):
            wrong = site.draft.mistake("reservoirs.name", "is missing", "a name of letters, digits, - and _")
            mistakes.append(self.of_entry(wrong, "reservoirs", site.place, site.name))
        return str(site.values.get("name", Path(file).stem or site.name))

    def _tree_of(self, site: _Entry, mistakes: list[Mistake]) -> tuple[Mapping[str, Any], str, bytes] | None:
        """The keys of a reservoir, the file that has them, and its bytes; None where there is none, which is told."""
        file = site.values.get("file")
        wrong = None
        if file is not None and site.inline:
            beside = ", ".join(sorted(site.inline))
            wrong = Mistake(f"stands beside {beside}", "a file, or the sections of one", "remove one of the two")
        elif file is None and not site.inline and not site.draft.has("reservoirs.file"):
            wrong = Mistake("is missing", "a reservoir file, or its sections, such as [reservoirs.storage]")
        if wrong is not None:
            wrong = replace(wrong, column="reservoirs.file")
            mistakes.append(self.of_entry(wrong, "reservoirs", site.place, site.name))
            return None
        if file is None:
            return (site.inline, "", b"") if site.inline else None
        path = str(self.path.parent / file)
        try:
            content = file_content(path)
            tree = {} if content.startswith(WORKBOOK) else parsed(content, path)
            if is_system(tree):
                raise InputError("is a system file itself", "a reservoir file", "name its reservoirs here", file=path)
            return tree, path, content
        except InputError as refused:
            of_site = f"{path} (reservoir {site.name}, {self.at(f'reservoirs.{site.place}.file')})"
            mistakes += (replace(each, file=of_site) for each in refused.mistakes)
            return None

    def _agreed(
        self, top: Draft, values: Values, sites: list[_Entry], trees: Mapping[int, Any]
    ) -> tuple[Values, list[Mistake]]:
        """What all share and some file says, and where another file says otherwise."""
        said: dict[str, _Stated] = {}
        for key, entry in top.entries.items():
            if key in values and _is_shared(key):
                said[key] = _Stated(self.at(key), entry.key, entry.value, values[key])
        if not any(key.startswith("objective.weights") for key in said):
            of_system = _Stated(str(self.path), "objective.goal", "energy", Goal.ENERGY)
            said.setdefault("objective.goal", of_system)
        mistakes = list[Mistake]()
        for site in sites:
            tree, file, _ = trees[site.place] or ({}, "", b"")
            draft = Draft.of(tree, file)
            of_reservoir, *_ = sound_values(draft, {})
            for key, value in of_reservoir.items():
                if not _is_shared(key) or (key == "step" and self.step is not None):
                    continue
                written = draft.entry(key)
                own = f"reservoirs.{site.place}.{written.key}"
                line = _line_of(tree, trees[site.place][2], written.key) if file else None
                own = f"{file}, line {line}" if file else self.at(own)
                first = said.get(key)
                if first is None and not key.startswith("objective."):
                    said[key] = _Stated(own, written.key, written.value, value)
                elif first is None or _text(first.value) != _text(value):
                    other = f"{first.file} says {_shown(first)}" if first else f"{self.path} says nothing of it"
                    mend = f"remove it here, or state it in {self.path} alone"
                    column, shown = f"{written.key} (reservoir {site.name})", _shown_value(written.value)
                    problem = f"is another than that of the system: {other}"
                    mistakes.append(Mistake(problem, "the same for all", mend, own, column=column, value=shown))
        return {key: each.value for key, each in said.items() if key in _AGREED}, mistakes

    def _reservoir(
        self, site: _Entry, name: str, found: Any, shared: Values, mistakes: list[Mistake]
    ) -> Reservoir | None:
        """A reservoir as all share it; None where it has mistakes, which are told."""
        if found is None:
            return None
        tree, file, content = found
        stated = {key: value for key, value in shared.items() if key in _AGREED}
        try:
            if content.startswith(WORKBOOK):
                reservoir = reservoir_of_workbook(Path(file), stated)
            elif file:
                about = {"source": file, "sha256": hashlib.sha256(content).hexdigest(), "content": content}
                reservoir = reservoir_of_tree(tree, file, stated, about)
            else:
                reservoir = reservoir_of_tree({**tree, "name": name}, "", stated, {"source": str(self.path)})
            return reservoir if reservoir.name == name else replace(reservoir, name=name)
        except InputError as refused:
            for wrong in refused.mistakes:
                if file:
                    line = _line_of(tree, content, wrong.column)
                    where = f"{wrong.file or file}{f', line {line}' if line else ''} (reservoir {site.name})"
                    mistakes.append(replace(wrong, file=where))
                else:
                    mistakes.append(self.of_entry(wrong, "reservoirs", site.place, site.name))
            return None

    def _link(self, entry: _Entry, step: TimeStep, mistakes: list[Mistake]) -> Link | None:
        """A link, with its travel time in steps; None where it has no source, which is told."""
        values = dict(entry.values)
        hours = values.pop("travel_hours", None)
        if hours is not None and "travel_steps" in values:
            wrong = entry.draft.mistake("links.travel_hours", "contradicts travel_steps", "only one of the two")
            mistakes.append(self.of_entry(wrong, "links", entry.place, entry.name))
        elif hours is not None:
            values["travel_steps"] = float(f"{hours / step.hours:.12g}")
        fields = {row.name: row.field for row in LINK_ATTRIBUTES}
        return Link(**{fields[name]: value for name, value in values.items()}) if "from" in values else None


def _read(row: Attribute, given: Any, dotted: str, draft: Draft) -> Any:
    """What an entry gives for an attribute; a link carries a share, or a part that has a name: InputError."""
    if row.name == "carries":
        is_share = isinstance(given, int | float) and not isinstance(given, bool)
        row = replace(row, kind=Kind.NUMBER if is_share else Kind.CHOICE, choices=Carried)
    return read_value(row, given, dotted, draft)


def _way(entry: Mapping[str, Any]) -> str:
    return f"{entry.get('from', '?')} to {entry.get('to', 'the end of the river')}"


def _is_shared(key: str) -> bool:
    """Whether a system says what is at a key of a reservoir's file."""
    return key in _AGREED or (key.startswith("objective.") and not key.startswith("objective.penalty"))


def _line_of(tree: Mapping[str, Any], content: bytes, key: str) -> int | None:
    """The line of a key of a file of one reservoir, or of the section around it; None where it is not there."""
    if not tree or content.startswith(WORKBOOK):
        return None
    lines = _SystemFile(Path(), content, tree, None).lines
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key)


def _text(value: Any) -> str:
    """A value as compared: lists by their numbers."""
    return str(value.tolist() if hasattr(value, "tolist") else value)


def _shown(stated: _Stated) -> str:
    value = _shown_value(stated.shown)
    return f"{stated.key} = {value}" if value is not None else f"another {stated.key}"


def _shown_value(value: object) -> object:
    return value if isinstance(value, str | int | float) else None


def _source(site: _Entry, path: Path) -> InflowSource:
    """Where the inflow of a reservoir is."""
    file = site.values.get("inflow_file", "")
    return InflowSource(
        site.values.get("inflow", ""), str(path.parent / file) if file else "", site.values.get("inflow_is")
    )
