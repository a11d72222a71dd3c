"""What `check` names in the rows of a file, though it is read: zeros, stuck values, missing days, lost years."""

import numpy as np
import pytest

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.inflow_check import InflowCheck
from reservoir.io.records.reader import read_inflow

DAYS = np.arange(np.datetime64("2001-01-01"), np.datetime64("2007-01-01"))
OF_YEAR = (DAYS - DAYS.astype("datetime64[Y]")).astype(int)


def _river(seed=3):
    """Daily flows of a river that is high in July, with one decimal."""
    wander = np.zeros(len(DAYS))
    for day, step in enumerate(np.random.default_rng(seed).standard_normal(len(DAYS) - 1), start=1):
        wander[day] = 0.95 * wander[day - 1] + 0.08 * step
    return 20 * np.exp(1.2 * np.sin(2 * np.pi * (OF_YEAR - 100) / 365) + wander)


RIVER = _river()


def checked(tmp_path, flow, digits=1, skip=(), header="date,inflow_m3s", days=DAYS):
    rows = (
        f"{day},{value:.{digits}f}" for at, (day, value) in enumerate(zip(days, flow, strict=True)) if at not in skip
    )
    (tmp_path / "days.csv").write_text("\n".join((header, *rows)))
    return InflowCheck(read_inflow(tmp_path / "days.csv", missing_days=30))


def spoilt(first, days, value=None):
    flow = RIVER.copy()
    flow[first : first + days] = flow[first] if value is None else value
    return flow


@pytest.mark.parametrize("days", [1, 6, 40])
@pytest.mark.parametrize("first", [760, 900])  # in February, and in June
def test_zeros_in_months_in_which_the_river_flows_are_named_by_their_days(tmp_path, first, days):
    check = checked(tmp_path, spoilt(first, days, 0.0))
    (zero,) = check.zeros
    assert (zero.first, zero.last, zero.rows) == (str(DAYS[first]), str(DAYS[first + days - 1]), days)
    assert check.stuck == ()
    assert f"of exactly 0: {zero.name} (usually " in check.sentences()["Zeros"][0]


def test_a_river_that_falls_dry_and_one_that_seldom_flows_have_no_suspect_zeros(tmp_path):
    dry = np.maximum(RIVER - 9, 0)
    assert 0.1 < (np.round(dry, 1) == 0).mean() < 0.5
    assert sum(zero.rows for zero in checked(tmp_path, dry).zeros) <= 1
    flashy = np.where(np.random.default_rng(1).random(len(DAYS)) < 0.1, RIVER, 0)
    assert checked(tmp_path, flashy).zeros == ()


@pytest.mark.parametrize(("first", "days"), [(900, 12), (900, 45), (760, 45)])
def test_a_value_that_stays_the_same_is_named(tmp_path, first, days):
    (stuck,) = checked(tmp_path, spoilt(first, days)).stuck
    assert stuck.rows >= days
    assert DAYS[first] >= np.datetime64(stuck.first)
    assert stuck.flow_m3s == pytest.approx(round(RIVER[first], 1))


def test_several_stuck_values_are_named_the_longest_first(tmp_path):
    flow = spoilt(300, 25)
    flow[900:930] = flow[900]
    assert [stretch.rows for stretch in checked(tmp_path, flow).stuck] == [25, 30]
    (said,) = checked(tmp_path, flow).sentences()["Stuck"]
    assert said.startswith(f"55 days of the same value: {DAYS[900]} to {DAYS[929]} (")


@pytest.mark.parametrize(
    ("flow", "digits"),
    [
        (RIVER, 1),
        (RIVER, 0),
        (0.02 * RIVER, 1),  # a brook of a few tenths
        (0.02 * RIVER, 2),
        (np.maximum(RIVER, 10.0), 1),  # a minimum release from above, in every year
        (np.where(RIVER < 9, 0.0, RIVER), 1),
    ],
)
def test_what_stays_the_same_for_good_reasons_is_not_stuck(tmp_path, flow, digits):
    assert checked(tmp_path, flow, digits).stuck == ()


