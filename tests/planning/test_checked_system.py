"""Anyone's schedule of a system: what engines release is found to keep its limits, and nothing that is changed is."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reservoir.hydro.objectives import Horizon
from reservoir.planning.checked_schedule import RELEASE, SHORTAGE, START, GivenSchedule
from reservoir.planning.checked_system import checked_system
from reservoir.planning.columns import table_of
from reservoir.planning.operated_system import OperatedSite
from reservoir.problems.system import system_problems
from tests.problems.random_systems import PARTS, random_system

COLUMNS = (RELEASE, SHORTAGE, START, "storage_end_hm3", "power_mw", "energy_gwh", "head_m", "spill_m3s")


def given(system, inflows, operation) -> dict[str, GivenSchedule]:
    """The schedule of an operation with six decimals, as a file has it."""
    found = {}
    for reservoir, own, arriving in zip(
        system.reservoirs, operation.of_reservoirs, operation.arriving_m3s, strict=True
    ):
        inflow, none = inflows[reservoir.name], np.zeros_like(operation.hm3_per_m3s)
        table = table_of("site_steps", OperatedSite(reservoir, inflow, own, none if arriving is None else arriving))
        columns = {name: np.round(table[name], 6) for name in COLUMNS if name in table}
        digits, sizes = dict.fromkeys(columns, 5e-7), dict.fromkeys(columns, 1.0)
        names = {name: name for name in columns}
        found[reservoir.name] = GivenSchedule(Path("mine.csv"), inflow, columns, digits, names, sizes)
    return found


def operated(seed: int, part: str, horizon: str):
    system, inflows = random_system(seed, part)
    problems = system_problems(system, inflows, Horizon.of(horizon))
    positions = np.random.default_rng(seed).random((len(problems), problems.batches[0].dimension))
    return system, inflows, problems, problems.operate(positions)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("seed", range(6))
def test_what_keeps_its_limits_is_found_to_and_its_claims_follow(seed, part):
    horizon = ("year", "record")[seed % 2]
    system, inflows, problems, operation = operated(seed, part, horizon)
    checked = checked_system(system, inflows, given(system, inflows, operation), horizon)
    for place in range(len(problems)):
        of_problem = operation.violation_sum[problems.of_year == place]
        assert checked.kept[place] == (of_problem.sum() == 0), checked.missed
    if checked.kept.all():
        assert checked.differences == ()
        assert checked.energy_gwh == pytest.approx(float(operation.annual_energy_gwh.sum()), rel=1e-5)
        made = checked.plan.operation
        assert np.allclose(made.stacked("release_m3s"), operation.stacked("release_m3s"), atol=1e-5)


def test_a_release_that_is_changed_is_found_where_it_is_and_its_claims_do_not_follow():
    system, inflows, _, operation = operated(0, "plain", "year")
    schedule = given(system, inflows, operation)
    name = system.names[0]
    columns = {each: values.copy() for each, values in schedule[name].columns.items()}
    columns[RELEASE][1, 3] *= 1.05
    changed = {**schedule, name: replace(schedule[name], columns=columns)}
    before, checked = (checked_system(system, inflows, each, "year") for each in (schedule, changed))
    assert before.differences == ()
    told = {each.problem for each in checked.differences}
    assert f"does not follow from the releases (reservoir {name})" in told
    assert {each.row for each in checked.differences} >= {1 * 12 + 3 + 2}


def test_a_plant_without_storage_releases_what_comes():
    found = 0
    for seed in range(40):
        system, inflows = random_system(seed)
        fixed = [each.name for each in system.reservoirs if each.is_run_of_river]
        if not fixed:
            continue
        problems = system_problems(system, inflows, Horizon())
        operation = problems.operate(np.full((len(problems), problems.batches[0].dimension), 0.5))
        schedule = given(system, inflows, operation)
        columns = {**schedule[fixed[0]].columns, RELEASE: schedule[fixed[0]].columns[RELEASE] + 1.0}
        schedule[fixed[0]] = replace(schedule[fixed[0]], columns=columns)
        checked = checked_system(system, inflows, schedule)
        wrong = [each for each in checked.differences if each.column == RELEASE]
        assert len(wrong) == operation.hm3_per_m3s.size
        del schedule[fixed[0]]  # nor need it be in the file
        if schedule:
            assert checked_system(system, inflows, schedule).differences == ()
            found += 1
        if found == 2:
            return
    raise AssertionError("no such system")
