"""`--step`: the step of a plan in place of that of the reservoir file, for the record and the reservoir alike."""

import pytest

from reservoir import read_reservoir
from tests.io.records.odd_tables import daily


@pytest.fixture
def lake(call, tmp_path):
    """A daily record, and a reservoir with a limit for each ten-day period."""
    (tmp_path / "days.csv").write_text(daily())
    call("new", "lake", "--out", "lake.toml")
    text = (tmp_path / "lake.toml").read_text()
    assert "\nlower_m3s = " in text
    first, _, rest = text.partition("\nlower_m3s = ")
    listed = f"{first}\nlower_m3s = {[1.0] * 36}\n{rest.partition(chr(10))[2]}"
    (tmp_path / "listed.toml").write_text(listed)
    return tmp_path


def test_the_record_is_averaged_to_it(call, lake):
    shown = call("check", "days.csv", "--step", "week", "--reservoir", "lake.toml").out
    assert "daily values are averaged to weeks (1,096 days)" in shown
    assert "none: every week of these years has a value" in shown


def test_lists_of_another_step_are_refused_with_the_option(call, lake):
    refused = call("check", "days.csv", "--reservoir", "listed.toml", "--step", "day", status=2).err
    assert "release.lower_m3s: has 36 ten-day periods, but --step is day" in refused
    assert "Fix: give --step ten-days, or give other values" in refused
    call("check", "days.csv", "--reservoir", "listed.toml", "--step", "ten-days")
    without = call("check", "days.csv", "--reservoir", "listed.toml", status=2).err
    assert 'but step is "month"' in without


def test_a_penalty_that_the_file_leaves_out_is_that_of_the_step(lake):
    path = lake / "lake.toml"
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith("penalty")))
    by_option = read_reservoir(path, step="day")
    path.write_text('step = "day"\n' + path.read_text())
    assert by_option.penalty == read_reservoir(path).penalty


def test_a_step_shorter_than_the_rows_is_refused(call, short_record):
    refused = call("check", short_record, "--step", "day", status=2).err
    assert 'the record has one value a month; step "day" needs a daily record' in refused
