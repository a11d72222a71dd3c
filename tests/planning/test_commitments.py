"""Commitments to annual releases, with optima by hand: 1 m3/s is 1 MW, months have 30 days, and volumes are in both."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.attributes import Counted, YearEnd
from reservoir.hydro.calendar import Calendar, CalendarKind
from reservoir.hydro.commitments import committed_hm3, missing_hm3, unkeepable
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.inflow_check import InflowCheck
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.hydro.system_check import SystemCheck
from reservoir.planning.comparison import compare
from reservoir.planning.plan import optimise
from reservoir.planning.proof import prove_plan
from reservoir.planning.sentences import shortfalls
from reservoir.planning.simulation import simulate
from reservoir.planning.system_plan import optimise_system
from reservoir.planning.tradeoff import tradeoff
from reservoir.rules.base.training import require_no_ramps
from tests.problems.test_systems_by_hand import GWH, PAID, VOLUME, lake

#: The release that committed volumes are exceeded by, a part of them.
ROOM = 1e-6
#: Of a hm3 left in store: more than the 0.6 thousand that it earns at the highest price, less than a miss costs.
VALUE = 1e-3


def record(flow: float, prices: list[float]) -> Inflow:
    """Years of the same inflow all year, each with its price."""
    shape = (len(prices), 12)
    calendar = Calendar(2001, len(prices), kind=CalendarKind.EQUAL_MONTHS)
    return Inflow(np.full(shape, flow), calendar, price_per_mwh=np.repeat(prices, 12).reshape(shape))


def committed(months: float | None, **changes: Any) -> Reservoir:
    """A lake that earns money, and is to release so many months of 1 m3/s in each year."""
    volume = None if months is None else months * VOLUME
    return lake("a", **{"objective": PAID, "penalty": 10.0, "annual_release_hm3": volume} | changes)


def released(plan: Any) -> Any:
    """Months of 1 m3/s that leave the last reservoir in each year."""
    operation = getattr(plan.operation, "of_reservoirs", [plan.operation])[-1]
    return operation.release_m3s.sum(axis=1)


#: The second year pays twice as much, and takes 1,200 of the 500 + 480 + 480 that there are: the first has 260.
TWO = record(40.0, [1.0, 2.0])


@pytest.mark.parametrize("solver", ["dp", "lshade", None])
def test_a_record_gives_up_what_its_commitment_costs(solver):
    free = optimise(committed(None), TWO, solver=solver, horizon="record")
    assert released(free) == pytest.approx([260, 1200], abs=1e-2)
    kept = optimise(committed(400), TWO, solver=solver, horizon="record")
    assert released(kept) == pytest.approx([400, 1060], abs=1e-2)
    assert released(kept)[0] >= 400
    assert kept.violation.tolist() == [0, 0]
    assert kept.solutions.fitness[0] == pytest.approx((400 + 2 * 1060) * GWH / 1000, rel=1e-6)
    assert str(kept.notes[-1]) == "The annual release is kept in 2 of 2 years."
    assert "missing_release_hm3" in kept.summary()
    assert "missing_release_hm3" not in free.summary()


@pytest.mark.parametrize("solver", ["dp", "lshade"])
def test_a_licence_keeps_water_for_another_year(solver):
    licensed = committed(None, most_annual_release_hm3=1000 * VOLUME)
    plan = optimise(licensed, TWO, solver=solver, horizon="record")
    assert released(plan) == pytest.approx([460, 1000], abs=1e-2)
    assert released(plan)[1] <= 1000
    assert plan.violation.tolist() == [0, 0]
    assert str(plan.notes[-1]) == "The largest annual release is kept in 2 of 2 years."
    assert plan.summary()["excess_release_hm3"].tolist() == [0, 0]
    assert "missing_release_hm3" not in plan.summary()


def test_more_than_a_licence_is_released_by_the_least_and_said():
    plan = optimise(committed(None, most_annual_release_hm3=400 * VOLUME), record(100.0, [1.0]), solver="dp")
    assert released(plan) == pytest.approx([700], rel=1e-5)  # 1,200 flow in, 500 are stored
    assert plan.violation.sum() == pytest.approx(300 / 400, rel=1e-4)
    assert plan.impossible_problems.tolist() == [True]
    assert (
        str(plan.notes[-1])
        == "The largest annual release is kept in 0 of 1 year; most is beyond it in 2001, 777.6 hm³."
    )
    assert any(
        "the annual release is 777.6 hm³ more than its most, 1,037 hm³" in str(each) for each in shortfalls(plan)
    )


def test_what_is_turbined_may_count_alone():
    plan = optimise(committed(400, counts=Counted.TURBINED), TWO, solver="dp", horizon="record")
    assert released(plan) == pytest.approx([400, 1060], abs=1e-2)
    spilling = {"counts": Counted.TURBINED, "turbines": 30.0, "most_annual_release_hm3": 370 * VOLUME}
    run = simulate(committed(365, **spilling), TWO, np.full((2, 12), 40.0))  # of which 30 are turbined
    assert run.operation.violation_sum == pytest.approx([5 / 365] * 2)
    released_counts = replace(run.reservoir, counts=Counted.RELEASED)
    assert simulate(released_counts, TWO, np.full((2, 12), 40.0)).operation.violation_sum == pytest.approx(
        [110 / 370] * 2
    )


def test_a_commitment_that_does_not_bind_changes_nothing():
    loose = optimise(committed(250), TWO, solver="dp", horizon="record")
    assert released(loose) == pytest.approx([260, 1200], abs=1e-6)


def test_what_cannot_be_kept_is_missed_by_the_least_and_said():
    plan = optimise(committed(1000), TWO, solver="dp", horizon="record")
    assert released(plan).sum() == pytest.approx(1460)
    assert plan.violation.sum() == pytest.approx(0.54, abs=1e-5)  # 2,000 less 1,460 of 1,000
    assert plan.impossible_problems.tolist() == [True]
    assert plan.summary()["missing_release_hm3"].sum() == pytest.approx(540 * VOLUME, rel=1e-5)
    assert str(plan.notes[-1]) == ("The annual release is kept in 1 of 2 years; most is missing in 2001, 1,400 hm³.")


@pytest.mark.parametrize("solver", ["clpso-sequential", "dp"])
def test_years_that_value_their_end_store_less_by_what_they_are_committed_to(solver):
    lasting = {"year_end": YearEnd.VALUED, "end_value_gwh_per_hm3": VALUE}
    plan = optimise(committed(600, **lasting), TWO, solver=solver, device=None)
    assert released(plan) == pytest.approx([600, 600], rel=2 * ROOM)  # water is worth more in store
    assert plan.keeps_limits.all()


def test_a_proof_knows_what_a_commitment_leaves_in_store():
    lasting = {"year_end": YearEnd.VALUED, "end_value_gwh_per_hm3": VALUE}
    bound, free = (
        prove_plan(optimise(committed(months, **lasting), TWO, solver="dp"), 5e-3, device="host").proofs
        for months in (600, None)
    )
    assert bound.worst_gap <= 5.1e-3
    assert bound.gap.min() >= 0
    cost = 600 * (VALUE * VOLUME - np.array([1, 2]) * GWH / 1000)  # of water that is released for less than it is worth
    assert free.bound - bound.bound == pytest.approx(cost, rel=1e-2)


def test_a_proof_knows_what_a_licence_keeps_in_store():
    lasting = {"year_end": YearEnd.VALUED, "end_value_gwh_per_hm3": 1e-5}
    bound, free = (
        prove_plan(optimise(committed(None, **most, **lasting), TWO, solver="dp"), 5e-3, device="host").proofs
        for most in ({"most_annual_release_hm3": 600 * VOLUME}, {})
    )
    assert bound.worst_gap <= 5.1e-3
    assert bound.gap.min() >= 0
    cost = 380 * (np.array([1, 2]) * GWH / 1000 - 1e-5 * VOLUME)  # of 500 + 480 that there are
    assert free.bound - bound.bound == pytest.approx(cost, rel=2e-2)


SLOPE = Table((0.0, 1000.0 * VOLUME), (125.0, 126.0))
TIERS = {
    "annual_release_hm3": None,
    "tier_level_m": (125.3, 125.6),
    "tier_release_hm3": (200 * VOLUME, 520 * VOLUME),
    "level": SLOPE,
}


@pytest.mark.parametrize(("start", "volume"), [(590.0, 200), (600.0, 520), (100.0, 200)])
def test_a_tier_counts_from_its_level_on_and_the_first_below_its_own(start, volume):
    lasting = {"year_end": YearEnd.VALUED, "end_value_gwh_per_hm3": VALUE, "start": start}
    one = record(30.0, [1.0])
    plan = optimise(committed(0, **TIERS, **lasting), one, solver="dp")
    floor = max(volume, start + 360 - 1000)  # more does not fit into the lake
    assert released(plan) == pytest.approx([floor], rel=2 * ROOM)


def test_tiers_of_a_later_month_hold_in_every_year_of_a_record():
    lasting = {"year_end": YearEnd.VALUED, "end_value_gwh_per_hm3": VALUE, "tier_month": 7}
    tiered = committed(0, **TIERS, **lasting)
    plan = optimise(tiered, record(40.0, [1.0, 2.0, 1.0]), solver="dp", horizon="record")
    assert plan.keeps_limits.all()
    levels = SLOPE(plan.operation.storage_hm3[:, 6])
    volumes = np.where(levels >= 125.6 - 1e-6, 520, 200)
    assert (released(plan) >= volumes).all()
    assert committed_hm3(tiered, plan.operation.storage_hm3)[:, 0] == pytest.approx(volumes * VOLUME)


def two_lakes(months: float | None) -> System:
    """A lake whose lower neighbour makes next to nothing, holds little, and is to release so much in each year."""
    low = {"most": 200.0, "turbines": 0.01, "installed_mw": 0.01, "start": 0.0, "full": 10.0}
    lower = replace(committed(months, **low), name="low")
    return System((replace(committed(None), name="up"), lower), (Link("up", "low"),), objective=PAID)


BOTH = SiteInflows({"up": TWO, "low": replace(TWO, flow_m3s=np.zeros((2, 12)))})


@pytest.mark.parametrize("solver", [None, "slp", "dpsa-sequential", "lshade-sequential"])
def test_the_lake_above_releases_what_the_one_below_is_committed_to(solver):
    plan = optimise_system(two_lakes(400), BOTH, solver=solver, horizon="record")
    above = plan.operation.of_reservoirs[0].release_m3s.sum(axis=1)
    assert above == pytest.approx([400, 1060], abs=10.1)  # the lower lake stores 10
    assert released(plan)[0] == pytest.approx(400, abs=1e-2)
    assert plan.violation.tolist() == [0, 0]
    assert "low: The annual release is kept in 2 of 2 years." in map(str, plan.notes)


def test_it_is_proven_that_a_system_cannot_keep_it():
    plan = optimise_system(two_lakes(1000), BOTH, solver="slp", horizon="record")
    (misses,) = plan.infeasible.values()
    assert misses.least_hm3 == pytest.approx(540 * VOLUME, rel=1e-5)
    told = " ".join(map(str, plan.notes))
    assert "at least 1,400 hm³ are missed" in told
    assert "of its annual release. Fix: lower the volume in [commitments] of low" in told
    assert plan.by_reservoir_columns()["missing_release_hm3"].sum() == pytest.approx(540 * VOLUME, rel=1e-5)


def test_it_is_proven_that_a_system_releases_more_than_it_may():
    free = two_lakes(None)
    lower = replace(free.reservoirs[1], most_annual_release_hm3=200 * VOLUME)
    licensed = replace(free, reservoirs=(free.reservoirs[0], lower))
    plan = optimise_system(licensed, BOTH, solver="slp", horizon="record")
    (misses,) = plan.infeasible.values()
    assert misses.least_hm3 == pytest.approx(50 * VOLUME, rel=1e-4)  # 1,460 less 1,010 that are stored, and 400
    told = " ".join(map(str, plan.notes))
    assert "more than its annual release may be" in told
    assert "Fix: raise most_annual_release of low" in told
    assert plan.by_reservoir_columns()["excess_release_hm3"].sum() == pytest.approx(50 * VOLUME, rel=1e-3)
    joint = simulate(licensed, BOTH, {"up": np.full((2, 12), 30.0), "low": np.full((2, 12), 30.0)})
    assert any("low: more than the largest annual release by 414.7 hm³" in each for each in joint.shortfalls())


def test_given_releases_are_measured_against_it():
    run = simulate(committed(400), TWO, np.full((2, 12), 30.0))
    assert run.operation.violation_sum == pytest.approx([40 / 400] * 2)
    assert missing_hm3(run.reservoir, run.operation, TWO.calendar.hm3_per_m3s) == pytest.approx(40 * VOLUME)
    joint = simulate(two_lakes(400), BOTH, {"up": np.full((2, 12), 30.0), "low": np.full((2, 12), 30.0)})
    assert any("low: less than the annual release by 103.7 hm³" in each for each in joint.shortfalls())


def test_check_names_volumes_that_no_year_has():
    assert not InflowCheck(TWO, committed(980)).all_doubts  # 480 flow in, 500 are stored
    (doubt,) = InflowCheck(TWO, committed(990)).all_doubts
    assert "is more than inflow and storage have in 2 of 2 years, by 25.92 hm³ in 2001" in str(doubt)
    ends = {"year_end": YearEnd.FIXED, "final_storage_hm3": 500 * VOLUME}
    assert unkeepable(committed(481, **ends), np.array([480.0]) * VOLUME) == pytest.approx([VOLUME])
    of_system = SystemCheck(two_lakes(1600), BOTH).doubts  # 480 and what both lakes hold, 1,000 and 10
    assert any(str(each).startswith("low: the annual release of 4,147 hm³ is more than") for each in of_system)
    assert not SystemCheck(two_lakes(470), BOTH).doubts


def test_a_plan_within_a_year_leaves_it_out_and_says_so():
    plan = optimise(committed(400), TWO, solver="dp", start="2003-07", start_hm3=500 * VOLUME)
    assert any("The annual release is left out" in str(note) for note in plan.notes)
    assert plan.keeps_limits.all()


def test_engines_are_compared_where_it_is_kept():
    rows = compare(committed(400), TWO, solvers=["dp", "lshade"], horizon="record")
    for row in rows:
        assert row.benefit == pytest.approx(2520 * GWH / 1000, rel=1e-4)
        assert row.violation == 0


def test_who_does_not_know_it_refuses():
    with pytest.raises(InputError, match="tradeoff does not know the annual release of a"):
        tradeoff(committed(400), TWO, ["energy", "revenue"])
    with pytest.raises(InputError, match="rules do not know the annual release of a"):
        require_no_ramps(committed(400))
    with pytest.raises(InputError, match=r"is not planned together with \[commitments\]"):
        optimise(committed(400, objective=Objective({Goal.FIRM_POWER: 1.0})), TWO)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"annual_release_hm3": 400.0, "tier_release_hm3": (1.0,), "tier_level_m": (125.0,)}, "contradicts tier_rele"),
        ({"tier_release_hm3": (1.0, 2.0), "tier_level_m": (125.0,)}, "has 2 volumes, tier_level_m has 1 level"),
        ({"tier_release_hm3": (1.0, 2.0), "tier_level_m": (125.0, 124.0)}, "does not rise"),
        ({"tier_month": 3}, "says when a level decides, but there are no levels"),
        ({"annual_release_hm3": 4000.0}, "is more than can be released"),
        ({"annual_release_hm3": 0.0}, "is out of range"),
        ({"annual_release_hm3": 400.0, "most_annual_release_hm3": 300.0}, "is more than may be released"),
    ],
)
def test_contradictions_are_refused(changes, problem):
    with pytest.raises(InputError, match=problem):
        lake("a", **changes)
