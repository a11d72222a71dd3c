"""Write a reservoir as a file (TOML) that `read_reservoir` reads back, and the commented file to start from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.attributes import ATTRIBUTES, CONVERSIONS, CURVES, LINK_ATTRIBUTES, Attribute, FileKind
from reservoir.hydro.curve_checks import storages_of
from reservoir.hydro.curves.curve import Curve, Polynomial, PowerLaw, Table
from reservoir.hydro.objectives import Goal, Horizon
from reservoir.hydro.reservoir import Reservoir, differing_parts, reservoir_digests
from reservoir.hydro.system import Link, System
from reservoir.io.output import write_new
from reservoir.io.reservoir_draft import ReservoirDraft, draft
from reservoir.io.reservoir_toml.reader import reservoir_of

if TYPE_CHECKING:
    from reservoir.io.level_table import LevelTable

Value = str | float | Sequence[float] | Sequence[str] | None

#: Fields that are written though they are as usual.
_ALWAYS = ("first_month", "year_end", "horizon")
#: What stands behind the lists by step of an objective, before its penalty.
_LAST = ("currency", "firm_power_mw", "firm_share")


def write_reservoir(reservoir: Reservoir, path: str | Path | None = None, *, force: bool = False) -> str:
    """Write a reservoir as a reservoir file, completely or not at all.

    Parameters
    ----------
    reservoir : Reservoir
    path : str or Path, optional
        The file; without it, nothing is written.
    force : bool
        Replace an existing file.

    Returns
    -------
    str
        The text of the file (TOML), in hm3, m3/s and m. `read_reservoir` reads the same reservoir from it.

    Raises
    ------
    InputError
        If no reservoir file can contain this reservoir: a name with other characters than letters, digits, ``-`` and
        ``_``, a level that is constant over a range of storages, a curve of the user's own class.
    OutputError
        If the file exists and `force` is off, or cannot be written.
    """
    text = "\n".join(_texts(_sections(reservoir)))
    _check_same(reservoir, text)
    return _put(text, path, force=force)


def write_system(system: System, path: str | Path | None = None, *, force: bool = False) -> str:
    """Write a system as one file with all its reservoirs, completely or not at all; of one, its reservoir file.

    Parameters
    ----------
    system : System
    path : str or Path, optional
        The file; without it, nothing is written.
    force : bool
        Replace an existing file.

    Returns
    -------
    str
        The text of the file (TOML). `read_system` reads the same system from it.

    Raises
    ------
    InputError, OutputError
        As `write_reservoir` does.
    """
    if len(system.reservoirs) == 1 and not system.links:
        return write_reservoir(system.reservoir, path, force=force)
    top = {row.section: dict[str, Value]() for row in ATTRIBUTES if row.section.partition(".")[0] in _OF_SYSTEM}
    _put_fields(top, system)
    top[""]["kind"] = FileKind.SYSTEM.value
    texts = [*_texts(top)]
    for reservoir in system.reservoirs:
        _check_same(reservoir, "\n".join(_texts(_sections(reservoir))))
        column, file, is_what = system.inflow_of.get(reservoir.name, ("", "", None))
        about: dict[str, Any] = {name: getattr(reservoir, name) for name in ("name", "description", "caveat")}
        seen_from = os.path.relpath(file, Path(path).parent) if file and path is not None else file
        about |= {"inflow": column, "inflow_file": seen_from, "inflow_is": is_what and is_what.value}
        sections = _sections(reservoir)
        sections = {name: keys for name, keys in sections.items() if name.partition(".")[0] not in _OF_SYSTEM}
        sections["objective"] = {"penalty": reservoir.penalty}
        texts += _texts({"reservoirs": about, **{f"reservoirs.{name}": keys for name, keys in sections.items()}})
    texts += [text for link in system.links for text in _texts({"links": dict(link_values(link))})]
    return _put("\n".join(texts), path, force=force)


#: Sections of a reservoir file that a system has in its place.
_OF_SYSTEM = ("", "objective", "horizon")


def link_values(link: Link) -> Iterator[tuple[str, Any]]:
    """Keys and values of a link, as a system file has them, that are not as usual."""
    for row in LINK_ATTRIBUTES:
        value = getattr(link, row.field) if row.field else None
        if value is not None and value != row.default:
            yield row.name, str(value) if isinstance(value, Enum) else value


def _texts(sections: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The lines of each section that has a key; those of an entry of a list in its own brackets."""
    for name, keys in sections.items():
        given = {key: value for key, value in keys.items() if value is not None and value not in ("", ())}
        head = f"[[{name}]]\n" if name in ("reservoirs", "links") else f"[{name}]\n"
        if given:
            yield "".join((*[head] * bool(name), *(f"{key} = {written(value)}\n" for key, value in given.items())))


def _put(text: str, path: str | Path | None, *, force: bool) -> str:
    if path is not None:
        write_new(Path(path), text, force=force, choose="choose another path", replace="replace the file by force=True")
    return text


def _check_same(reservoir: Reservoir, text: str) -> None:
    """Read the text back, and refuse it if it is not the reservoir."""
    try:
        back = reservoir_of(text.encode(), "")
    except InputError as refused:
        begin = "a reservoir file cannot contain it"
        raise InputError(replace(wrong, problem=f"{begin}: {wrong.problem}") for wrong in refused.mistakes) from None
    apart = differing_parts(back, reservoir_digests(reservoir))
    if apart:
        problem = f"a reservoir file cannot contain its {', '.join(apart)} exactly"
        raise InputError(problem, "numbers that text of a file gives back", "round the numbers")


