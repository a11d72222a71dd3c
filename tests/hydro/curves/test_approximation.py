"""The forms that solvers evaluate are the cheapest that change power by less than 0.02 %, and say by how much."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.cases import bundled_case
from reservoir.errors import InputError
from reservoir.hydro.attributes import ConversionKind
from reservoir.hydro.curves.approximation import POWER_TOLERANCE, approximate
from reservoir.hydro.curves.curve import Polynomial, Table
from reservoir.hydro.curves.forms import PolynomialForm, UniformTable
from reservoir.hydro.elementwise import curve_value
from reservoir.hydro.jit import compiled_part
from reservoir.hydro.plant import plant_of
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import head_at, power_at_head
from tests.hydro import paper

STATES = 3000


@pytest.fixture(scope="module", params=["xiaowan", "small"])
def reservoir(request: pytest.FixtureRequest) -> Reservoir:
    return request.getfixturevalue(request.param)


@compiled_part
def compiled_values(form, x, values):
    for each in range(len(x)):
        values[each] = curve_value(form, x[each])


def jagged(table: Table, amplitude: float, points: int = 30) -> Table:
    """The table with teeth of a relative height."""
    x = np.linspace(*table.domain, points)
    y = table(x) * (1 + amplitude * (-1.0) ** np.arange(points))
    return Table(tuple(x.tolist()), tuple(y.tolist()))


def states_of(reservoir: Reservoir) -> tuple[np.ndarray, np.ndarray]:
    """Random storages and releases within the widest bounds."""
    draw = np.random.default_rng(7)
    storages = draw.uniform(reservoir.storage_lower_hm3.min(), reservoir.storage_upper_hm3.max(), STATES)
    releases = draw.uniform(reservoir.release_lower_m3s.min(), reservoir.release_upper_m3s.max(), STATES)
    return storages, releases


def test_heads_stay_within_the_stated_difference(reservoir: Reservoir) -> None:
    forms = approximate(reservoir)
    storages, releases = states_of(reservoir)
    found = forms.plant.level(storages) - forms.plant.tailrace(releases)
    exact = reservoir.level(storages) - reservoir.tailrace(releases)
    assert np.abs(found - exact).max() <= 1.05 * forms.head_error_m


def test_power_stays_within_the_stated_difference_and_the_tolerance(reservoir: Reservoir) -> None:
    forms = approximate(reservoir)
    storages, releases = states_of(reservoir)
    head = forms.plant.level(storages) - forms.plant.tailrace(releases)
    discharge = np.minimum(releases, forms.plant.capacity(head))
    found = np.minimum(forms.plant.conversion(head) * discharge, reservoir.installed_mw)
    exact = [
        paper.powers(reservoir, [release], [storage, storage])[0]
        for storage, release in zip(storages, releases, strict=True)
    ]
    difference = np.abs(found / np.array(exact) - 1).max()
    assert difference <= 1.05 * forms.power_error
    assert difference < POWER_TOLERANCE == 2e-4


def test_smooth_curves_become_polynomials(reservoir: Reservoir) -> None:
    plant = approximate(reservoir).plant
    assert all(isinstance(form, PolynomialForm) for form in (plant.level, plant.tailrace, plant.conversion))


def test_a_curve_that_is_a_polynomial_takes_no_higher_degree(small: Reservoir) -> None:
    assert len(approximate(small).plant.level.coefficients) <= 3


def test_a_straight_line_takes_one_slope(small: Reservoir) -> None:
    straight = replace(small, tailrace=Polynomial((362.0, 0.01), (0.0, 250.0)))
    assert len(approximate(straight).plant.tailrace.coefficients) == 2


def test_a_jagged_table_becomes_an_even_table(xiaowan: Reservoir) -> None:
    forms = approximate(replace(xiaowan, conversion=jagged(xiaowan.conversion, 2e-3)))
    assert isinstance(forms.plant.conversion, UniformTable)
    assert forms.power_error <= POWER_TOLERANCE


def test_curves_too_jagged_are_refused_with_the_difference_they_make(xiaowan: Reservoir) -> None:
    with pytest.raises(InputError, match=r"changes power by up to .* %.*expected at most 0\.02 % of power"):
        even = Table(xiaowan.conversion.domain, (7.0, 7.0))
        plant = replace(xiaowan, conversion=jagged(even, 0.3, points=3000), conversion_kind=ConversionKind.COEFFICIENT)
        approximate(plant)


@pytest.mark.parametrize("amplitude", [0.0, 2e-3], ids=["polynomial", "even table"])
def test_compiled_code_evaluates_the_same_form(xiaowan: Reservoir, amplitude: float) -> None:
    form = approximate(replace(xiaowan, conversion=jagged(xiaowan.conversion, amplitude))).plant.conversion
    x = np.linspace(120, 300, 2001).astype(np.float32)
    values = np.empty_like(x)
    compiled_values(form, x, values)
    np.testing.assert_allclose(values, form(x), rtol=1e-6)


@pytest.mark.parametrize("amplitude", [0.0, 2e-3], ids=["polynomial", "even table"])
def test_a_form_is_held_at_its_ends(xiaowan: Reservoir, amplitude: float) -> None:
    form = approximate(replace(xiaowan, conversion=jagged(xiaowan.conversion, amplitude))).plant.conversion
    far_below, below, above, far_above = form(np.array([0.0, 100.0, 400.0, 1e6]))
    assert far_below == below
    assert far_above == above
    assert below < above


@pytest.mark.parametrize(
    "capacity_m3s",
    [(60, 58, 55, 50, 44), (0, 0, 40, 55, 58), (0, 20, 40, 50, 55), (20, 50, 58, 50, 20)],
    ids=["falling", "zero below a head", "rising from zero", "rising and falling"],
)
def test_a_capacity_of_any_shape_changes_power_by_no_more_than_the_head_explains(capacity_m3s) -> None:
    lake = bundled_case("carryover").reservoir()
    reservoir = replace(lake, capacity_m3s=Table((50, 70, 75, 90, 110), capacity_m3s))
    forms = approximate(reservoir)
    assert forms.power_error <= POWER_TOLERANCE
    storages, releases = states_of(reservoir)
    given = plant_of(reservoir)
    head = head_at(given, storages, releases)
    found = power_at_head(forms.plant, head_at(forms.plant, storages, releases), releases.astype(np.float32))
    shift = forms.head_error_m
    near = [power_at_head(given, np.clip(head + by, 50, 110), releases) for by in np.linspace(-shift, shift, 9)]
    allowed = 2 * POWER_TOLERANCE * np.maximum(near[4], 0.01 * reservoir.installed_mw)
    assert np.all(found >= np.min(near, axis=0) - allowed)
    assert np.all(found <= np.max(near, axis=0) + allowed)


def test_a_capacity_that_ends_within_centimetres_is_refused_with_the_key_for_it() -> None:
    lake = bundled_case("carryover").reservoir()
    reservoir = replace(lake, capacity_m3s=Table((50, 74.9, 75, 90, 110), (0, 0, 50, 55, 58)))
    with pytest.raises(InputError, match=r"operating_level_m"):
        approximate(reservoir)
