"""The travelling salesman problem."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.problems.base import PERMUTATION, Certified, FloatArray, KernelProblem
from reservoir.text.data_file import Mistakes, real_number, text_in_limits, whole_number
from reservoir.text.quantities import first_unprintable, printable

#: Cities of a problem: a tour is a triangle at least, and distances are kept as a square table.
FEWEST, MOST = 3, 10_000
KINDS = ("EUC_2D", "ATT")
#: Of a coordinate, either way: distances must be whole numbers of 32 bits.
FARTHEST = 1e9
#: Characters of a name at most.
LONGEST_NAME = 100

#: Entries that say something once.
_ONCE = ("NAME", "TYPE", "DIMENSION", "EDGE_WEIGHT_TYPE")
#: Rows of the distances that are reckoned at a time.
_ROWS = 256
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
        distances = np.empty((len(self.coordinates),) * 2, np.int64)
        for first in range(0, len(distances), _ROWS):
            rows = slice(first, first + _ROWS)
            distances[rows] = self._rounded(sum((axis[rows, None] - axis) ** 2 for axis in self.coordinates.T))
        return distances

    def _rounded(self, square: NDArray[np.float64]) -> NDArray[np.int64]:
        """Whole distances from squares of exact ones."""
        if self.kind == "EUC_2D":
            return np.floor(np.sqrt(square) + 0.5).astype(np.int64)
        exact = np.sqrt(square / 10)
        nearest = np.floor(exact + 0.5)
        return np.where(nearest < exact, nearest + 1, nearest).astype(np.int64)


class _Sheet(NamedTuple):
    """A file taken apart: rows and values of the specification by keyword, rows and words of its one section."""

    entries: dict[str, tuple[int, str]]
    section: list[tuple[int, list[str]]]


def read_cities(path: Path) -> Cities:
    """Read a ``.tsp`` file.

    Raises
    ------
    InputError
        With every mistake in the file, or if it cannot be read.
    """
    sheet, mistakes = _take_apart(path, _COORDINATES), Mistakes(path)
    kind = _entry(sheet, "EDGE_WEIGHT_TYPE", KINDS, mistakes)
    if "TYPE" in sheet.entries:
        _entry(sheet, "TYPE", ("TSP",), mistakes)
    row, value = sheet.entries.get("DIMENSION", (None, ""))
    count = whole_number(value) or 0
    if not FEWEST <= count <= MOST:
        problem = "DIMENSION is not a supported number of cities" if value else "DIMENSION is missing"
        mistakes.add(problem, f"DIMENSION : {FEWEST} to {MOST:,}", row=row, value=value or None)
        count = 0
    row, name = sheet.entries.get("NAME", (None, ""))
    if unprintable := first_unprintable(name):
        mistakes.add(f"NAME has the unprintable character {unprintable}", "printable text", row=row, value=name)
    if len(name) > LONGEST_NAME:
        mistakes.add("NAME is too long", f"at most {LONGEST_NAME} characters", row=row, value=len(name))
    coordinates = _coordinates(sheet, count, mistakes)
    mistakes.tell()
    return Cities(name or printable(path.stem)[:LONGEST_NAME], kind, coordinates)


def read_tour(path: Path, cities: int) -> NDArray[np.int64]:
    """Read a ``.tour`` file: the cities, counted from 0, in the order of the tour.

    Raises
    ------
    InputError
        With every mistake in the file, or if it cannot be read.
    """
    every = [(row, word) for row, words in _take_apart(path, _TOUR).section for word in words]
    order: dict[int, int] = {}  # cities, and the rows they stand in
    mistakes = Mistakes(path)
    for row, word in takewhile(lambda each: each[1] != "-1", every):  # the mark at the end of a tour
        city = whole_number(word) or 0
        if not 1 <= city <= cities or city in order:
            problem = "the city is in the tour twice" if city in order else "is not a city number"
            mistakes.add(problem, f"1 to {cities}, each once", row=row, value=word)
        order[city] = row
    if not mistakes and len(order) != cities:
        last = [*order.values()][-1] if order else None
        mistakes.add("the tour has too few cities", f"{cities}", row=last, value=len(order))
    mistakes.tell()
    return np.array([*order]) - 1


def _take_apart(path: Path, section: str) -> _Sheet:
    sheet = _Sheet({}, [])
    inside, there = "", False
    for row, text in enumerate(text_in_limits(path).splitlines(), start=1):
        words = text.split()
        keyword, colon, rest = (part.strip() for part in text.partition(":"))
        keyword = keyword.upper()
        if words == ["EOF"]:
            break
        if not words:
            continue
        if keyword.endswith("_SECTION"):
            inside = keyword
            if there and inside == section:
                raise InputError(f"{section} appears twice", "one", file=str(path), row=row)
            there = there or inside == section
        elif inside == section:
            sheet.section.append((row, words))
        elif colon:
            if keyword in sheet.entries and keyword in _ONCE:
                raise InputError(f"{keyword} appears twice", "one", file=str(path), row=row, value=rest)
            sheet.entries[keyword] = (row, rest)
        elif not inside:
            expected = "KEYWORD : value, or a section"
            raise InputError("is not a TSPLIB line", expected, file=str(path), row=row, value=text.strip())
    if not there:
        expected, mend = f"a line {section}, followed by its data", "see data/tsp/att48.tsp for an example"
        raise InputError(f"the file has no {section}", expected, mend, file=str(path))
    return sheet


def _entry(sheet: _Sheet, keyword: str, known: tuple[str, ...], mistakes: Mistakes) -> str:
    row, value = sheet.entries.get(keyword, (None, ""))
    if value.upper() in known:
        return value.upper()
    problem = f"{keyword} is not supported" if value else f"{keyword} is missing"
    mistakes.add(problem, f"{keyword} : {' or '.join(known)}", row=row, value=value or None)
    return ""


def _coordinates(sheet: _Sheet, count: int, mistakes: Mistakes) -> NDArray[np.float64]:
    """In the order of the cities' numbers, as tours have them."""
    cities: dict[int, tuple[float, float]] = {}
    for row, words in sheet.section:
        city, text = whole_number(words[0]), " ".join(words)
        numbers = [real_number(word) for word in words[1:]]
        if len(words) != 3 or city is None or not all(abs(each) <= FARTHEST for each in numbers):
            expected = f"a city number and two coordinates, -{FARTHEST:,.0f} to {FARTHEST:,.0f}"
            mistakes.add("is not a city", expected, row=row, value=text)
            continue
        if city in cities:
            mistakes.add("the city appears twice", "one line per city", row=row, value=text)
        elif count and not 1 <= city <= count:
            mistakes.add("the city number is out of range", f"1 to {count:,}, each once", row=row, value=text)
        cities[city] = numbers[0], numbers[1]
    if count and not mistakes and len(cities) != count:
        expected = f"{count:,}, the DIMENSION in row {sheet.entries['DIMENSION'][0]}"
        mend = "add the missing cities, or correct DIMENSION"
        mistakes.add(f"{_COORDINATES} has a wrong number of cities", expected, mend, value=len(cities))
    return np.array([cities[city] for city in sorted(cities)], np.float64)


