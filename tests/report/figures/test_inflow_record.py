"""The figure of a record as it was read: years, months and volumes, of any length and unit."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.inflow_check import InflowCheck
from reservoir.hydro.unit_system import SI, US
from reservoir.report.figures.inflow import inflow_record_figure
from tests.report.layout import (
    axes_and_legends_lie_apart_within_the_figure,
    ticks_are_few_and_plain,
    words_lie_apart_within_the_figure,
    words_of,
)

pytestmark = pytest.mark.usefixtures("drawn_style")
MONTHS = np.array([14, 12, 16, 24, 38, 55, 80, 75, 50, 35, 25, 18], float)


def checked(years: int, scale: float = 1.0, first_month: int = 1) -> InflowCheck:
    spread = np.random.default_rng(years).uniform(0.6, 1.5, (years, 1))
    return InflowCheck(Inflow(scale * spread * MONTHS, Calendar(1900, years, first_month)))


@pytest.mark.parametrize("units", [SI, US])
@pytest.mark.parametrize("years", [1, 3, 60, 900])
@pytest.mark.parametrize(("scale", "first_month"), [(1.0, 1), (0.03, 10), (1_000.0, 10)])
def test_no_words_overlap_and_ticks_are_few(years, scale, first_month, units):
    figure = inflow_record_figure(checked(years, scale, first_month), units)
    words_lie_apart_within_the_figure("inflow", figure)
    axes_and_legends_lie_apart_within_the_figure("inflow", figure)
    ticks_are_few_and_plain("inflow", figure)
    for ax in figure.axes:
        assert ax.get_ylim()[0] == 0


def test_years_are_whole_and_named_as_the_record_names_them():
    def names(years: int, first_month: int) -> set[str]:
        ax = inflow_record_figure(checked(years, first_month=first_month)).axes[0]
        return {label.get_text() for label in ax.get_xticklabels()}

    assert names(1, 1) == {"1900"}
    assert names(30, 10) == {"1900/01", "1905/06", "1910/11", "1915/16", "1920/21", "1925/26"}


def test_bands_are_in_the_legend_and_crosses_are_told_where_there_are_some():
    calm = checked(60)
    flow = calm.inflow.flow_m3s.copy()
    flow[30, 6] *= 40
    wild = InflowCheck(Inflow(flow, calm.inflow.calendar))
    for check, crosses in ((calm, bool(calm.outliers)), (wild, True)):
        shown = [text.get_text() for text in words_of(inflow_record_figure(check))]
        assert {"25 to 75 %", "minimum to maximum"} <= {*shown}
        assert ("Crosses: far from" in " ".join(shown)) == crosses
    assert not calm.outliers
