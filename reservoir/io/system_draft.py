"""A first system file: reservoirs from their files, first files of others, and links in the order given."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from reservoir.errors import InputError
from reservoir.hydro.inflow_check import InflowCheck
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.hydro.system_check import SystemCheck
from reservoir.io.output import require_free, write_new
from reservoir.io.records.sites import read_system_inflow
from reservoir.io.reservoir_draft import RecordScale, ReservoirDraft, draft
from reservoir.io.reservoir_toml.reader import read_reservoir, reservoir_of
from reservoir.io.reservoir_toml.template import literal, require_name

_HEAD = """\
# A system file, for "reservoir check" and the other commands that take one: reservoirs by their files, and links.
name = {name}
kind = "system"
"""
_CHOICES = {"choose": "choose another --out", "replace": "give --force to replace it"}


@dataclass(frozen=True)
class SystemDraft:
    """A first system file, and first files of its reservoirs that have none, by their names."""

    text: str
    system: System
    new: Mapping[str, ReservoirDraft]

    def write(self, target: Path, *, force: bool) -> list[Path]:
        """Write all files, those of reservoirs beside that of the system, or none where one must not be replaced."""
        texts = {target.parent / f"{name}.toml": content.text for name, content in self.new.items()}
        for path in (*texts, target):
            require_free(path, force=force, **_CHOICES)
        for path, text in {**texts, target: self.text}.items():
            write_new(path, text, force=force, **_CHOICES)
        return [*texts, target]


def system_draft(
    name: str, reservoirs: Sequence[str], target: Path, record: Path | None, reading: Mapping[str, Any]
) -> SystemDraft:
    """Write a first system file, whose links lead from each reservoir to the next.

    Parameters
    ----------
    name : str
    reservoirs : sequence of str
        A file, or the name of a reservoir that has none yet, from upstream on.
    target : Path
        Where the file will be: others are named as seen from it.
    record : Path, optional
        With a column a reservoir: the first month, the scale of new reservoirs and the kind of inflow are from it.
    reading : mapping
        How it is to be read.

    Raises
    ------
    InputError
        With the mistakes of files and record, or if a name is given twice.
    """
    require_name(name)
    files = {each: Path(each) for each in reservoirs if Path(each).is_file() or each.endswith((".toml", ".xlsx"))}
    for each in (each for each in reservoirs if each not in files):
        require_name(each)
    of_files = {each: read_reservoir(path) for each, path in files.items()}
    said = next(iter(of_files.values()), None)
    shared = {key: getattr(said, key) for key in ("first_month", "calendar", "step")} if said else {"first_month": 1}
    drafts = {each: draft(each, None) for each in reservoirs if each not in files}
    parts = [of_files[each] if each in files else reservoir_of(drafts[each].text.encode(), "") for each in reservoirs]
    names = [part.name for part in parts]
    links = tuple(Link(one, other) for one, other in pairwise(names))
    system = System(tuple(replace(part, **shared) for part in parts), links, name=name, source=str(target))
    check: SystemCheck | None = None
    if record is not None:
        system, inflows = _with_record(system, record, reading, fixed=said is not None)
        check = SystemCheck(system, inflows)
        scales = _scales(inflows, names, check.totals)
        drafts = {each: draft(each, None, record=scales[each]) for each in drafts}
    month = f"first_month = {system.first_month}"
    drafts = {
        each: replace(content, text=re.sub(r"^first_month = \d+", month, content.text, count=1, flags=re.MULTILINE))
        for each, content in drafts.items()
    }
    text = _HEAD.format(name=literal(name))
    for each, part in zip(reservoirs, parts, strict=True):
        file = os.path.relpath(files[each], target.parent) if each in files else f"{each}.toml"
        text += f"\n[[reservoirs]]\nname = {literal(part.name)}\nfile = {literal(file)}\n"
        if check is not None and part.name in check.totals:
            text += 'inflow_is = "total" # its column follows what comes from above and is never less\n'
    return SystemDraft(text + "".join(map(_link, links)), system, drafts)


def _link(link: Link) -> str:
    return (
        f"\n[[links]]\nfrom = {literal(link.source)}\nto = {literal(link.target)}\n"
        "travel_hours = 0 # invented (0): replace it; the hours that the water is under way\n"
        "# backwater = true # if the lake below reaches the plant\n"
    )


def _with_record(
    system: System, record: Path, reading: Mapping[str, Any], *, fixed: bool
) -> tuple[System, SiteInflows]:
    """The system by the first month that keeps most years of the record, unless a file says it; and the record."""
    try:
        inflows = read_system_inflow(system, record, **reading)
        years = InflowCheck(inflows.first).years_by_first_month
        if fixed or not years or max(years.values()) == years[system.first_month]:
            return system, inflows
        system = replace(system, first_month=max(years, key=years.__getitem__))
        return system, read_system_inflow(system, record, **reading)
    except InputError as refused:
        mend = "call each reservoir like its column; or leave out --inflow, and write inflow = ... into the file"
        raise InputError(
            replace(each, mend=mend, file="") if each.column.startswith("inflow of") else each
            for each in refused.mistakes
        ) from None


def _scales(inflows: SiteInflows, names: Sequence[str], totals: Sequence[str]) -> dict[str, RecordScale]:
    """Flows at each reservoir with all that comes from above, as new files need them."""
    scales, mean, largest = dict[str, RecordScale](), 0.0, 0.0
    for name in names:
        record = inflows[name]
        most = float((record.flow_m3s if record.rows is None else record.rows.flow_m3s).max())
        mean, largest = record.mean_m3s + mean * (name not in totals), most + largest * (name not in totals)
        unit = f"{record.unit} ({record.unit_from})"
        scales[name] = RecordScale(mean, largest, record.calendar.first_month, record.years, unit)
    return scales
