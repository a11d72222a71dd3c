"""A form that is not read yet takes one row of one list."""

from __future__ import annotations

import re

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro import units
from reservoir.hydro.attributes import FLOW_M3S
from reservoir.io.records import columns, dates, words
from reservoir.io.records.cells import parse_flow
from reservoir.io.records.columns import Companion
from reservoir.io.records.reader import read_inflow

FLOWS = [40.0, 39.0, 42.0, 51.0, 79.0, 147.0, 265.0, 238.0, 274.0, 172.0, 85.0, 60.0]


def written(tmp_path, header, rows):
    path = tmp_path / "inflow.csv"
    path.write_text("\n".join((header, *rows)))
    return path


def test_a_way_to_write_dates_is_one_form(tmp_path, monkeypatch):
    path = written(tmp_path, "date,inflow", [f"{month}/01/1990,{flow}" for month, flow in enumerate(FLOWS, start=1)])
    with pytest.raises(InputError, match="day and month cannot be distinguished"):
        read_inflow(path)
    month_first = re.compile(r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})")
    monkeypatch.setattr(dates, "_FORMS", (*dates._FORMS, month_first))
    assert read_inflow(path).flow_m3s.tolist() == [FLOWS]


def test_a_word_for_no_value_is_one_word(tmp_path, monkeypatch):
    days = np.arange(np.datetime64("1990-01-01"), np.datetime64("1991-01-01"))
    rows = [f"{day},{'Defekt' if place == 40 else 5}" for place, day in enumerate(days)]
    path = written(tmp_path, "date,inflow", rows)
    with pytest.raises(InputError, match="not a number"):
        read_inflow(path, missing_days=1)
    monkeypatch.setattr(words, "MISSING_WORDS", words.MISSING_WORDS | {"defekt"})
    assert read_inflow(path, missing_days=1).flow_m3s.tolist() == [[5.0] * 12]


def test_a_column_beside_the_inflow_is_one_row(tmp_path, monkeypatch):
    rows = [f"1990-{month:02},{flow},{month}" for month, flow in enumerate(FLOWS, start=1)]
    path = written(tmp_path, "date,inflow,diverted_cms", rows)
    assert read_inflow(path, column="inflow").withdrawal_m3s is None
    diverted = Companion("withdrawal_m3s", parse_flow, 1.0, FLOW_M3S)
    monkeypatch.setattr(columns, "COMPANIONS", {**columns.COMPANIONS, "diverted_cms": diverted})
    assert read_inflow(path).withdrawal_m3s.tolist() == [list(range(1, 13))]


def test_every_unit_has_its_spellings():
    assert set(words.SPELLINGS) == {*units.FLOW_M3S, *units.VOLUME_HM3}
