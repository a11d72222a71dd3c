"""A plan's tables agree with each other and with the physics, and a year that cannot be satisfied is named."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reservoir import opencl
from reservoir.errors import DeviceError, InputError
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.plan import Plan, optimise
from reservoir.planning.sentences import shortfalls
from tests.hydro import paper
from tests.year_ends import cyclic

SCHEDULE = [
    *("year", "month", "inflow_m3s", "release_m3s", "turbined_m3s", "spill_m3s", "storage_start_hm3"),
    *("storage_end_hm3", "level_m", "tailrace_m", "head_m", "power_mw", "energy_gwh", "violation", "source"),
]
QUICK = {"solver": "clpso-sequential", "generations": 400, "engine_only": True}


@pytest.fixture(scope="module", params=["xiaowan", "small", "small cyclic"])
def plan(request: pytest.FixtureRequest) -> Plan:
    """Plans of both cases, and one of cyclic years."""
    name, _, end = request.param.partition(" ")
    reservoir = request.getfixturevalue(name)
    record = request.getfixturevalue({"xiaowan": "five_years", "small": "small_inflow"}[name])
    return optimise(cyclic(reservoir) if end else reservoir, record, **QUICK)


@pytest.fixture(scope="module")
def schedule(plan: Plan) -> pd.DataFrame:
    return plan.schedule()


@pytest.fixture(scope="module")
def summary(plan: Plan) -> pd.DataFrame:
    return plan.summary()


def by_year(plan: Plan, column: pd.Series) -> np.ndarray:
    """One column of the schedule, shape (years, 12)."""
    return column.to_numpy(float).reshape(plan.inflow.years, 12)


def test_the_schedule_has_the_columns_promised_in_their_order(schedule: pd.DataFrame) -> None:
    assert schedule.columns.tolist() == SCHEDULE


def test_the_schedule_has_a_row_for_every_month_of_every_year(plan: Plan, schedule: pd.DataFrame) -> None:
    first = plan.reservoir.first_month
    months = [(first - 1 + step) % 12 + 1 for step in range(12)]
    assert schedule["year"].tolist() == [label for label in plan.inflow.calendar.labels for _ in range(12)]
    assert schedule["month"].tolist() == months * plan.inflow.years
    assert not schedule.isna().any().any()


def test_every_row_of_the_schedule_balances(plan: Plan, schedule: pd.DataFrame) -> None:
    days = plan.inflow.calendar.days.ravel()
    gained = (schedule["inflow_m3s"] - schedule["release_m3s"]) * days * 0.0864
    residual = schedule["storage_start_hm3"] + gained - schedule["storage_end_hm3"]
    assert residual.abs().max() <= 1e-9 * schedule["storage_end_hm3"].max()
    np.testing.assert_allclose(
        schedule["release_m3s"], schedule["turbined_m3s"] + schedule["spill_m3s"], rtol=1e-12, atol=1e-9
    )


def test_every_month_starts_where_the_last_ended(plan: Plan, schedule: pd.DataFrame) -> None:
    start, end = by_year(plan, schedule["storage_start_hm3"]), by_year(plan, schedule["storage_end_hm3"])
    np.testing.assert_array_equal(start[:, 1:], end[:, :-1])
    expected = (
        end[:, -1] if plan.problems.each[0].limits.cyclic else np.full(len(start), plan.reservoir.initial_storage_hm3)
    )
    np.testing.assert_allclose(start[:, 0], expected, rtol=1e-12)


def test_energy_and_head_are_the_papers(plan: Plan, schedule: pd.DataFrame) -> None:
    release, energy = (by_year(plan, schedule[name]) for name in ("release_m3s", "energy_gwh"))
    for index in range(plan.inflow.years):
        storages = plan.operation[index].storage_hm3
        year = paper.year_of(plan.reservoir, plan.inflow, index, float(storages[0]))
        expected = paper.energy_gwh(plan.reservoir, year, release[index].tolist(), storages.tolist())
        assert energy[index].sum() == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(schedule["level_m"], plan.reservoir.level(schedule["storage_end_hm3"]), rtol=1e-12)
    mean = (schedule["storage_start_hm3"] + schedule["storage_end_hm3"]) / 2
    np.testing.assert_allclose(schedule["head_m"], plan.reservoir.level(mean) - schedule["tailrace_m"], rtol=1e-12)


def test_nothing_is_spilt_or_broken_that_need_not_be(plan: Plan, schedule: pd.DataFrame) -> None:
    assert schedule["spill_m3s"].min() >= 0
    assert schedule["violation"].max() == 0
    assert shortfalls(plan) == []


def test_the_summary_is_the_schedule_added_up(plan: Plan, schedule: pd.DataFrame, summary: pd.DataFrame) -> None:
    assert summary["year"].tolist() == list(plan.inflow.calendar.labels)
    for name in ("energy_gwh", "violation"):
        np.testing.assert_allclose(summary[name], by_year(plan, schedule[name]).sum(axis=1), rtol=1e-12)
    days = plan.inflow.calendar.days
    np.testing.assert_allclose(
        summary["spill_hm3"], (by_year(plan, schedule["spill_m3s"]) * days * 0.0864).sum(axis=1), atol=1e-9
    )
    volume = (by_year(plan, schedule["inflow_m3s"]) * days).sum(axis=1)
    np.testing.assert_allclose(summary["inflow_mean_m3s"], volume / days.sum(axis=1), rtol=1e-9)


def test_the_gap_is_the_part_that_the_optimum_is_better(plan: Plan, summary: pd.DataFrame) -> None:
    fitness = summary["energy_gwh"] - plan.reservoir.penalty * summary["violation"]
    np.testing.assert_allclose(summary["gap"], 1 - fitness / summary["reference_gwh"], rtol=1e-6, atol=1e-12)
    assert summary["gap"].min() > -2e-5
    assert summary["gap"].max() < 0.05
    assert summary["generations"].tolist() == [400] * plan.inflow.years
    assert (summary["evaluations"] > 400).all()


def test_a_plan_without_a_reference_has_no_gap(small: Reservoir, small_inflow: Inflow) -> None:
    plan = optimise(small, small_inflow, reference=False, **QUICK)
    assert len(plan.references) == 0
    assert plan.summary()["gap"].isna().all()
    assert "dp" not in plan.seconds


def test_a_plan_by_dynamic_programming_is_its_own_reference(small: Reservoir, small_inflow: Inflow) -> None:
    plan = optimise(small, small_inflow, solver="dp")
    assert plan.gap.tolist() == [0.0, 0.0, 0.0]
    assert plan.references is plan.solutions


def test_the_progress_of_every_stage_is_told(small: Reservoir, small_inflow: Inflow) -> None:
    told: list[tuple[str, int, int]] = []
    plan = optimise(small, small_inflow, progress=lambda *stage: told.append(stage), **QUICK)
    for stage in ("clpso-sequential", "dp"):
        assert (stage, 0, 3) in told
        assert (stage, 3, 3) in told
        assert plan.seconds[stage] > 0


def test_one_seed_gives_the_same_plan_to_the_last_bit(small: Reservoir, small_inflow: Inflow) -> None:
    one, other = (optimise(small, small_inflow, seed=4, reference=False, **QUICK).schedule() for _ in range(2))
    pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.fixture(scope="module")
def impossible(xiaowan: Reservoir, five_years: Inflow) -> Plan:
    """The third year has hardly any water and the fourth far too much; the others are as they were."""
    flow = five_years.flow_m3s.copy()
    flow[2], flow[3] = 100.0, 9_000.0
    return optimise(xiaowan, Inflow(flow_m3s=flow, calendar=five_years.calendar), **QUICK)


def test_a_year_without_water_is_named_with_month_quantity_and_amount(impossible: Plan) -> None:
    december = next(line for line in shortfalls(impossible) if line.startswith("1955 Dec:"))
    storage = impossible.operation[2].storage_hm3[-1]
    missing = 14_557 - storage
    assert missing > 1000
    assert f"the storage at the end of the month is {storage:,.6g} hm³" in december
    assert f"{missing:,.4g} hm³ below its lower limit of 14,557 hm³" in december


def test_a_year_of_floods_is_named_with_month_quantity_and_amount(impossible: Plan) -> None:
    lines = [line for line in shortfalls(impossible) if line.startswith("1956")]
    july = next(line for line in lines if line.startswith("1956 Jul:"))
    storage = impossible.operation[3].storage_hm3[7]
    assert f"{storage - 13_808:,.4g} hm³ above its upper limit of 13,808 hm³" in july
    assert all("above its upper limit" in line for line in lines)


def test_the_other_years_of_a_plan_are_as_good_as_ever(
    impossible: Plan, xiaowan: Reservoir, five_years: Inflow
) -> None:
    usual = optimise(xiaowan, five_years, **QUICK)
    assert (impossible.violation > 0).tolist() == [False, False, True, True, False]
    for index in (0, 1, 4):
        np.testing.assert_array_equal(impossible.operation[index].release_m3s, usual.operation[index].release_m3s)
    assert {line[:4] for line in shortfalls(impossible)} == {"1955", "1956"}


def test_every_broken_bound_is_told_and_no_other(impossible: Plan) -> None:
    broken = (impossible.operation.violation > 0).sum()
    assert len(shortfalls(impossible)) == broken > 0


def test_a_cyclic_year_that_does_not_return_is_named_with_its_start(small: Reservoir, small_inflow: Inflow) -> None:
    dry = Inflow(flow_m3s=np.full((1, 12), 1.0), calendar=replace(small_inflow.calendar, years=1))
    plan = optimise(cyclic(small), dry, **QUICK)
    start, end = plan.operation[0].storage_hm3[[0, -1]]
    may = next(line for line in shortfalls(plan) if line.startswith("1955/56 May:"))
    assert (
        f"{start - end:,.4g} hm³ below its lower limit of {start:,.6g} hm³, where the year began and has to end;" in may
    )


def test_without_opencl_the_sequential_solver_runs_and_says_so(
    monkeypatch: pytest.MonkeyPatch, small: Reservoir, small_inflow: Inflow
) -> None:
    monkeypatch.setattr(opencl, "why_unavailable", lambda: "no OpenCL platform is installed")
    plan = optimise(small, small_inflow, generations=50, reference=False)
    assert {each.solver for each in plan.solutions} == {"clpso-sequential"}
    assert any("no OpenCL platform is installed" in note and "clpso-sequential" in note for note in plan.notes)


def test_a_device_asked_for_by_name_is_never_replaced(
    monkeypatch: pytest.MonkeyPatch, small: Reservoir, small_inflow: Inflow
) -> None:
    monkeypatch.setattr(opencl, "why_unavailable", lambda: "no OpenCL platform is installed")
    with pytest.raises(DeviceError):
        optimise(small, small_inflow, device="a device that no machine has", generations=50, reference=False)


def test_the_engine_for_opencl_plans_by_default(device, small: Reservoir, small_inflow: Inflow) -> None:
    plan = optimise(small, small_inflow, generations=50, reference=False)
    assert {each.solver for each in plan.solutions} == {"clpso"}
    assert plan.notes == ()


def test_water_years_that_begin_in_different_months_are_refused(small: Reservoir, five_years: Inflow) -> None:
    with pytest.raises(InputError, match="the record's water years begin in Jan, the reservoir's in Jun"):
        optimise(small, five_years, **QUICK)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "annealing"}, "no such solver"),
        ({"solver": "dp", "generations": 5}, "no setting generations"),
        ({"seed": -1, "solver": "dp"}, "the seed is out of range"),
        ({"solver": "clpso-sequential", "particles": 1}, "particles is out of range"),
    ],
)
def test_a_wrong_call_is_refused_in_plain_words(
    small: Reservoir, small_inflow: Inflow, options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        optimise(small, small_inflow, **options)


def test_curves_too_jagged_for_the_solvers_are_refused(small: Reservoir, small_inflow: Inflow) -> None:
    storage = tuple(np.linspace(10, 130, 4000).tolist())
    level = tuple((400 + 1.2 * (np.arange(4000) // 100)).tolist())
    jagged = replace(small, level=Table(storage, level))
    with pytest.raises(InputError, match="float32 approximation of the curves"):
        optimise(jagged, small_inflow, **QUICK)


def test_the_caveats_of_record_and_reservoir_go_with_the_plan(xiaowan: Reservoir, inflow: Inflow) -> None:
    few = replace(inflow, flow_m3s=inflow.flow_m3s[:1], calendar=replace(inflow.calendar, years=1))
    caveats = optimise(xiaowan, few, reference=False, **QUICK).caveats
    assert len(caveats) == 2
    assert "synthetic" in caveats[0]
    assert "alibrated" in caveats[1]
