"""One array of a year: its fields by name, for one year and for many."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reservoir.hydro.benefit import stage_benefit
from reservoir.hydro.conditions import available, demanded, loss_volume, power_demanded, unmet, unmet_power
from reservoir.hydro.curves.approximation import PADDED_LENGTHS, padded
from reservoir.hydro.curves.forms import PolynomialForm
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.rows import DEAD, FIELDS, INFLOW, NUMBERS, OFFSET, PLAIN_FIELDS, PLAIN_NUMBERS, TERMS, filled_years
from reservoir.problems.reservoir.year import ReservoirModel, reservoir_problems
from tests.hydro.random_reservoirs import random_reservoir


@pytest.fixture(scope="module")
def years(small, small_inflow):
    lossy = replace(small, withdrawal_m3s=np.linspace(0.0, 1.1, 12), evaporation_mm=np.linspace(-5.0, 60.0, 12))
    priced = Objective({Goal.REVENUE: 1.0}, price_per_mwh=np.linspace(30.0, 60.0, 12))
    return reservoir_problems(replace(lossy, objective=priced), small_inflow)


def test_every_field_has_a_row_and_every_number_a_place(years):
    arrays = years.limits.arrays()
    assert arrays.rows.shape == (len(years), 1, len(FIELDS), 12)
    assert arrays.numbers.shape == (len(years), 1, len(NUMBERS))
    assert FIELDS[OFFSET:] == TERMS
    assert (FIELDS[INFLOW], NUMBERS[DEAD]) == ("inflow", "dead")
    for place, name in enumerate(FIELDS):
        np.testing.assert_array_equal(getattr(arrays, name), arrays.rows[:, 0, place])
    for place, name in enumerate(NUMBERS):
        np.testing.assert_array_equal(getattr(arrays, name), arrays.numbers[:, 0, place])
    with pytest.raises(AttributeError):
        _ = arrays.outflow


def test_what_is_given_has_a_row_of_its_name(years, small_inflow):
    limits = years.limits
    assert {*limits.rows} <= {*FIELDS}
    assert {*limits.numbers} <= {*NUMBERS, "start_lower", "start_upper"}
    np.testing.assert_array_equal(limits.inflow_m3s, small_inflow.flow_m3s)
    np.testing.assert_array_equal(
        limits.rows["withdrawal"][:, 0],
        np.tile(years.model.reservoir.by_step(years.model.reservoir.withdrawal_m3s), (len(years), 1)),
    )
    with pytest.raises(AttributeError):
        _ = limits.outflow_m3s
    with pytest.raises(AttributeError):
        limits.changed(outflow_m3s=1.0)


def test_what_is_the_same_in_all_years_is_stored_once(small, small_inflow):
    limits = reservoir_problems(small, small_inflow).limits
    once = {name for name, row in limits.rows.items() if row.strides[0] == 0}
    assert once == {"release_lower", "release_upper", "storage_lower", "storage_upper"}
    some = limits[1:].changed(release_lower_m3s=3.0)
    assert {name for name, row in some.rows.items() if row.strides[0] == 0} == once
    assert (some.release_lower_m3s == 3.0).all()
    np.testing.assert_array_equal(limits.release_lower_m3s[0], small.by_step(small.release_lower_m3s))


def test_steps_and_horizons_are_taken_of_all_rows_alike(years):
    limits, steps = years.limits[:2], years.limits.steps
    joined, windows = limits.joined(2), limits.windows(np.array([1, 0]), np.array([[3, 4], [0, 1]]))
    for name, row in limits.rows.items():
        np.testing.assert_array_equal(joined.rows[name][0, 0], row[:, 0].ravel())
        np.testing.assert_array_equal(windows.rows[name][:, 0], [row[1, 0, 3:5], row[0, 0, :2]])
        np.testing.assert_array_equal(limits.from_step(5).rows[name], row[..., 5:])
        np.testing.assert_array_equal(type(limits).of([limits[1], limits[0]]).rows[name], row[::-1])
    assert (joined.steps, len(joined), windows.steps) == (2 * steps, 1, 2)
    assert not limits.with_terms({}).priced


def test_a_plain_reservoir_has_fewer_rows(small, small_inflow):
    arrays = reservoir_problems(small, small_inflow).limits.arrays()
    assert arrays.rows.shape[2:] == (PLAIN_FIELDS, 12)
    assert arrays.numbers.shape[2:] == (PLAIN_NUMBERS,)
    assert arrays.conditions == arrays.terms == ()
    assert demanded(arrays, 3) == loss_volume(arrays, 3, 5.0, 2.6) == unmet(arrays, 3, 1.0, 2.0, 3.0) == 0
    assert stage_benefit(arrays, 3, 7.0, 1.0, 2.6) == 7.0 * 2.6
    with pytest.raises(AttributeError):
        _ = arrays.evaporation


def test_what_many_years_say_of_a_step_is_what_each_says(years):
    many = years.limits.arrays()
    for place, year in enumerate(years):
        alone = year.limits.arrays()
        assert alone.rows.tobytes() == many.rows[place, 0].tobytes()
        of_many, of_one = (of._replace(lake=years.limits.lake) for of in (many.by_field, alone))
        for step in (0, 7):
            asked: dict[Callable[..., Any], tuple[float, ...]] = {
                demanded: (),
                power_demanded: (),
                available: (30.0,),
                loss_volume: (5.0, 2.6),
                unmet: (3.0, 4.0, 2.0),
                unmet_power: (0.1,),
                stage_benefit: (5.0, 2.0, 2.6),
            }
            for of, arguments in asked.items():
                together = np.broadcast_to(of(of_many, (slice(None), step), *arguments), len(years))
                assert together[place] == of(of_one, step, *arguments)


def test_years_are_filled_with_what_is_given_and_zeros():
    inflow = np.arange(24.0).reshape(2, 12)
    plain = filled_years({"inflow": inflow, "hm3_per_m3s": 2.6}, {"dead": np.array([1.0, 2.0])}, cyclic=True)
    assert (plain.rows.shape, plain.priced, plain.lake, plain.cyclic) == ((2, 1, PLAIN_FIELDS, 12), (), (), True)
    np.testing.assert_array_equal(plain.inflow, inflow)
    assert (plain.hm3_per_m3s == 2.6).all()
    assert plain.dead.tolist() == [1.0, 2.0]
    assert not plain.release_upper.any()
    worth = filled_years(dict.fromkeys(TERMS, np.ones(12))).some((0, 0))
    assert (worth.rows.shape, worth.priced, worth.lake) == ((len(FIELDS), 12), (0,), ())
    assert (worth.power_value == 1).all()


def test_changed_rows_are_a_copy(years):
    arrays = years.limits.arrays()
    changed = arrays.changed(inflow=1.5, dead=arrays.dead - 1)
    assert (changed.inflow == 1.5).all()
    assert (arrays.inflow != 1.5).any()
    np.testing.assert_array_equal(changed.dead, arrays.dead - 1)
    alone = arrays.some((0, 0)).changed(start=3.0, withdrawal=np.arange(12.0))
    assert alone.start == 3.0
    np.testing.assert_array_equal(alone.withdrawal, np.arange(12.0))
    assert alone.as_many.rows.shape == (1, 1, len(FIELDS), 12)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 10, 11, 25, 32])
def test_a_padded_polynomial_has_the_same_values_to_the_last_bit(count):
    random = np.random.default_rng(count)
    coefficients = tuple(map(np.float32, random.normal(size=count)))
    form = PolynomialForm(*map(np.float32, (-2.0, 3.0, 0.5, 0.4)), coefficients)
    longer, x = padded(form), np.append(random.uniform(-3, 4, 2000), 0.5)
    assert len(longer.coefficients) in PADDED_LENGTHS
    assert form(x).tobytes() == longer(x).tobytes()


def test_few_lengths_stand_for_all_random_reservoirs():
    plants = [ReservoirModel.of(random_reservoir(seed)).approximation.compiled_plant for seed in range(6)]
    lengths = {len(form.coefficients) for plant in plants for form in plant[:4] if isinstance(form, PolynomialForm)}
    assert lengths <= set(PADDED_LENGTHS)
