"""A row of a journal for each random reservoir: those that are missing are run, here or in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

from reservoir.bench.journal import Journal
from reservoir.bench.processes import shared_among
from reservoir.zoo.zoo import Part

if TYPE_CHECKING:
    from reservoir.bench.zoo.runs import ZooSetup

#: JSON's, as a journal keeps it.
Row = dict[str, Any]
#: A reservoir: the part, and its number there.
Place = tuple[Part, int]
Setup = TypeVar("Setup", bound="ZooSetup")
#: What the progress of the runs is told as.
_STAGE = "random reservoirs"


def rows_of_reservoirs(setup: Setup, journal: Journal, run: Callable[[Setup, Place], Row]) -> list[tuple[Row, Row]]:
    """Make all runs that the journal has not.

    Parameters
    ----------
    setup : ZooSetup
    journal : Journal
    run : callable
        Makes the row of a reservoir; a function of a module, for other processes import it.

    Returns
    -------
    list of pair of dict
        Part and number of each reservoir, and its row.
    """
    places = list(product(setup.parts, range(setup.reservoirs)))
    missing = [place for place in places if journal.row(_name(place)) is None]
    setup.progress(_STAGE, len(places) - len(missing), len(places))
    for done, (place, row) in enumerate(_made(setup, run, missing), len(places) - len(missing) + 1):
        journal.add(_name(place), row)
        setup.progress(_STAGE, done, len(places))
    return [({"part": place[0].name.lower(), "number": place[1]}, journal.row(_name(place)) or {}) for place in places]


def _name(place: Place) -> str:
    return f"{place[0].name.lower()} {place[1]}"


def _made(setup: Setup, run: Callable[[Setup, Place], Row], places: list[Place]) -> Iterator[tuple[Place, Row]]:
    """The row of each reservoir: one after another, or as they are done in several processes."""
    if setup.jobs == 1:
        return ((place, run(setup, place)) for place in places)
    return shared_among(min(setup.jobs, len(places)), partial(_run_apart, type(setup), setup.sizes(), run), places)


def _run_apart(kind: type[Setup], sizes: dict[str, Any], run: Callable[[Setup, Place], Row], place: Place) -> Row:
    """A reservoir's row, in a process that chooses the device for itself."""
    return run(kind.of(**sizes), place)
