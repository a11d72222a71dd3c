"""An objective is read, written, and found again in a plan's folder; what does not fit is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reservoir import InputError, optimise, read_inflow, read_reservoir, save_plan, write_reservoir
from reservoir.hydro.objectives import Goal, Objective
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning.tradeoff import with_goal
from tests.objectives.test_dp_against_independent import CASES, POWER, PRICE, plan_for

HILL_LAKE = Path(__file__).parents[2] / "docs/own-reservoir/hill-lake.toml"


@pytest.fixture
def read(tmp_path):
    def reading(objective: str):
        path = tmp_path / "lake.toml"
        path.write_text(f"{HILL_LAKE.read_text()}\n[objective]\n{objective}")
        return read_reservoir(path)

    return reading


def test_a_goal_is_read_with_its_prices_and_the_penalty_of_its_unit(read):
    reservoir = read(f'goal = "revenue"\nprice_per_mwh = {PRICE.tolist()}\ncurrency = "EUR"\n')
    assert (reservoir.objective.title, reservoir.objective.unit) == ("revenue", "million EUR")
    assert reservoir.objective.price_per_mwh.tolist() == PRICE.tolist()
    hours = np.array([744, 678, 744, 720, 744, 720, 744, 744, 720, 744, 720, 744])
    mean = (PRICE * hours).sum() / hours.sum()
    assert reservoir.penalty == pytest.approx(reservoir.installed_mw * 8766 / 1000 * mean / 1000)


def test_targets_are_read_in_any_unit(read):
    reservoir = read('goal = "supply-shortage"\nsupply_target_cfs = 353.147\n')
    assert reservoir.objective.supply_target_m3s == pytest.approx(np.full(12, 10), rel=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        'goal = "firm-power"\nfirm_share = 0.95\npenalty_gwh = 5\n',
        'goal = "power-shortage"\npower_target_mw = 12\npenalty = 3\n',
        "supply_target_m3s = 12\n[objective.weights]\nenergy = 2\nsupply_shortage = 30\n",
    ],
)
def test_what_is_written_is_read_back(read, tmp_path, text):
    first = read(text)
    again = read_reservoir_text(write_reservoir(first), tmp_path)
    assert dict(again.objective.weights) == dict(first.objective.weights)
    assert (again.penalty, again.objective.firm_share) == (first.penalty, first.objective.firm_share)


def read_reservoir_text(text, folder):
    path = folder / "again.toml"
    path.write_text(text)
    return read_reservoir(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('goal = "profit"\n', "energy, revenue, firm-power"),
        ('goal = "power-shortage"\n', "power_target_mw: is missing"),
        ('goal = "energy"\n[objective.weights]\nenergy = 1\n', "contradicts [objective.weights]"),
        ("[objective.weights]\nfirm_power = 1\nenergy = 1\n", "cannot be weighted"),
        ("[objective.weights]\nenergy = 0\n", "objective.weights.energy"),
        ('goal = "firm-power"\nfirm_share = 0.2\n', "0.5 to 1"),
        ('goal = "revenue"\nprice_per_mwh = -2e9\n', "price_per_mwh"),
        ('goal = "unused-capacity"\npenalty_gwh = 3\n', "write penalty in place of penalty_gwh"),
        ('goal = "supply-shortage"\nsupply_target_m3s = 0\n', "is zero throughout"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_mend(read, text, told):
    with pytest.raises(InputError) as refused:
        read(text)
    assert told in str(refused.value)


def test_revenue_without_prices_is_refused(lake, river):
    with pytest.raises(InputError, match="price_per_mwh: is missing"):
        optimise(with_goal(lake, "revenue"), river, solver="dp")


def test_prices_of_the_record_take_precedence(lake, river, tmp_path):
    prices = np.random.default_rng(5).uniform(10, 90, river.flow_m3s.shape)
    months = river.calendar.starts.ravel().astype("datetime64[M]").astype(str)
    rows = zip(months, river.flow_m3s.ravel().tolist(), prices.ravel().tolist(), strict=True)
    path = tmp_path / "record.csv"
    path.write_text("date,inflow_m3s,price_per_mwh\n" + "".join(f"{a},{b!r},{c!r}\n" for a, b, c in rows))
    record = read_inflow(path)
    plan = plan_for(lake, record, Objective({Goal.REVENUE: 1}, price_per_mwh=PRICE), "dp")
    expected = (plan.operation.energy_gwh * prices).sum() / 1000
    assert plan.benefit.sum() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["revenue", "power-shortage", "energy and supply"])
def test_a_plan_is_read_back_from_its_folder(lake, river, tmp_path, name):
    plan = plan_for(lake, river, CASES[name][0], "dp")
    folder = save_plan(plan, tmp_path / "plan", figures=False)
    again = read_plan(folder).plan
    np.testing.assert_array_equal(again.benefit, plan.benefit)
    np.testing.assert_array_equal(again.gap, plan.gap)
    assert again.objective.title == plan.objective.title


def test_a_plan_of_firm_power_is_read_back_with_it(lake, river, tmp_path):
    plan = plan_for(lake, river, Objective({Goal.FIRM_POWER: 1}), "dp")
    again = read_plan(save_plan(plan, tmp_path / "plan", figures=False)).plan
    np.testing.assert_array_equal(again.firm_power_mw, plan.firm_power_mw)
    assert again.summary()["firm_power_mw"].nunique() == 1


def test_a_goal_by_name_needs_the_targets_of_the_file(lake):
    with pytest.raises(InputError, match="add power_target_mw to"):
        with_goal(lake, "power-shortage")
    able = replace(lake, objective=Objective(power_target_mw=POWER))
    assert with_goal(able, "power-shortage").objective.single is Goal.POWER_SHORTAGE


def valued(tmp_path, objective, key):
    lines = [line for line in HILL_LAKE.read_text().splitlines() if not line.startswith(("year_end", "final_"))]
    place = lines.index("[storage]") + 1
    lines[place:place] = ['year_end = "valued"', key]
    (tmp_path / "valued.toml").write_text("\n".join([*lines, "[objective]", objective]))
    return read_reservoir(tmp_path / "valued.toml")


TARGETS = 'goal = "power-shortage"\npower_target_mw = 12'


@pytest.mark.parametrize(("key", "value"), [("end_value_per_hm3 = 70", 70), ("end_value_per_m3 = 70e-6", 70)])
def test_the_value_of_water_left_is_in_the_unit_of_the_objective(tmp_path, key, value):
    reservoir = valued(tmp_path, TARGETS, key)
    assert reservoir.end_value_gwh_per_hm3 == pytest.approx(value)
    text = write_reservoir(reservoir)
    assert "\nend_value_per_hm3 = " in text
    assert read_reservoir_text(text, tmp_path).end_value_gwh_per_hm3 == pytest.approx(value)


@pytest.mark.parametrize(
    ("objective", "keys", "said"),
    [
        (TARGETS, "end_value_gwh_per_hm3 = 0.1", "write end_value_per_hm3 in its place, in the unit of the objective"),
        ("", "end_value_gwh_per_hm3 = 0.1\nend_value_per_hm3 = 0.1", "contradicts end_value_gwh_per_hm3"),
        ("", "end_value_gwh_per_hm3 = 31", "end_value_gwh_per_hm3"),
    ],
)
def test_two_values_of_water_left_or_one_in_another_unit_are_refused(tmp_path, objective, keys, said):
    with pytest.raises(InputError, match=said):
        valued(tmp_path, objective, keys)


def test_negative_prices_of_the_record_are_read_but_a_missing_value_is_none(lake, river, tmp_path):
    months = (f"{year}-{month:02}" for year in (1990, 1991, 1992) for month in range(1, 13))
    months, prices = list(months), np.tile(np.linspace(-20.0, 35.0, 12), 3)
    path = tmp_path / "record.csv"

    def written() -> None:
        rows = zip(months, river.flow_m3s.ravel().tolist(), prices.tolist(), strict=True)
        path.write_text("date,inflow_m3s,price_per_mwh\n" + "".join(f"{a},{b!r},{c!r}\n" for a, b, c in rows))

    written()
    plan = plan_for(lake, read_inflow(path), Objective({Goal.REVENUE: 1}), "dp")
    costs = plan.inflow.price_per_mwh < 0
    assert costs.sum() == 12
    assert not plan.operation.power_mw[costs].any()
    assert (plan.operation.power_mw[~costs] > 0).all()
    prices[5] = -9999
    written()
    with pytest.raises(InputError, match="price_per_mwh"):
        read_inflow(path)
