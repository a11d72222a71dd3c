"""Statistics and other quantities in words that are written together are no inflow, and names of rivers are none."""

from __future__ import annotations

import pytest

from reservoir.errors import InputError
from reservoir.io.records.reader import read_inflow

FLOWS = [11.3, 12.48, 16.75, 43.39, 76.09, 53.08, 21.73, 12.0, 13.1, 23.7, 27.3, 16.1]
NO_MEAN = [
    *("Qmax_m3s", "MaxInflow (m3/s)", "peakflow_cfs", "Qmin m3/s", "qpeak_cms", "inflowMax_m3s", "minflow_cms"),
    *("DischargeMaximum cfs", "Spitzenabfluss m3/s", "caudalmaximo_m3s", "débitmax (m3/s)", "Qmáx m3/s", "qmaxm3s"),
    *("inflowp90_m3s", "dailymaxflow_cfs", "stdflow_cfs", "Hochwasserabfluss (m3/s)", "floodpeak_m3s", "Q95_m3s"),
    *("MedianFlow cfs", "annualmax_cfs", "最大流量(m3/s)", "Caudal máximo (m3/s)", "cuminflow_hm3", "HQ_m3s"),
    *("totaloutflow_m3s", "reservoirrelease cfs", "19450_00060_00001"),
    *("Vmax_hm3", "InstantaneousPeakDischarge_cfs"),
]
MEANS = [
    *("Qmean_m3s", "meanflow_cfs", "dailyflow_cfs", "avginflow_cfs", "Qin_m3s", "Minto inflow m3/s", "Minas Q m3/s"),
    *("Maxau Abfluss m3/s", "Maxwell inflow cfs", "Logan flow cfs", "Peakirk flow cfs", "19450_00060_00003"),
]


def read(tmp_path, name, beside=""):
    rows = "\n".join(f"2001-{month:02},{flow}{beside and ',1'}" for month, flow in enumerate(FLOWS, 1))
    (tmp_path / "record.csv").write_text(
        f"# unit: cfs\ndate,{name}{beside}\n{rows}" if "00060" in name else f'date,"{name}"{beside}\n{rows}'
    )
    return read_inflow(tmp_path / "record.csv")


@pytest.mark.parametrize("name", NO_MEAN)
def test_what_is_no_mean_inflow_is_refused(tmp_path, name):
    with pytest.raises(InputError, match=r"column .*(unknown|does not seem to be inflow|is no mean)"):
        read(tmp_path, name)


@pytest.mark.parametrize("name", MEANS)
def test_means_and_names_are_read(tmp_path, name):
    assert read(tmp_path, name).years == 1


def test_beside_the_inflow_it_is_passed_over(tmp_path):
    inflow = read(tmp_path, "inflow_m3s", ",Qmax_m3s")
    assert "read column inflow_m3s, passed over Qmax_m3s" in inflow.notes
