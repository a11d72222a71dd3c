"""Of water that is not there nothing is released, nothing is lost, and no power is made; what is missing is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir.certificate.bound import Effort, prove_bound
from reservoir.certificate.kept_power import highest_power
from reservoir.certificate.reachable import reachable
from reservoir.certificate.stages import stages_of
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.curves.curve import PowerLaw, constant
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.planning.checks import BALANCE_TOLERANCE, balance_residual, plan_checks, release_excess
from reservoir.planning.plan import Plan, optimise
from reservoir.planning.planned_record import feasible_problems, impossible_problems
from reservoir.planning.proof import prove_plan
from reservoir.planning.sentences import shortfalls
from reservoir.planning.simulation import simulate
from reservoir.problems.reservoir.record import record_problems
from reservoir.rules import fit
from reservoir.rules.advice import Situation, advise
from reservoir.rules.base.simulation import simulate as simulate_rule
from reservoir.rules.base.training import Training
from reservoir.solvers import solve

HILL = b"""\
name = "hill"
[plant]
installed_capacity_mw = 24
hydraulic_capacity_m3s = 60
output_coefficient = 8.3
[storage]
dead_hm3 = 15
full_hm3 = 98
year_end = "fixed"
initial_hm3 = 60
[release]
lower_m3s = 6
upper_m3s = 400
[curves.level]
kind = "table"
storage_hm3 = [9.1, 11.8, 15.0, 18.7, 22.9, 27.6, 32.9, 38.8, 45.3, 52.4, 60.2, 68.6, 77.7, 87.5, 98.0, 103.5]
level_m = [296, 298, 300, 302, 304, 306, 308, 310, 312, 314, 316, 318, 320, 322, 324, 325]
[curves.tailrace]
kind = "power"
offset_m = 262
factor = 0.16
exponent = 0.6
"""
EVAPORATION_MM = np.array([20.0, 30, 60, 120, 180, 240, 300, 280, 200, 120, 60, 30])
WET, DRY = (17, 13, 25, 73, 93, 92, 48, 23, 22, 17, 21, 12), (2, 2, 3, 4, 5, 4, 2, 1, 1, 1, 1, 1)
#: A lake at dead storage all year, one that a flood of October or of November fills.
ARID = ((0,) * 12, (0,) * 9 + (9, 0, 0), (0,) * 6 + (0.1, 0, 0, 0, 30, 0))


@pytest.fixture(scope="module")
def hill() -> Reservoir:
    return reservoir_of(HILL, "")


@pytest.fixture(scope="module")
def arid() -> Reservoir:
    changes = (b'"fixed"', b'"free"'), (b"initial_hm3 = 60", b"initial_hm3 = 16"), (b"lower_m3s = 6", b"lower_m3s = 0")
    text = HILL
    for before, after in changes:
        text = text.replace(before, after)
    return replace(reservoir_of(text, ""), evaporation_mm=EVAPORATION_MM)


def record(*years: tuple[float, ...]) -> Inflow:
    return Inflow(np.array(years, float), Calendar(2001, len(years)))


@pytest.fixture(scope="module")
def drought(hill: Reservoir) -> Plan:
    return optimise(hill, record(WET, DRY, WET), solver="dp", reference=False)


@pytest.fixture(scope="module")
def arid_plan(arid: Reservoir) -> Plan:
    return optimise(arid, record(*ARID), solver="dp", reference=False)


def require_balanced(operation, inflow: Inflow) -> None:
    assert balance_residual(operation, inflow) <= BALANCE_TOLERANCE * 98


def test_a_year_with_too_little_water_is_planned_with_the_least_shortage(drought: Plan) -> None:
    operation, volume = drought.operation[1], drought.inflow.calendar.hm3_per_m3s[1]
    np.testing.assert_array_equal(drought.feasible, [True, False, True])
    # 45 hm3 above dead storage, and what flows in.
    assert operation.release_m3s @ volume == pytest.approx(45 + np.array(DRY) @ volume)
    assert operation.missing_m3s @ volume == pytest.approx(6 * volume.sum() - 45 - np.array(DRY) @ volume)
    assert operation.storage_hm3[-1] == 15
    assert operation.annual_energy_gwh == pytest.approx(11.85, abs=0.01)
    np.testing.assert_allclose(operation.release_m3s[7:], DRY[7:])
    require_balanced(drought.operation, drought.inflow)


def test_what_is_missing_is_named_and_counted(drought: Plan) -> None:
    july = next(text for text in shortfalls(drought) if text.startswith("2002 Aug"))
    assert "5 m³/s are missing of the minimum release of 6 m³/s: there is no more water above dead storage" in july
    missing = drought.schedule()["missing_m3s"].to_numpy().reshape(3, 12)
    np.testing.assert_allclose(missing, drought.operation.missing_m3s)
    relative = missing[1] * drought.inflow.calendar.hm3_per_m3s[1] / (6 * 31 * 0.0864)
    np.testing.assert_allclose(drought.operation.violation[1][:-1], relative[:-1], rtol=1e-9)
    limits = {check.check: check for check in plan_checks(drought)}
    assert limits["release outside its limits: largest excess (m3/s)"].passed


def test_a_year_that_can_keep_all_limits_has_no_column_of_what_is_missing(hill: Reservoir) -> None:
    plan = optimise(hill, record(WET), solver="dp", reference=False)
    assert plan.violation.sum() == 0
    assert "missing_m3s" not in plan.schedule()


@pytest.mark.parametrize("solver", ["dp-opencl", "clpso", "clpso-sequential", "lshade"])
def test_every_engine_plans_little_water_as_dynamic_programming_does(
    hill: Reservoir, arid: Reservoir, drought: Plan, arid_plan: Plan, solver: str
) -> None:
    # Below dead storage float32 knows the area of the lake at dead storage alone: what is left differs a little.
    for reservoir, best, apart_gwh in ((hill, drought, 0.02), (arid, arid_plan, 0.05)):
        found = optimise(reservoir, best.inflow, solver=solver, engine_only=True, reference=False)
        np.testing.assert_allclose(found.solutions.fitness, best.solutions.fitness, rtol=1e-4, atol=apart_gwh)
        np.testing.assert_array_equal(found.feasible, best.feasible)


@pytest.mark.parametrize("solver", ["dp", "dp-opencl"])
def test_a_long_horizon_comes_through_a_drought_with_less_missing_than_years_by_themselves(
    hill: Reservoir, drought: Plan, solver: str
) -> None:
    found = optimise(hill, drought.inflow, solver=solver, horizon="record", reference=False)
    assert found.operation.missing_m3s.sum() < drought.operation.missing_m3s.sum()
    # A full lake at the end of 2001 gives 38 hm3 more.
    more = (drought.operation.missing_m3s - found.operation.missing_m3s)[1] @ found.inflow.calendar.hm3_per_m3s[1]
    assert more == pytest.approx(38.0, abs=0.05)


def test_a_lake_below_dead_storage_by_evaporation_violates_nothing(arid_plan: Plan) -> None:
    operation = arid_plan.operation
    assert arid_plan.feasible.all()
    ends = operation.storage_hm3[:, 1:]
    lowest = f"the lowest {ends.min():,.6g} hm³ in 2001 Dec: losses go on there, and nothing is released."
    below = f"The lake is below dead storage, 15 hm³, at the end of {(ends < 15 - 1e-6).sum()} of 36 months, {lowest}"
    assert below in arid_plan.notes
    assert ends.min() == ends[0, -1]
    assert operation.violation.sum() == 0
    assert (operation.storage_hm3.min(axis=1) < 14.96).all()
    below = operation.storage_hm3[:, 1:] < 15 - 1e-9
    assert below.any(axis=1).all()
    assert (operation.release_m3s[below] == 0).all()
    assert operation.annual_energy_gwh[1:] == pytest.approx([2.2, 8.94], abs=0.01)
    require_balanced(operation, arid_plan.inflow)


@pytest.fixture(scope="module")
def sinking(hill: Reservoir) -> Reservoir:
    """A lake whose seepage takes it below dead storage for good, with a minimum release that it gives for a while."""
    free = reservoir_of(HILL.replace(b'"fixed"', b'"free"'), "")
    return replace(free, seepage_m3s=constant(14.0, (0.0, 98.0)))


@pytest.mark.parametrize("solver", ["dp", "dp-opencl", "clpso", "lshade"])
def test_before_a_lake_sinks_the_water_above_dead_storage_is_used(sinking: Reservoir, solver: str) -> None:
    """The last water above dead storage is lost to seepage unless it is released in the month before."""
    year = record_problems(sinking, record((20, 10, 2) + (1,) * 9), Horizon()).each[0]
    best = -np.inf
    for more in np.linspace(0, 20, 401):  # in the first month; then the minimum, and in the second what is left
        for second in (6.0, 400.0):
            best = max(best, year.certify(np.array([6 + more, second] + [6.0] * 10)).fitness)
    found = solve([year], solver=solver)
    assert found.fitness[0] >= best - 1e-6 * abs(best)
    kept = year.certify(np.full(12, 6.0))
    assert found.violation[0] <= kept.violation + 1e-6
    assert found.benefit[0] > 1.05 * kept.benefit


def test_no_schedule_of_such_a_year_is_above_its_proven_bound(arid_plan: Plan) -> None:
    for place in (1, 2):
        year, storages = arid_plan.problems.each[place], arid_plan.operation.storage_hm3[place]
        fitness = float(arid_plan.solutions.fitness[place])
        proved = prove_bound(year, storages, fitness, Effort(gap=1e-4, seconds=30))
        assert fitness <= proved.bound <= fitness * (1 + 5e-3)


@pytest.mark.parametrize("seepage_m3s", [3.0, 14.0])
def test_losses_never_take_more_than_there_is(arid: Reservoir, seepage_m3s: float) -> None:
    leaky = replace(arid, seepage_m3s=constant(seepage_m3s, (15.0, 98.0)))
    inflow = record(WET, DRY, WET)
    found = simulate(leaky, inflow, np.full((3, 12), 5.0))
    assert found.operation.storage_hm3.min() >= 0
    assert (found.operation.storage_hm3 == 0).any()
    assert (found.operation.seepage_hm3 >= 0).all()
    assert (found.operation.release_m3s >= 0).all()
    require_balanced(found.operation, inflow)
    plan = optimise(leaky, inflow, solver="dp", reference=False)
    assert plan.operation.storage_hm3.min() >= 0
    require_balanced(plan.operation, inflow)


@pytest.fixture(scope="module")
def leaking() -> Reservoir:
    """A lake that is empty at its lowest limit, and leaks as long as there is water."""
    changes = (b'"fixed"', b'"free"'), (b"dead_hm3 = 15", b"dead_hm3 = 0"), (b"lower_m3s = 6", b"lower_m3s = 0")
    text = HILL.replace(b"storage_hm3 = [9.1", b"storage_hm3 = [0, 9.1").replace(
        b"level_m = [296", b"level_m = [285, 296"
    )
    for before, after in changes:
        text = text.replace(before, after)
    return replace(reservoir_of(text, ""), seepage_m3s=constant(14.0, (0.0, 98.0)))


#: Two months without inflow take 73 hm3 of a lake that has them, and nothing of an empty one.
ENDS_DRY, DRIES_OUT = (40.0,) * 10 + (0.0,) * 2, (5.0,) * 12


def test_a_power_that_an_empty_lake_leaves_is_not_proved_not_to_be_kept(leaking: Reservoir) -> None:
    failing = replace(leaking, objective=Objective({Goal.FIRM_POWER: 1}, firm_share=10 / 12))
    (batch,) = record_problems(failing, record(ENDS_DRY), Horizon()).batches
    releases = np.full((1, 12), 30.0)
    given = np.sort(batch.operate(releases).power_mw[0])[2]
    assert batch.operate(releases).violation_sum[0] == 0
    proved = highest_power(batch[0], 2, 30.0, 1e-7)
    assert proved is None or proved.not_kept_mw > given
    plan = optimise(failing, record(ENDS_DRY), solver="dp", reference=False)
    assert plan.firm_bounds is not None
    assert not plan.firm_bounds.proved.any()


def test_of_a_year_that_empties_the_lake_it_is_not_said_that_nothing_can_keep_its_limits(leaking: Reservoir) -> None:
    for asked in ({"power_lower_mw": np.full(12, 1.0)}, {"ramp_up_m3s": 20.0}, {}):
        problems = record_problems(replace(leaking, **asked), record(DRIES_OUT), Horizon())
        impossible = impossible_problems(problems, feasible_problems(problems, np.ones(1)))
        assert not impossible.any()
        assert prove_bound(problems.each[0], np.full(13, 60.0), None).bound == np.inf
    thirsty = record_problems(replace(leaking, release_lower_m3s=np.full(12, 1.0)), record(DRIES_OUT), Horizon())
    assert impossible_problems(thirsty, feasible_problems(thirsty, np.ones(1))).all()


@pytest.mark.parametrize(("factor", "exponent"), [(0.02, 0.5), (0.005, 2.0)])
def test_a_lake_may_run_dry_only_where_losses_are_more_than_all_of_some_storage(
    leaking: Reservoir, factor: float, exponent: float
) -> None:
    """Near the bottom losses are small where the area falls faster than the storage, and more than all where slower."""
    area = PowerLaw(0.0, factor, 0.0, exponent, (0.0, 98.0))
    tight = replace(leaking, area_km2=area, evaporation_mm=np.full(12, 100.0), seepage_m3s=None)
    year = record_problems(tight, record((0.0,) * 12), Horizon()).each[0]
    assert reachable(year.limits, stages_of(year.limits)).may_run_dry == (exponent < 1)


def test_a_minimum_release_that_counts_as_kept_is_within_what_is_proved(hill: Reservoir) -> None:
    free = reservoir_of(HILL.replace(b'"fixed"', b'"free"').replace(b"initial_hm3 = 60", b"initial_hm3 = 15"), "")
    year = record_problems(free, record((6 * (1 - 9e-7),) * 12), Horizon()).each[0]
    releases = np.full(12, 6.0)
    assert year.operate(releases).missing_m3s.all()
    assert year.certify(releases).violation == 0
    assert prove_bound(year, np.full(13, 15.0), None).bound >= year.certify(releases).fitness


def test_a_release_that_is_cut_by_rounding_passes_its_check(hill: Reservoir) -> None:
    held = reservoir_of(HILL.replace(b'"fixed"', b'"free"').replace(b"initial_hm3 = 60", b"initial_hm3 = 15"), "")
    plan = optimise(held, record((6 * (1 - 1e-12),) * 12), solver="dp", reference=False)
    assert (plan.operation.release_m3s < 6).any()
    assert release_excess(plan.operation, held) == 0
    assert release_excess(replace(plan.operation, release_m3s=np.full((1, 12), 5.999)), held) > 0


def test_withdrawals_are_cut_before_the_minimum_release_and_nothing_comes_from_below_dead_storage(
    hill: Reservoir,
) -> None:
    thirsty = replace(hill, withdrawal_m3s=np.full(12, 3.0))
    inflow = record(WET, DRY)
    found = simulate(thirsty, inflow, np.full((2, 12), 6.0)).operation
    assert found.storage_hm3.min() >= 15
    short = found.missing_m3s > 0
    assert short.any()
    assert (found.withdrawal_m3s[short] == 0).all()
    np.testing.assert_allclose(found.shortage_m3s + found.withdrawal_m3s, 3.0)
    np.testing.assert_allclose((found.release_m3s + found.missing_m3s)[short], 6.0)
    require_balanced(found, inflow)


def test_a_rule_advises_and_releases_what_there_is(hill: Reservoir) -> None:
    plan = optimise(hill, record(*(tuple(part * flow for flow in WET) for part in (0.8, 1.0, 1.2))), solver="dp")
    training = Training.of(plan)
    rule = fit("standard", training)
    advice = advise(rule, hill, Situation(7, 10.4, 0.0, 0.0))
    assert (advice.release_m3s, advice.power_mw, advice.missing_m3s) == (0.0, 0.0, 6.0)
    assert advice.end_storage_hm3 == pytest.approx(10.4)
    run = simulate_rule(rule, training.model, record(WET, DRY, WET), 60.0)
    operation = run.operation
    assert operation.storage_hm3.min() == 15
    assert run.violations.months == 0
    assert run.violations.unmet_months == (operation.missing_m3s > 0).sum() > 0
    assert run.supply_reliability == pytest.approx(1 - (operation.missing_m3s > 0).mean())
    at_dead = (operation.storage_hm3[:, :-1] == 15) & (operation.storage_hm3[:, 1:] == 15)
    np.testing.assert_allclose(operation.release_m3s[at_dead], run.limits.inflow_m3s[at_dead])


def test_a_cyclic_year_of_which_evaporation_takes_more_than_flows_in_is_named_with_what_is_missing(
    arid: Reservoir,
) -> None:
    """No year ends where it began: the plan has that which comes closest, as a part of its start, and proves it."""
    closed = replace(arid, year_end=YearEnd.CYCLIC, initial_storage_hm3=None)
    plan = optimise(closed, record(WET, (0.0,) * 12), solver="dp", reference=False)
    np.testing.assert_array_equal(plan.feasible, [True, False])
    (told,) = shortfalls(plan)
    assert "2002 Dec" in told
    assert "where the year began and has to end; no schedule was found that keeps all limits" in told
    (closeness,) = plan.operation.violation[1][-1:]
    assert plan.operation.violation[1].sum() == closeness
    year = plan.problems.each[1]
    for start in np.linspace(15.0, 98.0, 84):
        assert year.certify(np.append(np.zeros(12), start)).violation >= closeness * (1 - 1e-4)
    proofs = prove_plan(plan, 1e-3, device="host").proofs
    assert list(proofs.infeasible) == ["2002"]
    assert np.isnan(proofs.gap[1])
