"""A horizon is read from what users write, and cuts a record into consecutive problems."""

import pytest

from reservoir.errors import InputError
from reservoir.hydro.objectives import Horizon


@pytest.mark.parametrize(("written", "years"), [("year", 1), ("record", None), ("5", 5), (7, 7), ("1", 1)])
def test_a_horizon_is_read_from_its_name_or_its_years(written, years):
    assert Horizon.of(written) == Horizon(years)


@pytest.mark.parametrize("horizon", [Horizon(), Horizon(None), Horizon(4)])
def test_a_horizon_is_read_back_from_its_text(horizon):
    assert Horizon.of(str(horizon)) == horizon


@pytest.mark.parametrize("written", ["0", "-2", "decade", "", "1.5", None, True, "9" * 5000])
def test_what_is_no_horizon_is_refused_with_the_choices(written):
    with pytest.raises(InputError, match='"year", "record", or a number of years'):
        Horizon.of(written)


@pytest.mark.parametrize(
    ("years", "spans"),
    [
        (1, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]),
        (2, [(0, 2), (2, 4), (4, 5)]),
        (5, [(0, 5)]),
        (9, [(0, 5)]),
        (None, [(0, 5)]),
    ],
)
def test_windows_follow_each_other_and_the_last_takes_what_is_left(years, spans):
    assert Horizon(years).spans(5) == spans
