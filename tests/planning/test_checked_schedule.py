"""A schedule of anyone keeps its demands as a plan does: within what the program and the decimals leave open."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.planning.checked_schedule import RELEASE, CheckedSchedule, GivenSchedule, checked_schedule
from reservoir.planning.checked_system import checked_system
from reservoir.planning.plan import Plan, optimise
from tests.year_ends import free


@pytest.fixture(scope="module")
def inflow(small_inflow):
    return small_inflow.span(1, 2)


@pytest.fixture(scope="module")
def firm(small, inflow) -> Plan:
    """A plan that keeps a lowest power, and uses all that a demand may be missed by."""
    plan = optimise(replace(small, power_lower_mw=np.full(12, 9.5)), inflow, solver="dp", reference=False)
    assert plan.violation.tolist() == [0.0]
    assert (plan.operation.power_mw < 9.5 * (1 - 5e-7)).any()
    return plan


def given(plan: Plan, decimals: int, release=None) -> GivenSchedule:
    """A file of releases with so many decimals."""
    releases = np.round(plan.operation.release_m3s if release is None else release, decimals)
    names, digits = {RELEASE: RELEASE}, {RELEASE: 0.5 * 10.0**-decimals}
    return GivenSchedule(Path("mine.csv"), plan.inflow, {RELEASE: releases}, digits, names, {RELEASE: 1.0})


@pytest.mark.parametrize("decimals", [9, 6, 3])
def test_a_plan_with_a_lowest_power_keeps_it_in_a_file_too(firm, inflow, decimals):
    found = checked_schedule(firm.reservoir, inflow, given(firm, decimals))
    assert found.missed == ()
    assert found.kept.all()
    assert found.plan.violation.tolist() == [0.0]  # releases are raised within their rounding, which a proof needs
    assert found.plan.solutions.fitness == pytest.approx(firm.solutions.fitness, rel=2e-5)


@pytest.mark.parametrize("decimals", [6, 3])
def test_a_power_that_is_missed_by_more_than_rounding_is_told(firm, inflow, decimals):
    release = firm.operation.release_m3s.copy()
    step = int(firm.operation.power_mw[0].argmin())
    release[0, step] -= 0.01
    (told,) = checked_schedule(firm.reservoir, inflow, given(firm, decimals, release)).missed[:1]
    assert f"{inflow.calendar.step_names[step]}: the mean power is" in told


@pytest.mark.parametrize("decimals", [9, 6, 3])
def test_plants_of_a_system_keep_their_lowest_power_in_files_too(firm, small, inflow, decimals):
    system = System((replace(firm.reservoir, name="top"), replace(small, name="low")), (Link("top", "low"),))
    inflows = SiteInflows({"top": inflow, "low": inflow})
    release = firm.operation.release_m3s
    files = {"top": given(firm, decimals), "low": given(firm, decimals, 2 * release)}
    found = checked_system(system, inflows, files)
    assert [each for each in found.missed if "top" in each] == []
    assert found.plan.operation.of_reservoirs[0].violation_sum.tolist() == [0.0]


@pytest.mark.parametrize("decimals", [6, 3])
def test_a_change_of_the_release_is_open_by_the_rounding_of_both(small, inflow, decimals):
    """What is rounded up after what is rounded down rises by a unit of the last decimal more."""
    unit = 10.0**-decimals
    steady = replace(free(small), ramp_up_m3s=5.0, ramp_down_m3s=5.0)
    plan = optimise(free(small), inflow, solver="dp", reference=False)
    release = np.full((1, 12), 36.0)
    release[0, 3:6] += 5 + unit
    told = checked_schedule(steady, inflow, given(plan, decimals, release)).missed
    assert [each for each in told if "the release rises" in each or "the release falls" in each] == []
    release[0, 3:6] += 7 * unit
    told = checked_schedule(steady, inflow, given(plan, decimals, release)).missed
    assert len([each for each in told if "the release rises by 5" in each]) == 1
    assert len([each for each in told if "the release falls by 5" in each]) == 1


@pytest.mark.parametrize("decimals", [6, 3])
@pytest.mark.parametrize(("key", "side"), [("annual_release_hm3", 1), ("most_annual_release_hm3", -1)])
def test_an_annual_release_is_open_by_the_rounding_of_the_year(small, inflow, decimals, key, side):
    """A year that releases just what it is committed to, and in whose file all releases are rounded to one side."""
    lower, upper = small.storage_lower_hm3 + 20.0, small.storage_upper_hm3 - 20.0
    plan = optimise(free(replace(small, storage_lower_hm3=lower, storage_upper_hm3=upper)), inflow, solver="dp")
    written, per_flow = given(plan, decimals), inflow.calendar.hm3_per_m3s
    volume = float((written.columns[RELEASE] * per_flow).sum())

    def checked(units: float) -> CheckedSchedule:
        meant = volume + side * units * 10.0**-decimals * float(per_flow.sum())
        return checked_schedule(replace(free(small), **{key: meant}), inflow, written)

    found = checked(0.49)
    assert found.missed == ()
    assert found.plan.violation.tolist() == [0.0]  # releases are moved within their rounding, which a proof needs
    (told,) = checked(0.6).missed
    assert "annual release" in told