_LONGEST = 2**31 - 1


class TourContext(NamedTuple):
    """What compiled solvers read."""

    costs: NDArray[np.int32]  # (cities, cities)


@dataclass(frozen=True, eq=False)
class TourProblem:
    """Cities to visit, each once, and back to the first (implements `Problem`).

    Parameters
    ----------
    label : str
    costs : ndarray of int, shape (cities, cities)
        From each city to each other.
    rng_stream_id : int
        Names its random numbers.
    optimum : int or None
        Length of the shortest tour, if it is known.

    Raises
    ------
    InputError
        If a tour could be longer than 32 bits can tell.
    """

    encoding = PERMUTATION

    label: str
    costs: NDArray[np.integer[Any]] = field(repr=False)
    rng_stream_id: int = 0
    optimum: int | None = None

    def __post_init__(self) -> None:
        """Refuse tours that are too long."""
        # By rows: a copy of all costs may not fit into memory.
        longest = sum(max(int(row.max()), -int(row.min())) for row in self.costs)
        if longest > _LONGEST:
            mend = "give the coordinates in a larger unit"
            raise InputError("tours may be too long", f"at most {_LONGEST:,}", mend, value=f"{longest:,}")

    @property
    def dimension(self) -> int:
        """Cities."""
        return len(self.costs)

    @property
    def lower(self) -> FloatArray:
        """The first city, shape (cities,)."""
        return np.zeros(self.dimension)

    @property
    def upper(self) -> FloatArray:
        """The last city, shape (cities,)."""
        return np.full(self.dimension, self.dimension - 1.0)

    @property
    def program_key(self) -> Hashable:
        """Whatever a program is specialised for."""
        return PERMUTATION, self.dimension

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """Edges are looked up in the context."""
        return KernelProblem("", ("problems/tours/tsp_tour.cl",), {"DIM": self.dimension})

    def kernel_context(self) -> NDArray[np.float32]:
        """The costs, int32 in the room of floats."""
        return self.costs.astype(np.int32).ravel().view(np.float32)

    def compiled_context(self, *, fine: bool = False) -> TourContext:
        """The costs."""
        return TourContext(np.ascontiguousarray(self.costs, np.int32))

    def length(self, tour: NDArray[Any]) -> int:
        """Sum of the edges of a tour, the way back included."""
        order = np.asarray(tour).astype(np.int64)
        return int(self.costs[order, np.roll(order, -1)].sum())

    def certify(self, position: FloatArray) -> Certified:
        """Minus the length; the violation is the number of cities that are not visited."""
        order = np.clip(position, 0, self.dimension - 1)
        benefit = -float(self.length(order))
        missing = self.dimension - len(np.unique(order.astype(np.int64)))
        return Certified(-np.inf if missing else benefit, benefit, float(missing))


def tour_problem(path: Path, optimum: int | None = None) -> TourProblem:
    """Read cities from a file of TSPLIB.

    Parameters
    ----------
    path : Path
        A ``.tsp`` file.
    optimum : int, optional
        Length of the shortest tour; if not given, that of the tour in ``NAME.opt.tour`` beside the file, where there
        is one.

    Raises
    ------
    InputError
        With every mistake in the files, or if one cannot be read.
    """
    cities = read_cities(path)
    try:
        problem = TourProblem(cities.name, cities.distances())
    except InputError as refused:
        raise InputError(replace(mistake, file=str(path)) for mistake in refused.mistakes) from None
    beside = path.with_suffix(".opt.tour")
    if optimum is None and beside.exists():
        optimum = problem.length(read_tour(beside, problem.dimension))
    return replace(problem, optimum=optimum)
