"""Seconds of the whole command by years: what is measured, the straight line through it, and what is claimed of it."""

from dataclasses import replace

import pandas as pd
import pytest

from reservoir.bench.experiment import RunBudget
from reservoir.bench.scale import (
    OTHER,
    STAGES,
    ScaleStudy,
    _stages,
    run,
)
from reservoir.errors import InputError

YEARS = (1000, 3000, 10_000, 30_000, 100_000)


def study_on(device, xiaowan, inflow) -> ScaleStudy:
    budget = RunBudget(runs=1)
    sizes = {"years": YEARS, "solvers": ("lshade", "clpso"), "reference": True}
    return ScaleStudy(budget=budget, device=device, reservoir=xiaowan, record=inflow, **sizes)


def found(study, seconds_of_year, memory=1500.0) -> ScaleStudy:
    """Runs that took two seconds, and so many for each year, of which the search on the device took half."""
    rows = []
    for solver in study.solvers:
        for years in study.years:
            seconds = 2 + seconds_of_year(years) * years
            stages = dict.fromkeys(STAGES, 0.0) | {"search, device": seconds / 2, OTHER: seconds / 2}
            row = {"run": 1, "solver": solver, "years": years, "seconds": seconds, **stages}
            rows.append(row | {"memory_mb": memory, "folder_mb": 1.0})
    return replace(study, data={"runs": pd.DataFrame(rows)})


def verdicts(findings):
    return {check.check: check.passed for check in findings.checks()}


def test_a_line_is_found_again(two_cores, xiaowan, inflow):
    for _, _, line in found(study_on(two_cores, xiaowan, inflow), lambda years: 1e-4).by_solver:
        assert line.coef == pytest.approx([2, 1e-4])


def test_a_library_that_is_not_here_is_named_before_anything_is_planned(monkeypatch, xiaowan, inflow):
    monkeypatch.setattr("reservoir.io.records.members.find_spec", lambda module: None if module == "h5netcdf" else 1)
    with pytest.raises(InputError, match=r"needs h5netcdf, which is not installed.*pip install 'reservoir\[netcdf\]'"):
        run(xiaowan, inflow, budget=RunBudget(quick=True))


def test_one_point_has_a_line_through_it(two_cores, xiaowan, inflow):
    study = replace(study_on(two_cores, xiaowan, inflow), years=(50,))
    for _, _, line in found(study, lambda years: 1e-4).by_solver:
        assert line(50) == pytest.approx(2 + 50e-4)


def test_growth_in_a_line_passes_and_faster_growth_does_not(large_gpu, xiaowan, inflow):
    study = study_on(large_gpu, xiaowan, inflow)
    straight = verdicts(found(study, lambda years: 7e-5))
    assert all(straight.values())
    assert len(straight) == 6
    bent = verdicts(found(study, lambda years: 1e-4 * (years / 1000) ** 0.3))
    assert [passed for check, passed in bent.items() if "straight line" in check] == [False, False]


def test_claims_of_seconds_and_memory_are_made_where_they_hold(large_gpu, two_cores, xiaowan, inflow):
    on_gpu = verdicts(found(study_on(large_gpu, xiaowan, inflow), lambda years: 1e-4, memory=2500.0))
    assert on_gpu["lshade: seconds for 100,000 years"] is False
    assert on_gpu["clpso: seconds for 100,000 years"] is True
    assert on_gpu["lshade: memory at 100,000 years, MB"] is False
    on_cpu = verdicts(found(study_on(two_cores, xiaowan, inflow), lambda years: 3e-3))
    assert on_cpu["lshade: seconds for 10,000 years"] is False
    small = replace(large_gpu, compute_units=40)
    assert not any(
        "seconds for" in check for check in verdicts(found(study_on(small, xiaowan, inflow), lambda years: 1e-4))
    )


def test_tables_and_figure_show_every_point(two_cores, xiaowan, inflow):
    findings = found(study_on(two_cores, xiaowan, inflow), lambda years: 1e-4)
    points, lines = findings.result().tables
    assert len(points.frame) == 2 * len(YEARS)
    assert lines.frame["a year more, ms"].tolist() == pytest.approx([0.1, 0.1])
    upper = findings.result().figures["scale"].subfigs[0].axes[0]
    assert upper.get_lines()[1].get_xdata().tolist() == list(YEARS)


def test_stages_of_a_profile_sum_to_the_seconds_of_the_command():
    named = {
        "import": 1.0,
        "lshade: device": 2.0,
        "dp-opencl: device": 0.5,
        "search: host": 0.25,
        "figure members": 0.125,
    }
    profile = {"stages": [{"stage": stage, "seconds": each} for stage, each in named.items()], "total_seconds": 4.0}
    stages = _stages(profile, 4.5)
    assert stages["search, device"] == 2.5
    assert stages["search, host"] == 0.25
    assert stages["figures, report"] == 0.125
    assert sum(stages.values()) == pytest.approx(sum(named.values()) + 0.5)


@pytest.mark.parametrize("asked", [{"years": "51"}, {"years": "0"}, {"years": "many"}, {"solvers": "none"}])
def test_what_cannot_be_measured_is_refused(device, xiaowan, inflow, asked):
    with pytest.raises(InputError):
        run(xiaowan, inflow, budget=RunBudget(device=str(device.index)), **asked)
