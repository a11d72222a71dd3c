"""An ensemble is the same years several times, once for each member; any part of it is a record too."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon

MEMBERS, YEARS = 4, 3


@pytest.fixture
def ensemble() -> Inflow:
    flows = 100.0 + np.arange(12.0 * MEMBERS * YEARS).reshape(-1, 12)
    return Inflow(flows, Calendar(2000, MEMBERS * YEARS, 6, years_each=YEARS))


def test_every_member_has_the_years_of_the_calendar(ensemble):
    one = Calendar(2000, YEARS, 6)
    assert ensemble.calendar.start_years.tolist() == one.start_years.tolist() * MEMBERS
    assert ensemble.calendar.days.tolist() == one.days.tolist() * MEMBERS
    assert list(ensemble.member_of_year) == [name for name in "1234" for _ in range(YEARS)]
    assert ensemble.labels[4] == "2: 2001/02"


def test_members_have_the_names_that_they_are_given():
    named = Inflow(np.ones((2, 12)), Calendar(2000, 2, years_each=1), members=["wet", "dry"])
    assert named.labels == ("wet: 2000", "dry: 2000")
    with pytest.raises(InputError, match="2 different names"):
        Inflow(np.ones((2, 12)), Calendar(2000, 2, years_each=1), members=["wet", "wet"])


@pytest.mark.parametrize(("first", "stop"), [(0, 12), (3, 9), (4, 5), (2, 10), (7, 12)])
def test_a_year_is_the_same_year_in_any_part_of_the_ensemble(ensemble, first, stop):
    part = ensemble.span(first, stop)
    assert part.years == stop - first
    assert tuple(part.labels) == tuple(ensemble.labels)[first:stop]
    assert (part.flow_m3s == ensemble.flow_m3s[first:stop]).all()
    assert (part.calendar.starts == ensemble.calendar.starts[first:stop]).all()
    assert (part.rng_stream_ids == ensemble.rng_stream_ids[first:stop]).all()
    again = part.span(1, 2) if stop - first > 1 else part
    assert again.labels[0] == ensemble.labels[first + (stop - first > 1)]


def test_each_year_of_each_member_has_random_numbers_of_its_own():
    ids = Inflow(np.ones((100_000, 12)), Calendar(1000, 100_000, years_each=50)).rng_stream_ids
    assert len(np.unique(ids)) == len(ids)
    assert ids.max() < 2**32
    record = Inflow(np.ones((9, 12)), Calendar(1953, 9))
    assert record.rng_stream_ids.tolist() == list(range(1953, 1962))


def test_a_horizon_is_of_one_member(ensemble):
    calendar = ensemble.calendar
    assert Horizon.of("record").within(calendar) == Horizon(YEARS)
    assert Horizon(1).within(calendar) == Horizon(1)
    assert Horizon.of("record").within(Calendar(2000, 5)) == Horizon.of("record")
    with pytest.raises(InputError, match=r"windows of 2 years do not divide the 3 years of a member.*one of 1, 3"):
        Horizon(2).within(calendar)


def test_labels_are_a_tuple_s_equal_and_made_when_asked_for(ensemble):
    labels = ensemble.labels
    assert labels == tuple(labels)
    assert hash(labels) == hash(tuple(labels))
    assert labels[-1:] == ("4: 2002/03",)
    assert labels.index("3: 2000/01") == 6
    assert Calendar(1998, 2, 6).labels == ("1998/99", "1999/00")
    assert labels != 5
