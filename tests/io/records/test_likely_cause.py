"""A screenful of mistakes: the likely single cause comes first, then the first mistakes, then the rest by kind."""

import pytest

from reservoir.errors import MOST_ALIKE, InputError
from reservoir.io.records.reader import read_inflow
from tests.io.records.odd_tables import DAYS, flow_of_day, long, wide


def mistakes_of(tmp_path, text):
    (tmp_path / "inflow.csv").write_text(text)
    with pytest.raises(InputError) as refused:
        read_inflow(tmp_path / "inflow.csv")
    return refused.value.mistakes


def test_a_daily_file_of_a_station_with_dates_that_nobody_reads_is_recognised(tmp_path):
    rows = (f"USGS,11425500,{day:%Y~%m~%d},{flow_of_day(day)},A" for day in DAYS)
    cause, *first, rest = mistakes_of(tmp_path, "\n".join(("agency_cd,site_no,date,inflow_cfs,inflow_cd", *rows)))
    assert cause.problem.startswith("nearly every row (1,096 of 1,096) has the same mistake (not a date that is")
    assert cause.problem.endswith("this looks like a column of texts of the station 11425500")
    assert "YYYY-MM-DD" in cause.mend
    assert [each.row for each in first] == list(range(2, 2 + MOST_ALIKE))
    more = len(DAYS) - MOST_ALIKE
    assert rest.problem.startswith(f"{more} more mistakes not shown: {more} x not a date that is understood")


def test_stations_one_below_the_other_are_named(tmp_path):
    rows = "\n".join(f"{row},{name}" for name in ("Verona", "Bend") for row in long().splitlines()[1:])
    cause = mistakes_of(tmp_path, f"date,inflow_m3s,Station\n{rows}")[0]
    assert cause.problem == "the file has the rows of 2 stations, one below the other: Verona, Bend"
    assert cause.mend == 'name the rows to read, such as --column "Station=Verona", or keep only these'
    tables = wide(more="Verona").replace("Extra", "station") + "\n" + wide(more="Bend").partition("\n")[2]
    assert mistakes_of(tmp_path, tables)[0].problem == cause.problem


def test_a_column_of_texts_is_recognised(tmp_path):
    cause, *_ = mistakes_of(tmp_path, long("date,inflow", cell=lambda value: f"{value:g} e"))
    assert cause.problem.startswith("nearly every row (36 of 36) has the same mistake (not a number in column inflow)")
    assert "the digits 0 to 9" in cause.mend


@pytest.mark.parametrize("wrong", [2, MOST_ALIKE])
def test_a_few_mistakes_speak_for_themselves(tmp_path, wrong):
    rows = long().splitlines()
    spoilt = [row + "x" if 0 < at <= wrong else row for at, row in enumerate(rows)]
    assert [each.row for each in mistakes_of(tmp_path, "\n".join(spoilt))] == list(range(2, 2 + wrong))
