"""Flood space by date and by a column of the record: its table, its file, its mistakes, and what keeps it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir import InputError, optimise, read_inflow, simulate, write_reservoir
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.flood_space import FloodSpace
from reservoir.hydro.reservoir import differing_parts, reservoir_digests
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.rules import Training
from reservoir.rules.advice import Situation, advise
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.simulation import simulate as simulate_rule
from reservoir.rules.families.sdp import fit_water_values
from tests.io.small_reservoir import SMALL

DATES = """
[flood_space]
column = "Snow (mm)"
values = [0, 100, 300]
dates = ["01-15", "04-30", "07-01"]
upper_hm3 = [[120, 120, 120], [115, 100, 120], [100, 60, 120]]
"""
MONTHS = """
[flood_space]
column = "upstream storage"
values = [-1, 1]
space_acre_ft = [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 1000, 2000, 3000, 0, 0, 0, 0, 0, 0, 0]]
"""


def lake_of(text: str):
    return reservoir_of((SMALL + text).encode(), "r.toml")


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """A record by month beside which snow stands, under its own name."""
    random, path = np.random.default_rng(2), tmp_path_factory.mktemp("snow") / "in.csv"
    flows = random.lognormal(3.2, 0.5, (6, 12))
    snow = random.uniform(-20, 350, (6, 12))
    rows = [f"{1990 + at // 12}-{at % 12 + 1:02},{flows.flat[at]:.4f},{snow.flat[at]:.3f}" for at in range(72)]
    path.write_text("date,inflow_m3s,Snow (mm)\n" + "\n".join(rows) + "\n")
    return path, snow.round(3)


def test_between_dates_and_values_it_is_interpolated_and_held_beyond():
    space = lake_of(DATES).flood_space
    table = space.by_step(TimeStep.MONTH, 10)  # from October on
    assert table.shape == (3, 12)
    assert table[2, 6] == 60  # 30 April
    assert table[2, 3] == pytest.approx(100 - 40 * 16 / 105)  # 31 January, 16 days after the 15th
    assert table[2, 0] == pytest.approx(120 - 20 * 122 / 198)  # 31 October, between 1 July and 15 January
    upper = space.upper_of([[50.0, 1e9, -5.0, *[200.0] * 9]], TimeStep.MONTH, 10)
    assert upper[0, 0] == pytest.approx((table[0, 0] + table[1, 0]) / 2)
    assert (upper[0, 1], upper[0, 2]) == (table[2, 1], table[0, 2])
    assert upper[0, 6] == pytest.approx(80)


def test_space_below_the_full_storage_is_read_in_the_unit_of_its_key():
    space = lake_of(MONTHS).flood_space
    assert space.by_step(TimeStep.MONTH, 1)[1, 4] == pytest.approx(120 - 3000 * 1.2334818375e-3, rel=1e-9)
    assert space.by_step(TimeStep.TEN_DAYS, 1).shape == (2, 36)


@pytest.mark.parametrize("text", [DATES, MONTHS])
def test_a_file_says_it_again_and_it_is_part_of_what_a_reservoir_is(text):
    lake = lake_of(text)
    assert not differing_parts(reservoir_of(write_reservoir(lake).encode(), "again.toml"), reservoir_digests(lake))
    assert differing_parts(lake, reservoir_digests(lake_of(""))) == ["flood space"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[0, 100, 300]", "[0, 300, 100]", "flood_space.values: does not rise"),
        ("[0, 100, 300]", "[0, 100]", "has 3 lists, but there are 2 values"),
        ('"04-30"', '"04-31"', "which is no day of a year"),
        ('"04-30"', '"12-30"', "flood_space.dates: is not in the order of the year"),
        ("[115, 100, 120]", "[115, 100]", "expected 3 numbers, one for each date"),
        ("[115, 100, 120]", "[115, 130, 120]", "is outside the storage range"),
        ("[115, 100, 120]", "115", "is not a list of lists"),
        ("upper_hm3", "upper_mcf", "flood_space.upper_mcf: is not a known key"),
        ('column = "Snow (mm)"\n', "", "flood_space.column: is missing"),
        ("upper_hm3 = ", "space_hm3 = [[0, 0, 0]]\nupper_hm3 = ", "contradicts flood_space.upper_hm3"),
    ],
)
def test_a_table_that_says_nothing_is_refused(old, new, told):
    with pytest.raises(InputError) as refused:
        lake_of(DATES.replace(old, new))
    assert told in str(refused.value)


def test_nothing_of_a_step_is_above_it_in_plans_simulations_and_rules(record):
    path, snow = record
    lake = lake_of(DATES)
    inflow = read_inflow(path, flood_column="snow (MM)")
    np.testing.assert_array_equal(inflow.flood_index, snow)
    highest = lake.flood_space.upper_of(snow, TimeStep.MONTH, 1)
    plan = optimise(lake, inflow, solver="dp", horizon="record")
    ends = plan.operation.storage_hm3[:, 1:]
    free = ends.ravel()[:-1]  # the end of the record is fixed
    assert (free <= highest.ravel()[:-1] + 1e-9).all()
    assert (np.abs(free - highest.ravel()[:-1]) < 1e-9).any()
    assert not plan.violation.any()
    least = simulate(lake, inflow, np.full((6, 12), 4.0))
    assert (least.operation.storage_hm3[:, 1:] <= highest + 1e-9).all()
    rule = fit_water_values(Training.of(plan), Forecast.NONE)
    run = simulate_rule(rule, plan.problems.model, inflow, 100.0)
    assert (run.operation.storage_hm3[:, 1:] <= highest + 1e-9).all()
    assert run.violations.months == 0
    full = advise(rule, lake, Situation(3, 105.0, 60.0, 50.0, 0.0))
    snowy = advise(rule, lake, Situation(3, 105.0, 60.0, 50.0, 300.0))
    assert snowy.end_storage_hm3 == pytest.approx(60)
    assert full.end_storage_hm3 > 100
    assert snowy.within_bounds


def test_a_record_that_does_not_say_it_is_refused(record):
    with pytest.raises(InputError, match=r'has no column "Snow \(mm\)".*flood_column'):
        optimise(lake_of(DATES), read_inflow(record[0], column="inflow_m3s"), solver="dp")


def test_an_ensemble_needs_the_column_too_and_the_message_says_what_to_do_without(record, tmp_path):
    path, members = record[0], tmp_path / "members.csv"
    rows = path.read_text().splitlines()[1:]
    both = [f"{member},{row}" for member in ("a", "b") for row in rows]
    members.write_text("member,date,inflow_m3s,Snow (mm)\n" + "\n".join(both) + "\n")
    lake = lake_of(DATES)
    given = read_inflow(members, flood_column="Snow (mm)")
    plan = optimise(lake, given, solver="dp")
    highest = lake.flood_space.upper_of(np.concatenate([record[1]] * 2), TimeStep.MONTH, 1)
    assert (plan.operation.storage_hm3[:, 1:12] <= highest[:, :11] + 1e-9).all()
    bare = replace(given, flood_index=None)
    with pytest.raises(InputError, match=r"each member and step; for synthetic inflow, which has none, give upper"):
        optimise(lake, bare, solver="dp")
    by_month = SMALL.replace("year_end", f"upper_hm3 = [{', '.join(['120'] * 3 + ['60'] + ['120'] * 8)}]\nyear_end")
    monthly = optimise(reservoir_of(by_month.encode(), "r.toml"), bare, solver="dp")
    assert monthly.operation.storage_hm3[:, 4].max() <= 60 + 1e-9


def test_made_in_python_it_is_checked_as_in_a_file():
    with pytest.raises(InputError, match=r"flood_space\.values"):
        replace(lake_of(""), flood_space=FloodSpace("snow", (1.0,), [np.full(12, 100.0)]))
    with pytest.raises(InputError, match="flood_space: is no flood space"):
        replace(lake_of(""), flood_space=3)
