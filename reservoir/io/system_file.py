"""System file (TOML) -> System: its reservoirs by file or inline, links, what they share; all mistakes of all files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from reservoir.errors import InputError, Mistake
from reservoir.hydro.attributes import LINK_ATTRIBUTES, SITE_ATTRIBUTES, Attribute, FileKind, Kind
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.checks import mistakes_between
from reservoir.hydro.objectives import Goal
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import SHARED, Carried, InflowSource, Link, System, link_mistakes, link_names
from reservoir.io.reservoir_toml.draft import KEYS_OF, Draft, file_content, parsed, shown, unknown_key
from reservoir.io.reservoir_toml.reader import (
    Values,
    fields_of,
    is_system,
    mistakes_of_objective,
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
    content, tree = content_and_tree(path)
    if not is_system(tree):
        return System.of(read_reservoir(path, step=step))
    if step is not None and step not in tuple(TimeStep):
        raise InputError("is unknown", " or ".join(TimeStep), "give one of these", column="step", value=step)
    return system_of(content, str(path), tree, step)


class FileText(NamedTuple):
    """What a file holds, and its keys; a workbook has none."""

    content: bytes
    tree: Mapping[str, Any]


def content_and_tree(path: str | Path) -> FileText:
    """Read what a file holds; raises as `read_system` does."""
    content = file_content(path)
    return FileText(content, {} if content.startswith(WORKBOOK) else parsed(content, str(path)))


def system_of(
    content: bytes,
    source: str,
    tree: Mapping[str, Any],
    step: TimeStep | str | None = None,
    files: Mapping[int, FileText] | None = None,
) -> System:
    """Check what a system file holds, and read the files that it names; raises as `read_system` does.

    `files` stand for those, by the places of the reservoirs; without content they are not of any file.
    """
    text = _Text(source, content, tree)
    return _SystemFile(text, None if step is None else TimeStep(step), files or {}).system()


def names_system(path: str | Path) -> bool:
    """Whether a file is that of a system of several; False where it cannot be read, which its reader tells."""
    with suppress(InputError):
        _, tree = content_and_tree(path)
        return is_system(tree) and not _is_of_one(tree)
    return False


def inflow_of_one(path: str | Path) -> InflowSource:
    """Where the file of a system of one says its inflow is; nowhere where it is another, or does not say it."""
    with suppress(InputError):
        _, tree = content_and_tree(path)
        if _is_of_one(tree):
            column, file = (str(tree["reservoirs"][0].get(key, "")) for key in ("inflow", "inflow_file"))
            return InflowSource(column, str(Path(path).parent / file) if file else "")
    return InflowSource()


def _is_of_one(tree: Mapping[str, Any]) -> bool:
    entries = tree.get("reservoirs", ())
    return isinstance(entries, list) and len(entries) == 1 and isinstance(entries[0], dict)


class _Text(NamedTuple):
    """A file as written; inline keys of a reservoir have no file."""

    file: str
    content: bytes
    tree: Mapping[str, Any]

    def at(self, key: str) -> str:
        """The file with the line of a key, or of the section around it."""
        lines = key_lines(self.content)
        while key and key not in lines:
            key = key.rpartition(".")[0]
        return f"{self.file}, line {lines[key]}" if key else self.file


@lru_cache(maxsize=16)
def key_lines(content: bytes) -> Mapping[str, int]:
    """Numbers of lines by sections and keys; of lists with the places of their entries: ``links.1.to``."""
    if content.startswith(WORKBOOK):
        return {}
    counts, prefix, places = dict[str, int](), "", dict[str, int]()
    for number, line in enumerate(text_of(content, "").split("\n"), 1):
        if entry := re.match(r"\s*\[\[\s*([\w-]+)\s*\]\]", line):
            counts[entry[1]] = counts.get(entry[1], -1) + 1
            prefix = f"{entry[1]}.{counts[entry[1]]}"
            places.setdefault(entry[1], number)
        elif section := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
            first, dot, rest = section[1].partition(".")
            prefix = f"{first}.{counts[first]}{dot}{rest}" if first in counts else section[1]
        key = re.match(r"\s*([\w-]+)\s*=", line)
        places.setdefault(f"{prefix}.{key[1]}".lstrip(".") if key else prefix, number)
    return places


class _Entry(NamedTuple):
    """An entry of a list: its place, what messages call it, its own keys, and those that a reservoir file has."""

    section: str
    place: int
    called: str
    draft: Draft
    values: Values
    inline: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Of a reservoir within the system, if only by that of its file."""
        return str(self.values.get("name", Path(self.values.get("file", "")).stem or self.called))


