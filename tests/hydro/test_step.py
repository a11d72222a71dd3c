"""Head, power discharge and power of a step (eq. 7-9), whatever the reservoir."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.hydro import step
from reservoir.hydro.attributes import ConversionKind
from reservoir.hydro.curves.curve import Curve, PowerLaw, constant
from reservoir.hydro.jit import compiled_part
from reservoir.hydro.plant import exact_plant
from reservoir.hydro.reservoir import Reservoir
from tests.hydro import paper

parts = st.floats(0.0, 1.0)


@compiled_part
def step_values(plant, mean_storage, release, values):
    values[0] = head = step.head_at(plant, mean_storage, release)
    values[1] = step.turbined_at(plant, head, release)
    values[2] = step.power_at(plant, mean_storage, release)


def step_of(reservoir: Reservoir, mean_storage: float, release: float) -> tuple[float, float, float]:
    """Head, power discharge and power."""
    values = np.empty(3)
    step_values(exact_plant(reservoir), mean_storage, release, values)
    return tuple(values.tolist())


@pytest.fixture(scope="module", params=["xiaowan", "small"])
def reservoir(request: pytest.FixtureRequest) -> Reservoir:
    return request.getfixturevalue(request.param)


def state(reservoir: Reservoir, storage_part: float, release_part: float) -> tuple[float, float]:
    """A storage and a release at parts of their widest bounds."""
    storage = np.array([reservoir.storage_lower_hm3.min(), reservoir.storage_upper_hm3.max()])
    release = np.array([reservoir.release_lower_m3s.min(), reservoir.release_upper_m3s.max()])
    return (
        float(storage[0] + storage_part * np.ptp(storage)),
        float(release[0] + release_part * np.ptp(release)),
    )


@given(parts, parts)
def test_head_power_discharge_and_power_are_the_papers(reservoir: Reservoir, full: float, open_: float) -> None:
    storage, release = state(reservoir, full, open_)
    head, turbined, power = step_of(reservoir, storage, release)
    assert head == pytest.approx(paper.head_m(reservoir, storage, release), rel=1e-12)
    assert turbined == pytest.approx(paper.turbined(reservoir, head, release), rel=1e-12)
    assert power == pytest.approx(paper.powers(reservoir, [release], [storage, storage])[0], rel=1e-12)


@given(parts, parts, st.floats(1e-3, 1.0))
def test_head_falls_as_release_rises(reservoir: Reservoir, full: float, open_: float, more: float) -> None:
    storage, release = state(reservoir, full, open_)
    _, further = state(reservoir, full, open_ + more)
    assert step_of(reservoir, storage, further)[0] < step_of(reservoir, storage, release)[0]


@given(parts, parts, st.floats(1e-3, 1.0))
def test_head_rises_with_storage(reservoir: Reservoir, full: float, open_: float, more: float) -> None:
    storage, release = state(reservoir, full, open_)
    fuller, _ = state(reservoir, min(full + more, 1.0), open_)
    assert step_of(reservoir, fuller, release)[0] >= step_of(reservoir, storage, release)[0]


@given(parts, parts)
def test_power_never_exceeds_the_installed_capacity(reservoir: Reservoir, full: float, open_: float) -> None:
    assert 0 < step_of(reservoir, *state(reservoir, full, open_))[2] <= reservoir.installed_mw


@given(parts, parts)
def test_no_more_is_turbined_than_is_released_or_fits_the_turbines(
    reservoir: Reservoir, full: float, open_: float
) -> None:
    storage, release = state(reservoir, full, open_)
    head, turbined, _ = step_of(reservoir, storage, release)
    assert 0 < turbined <= release
    assert turbined <= float(reservoir.capacity_m3s(head)) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("installed", "capacity", "release", "limit"),
    [(1e3, 1e6, 50.0, "release"), (1e3, 20.0, 50.0, "capacity"), (10.0, 1e6, 50.0, "installed")],
)
def test_each_limit_of_the_power_discharge_binds_in_turn(
    small: Reservoir, installed: float, capacity: float, release: float, limit: str
) -> None:
    plant = replace(small, installed_mw=installed, capacity_m3s=constant(capacity, (30.0, 100.0)))
    head, turbined, power = step_of(plant, 80.0, release)
    per_flow = paper.specific_power(plant, head)
    assert turbined == pytest.approx(
        {"release": release, "capacity": capacity, "installed": installed / per_flow}[limit]
    )
    assert power == pytest.approx(turbined * per_flow)


COEFFICIENT = 8.7
CONVERSIONS: dict[ConversionKind, Curve] = {
    ConversionKind.RATE: PowerLaw(0.0, 3600 / COEFFICIENT, 0.0, -1.0, (20.0, 120.0)),
    ConversionKind.COEFFICIENT: constant(COEFFICIENT, (20.0, 120.0)),
    ConversionKind.EFFICIENCY: constant(COEFFICIENT / 9.80665, (20.0, 120.0)),
}


@given(parts, parts)
def test_rate_coefficient_and_efficiency_agree_about_one_plant(small: Reservoir, full: float, open_: float) -> None:
    found = [
        step_of(replace(small, conversion_kind=kind, conversion=curve), *state(small, full, open_))
        for kind, curve in CONVERSIONS.items()
    ]
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-12)


def test_a_cubic_metre_a_second_over_100_m_makes_981_kw_without_losses(small: Reservoir) -> None:
    lossless = replace(
        small,
        level=constant(462.0, (10.0, 130.0)),
        tailrace=constant(362.0, (0.0, 250.0)),
        conversion=constant(1.0, (0.0, 200.0)),
        capacity_m3s=constant(40.0, (0.0, 200.0)),
    )
    assert step_of(lossless, 50.0, 10.0) == pytest.approx((100.0, 10.0, 9.80665))


@pytest.mark.parametrize("kind", ["coefficient", "rate"])
def test_a_year_far_outside_its_bounds_still_has_no_absurd_power(small: Reservoir, kind: str) -> None:
    from dataclasses import replace

    from reservoir.hydro.attributes import ConversionKind
    from reservoir.hydro.calendar import Calendar
    from reservoir.hydro.curves.curve import Table, constant
    from reservoir.hydro.inflow import Inflow
    from reservoir.planning.plan import optimise

    heads = small.conversion.domain
    curve = Table(heads, (3600 / (8.0 * heads[0]), 3600 / (8.0 * heads[1]))) if kind == "rate" else constant(8.0, heads)
    plant = replace(small, conversion=curve, conversion_kind=ConversionKind(kind))
    flows = np.array([[0.0] * 12, [1e5] * 12])
    plan = optimise(plant, Inflow(flows, Calendar(2001, 2, small.first_month)), solver="dp")
    assert plan.violation.min() > 0
    turbined = plan.operation.turbined_m3s
    assert np.all(turbined >= 0)
    assert np.all(plan.spill_m3s >= 0)
    assert np.all(plan.operation.power_mw <= plant.installed_mw)
    assert np.all(plan.operation.power_mw >= 0)
