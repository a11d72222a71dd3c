"""Firm power of long records: what is kept and what is not are close together, and both hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from reservoir import Polynomial, optimise, read_inflow, read_reservoir, save_plan
from reservoir.certificate import kept_power
from reservoir.certificate.kept_power import highest_power
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning import firm_power
from reservoir.planning.checks import plan_checks
from reservoir.planning.firm_power import BRACKET, ENOUGH, firm_power_mw, firm_power_of, largest_firm_power
from reservoir.problems.reservoir.record import record_problems
from reservoir.zoo import zoo_case
from tests.certificate.cases import random_schedules

FIRM = Objective({Goal.FIRM_POWER: 1})
#: Reservoirs of the zoo that carry water over from year to year, some of them cyclic, with a free or a fixed end.
CARRYING = (0, 7, 14, 17, 20, 21, 23, 25, 30)


@pytest.fixture(scope="module")
def dry_lake():
    """The bundled carry-over reservoir without losses: near the bottom its turbines cannot take enough."""
    lake, none = read_reservoir("data/carryover/reservoir.toml"), np.zeros(12)
    nothing = dict.fromkeys(("evaporation_mm", "withdrawal_m3s", "power_lower_mw"), none)
    return replace(lake, **nothing, seepage_m3s=None)


@pytest.fixture(scope="module")
def sixty_years():
    return read_inflow("data/carryover/inflow.csv")


def refused(_):
    raise AssertionError("nothing is left for a search")


@pytest.mark.parametrize("number", CARRYING)
def test_the_firm_power_of_a_random_carry_over_record_is_bracketed_by_proof(number):
    case = zoo_case(number, 20)
    problems = record_problems(replace(case.reservoir, objective=FIRM), case.inflow, Horizon.of("record"))
    found = firm_power_of(problems, refused)
    operation = problems.operate(found.positions)
    assert not operation.violation.any()
    assert operation.power_mw.min() == pytest.approx(found.power_mw[0], rel=1e-12)
    assert found.bounds.proved.all()
    assert 0 < found.bounds.width(found.power_mw)[0] < BRACKET


@pytest.mark.parametrize("share", [1.0, 0.9])
def test_no_random_schedule_gives_a_power_that_is_proved_not_to_be_kept(share):
    random, failures = np.random.default_rng(5), round((1 - share) * 10)
    for number in (0, 3, 6, 14, 20):
        batch = record_problems(zoo_case(number, 4).reservoir, zoo_case(number, 4).inflow, Horizon()).batches[0]
        proofs = [highest_power(year, failures, batch.model.reservoir.installed_mw * 1.01, 1e-6) for year in batch]
        able = np.array([each is not None for each in proofs])
        most = np.array([0.0 if each is None else each.not_kept_mw for each in proofs])
        for made in random_schedules(batch, 200, random):
            given = firm_power_mw(made.operation.power_mw, 1 - failures / batch.limits.steps)
            assert not (able & (made.violation == 0) & (given >= most)).any()
            assert not (~able & (made.violation == 0)).any()


@pytest.mark.parametrize("number", [0, 3, 6, 14, 20])
def test_powers_that_are_tried_at_once_make_no_difference(number):
    case = zoo_case(number, 4)
    (year,) = record_problems(case.reservoir, case.inflow, Horizon.of("record")).batches[0]
    most = case.reservoir.installed_mw * 1.01
    one, *others = (highest_power(year, 2, most, 1e-7, threads) for threads in (1, 3, 16))
    for other in others:
        assert (one is None) == (other is None)
        assert one is None or all(np.array_equal(*pair) for pair in zip(one, other, strict=True))


@pytest.mark.parametrize("driest", [1, 4])
@pytest.mark.parametrize("number", [14, 21, 30])
def test_the_smallest_of_all_years_is_found_without_the_others(number, driest, monkeypatch):
    case, closely = zoo_case(number, 16), list[float]()
    (batch,) = record_problems(case.reservoir, case.inflow, Horizon()).batches
    every = largest_firm_power(batch, 1.0, refused)

    def watched(year, *, precision, **how):
        closely.extend([precision] * (precision < 1))
        return highest_power(year, precision=precision, **how)

    monkeypatch.setattr(kept_power, "highest_power", watched)
    monkeypatch.setattr(firm_power, "_DRIEST", driest)
    found = largest_firm_power(batch, 1.0, refused, smallest=True)
    assert found.power_mw.min() == every.power_mw.min() > 0
    assert (found.power_mw <= every.power_mw * (1 + ENOUGH)).all()
    given = firm_power_mw(batch.operate(np.array(found.positions)).power_mw, 1.0)
    assert given == pytest.approx(found.power_mw, rel=1e-12)
    assert len(closely) < len(batch) / 2


def test_sixty_years_keep_more_than_grids_over_all_storages_find(dry_lake, sixty_years, tmp_path):
    """Grids found 26.67 MW and 18,495 GWh; with 26.808 MW as the lowest power they found 19,135 GWh."""
    plan = optimise(replace(dry_lake, objective=FIRM), sixty_years, solver="dp")
    assert plan.operation.power_mw.min() > 27.10
    assert plan.violation.sum() == 0
    assert plan.firm_bounds.proved.all()
    (check,) = [each for each in plan_checks(plan) if each.check.startswith("firm power")]
    assert check.threshold == BRACKET
    assert check.value < 1e-5
    promised = optimise(replace(dry_lake, power_lower_mw=np.full(12, 27.0)), sixty_years, solver="dp")
    assert promised.violation.sum() == 0  # grids over all storages miss it
    assert promised.operation.power_mw.min() > 27.0 * (1 - 1e-6)
    assert promised.energy_gwh.sum() > plan.energy_gwh.sum() > 18_200
    again = read_plan(save_plan(plan, tmp_path / "plan", figures=False)).plan
    np.testing.assert_array_equal(again.firm_bounds.not_kept_mw, plan.firm_bounds.not_kept_mw)
    assert again.firm_bounds.proved.all()


def test_a_bracket_that_stays_open_fails(lake, river):
    plan = optimise(replace(lake, objective=FIRM), river, solver="dp")
    wide = replace(plan.firm_bounds, not_kept_mw=plan.firm_power_mw * 1.001)
    (check,) = [each for each in plan_checks(replace(plan, firm_bounds=wide)) if each.check.startswith("firm power")]
    assert not check.passed


def test_the_share_of_steps_that_may_fail_is_used_as_an_integer_program_does(lake, river):
    """Where the head does not change, schedules are a linear program with a choice of steps that fail."""
    flat = replace(
        lake,
        level=Polynomial([430.0], (0.0, 200.0)),
        tailrace=Polynomial([350.0], (0.0, 300.0)),
        objective=replace(FIRM, firm_share=0.9),
    )
    plan = optimise(flat, river, solver="dp", horizon="record")
    volume, flow = river.calendar.hm3_per_m3s.ravel(), river.flow_m3s.ravel()
    steps, per_flow = len(flow), 8.3 * 80.0 / 1000
    # releases through the turbines and past them, storages at the ends, failures, power
    turbined, spilled, stored, failed = (np.arange(steps) + part * steps for part in range(4))
    size, rows, bounds = 4 * steps + 1, [], []
    for step in range(steps):
        balance, power, least = np.zeros(size), np.zeros(size), np.zeros(size)
        balance[[turbined[step], spilled[step]]], balance[stored[step]] = volume[step], 1
        if step:
            balance[stored[step - 1]] = -1
        rows.append(balance)
        bounds.append([flow[step] * volume[step] + (0 if step else 120.0)] * 2)
        power[turbined[step]], power[failed[step]], power[-1] = per_flow, 40.0, -1
        least[[turbined[step], spilled[step]]] = 1
        rows += [power, least]
        bounds += [[0, np.inf], [2.0, 300.0]]
    count = np.zeros(size)
    count[failed] = 1
    rows.append(count)
    bounds.append([0, int(0.1 * steps)])
    low, high = np.zeros(size), np.full(size, np.inf)
    high[turbined], high[failed], high[-1] = 60.0, 1, 40.0
    low[stored], high[stored] = 20.0, 180.0
    low[stored[-1]] = high[stored[-1]] = 120.0
    kinds, aim = np.zeros(size), np.zeros(size)
    kinds[failed], aim[-1] = 1, -1
    limits = LinearConstraint(np.array(rows), *np.array(bounds).T)
    best = milp(aim, constraints=limits, bounds=Bounds(low, high), integrality=kinds)
    assert plan.firm_power_mw[0] == pytest.approx(-best.fun, rel=1e-5)
    assert plan.firm_bounds.not_kept_mw[0] >= -best.fun * (1 - 1e-6)
    assert plan.firm_bounds.proved.all()
