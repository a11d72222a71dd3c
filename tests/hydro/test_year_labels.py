"""Some names of water years are those at their places, and are made only when they are read."""

import numpy as np
import pytest

from reservoir.hydro import calendar
from reservoir.hydro.calendar import YearLabels, some_labels

MEMBERS = np.array(["a", "a", "b", "b"])
LABELS = {
    "years": YearLabels(np.arange(1953, 1957)),
    "over two years": YearLabels(np.arange(1953, 1957), 1),
    "members": YearLabels(np.array([1953, 1954, 1953, 1954]), members=MEMBERS),
    "windows": ("1953 to 1954", "1955 to 1956", "1957 to 1958", "1959"),
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("which", [slice(1, 3), np.array([3, 0]), np.array([], int)])
def test_some_names_are_those_at_their_places(name: str, which: slice | np.ndarray) -> None:
    every = np.array(tuple(LABELS[name]), object)
    assert tuple(some_labels(LABELS[name], which)) == tuple(every[which])


def test_no_name_is_made_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    name = calendar.year_label
    monkeypatch.setattr(calendar, "year_label", lambda year, later: made.append(year) or name(year, later))
    some = some_labels(YearLabels(np.arange(1953, 1953 + 10**6)), np.arange(0, 10**6, 2))
    assert (len(some), made) == (500_000, [])
    assert (some[1], made) == ("1955", [1955])
