"""The figure of synthetic inflow shows the record on the bands of synthetic records."""

import numpy as np
import pytest

from reservoir.report.figures.inflow import synthetic_inflow_figure
from reservoir.report.figures.style import rendered
from reservoir.synthetic.acceptance import OptimisedRecords, compare_flows
from reservoir.synthetic.ensemble import synthetic_inflow


@pytest.fixture(scope="module")
def source(inflow):
    return synthetic_inflow(inflow, "knn")


def drawn(source, optimised, **of_site):
    flow = source.flows(0, 16, 62)
    compared = {each.statistic: each for each in compare_flows(source.adjusted_record, flow, source.record.calendar)}
    return compared, synthetic_inflow_figure(compared, source.record.calendar, optimised, source.caveat, **of_site)


def operated(records):
    random = np.random.default_rng(records)
    months = random.uniform(100, 900, (records, 62, 12))
    return OptimisedRecords(months.sum(axis=2), months, 10 * months)


@pytest.mark.parametrize("with_reservoir", [False, True])
def test_a_panel_shows_each_statistic_and_with_a_reservoir_energy_and_storage(source, with_reservoir):
    optimised = (operated(1), operated(16)) if with_reservoir else None
    compared, figure = drawn(source, optimised)
    titles = [ax.get_ylabel() for ax in figure.get_axes()]
    flows = ["Mean (m³/s)", "Standard deviation (m³/s)", "Skewness", "Flow (m³/s)"]
    assert titles == flows + (["Annual energy (GWh)", "Storage at the month's end (hm³)"] if with_reservoir else [])
    for ax, name in zip(figure.get_axes(), list(compared)[:3], strict=False):
        (record,) = [line for line in ax.get_lines() if line.get_label() == "record"]
        assert np.array_equal(record.get_ydata(), compared[name].record)
    assert rendered(figure, "svg") == rendered(drawn(source, optimised)[1], "svg")


def test_the_foot_says_what_the_inflow_is(source):
    _, figure = drawn(source, None)
    foot = " ".join(text.get_text() for part in figure.subfigs for text in part.texts)
    assert "Synthetic inflow by knn, seed 1, from inflow.csv (1953 to 2014)" in foot
    assert "synthetic inflow, not the historical record" in foot
    _, figure = drawn(source, None, site="upper")
    foot = " ".join(text.get_text() for part in figure.subfigs for text in part.texts)
    assert "upper: Synthetic inflow by knn" in foot
