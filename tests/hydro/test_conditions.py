"""Losses of the lake and demands on the plant: what a step comes to, and what nobody can give is counted and named."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.record_rows import lake_area
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.checks import BALANCE_TOLERANCE, balance_residual
from reservoir.problems.reservoir.record import record_problems
from reservoir.solvers import solve
from tests.year_ends import cyclic

EVAPORATION_MM = np.array([20.0, 30, 50, 80, 110, 130, 140, 120, 80, 50, 30, -20])
#: How close a search on a device comes to dynamic programming within a short test, as a part of the fitness.
CLOSE = {"dp-opencl": 1e-6, "lshade": 2e-4, "clpso": 2e-4, "clpso-sequential": 2e-4}


@pytest.fixture
def lake(small: Reservoir) -> Reservoir:
    """The small reservoir with everything that a step can have, none of it out of reach."""
    return replace(
        small,
        evaporation_mm=EVAPORATION_MM,
        seepage_m3s=Table((20.0, 120.0), (0.1, 0.6)),
        withdrawal_m3s=np.linspace(0.5, 2.0, 12),
        plant_factor=np.linspace(0.7, 1.0, 12),
        power_lower_mw=np.full(12, 1.0),
        operating_level_m=float(small.level(22.0)),
    )


def solved(reservoir: Reservoir, inflow: Inflow, solver: str, horizon: str = "year"):
    problems = record_problems(reservoir, inflow, Horizon.of(horizon))
    found = solve(problems.each, solver=solver, seed=1)
    return problems, found, problems.operate(found.position)


@pytest.mark.parametrize("end", ["fixed", "cyclic", "valued"])
@pytest.mark.parametrize("solver", ["dp", "lshade", "clpso", "clpso-sequential", "dp-opencl"])
def test_every_engine_keeps_the_balance_with_losses_and_finds_the_optimum(
    lake: Reservoir, small_inflow: Inflow, solver: str, end: str
) -> None:
    plants = {
        "fixed": lake,
        "cyclic": cyclic(lake),
        "valued": replace(lake, year_end=YearEnd.VALUED, final_storage_hm3=None, end_value_gwh_per_hm3=0.12),
    }
    inflow = small_inflow.span(0, 2)
    _, found, operation = solved(plants[end], inflow, solver)
    _, best, _ = solved(plants[end], inflow, "dp")
    assert balance_residual(operation, inflow) <= BALANCE_TOLERANCE * 120
    feasible = np.asarray(best.violation) == 0
    assert feasible.any()
    gap = (np.asarray(best.fitness) - np.asarray(found.fitness)) / np.abs(np.asarray(best.fitness))
    assert np.all(np.abs(gap[feasible]) <= CLOSE.get(solver, 0.0))


def test_losses_are_those_of_the_lakes_area_and_storage(lake: Reservoir, small_inflow: Inflow) -> None:
    _, _, operation = solved(lake, small_inflow, "dp")
    storage = (operation.storage_hm3[:, 1:] + operation.storage_hm3[:, :-1]) / 2
    mm = np.tile(lake.by_step(EVAPORATION_MM), (small_inflow.years, 1))
    volume = small_inflow.calendar.hm3_per_m3s
    np.testing.assert_allclose(operation.evaporation_hm3, mm * 1e-3 * lake_area(lake)(storage), rtol=1e-12)
    np.testing.assert_allclose(operation.seepage_hm3, volume * np.interp(storage, [20, 120], [0.1, 0.6]), rtol=1e-12)
    assert np.all(operation.power_mw <= lake.installed_mw * lake.by_step(lake.plant_factor) + 1e-9)


def test_the_area_is_the_slope_of_storage_over_level(small: Reservoir) -> None:
    box = replace(small, level=Table((10.0, 60.0, 130.0), (400.0, 410.0, 424.0)))
    np.testing.assert_allclose(lake_area(box)(np.linspace(10, 130, 9)), 5.0)


def test_what_cannot_be_withdrawn_is_a_shortage_and_costs(lake: Reservoir, small_inflow: Inflow) -> None:
    thirsty = replace(lake, withdrawal_m3s=np.full(12, 60.0), power_lower_mw=np.zeros(12))
    problems, found, operation = solved(thirsty, small_inflow.span(0, 1), "dp")
    assert operation.shortage_m3s.max() > 1
    np.testing.assert_allclose(operation.withdrawal_m3s + operation.shortage_m3s, 60.0)
    assert np.all(operation.release_m3s >= lake.release_lower_m3s.min() - 1e-9)
    assert found[0].violation == pytest.approx(
        float(operation.shortage_m3s.ravel() @ problems.inflow.calendar.hm3_per_m3s[0])
        / float(60.0 * problems.inflow.calendar.hm3_per_m3s[0].max()),
        rel=1e-6,
    )


def test_columns_of_the_record_stand_in_place_of_the_reservoirs_months(lake: Reservoir, small_inflow: Inflow) -> None:
    shape = small_inflow.flow_m3s.shape
    of_record = replace(
        small_inflow,
        evaporation_mm=np.tile(lake.by_step(EVAPORATION_MM), (shape[0], 1)),
        withdrawal_m3s=np.tile(lake.by_step(lake.withdrawal_m3s), (shape[0], 1)),
    )
    bare = replace(lake, evaporation_mm=np.zeros(12), withdrawal_m3s=np.zeros(12))
    _, one, _ = solved(lake, small_inflow, "dp")
    _, other, _ = solved(bare, of_record, "dp")
    np.testing.assert_array_equal(one.position, other.position)


def test_turbines_stand_still_below_their_level(lake: Reservoir, small_inflow: Inflow) -> None:
    high = replace(lake, operating_level_m=float(lake.level(100.0)), power_lower_mw=np.zeros(12))
    problems = record_problems(high, small_inflow, Horizon())
    operation = problems.operate(np.full(small_inflow.flow_m3s.shape, 60.0))
    low = (operation.storage_hm3[:, 1:] + operation.storage_hm3[:, :-1]) / 2 < 100 - 1e-6
    assert low.any()
    assert np.all(operation.power_mw[low] == 0)
    assert np.all(operation.turbined_m3s[low] == 0)


def test_a_release_changes_no_faster_than_allowed(lake: Reservoir, small_inflow: Inflow) -> None:
    slow = replace(lake, ramp_up_m3s=15.0, ramp_down_m3s=20.0, power_lower_mw=np.zeros(12))
    inflow = small_inflow.span(0, 2)
    _, found, operation = solved(slow, inflow, "lshade")
    change = np.diff(operation.release_m3s, axis=1)
    kept = np.asarray(found.violation) == 0
    assert kept.any()
    assert change[kept].max() <= 15 * (1 + 1e-9)
    assert change[kept].min() >= -20 * (1 + 1e-9)
    free = np.diff(solved(replace(slow, ramp_up_m3s=None, ramp_down_m3s=None), inflow, "lshade")[2].release_m3s, axis=1)
    assert np.abs(free).max() > 20
    with pytest.raises(InputError, match="clpso or lshade, or with --horizon year also clpso-sequential"):
        solved(slow, inflow, "dp")


WRONG = [
    ({"evaporation_mm": np.full(12, 5000.0)}, "evaporation_mm"),
    ({"withdrawal_m3s": np.full(12, -1.0)}, "withdrawal_m3s"),
    ({"plant_factor": np.full(12, 1.5)}, "plant_factor"),
    ({"plant_factor": np.zeros(12)}, "no month in which the plant runs"),
    ({"power_lower_mw": np.full(12, 29.0)}, "more than the plant can generate"),
    ({"operating_level_m": 500.0}, "outside the levels of the lake"),
    ({"end_value_gwh_per_hm3": 0.1}, 'not used with year_end = "fixed"'),
    ({"ramp_up_m3s": 0.0}, "ramp_up_m3s"),
    ({"area_km2": Table((20.0, 120.0), (5.0, 2.0))}, "area_km2"),
    ({"area_km2": Table((10.0, 60.0, 60.1, 130.0), (1.0, 2.0, 900.0, 900.1))}, "of a further hm3"),
]


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_what_cannot_be_is_refused(lake: Reservoir, change: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        replace(lake, **change)