def test_hours_of_the_same_value_are_counted_by_rows(tmp_path):
    hours = np.arange(np.datetime64("2001-01-01T00"), np.datetime64("2002-01-01T00"))
    flow = np.repeat(RIVER[:365], 24) * np.exp(0.02 * np.sin(np.arange(len(hours))))
    flow[3000:3600] = flow[3000]
    names = [str(hour).replace("T", " ") + ":00" for hour in hours]
    check = checked(tmp_path, flow, 2, days=names)
    (stuck,) = check.stuck
    assert (stuck.rows, stuck.first) == (600, "2001-05-06")
    assert check.sentences()["Stuck"][0].startswith("600 rows of the same value: 2001-05-06 to 2001-05-30 (")


def test_months_are_looked_at_as_well_also_of_a_record_without_a_file():
    months = DAYS.astype("datetime64[M]")
    flow = np.array([RIVER[months == month].mean() for month in np.unique(months)]).reshape(6, 12)
    sound = InflowCheck(Inflow(flow, Calendar(2001, 6)))
    assert sound.zeros == sound.stuck == ()
    spoilt_flow = flow.copy()
    spoilt_flow[2, 6] = 0.0
    spoilt_flow[3, 4:9] = 30.0
    check = InflowCheck(Inflow(spoilt_flow, Calendar(2001, 6)))
    assert [(zero.first, zero.rows) for zero in check.zeros] == [("2003-07", 1)]
    assert [(stuck.first, stuck.last) for stuck in check.stuck] == [("2004-05", "2004-09")]


def test_missing_days_are_named_where_steps_may_lack_some(tmp_path):
    check = checked(tmp_path, RIVER, skip={*range(100, 110), 400})
    assert check.sentences()["Gaps"] == (
        "every month of these years has a value, without 11 days that the file lacks: 2001-04-11 to 2001-04-20, "
        "2002-02-05",
    )
    at_ends = checked(tmp_path, RIVER, skip={0, 1, len(DAYS) - 1})
    assert [(gap.name, gap.rows) for gap in at_ends.gaps] == [("2001-01-01 to 2001-01-02", 2), ("2006-12-31", 1)]
    assert checked(tmp_path, RIVER).sentences()["Gaps"] == ("none: every month of these years has a value",)


@pytest.mark.parametrize(
    ("first", "last", "by_month"),
    [
        ("2001-10", "2006-09", {1: 4, 10: 5, 11: 4}),
        ("2001-09", "2006-09", {1: 4, 9: 5, 10: 5, 11: 4}),
        ("2001-01", "2006-12", {1: 6, 10: 5}),
    ],
)
@pytest.mark.parametrize("daily", [False, True])
def test_the_first_month_that_keeps_most_years_is_told(tmp_path, first, last, by_month, daily):
    begin, end = np.datetime64(first), np.datetime64(last) + 1
    times = np.arange(begin.astype("datetime64[D]"), end.astype("datetime64[D]")) if daily else np.arange(begin, end)
    flow = RIVER[: len(times)]
    path = tmp_path / "record.csv"
    path.write_text("\n".join(("date,inflow_m3s", *(f"{t},{v:.1f}" for t, v in zip(times, flow, strict=True)))))
    check = InflowCheck(read_inflow(path))
    assert {month: check.years_by_first_month[month] for month in by_month} == by_month
    more = check.sentences()["Years"][1:]
    most = max(by_month.values())
    if by_month[1] == most:
        assert more == ()
    else:
        named = "Oct" if by_month.get(9, 0) < most else "Sep or Oct"
        assert more == (f"{most} years if they begin in {named}: first_month of the reservoir file",)
        best = InflowCheck(read_inflow(path, first_month=10))
        assert (best.inflow.years, best.sentences()["Years"][1:]) == (most, ())
