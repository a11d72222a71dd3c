"""Files of TSPLIB (Reinelt 1991): cities of a symmetric problem with planar coordinates, and tours.

Distances are whole numbers, rounded as TSPLIB's documentation says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.inflow_csv.text import text_in

#: Cities of a problem: a tour is a triangle at least, and distances are kept as a square table.
FEWEST, MOST = 3, 10_000
KINDS = ("EUC_2D", "ATT")

_COORDINATES, _TOUR = "NODE_COORD_SECTION", "TOUR_SECTION"


@dataclass(frozen=True, eq=False)
class Cities:
    """A problem of TSPLIB.

    Parameters
    ----------
    name : str
    kind : str
        How distances are made of coordinates, one of `KINDS`.
    coordinates : ndarray, shape (cities, 2)
    """

    name: str
    kind: str
    coordinates: NDArray[np.float64]

    def distances(self) -> NDArray[np.int64]:
        """Whole distances between all cities, shape (cities, cities)."""
        square = np.zeros((len(self.coordinates),) * 2)
        for axis in self.coordinates.T:
            square += (axis[:, None] - axis) ** 2
        if self.kind == "EUC_2D":
            return np.floor(np.sqrt(square) + 0.5).astype(np.int64)
        exact = np.sqrt(square / 10)
        nearest = np.floor(exact + 0.5)
        return np.where(nearest < exact, nearest + 1, nearest).astype(np.int64)


@dataclass(frozen=True)
class _Line:
    row: int
    words: list[str]


@dataclass(frozen=True)
class _Sheet:
    """A file taken apart: the specification by keyword, and the lines of its one section."""

    file: str
    entries: dict[str, tuple[int, str]]
    section: list[_Line]


def read_cities(path: Path) -> Cities:
    """Read a ``.tsp`` file.

    Raises
    ------
    InputError
        With every mistake in the file, or if it cannot be read.
    """
    sheet = _take_apart(path, _COORDINATES)
    mistakes: list[Mistake] = []
    kind = _entry(sheet, "EDGE_WEIGHT_TYPE", KINDS, mistakes)
    if "TYPE" in sheet.entries:
        _entry(sheet, "TYPE", ("TSP",), mistakes)
    count = _dimension(sheet, mistakes)
    coordinates = _coordinates(sheet, count, mistakes)
    if mistakes:
        raise InputError(mistakes)
    name = sheet.entries.get("NAME", (0, ""))[1]
    return Cities(name or path.stem, kind, coordinates)


def read_tour(path: Path, cities: int) -> NDArray[np.int64]:
    """Read a ``.tour`` file: the cities, counted from 0, in the order of the tour.

    Raises
    ------
    InputError
        With every mistake in the file, or if it cannot be read.
    """
    sheet = _take_apart(path, _TOUR)
    order: list[int] = []
    rows: list[int] = []
    mistakes: list[Mistake] = []
    for line in sheet.section:
        for word in line.words:
            if word == "-1":
                break
            city = int(word) if word.isdecimal() else 0
            if not 1 <= city <= cities or city in order:
                problem = "the city is in the tour twice" if city in order else "is no number of a city"
                mistakes.append(_at(sheet, line, problem, f"1 to {cities}, each once", value=word))
            order.append(city)
            rows.append(line.row)
    if not mistakes and len(order) != cities:
        row = rows[-1] if rows else None
        mistakes.append(Mistake("the tour has too few cities", f"{cities}", file=sheet.file, row=row, value=len(order)))
    if mistakes:
        raise InputError(mistakes)
    return np.array(order) - 1


def _take_apart(path: Path, section: str) -> _Sheet:
    entries: dict[str, tuple[int, str]] = {}
    lines: list[_Line] = []
    inside, found = "", False
    for row, text in enumerate(text_in(path).splitlines(), start=1):
        words = text.split()
        keyword, colon, rest = (part.strip() for part in text.partition(":"))
        if not words or words == ["EOF"]:
            continue
        if keyword.upper().endswith("_SECTION"):
            inside = keyword.upper()
            found = found or inside == section
        elif inside == section:
            lines.append(_Line(row, words))
        elif colon:
            entries[keyword.upper()] = (row, rest)
        elif not inside:
            expected = "KEYWORD : value, or a section"
            raise InputError(Mistake("is no line of TSPLIB", expected, file=str(path), row=row, value=text.strip()))
    if not found:
        expected = f"a line {section}, and what belongs to it below"
        mend = "see data/tsp/att48.tsp for an example"
        raise InputError(Mistake(f"the file has no {section}", expected, mend, file=str(path)))
    return _Sheet(str(path), entries, lines)


def _entry(sheet: _Sheet, keyword: str, known: tuple[str, ...], mistakes: list[Mistake]) -> str:
    row, value = sheet.entries.get(keyword, (None, ""))
    if value.upper() in known:
        return value.upper()
    problem = f"{keyword} is not one that this program knows" if value else f"{keyword} is missing"
    expected = f"{keyword} : {' or '.join(known)}"
    mistakes.append(Mistake(problem, expected, file=sheet.file, row=row, value=value or None))
    return ""


def _dimension(sheet: _Sheet, mistakes: list[Mistake]) -> int:
    row, value = sheet.entries.get("DIMENSION", (None, ""))
    count = int(value) if value.isdecimal() else 0
    if FEWEST <= count <= MOST:
        return count
    problem = "DIMENSION is no number of cities that this program can handle" if value else "DIMENSION is missing"
    expected = f"DIMENSION : {FEWEST} to {MOST:,}"
    mistakes.append(Mistake(problem, expected, file=sheet.file, row=row, value=value or None))
    return 0


def _coordinates(sheet: _Sheet, count: int, mistakes: list[Mistake]) -> NDArray[np.float64]:
    found: dict[str, tuple[float, float]] = {}
    for line in sheet.section:
        numbers = [_number(word) for word in line.words[1:]]
        if len(line.words) != 3 or not all(map(math.isfinite, numbers)):
            mistakes.append(_at(sheet, line, "is no city", "a number, and two finite coordinates"))
            continue
        if line.words[0] in found:
            mistakes.append(_at(sheet, line, "the city is there twice", "a line for each city"))
        found[line.words[0]] = numbers[0], numbers[1]
    if count and not mistakes and len(found) != count:
        row = sheet.entries["DIMENSION"][0]
        mend = "add the cities that are missing, or correct DIMENSION"
        expected = f"{count:,}, as DIMENSION in row {row} says"
        mistakes.append(
            Mistake(f"{_COORDINATES} has another number of cities", expected, mend, sheet.file, value=len(found))
        )
    return np.array(list(found.values()), np.float64)


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan


def _at(sheet: _Sheet, line: _Line, problem: str, expected: str, value: str | None = None) -> Mistake:
    found = " ".join(line.words) if value is None else value
    return Mistake(problem, expected, file=sheet.file, row=line.row, value=found)