class _Stated(NamedTuple):
    """What a file says of what all share: where, and the value as read and in words."""

    place: str
    value: Any
    words: str

    @classmethod
    def of(cls, place: str, draft: Draft, key: str, value: Any) -> _Stated:
        """What a file says at a key."""
        written = draft.entry(key)
        short = isinstance(written.value, str | int | float)
        return cls(place, value, f"{written.key} = {written.value}" if short else f"another {written.key}")

    def agrees(self, value: Any) -> bool:
        """Whether a value is the same, lists by their numbers."""
        one, other = (each.tolist() if hasattr(each, "tolist") else each for each in (self.value, value))
        return bool(one == other)


@dataclass
class _SystemFile:
    """A parsed system file, and what is wrong with it and the files that it names."""

    text: _Text
    step: TimeStep | None
    files: Mapping[int, FileText]
    mistakes: list[Mistake] = field(default_factory=list)

    def tell(self, mistakes: Iterable[Mistake], of: _Entry | None = None) -> None:
        """Add mistakes with their lines; with the name of the entry that they are of."""
        for wrong in mistakes:
            key = wrong.column
            if of is not None:
                key = key.removeprefix(f"{of.section}.").removeprefix(of.section)
                wrong = replace(wrong, column=f"{of.section}.{key}".rstrip(".") + f" ({of.called})" * bool(of.called))
                key = f"{of.section}.{of.place}.{key}"
            self.mistakes.append(replace(wrong, file=self.text.at(key)))

    def system(self) -> System:
        """The system, or InputError with every mistake."""
        draft, values, sections = self._top()
        sites, links = self._entries("reservoirs"), self._entries("links")
        texts = {site.place: self._text_of(site) for site in sites}
        shared = self._agreed(draft, values, sites, texts)
        reservoirs = [self._reservoir(site, texts[site.place], shared) for site in sites]
        parts = fields_of({**values, **shared}, sections)
        made = [(entry, self._link(entry, parts.get("step", TimeStep.MONTH))) for entry in links]
        whole = [(entry, link) for entry, link in made if link is not None]
        if len(sites) == len(self.text.tree.get("reservoirs", ())):  # an entry that is none is told already
            self._tell_of_links([site.name for site in sites], whole)
        known = [each for each in reservoirs if each is not None]
        names = ("objective", "step", "first_month", "calendar")
        of_sum: dict[str, Any] = {name: parts[name] for name in names if name in parts}
        if len(known) == len(sites):
            of_sum["installed_mw"] = sum(each.installed_mw for each in known)
        self.tell(mistakes_between(of_sum, draft))
        if self.mistakes:
            raise InputError(dict.fromkeys(self.mistakes))
        stem = Path(self.text.file).stem
        return System(
            tuple(known),
            tuple(link for _, link in whole),
            **{name: parts[name] for name in (*SHARED, "description", "caveat")},
            name=parts.get("name") or (stem if is_name(stem) else "system"),
            source=self.text.file,
            **_bytes_of(self.text.content),
            inflow_of={site.name: self._source(site) for site in sites},
        )

    def _tell_of_links(self, names: Sequence[str], links: Sequence[tuple[_Entry, Link]]) -> None:
        """State what is wrong with names and links, as the file has them."""

        def stated(place: int, key: str, problem: str, expected: str, mend: str) -> Mistake:
            entry = links[place][0] if place >= 0 else None
            value = shown(entry.draft.entry(f"links.{key}").value) if entry else None
            wrong = Mistake(problem, expected, mend, column=key if entry else "links", value=value)
            self.tell([wrong], entry)
            return wrong

        for wrong in link_mistakes(names, [link for _, link in links], stated):
            if wrong.column == "reservoirs":
                self.tell([wrong])

    def _top(self) -> tuple[Draft, Values, set[str]]:
        """What the file says of the system itself."""
        tree = self.text.tree
        strange = {key: self._strange(key, value) for key, value in tree.items() if key not in ENTRIES}
        self.tell(replace(wrong, column=key) for key, wrong in strange.items() if wrong is not None)
        for section in ENTRIES:
            given = tree.get(section)
            if (given is None and section == "reservoirs") or not (
                given is None or (given and isinstance(given, list))
            ):
                mend, expected = f"write [[{section}]] above the keys of each", f"entries [[{section}]]"
                problem = "is no list" if given else "is missing"
                self.tell([Mistake(problem, expected, mend, column=section)])
        own = {key: tree[key] for key, wrong in strange.items() if wrong is None}
        draft = Draft.of({"kind": FileKind.SYSTEM, **own}, self.text.file)
        values, sections, refused = sound_values(draft, {})
        self.tell((*draft.mistakes, *refused, *mistakes_of_objective(values, fields_of(values, sections), draft)))
        if self.step is not None:
            values["step"] = self.step
        return draft, values, sections

    @staticmethod
    def _strange(key: str, value: object) -> Mistake | None:
        """What is wrong with a key at the top that is no part of a system, if anything."""
        if isinstance(value, list) and (near := get_close_matches(key, ENTRIES, 1, 0.7)):
            return Mistake("is not a known list", f"[[{near[0]}]]", f"write [[{near[0]}]] if that is meant")
        if isinstance(value, dict) and key in KEYS_OF and key not in _SHARED:
            mend = f"move it into the file of the reservoir, or below its [[reservoirs]] as [reservoirs.{key}]"
            return Mistake("is of one reservoir, not of the system", f"one of {', '.join(_SHARED)}", mend)
        return None

    def _entries(self, section: str) -> list[_Entry]:
        """Entries of a list, each with what is sound of its own keys."""
        given, rows = self.text.tree.get(section, []), {row.name: row for row in ENTRIES[section]}
        of_reservoir = {row.name for row in KEYS_OF[""]} - set(rows) if section == "reservoirs" else set[str]()
        entries = list[_Entry]()
        given = given if isinstance(given, list) else []
        links = link_names((each.get("from"), each.get("to")) if isinstance(each, dict) else ("", "") for each in given)
        for place, (keys, link) in enumerate(zip(given, links, strict=True)):
            if not isinstance(keys, dict):
                wrong = Mistake("is not an entry with keys", f"[[{section}]], and its keys below it", column=section)
                self.tell([wrong])
                continue
            called = link if section == "links" else keys.get("name", keys.get("file", ""))
            inline = {key: value for key, value in keys.items() if key in of_reservoir}
            own = {key: value for key, value in keys.items() if key not in inline}
            draft = Draft.of({section: own}, self.text.file)
            entry = _Entry(section, place, called if isinstance(called, str) else "", draft, {}, inline)
            self.tell(draft.mistakes, entry)
            self.tell(self._read(entry, rows), entry)
            entries.append(entry)
        return entries

    @staticmethod
    def _read(entry: _Entry, rows: Mapping[str, Attribute]) -> Iterator[Mistake]:
        """Read the keys of an entry into its values; what is wrong with others."""
        draft = entry.draft
        for dotted, written in draft.entries.items():
            name = dotted.removeprefix(f"{entry.section}.")
            row = rows.get(name)
            if row is not None:
                if name == "carries":  # a share, or a part that has a name
                    is_share = isinstance(written.value, int | float) and not isinstance(written.value, bool)
                    row = replace(row, kind=Kind.NUMBER if is_share else Kind.CHOICE, choices=Carried)
                try:
                    entry.values[name] = read_value(row, written.scaled, dotted, draft)
                except InputError as refused:
                    yield from refused.mistakes
            elif dotted != entry.section and "." not in name:
                yield unknown_key(dotted, draft)[0]
        for row in rows.values():
            if row.required and not draft.has(row.key):
                mend = f"add {row.name} = ... below its [[{entry.section}]]"
                yield draft.mistake(row.key, "is missing", row.meaning, mend)
        file = entry.values.get("file")
        if entry.section == "reservoirs" and not draft.has("reservoirs.name") and not is_name(Path(file or "").stem):
            yield draft.mistake("reservoirs.name", "is missing", "a name of letters, digits, - and _")
        if file is not None and entry.inline:
            problem = f"stands beside {', '.join(sorted(entry.inline))}"
            yield draft.mistake("reservoirs.file", problem, "a file, or the sections of one", "remove one of the two")
        elif entry.section == "reservoirs" and not (entry.inline or draft.has("reservoirs.file")):
            expected = "a reservoir file, or its sections, such as [reservoirs.storage]"
            yield draft.mistake("reservoirs.file", "is missing", expected)

    def _text_of(self, site: _Entry) -> _Text | None:
        """What is written of a reservoir; None where there is nothing to read, which is told."""
        file = site.values.get("file")
        if file is None or site.inline:
            return None if file or not site.inline else _Text("", b"", site.inline)
        path = str(Path(self.text.file).parent / file)
        try:
            content, tree = self.files.get(site.place) or content_and_tree(path)
            if is_system(tree):
                raise InputError("is a system file itself", "a reservoir file", "name its reservoirs here", file=path)
            return _Text(path, content, tree)
        except InputError as refused:
            where = f"{path} (reservoir {site.called}, {self.text.at(f'reservoirs.{site.place}.file')})"
            self.mistakes += (replace(each, file=where) for each in refused.mistakes)
            return None

    def _agreed(self, top: Draft, values: Values, sites: Sequence[_Entry], texts: Mapping[int, _Text | None]) -> Values:
        """What all share and some file says; where another says otherwise, it is told."""
        said = {
            key: _Stated.of(self.text.at(key), top, key, values[key]) for key in top.entries if _is_shared(key, values)
        }
        if not any(key.startswith("objective.weights") for key in said):
            said.setdefault("objective.goal", _Stated(self.text.file, Goal.ENERGY, "objective.goal = energy"))
        for site in sites:
            text = texts[site.place] or _Text("", b"", {})
            draft = Draft.of(text.tree, text.file)
            of_reservoir, *_ = sound_values(draft, {})
            for key, value in of_reservoir.items():
                if not _is_shared(key, of_reservoir) or (key == "step" and self.step is not None):
                    continue
                written, first = draft.named(key), said.get(key)
                place = text.at(written) if text.file else self.text.at(f"reservoirs.{site.place}.{written}")
                if first is None and not key.startswith("objective."):
                    said[key] = _Stated.of(place, draft, key, value)
                elif first is None or not first.agrees(value):
                    other = f"{first.place} says {first.words}" if first else f"{self.text.file} says nothing of it"
                    mend = f"remove it here, or state it in {self.text.file} alone"
                    wrong = draft.mistake(key, f"is another than that of the system: {other}", "the same for all", mend)
                    self.mistakes.append(replace(wrong, file=place, column=f"{written} (reservoir {site.called})"))
        return {key: each.value for key, each in said.items() if key in _AGREED}

    def _reservoir(self, site: _Entry, text: _Text | None, shared: Values) -> Reservoir | None:
        """A reservoir as all share it; None where it has mistakes, which are told."""
        if text is None:
            return None
        if self.step is not None:
            shared = {**shared, "step": self.step}
        try:
            if text.content.startswith(WORKBOOK):
                reservoir = reservoir_of_workbook(Path(text.file), shared)
            elif text.file:
                about = {"source": text.file, **_bytes_of(text.content)}
                reservoir = reservoir_of_tree(text.tree, text.file, shared, about)
            else:
                about = {"source": self.text.file}
                reservoir = reservoir_of_tree({**text.tree, "name": site.name}, "", shared, about)
            return reservoir if reservoir.name == site.name else replace(reservoir, name=site.name)
        except InputError as refused:
            if not text.file:
                self.tell(refused.mistakes, site)
            for wrong in refused.mistakes if text.file else ():
                self.mistakes.append(replace(wrong, file=f"{text.at(wrong.column)} (reservoir {site.called})"))
            return None

    def _link(self, entry: _Entry, step: TimeStep) -> Link | None:
        """A link, with its travel time in steps; None where it has no source, which is told."""
        values = dict(entry.values)
        hours = values.pop("travel_hours", None)
        if hours is not None and "travel_steps" in values:
            expected = "only one of the two"
            self.tell([entry.draft.mistake("links.travel_hours", "contradicts travel_steps", expected)], entry)
        elif hours is not None:
            values["travel_steps"] = float(f"{hours / step.hours:.12g}")
        fields = {row.name: row.field for row in LINK_ATTRIBUTES}
        return Link(**{fields[name]: value for name, value in values.items()}) if "from" in values else None

    def _source(self, site: _Entry) -> InflowSource:
        """Where the inflow of a reservoir is."""
        file = site.values.get("inflow_file", "")
        path = str(Path(self.text.file).parent / file) if file else ""
        return InflowSource(site.values.get("inflow", ""), path, site.values.get("inflow_is"))


def _bytes_of(content: bytes) -> dict[str, Any]:
    """Fields on what a file holds; none where there is no file of these keys."""
    return {"sha256": hashlib.sha256(content).hexdigest(), "content": content} if content else {}


def _is_shared(key: str, values: Values) -> bool:
    """Whether a key is sound, and of what a system says of all its reservoirs."""
    of_objective = key.startswith("objective.") and not key.startswith("objective.penalty")
    return key in values and (key in _AGREED or of_objective)