def _sections(reservoir: Reservoir) -> dict[str, dict[str, Value]]:
    """Keys and values by section, in the order of a file."""
    sections: dict[str, dict[str, Value]] = {row.section: {} for row in ATTRIBUTES}
    sections["storage"] |= zip(("dead_hm3", "full_hm3"), storages_of(vars(reservoir)), strict=True)
    _put_fields(sections, reservoir)
    level, fixed = reservoir.level, reservoir.is_run_of_river
    flat = fixed and isinstance(level, Polynomial) and not any(level.coefficients[1:])
    if fixed:
        sections["storage"] = {"fixed_hm3": storages_of(vars(reservoir))[0]}
    if flat:
        sections["storage"]["level_m"] = float(level(0.0))
    if (space := reservoir.flood_space) is not None:
        rows: Any = [row.tolist() for row in space.upper_hm3]
        sections["flood_space"] = {
            "column": space.column,
            "values": space.values,
            "dates": space.dates,
            "upper_hm3": rows,
        }
    curves = {constraint.field: name for name, constraint in CURVES.items()}
    curves["conversion"] = CONVERSIONS[reservoir.conversion_kind]
    for field, name in curves.items():
        curve = getattr(reservoir, field)
        if curve is not None and not (flat and name == "level"):
            sections[f"curves.{name}"] = _curve(name, curve)
    return sections


def _put_fields(sections: dict[str, dict[str, Value]], of: Reservoir | System) -> None:
    """Put what a reservoir, or a system, has for the keys of sections; the objective's penalty last."""
    in_gwh = of.objective.unit == "GWh"
    fields = {row.field: row for row in (reversed(ATTRIBUTES) if in_gwh else ATTRIBUTES) if row.field}
    single = of.objective.single
    if single is None:
        weights = {goal.replace("-", "_"): weight for goal, weight in of.objective.weights.items() if weight}
        names = [row.name for row in ATTRIBUTES if row.section == "objective.weights"]
        sections["objective.weights"] |= {name: weights[name] for name in names if name in weights}
    elif single is not Goal.ENERGY:
        sections["objective"]["goal"] = str(single)
    for row in ATTRIBUTES:
        if fields.get(row.field) is row and row.section in sections:
            sections[row.section][row.name] = _of_field(of, row)
    for name in (*_LAST, fields["penalty"].name):
        sections["objective"][name] = sections["objective"].pop(name)


def _of_field(reservoir: Reservoir | System, row: Attribute) -> Value:
    """What a file gives for a field; None where that is as usual."""
    value: Any = reservoir
    for name in row.field.split("."):
        value = getattr(value, name)
    if row.is_usual(value) and row.field not in _ALWAYS:
        return None
    if isinstance(value, Horizon):
        return str(value) if value.years in (1, None) else value.years
    if isinstance(value, np.ndarray):
        values: list[float] = value.tolist()
        return values[0] if len(set(values)) == 1 and row.section != "objective" else values
    written: Value = str(value) if isinstance(value, Enum) else value
    return written


def _curve(name: str, curve: Curve) -> dict[str, Value]:
    constraint = CURVES[name]
    suffix = constraint.x.partition("_")[2]
    domain = {f"domain_{suffix}": curve.domain}
    if isinstance(curve, Table):
        return {"kind": "table", constraint.x: curve.x, constraint.y: curve.y}
    if isinstance(curve, Polynomial):
        return {"kind": "polynomial", "coefficients": curve.coefficients, **domain}
    if isinstance(curve, PowerLaw):
        offset = "offset_m" if constraint.y == "level_m" else "offset"
        constants = {offset: curve.offset, "factor": curve.factor, f"origin_{suffix}": curve.origin}
        return {"kind": "power", **constants, "exponent": curve.exponent, **domain}
    problem, mend = "a reservoir file cannot contain a curve of this class", "give its points as a Table"
    name = f"curves.{name}"
    raise InputError(problem, "a Table, Polynomial or PowerLaw", mend, column=name, value=type(curve).__name__)


def written(value: Value) -> str:
    """Write a value so that it is read back exactly."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    return f"[{', '.join(map(repr, value or ()))}]"


def write_template(name: str, target: Path, table: LevelTable | None = None, *, force: bool = False) -> Path:
    """Write ``data/template.toml`` under a reservoir's name; the whole file or none of it.

    With a table of levels it has their level and area curves, in the units of the table: the storage limits are the
    ends of the table, and the invented tailwater lies below its lowest level; other values are those of the template.

    Raises
    ------
    InputError
        If the name has other characters than a reservoir file allows, or the reservoir that results cannot be.
    OutputError
        If the file exists and `force` is off, or cannot be written.
    """
    return write_draft(draft(name, table), target, force=force)


def write_draft(content: ReservoirDraft, target: Path, *, force: bool = False) -> Path:
    """Write a first reservoir file, if it can be planned; raises as `write_template` does."""
    reservoir_of(content.text.encode(), str(target))
    write_new(target, content.text, force=force, choose="choose another --out", replace="give --force to replace it")
    return target
