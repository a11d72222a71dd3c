"""What a planner looks for first is what the schedules give, and what a check means is said in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import reservoir as package
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning.checks import Check, failed_sentences, passed_sentence, plan_checks
from reservoir.planning.key_figures import gap_words, key_figures, key_sentences
from reservoir.planning.plan import Plan

FLOWS = np.array([400, 390, 420, 510, 790, 1470, 2650, 2380, 2740, 1720, 850, 600])


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Years of which the wettest spills, the leap year 1956 among them."""
    flows = FLOWS * np.array([1.9, 1.0, 0.9, 0.8])[:, None]
    inflow = Inflow(flow_m3s=flows, calendar=Calendar(1953, 4))
    return package.optimise(
        package.bundled_case().reservoir(), inflow, solver="clpso-sequential", generations=50, particles=8
    )


def test_the_key_figures_are_those_of_the_schedule(plan: Plan):
    figures = key_figures(plan)
    months = plan.schedule()
    energy = months.groupby("year")["energy_gwh"].sum()
    days = plan.inflow.calendar.days.ravel()
    assert figures.energy_gwh == pytest.approx(energy.mean(), rel=1e-9)
    assert (figures.worst_year, figures.best_year) == (energy.idxmin(), energy.idxmax()) == ("1956", "1953")
    assert (figures.worst_energy_gwh, figures.best_energy_gwh) == pytest.approx((energy.min(), energy.max()), rel=1e-9)
    assert figures.firm_power_mw == pytest.approx(np.quantile(months["power_mw"], 0.1))
    assert figures.lowest_power_mw == pytest.approx(months["power_mw"].min())
    spill = (months["spill_m3s"].to_numpy() * days * 0.0864).sum()
    assert spill > 100
    assert figures.spill_hm3 == pytest.approx(spill / 4, rel=1e-6)
    assert figures.spill_fraction == pytest.approx(spill / (months["inflow_m3s"].to_numpy() * days * 0.0864).sum())
    assert figures.capacity_factor == pytest.approx(
        (months["power_mw"].to_numpy() * days).sum() / days.sum() / 4200, rel=1e-3
    )


def test_the_lines_say_them_in_words(plan: Plan):
    lines, figures = dict(key_sentences(plan)), key_figures(plan)
    assert [*lines] == ["Energy", "Power", "Spill", "Gap"]
    total = f"{plan.kept_energy_gwh.sum():,.0f} GWh in 4 years"
    energy = f"{figures.energy_gwh:,.0f} GWh a year; worst {figures.worst_energy_gwh:,.0f} (1956)"
    assert lines["Energy"] == f"{energy}, best {figures.best_energy_gwh:,.0f} (1953); {total}"
    assert "MW firm (90 % of the months)" in lines["Power"]
    assert f"capacity factor {100 * figures.capacity_factor:.1f} %" in lines["Power"]
    assert lines["Spill"].endswith(" % of the inflow")


def test_the_line_of_power_says_how_often_the_guaranteed_one_is_given(plan: Plan):
    assert "guaranteed" not in dict(key_sentences(plan))["Power"]
    lake = replace(plan.reservoir, guaranteed_power_mw=1200.0, guaranteed_energy_gwh=None)
    found = package.optimise(lake, plan.inflow, solver="clpso-sequential", generations=50, particles=8)
    share = (found.schedule()["power_mw"] >= 0.99 * 1200).mean()
    assert 0 < share < 1
    assert dict(key_sentences(found))["Power"].endswith(
        f"; the guaranteed 1,200 MW in {100 * share:.1f} % of the months"
    )


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        ([1e-4, 0.0023e-2, -1e-5, 0], "at most 0.010 % (1953) below the best that dynamic programming finds"),
        ([1e-9, 0, 0, 0], "less than 0.0001 % below the best that dynamic programming finds"),
        ([0, 0, 0, -1e-6], "none: every year is the best that dynamic programming finds"),
        (
            [-1e-5, -1e-6, -1e-6, -1e-6],
            "none: every year is at least as good as the best that dynamic programming finds",
        ),
        ([np.nan] * 4, ""),
    ],
)
def test_the_gap_is_said_in_words(plan: Plan, gap: list[float], said: str):
    other = replace(plan)
    other.__dict__["gap"] = np.array(gap)
    assert gap_words(other) == said


def test_a_plan_that_keeps_no_limits_has_no_key_figures():
    inflow = Inflow(flow_m3s=np.full((2, 12), 40.0), calendar=Calendar(1953, 2))
    plan = package.optimise(package.bundled_case().reservoir(), inflow, solver="dp", reference=False)
    assert key_figures(plan) is None
    assert key_sentences(plan) == [("Energy", "none: no year satisfies its limits (2 years)")]


def test_checks_that_pass_are_one_sentence_and_each_that_fails_says_what_it_means(plan: Plan):
    checks = plan_checks(plan)
    passed = [replace(check, value=0.0) for check in checks if check.threshold is not None]
    sentence = passed_sentence(passed)
    assert sentence.startswith(
        f"all {len(passed)} pass: the water balance closes, releases and storages keep their limits"
    )
    assert failed_sentences(passed) == []
    for place, check in enumerate(passed):
        bad = [*passed[:place], replace(check, value=9.0), *passed[place + 1 :]]
        assert passed_sentence(bad) == ""
        (failed,) = failed_sentences(bad)
        assert failed.startswith(f"{check.check}: ")
        assert "Fix: " in failed or "please report it" in failed


def test_limits_that_no_schedule_can_keep_are_not_said_to_be_kept():
    inflow = Inflow(flow_m3s=np.full((2, 12), 40.0), calendar=Calendar(1953, 2))
    plan = package.optimise(package.bundled_case().reservoir(), inflow, solver="dp")
    sentence = passed_sentence(plan_checks(plan))
    assert "releases and storages keep their limits wherever that can be" in sentence


def test_a_check_without_words_leaves_the_table():
    assert passed_sentence([Check("largest deviation", 0.0, 1.0)]) == ""
    assert failed_sentences([Check("largest deviation", 2.0, 1.0)]) == []
