"""Daily records: months are means of their days; days that are missing are named, allowed or refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reservoir.errors import InputError
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3
from reservoir.io.records.reader import read_inflow

HM3_PER_M3S_DAY = 0.0864


def series(first="1963-01-01", last="1966-12-31", seed=3):
    days = pd.date_range(first, last, freq="D")
    return pd.Series(np.random.default_rng(seed).gamma(1.5, 200.0, len(days)).round(3) + 1, days)


def written(tmp_path, days, name="inflow_m3s", form="%Y-%m-%d"):
    path = tmp_path / "days.csv"
    rows = (f"{day.strftime(form)},{'' if np.isnan(flow) else repr(float(flow))}" for day, flow in days.items())
    path.write_text("\n".join((f"date,{name}", *rows)))
    return path


@pytest.mark.parametrize("unit", [*FLOW_M3S, *VOLUME_HM3])
def test_volumes_agree_with_those_of_pandas(tmp_path, unit):
    days = series() / (FLOW_M3S.get(unit) or VOLUME_HM3[unit])
    inflow = read_inflow(written(tmp_path, days, "inflow"), unit=unit)
    size = FLOW_M3S[unit] * HM3_PER_M3S_DAY if unit in FLOW_M3S else VOLUME_HM3[unit]
    volumes = inflow.flow_m3s * inflow.calendar.hm3_per_m3s
    np.testing.assert_allclose(volumes.ravel(), days.resample("MS").sum() * size, rtol=1e-9)
    assert any("daily values are averaged to months (1,461 days)" in note for note in inflow.notes)


@pytest.mark.parametrize("form", ["%d-%b-%Y", "%Y-%m-%d 00:00", "%d%b%Y", "%B %d, %Y"])
def test_dates_may_be_written_with_the_name_of_the_month(tmp_path, form):
    days = series().astype(int) * 1.0
    rows = "\n".join(f'"{day.strftime(form)}",{flow}' for day, flow in days.items())
    path = tmp_path / "days.csv"
    path.write_text(f"date,inflow_m3s\n{rows}")
    np.testing.assert_allclose(read_inflow(path).flow_m3s.ravel(), days.resample("MS").mean(), rtol=1e-9)


def test_months_that_lack_days_are_named_and_refused(tmp_path):
    days = series()
    days.loc["1964-02-10":"1964-02-12"] = np.nan
    path = written(tmp_path, days.drop(pd.Timestamp("1965-07-31")))
    with pytest.raises(InputError) as refused:
        read_inflow(path)
    (mistake,) = refused.value.mistakes
    assert mistake.problem == "2 months with missing days: 1964-02 (lacks 3 days), 1965-07 (lacks 1 day)"
    assert "--missing-days 3" in mistake.mend
    with pytest.raises(InputError, match="1 month with missing days: 1964-02"):
        read_inflow(path, missing_days=2)


def test_a_month_that_may_lack_days_is_the_mean_of_the_others(tmp_path):
    days = series()
    days.loc["1964-02-10":"1964-02-12"] = np.nan
    inflow = read_inflow(written(tmp_path, days), missing_days=3)
    np.testing.assert_allclose(inflow.flow_m3s.ravel(), days.resample("MS").mean(), rtol=1e-9)
    assert "averaged over fewer days: 1964-02 (lacks 3 days)" in inflow.notes
    assert inflow.reading == {"missing_days": 3}


def test_a_month_without_a_day_cannot_be_allowed(tmp_path):
    days = series()
    days.loc["1964-02"] = np.nan
    with pytest.raises(InputError, match="lacks 29 days") as refused:
        read_inflow(written(tmp_path, days), missing_days=30)
    assert "--missing-days" not in str(refused.value)


def test_months_that_begin_or_end_within_the_record_are_left_out(tmp_path):
    inflow = read_inflow(written(tmp_path, series("1962-12-15", "1965-01-20")))
    assert inflow.labels == ("1963", "1964")
    assert "left out, as days are missing: 1962-12 (lacks 14 days), 1965-01 (lacks 11 days)" in inflow.notes


def test_a_record_shorter_than_a_month_is_refused(tmp_path):
    with pytest.raises(InputError, match="1 month with missing days: 1963-01 \\(lacks 12 days\\)"):
        read_inflow(written(tmp_path, series("1963-01-05", "1963-01-23")))


def test_a_record_without_any_value_is_refused(tmp_path):
    with pytest.raises(InputError, match="no row has a value"):
        read_inflow(written(tmp_path, series() * np.nan))


def test_a_day_stands_once(tmp_path):
    path = written(tmp_path, series())
    path.write_text(path.read_text() + "\n1963-02-01,7")
    with pytest.raises(InputError, match="the day appears twice, first in row 33") as refused:
        read_inflow(path)
    assert (refused.value.mistakes[0].row, refused.value.mistakes[0].value) == (1463, "1963-02-01")


def test_evaporation_of_days_is_added_up_and_withdrawals_are_averaged(tmp_path):
    days = series()
    table = pd.DataFrame({"inflow_m3s": days, "evaporation_mm": days / 100, "withdrawal_m3s": days / 10})
    table.to_csv(tmp_path / "days.csv", index_label="date")
    inflow = read_inflow(tmp_path / "days.csv")
    np.testing.assert_allclose(inflow.evaporation_mm.ravel(), (days / 100).resample("MS").sum(), rtol=1e-9)
    np.testing.assert_allclose(inflow.withdrawal_m3s.ravel(), (days / 10).resample("MS").mean(), rtol=1e-9)


def test_negative_days_are_set_to_zero_before_they_are_averaged(tmp_path):
    days = series()
    days.iloc[[40, 700]] = -50.0
    inflow = read_inflow(written(tmp_path, days), negative="zero")
    np.testing.assert_allclose(inflow.flow_m3s.ravel(), days.clip(lower=0).resample("MS").mean(), rtol=1e-9)
    water, percent = 100 * HM3_PER_M3S_DAY, 100 * 100 / days.clip(lower=0).sum()
    said = f"2 negative values set to zero, which adds {water:.4g} hm³ in the whole record, {percent:.3g} % of its"
    assert said in inflow.notes[-1]
