"""How a month ends: within its bounds as far as there is any way, and with no water made or lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.rules.base.physics import month_end

NO_DEAD_STORAGE = -1e9
flows = st.floats(0.0, 500.0)
storages = st.floats(0.0, 200.0)
volumes = st.floats(2.4192, 2.6784)


def ordered(values):
    return st.tuples(values, values).map(lambda pair: (min(pair), max(pair)))


@given(storages, st.floats(-1e4, 1e4), flows, volumes, ordered(storages), ordered(flows))
def test_the_release_keeps_its_bounds_exactly(storage, asked, inflow, volume, storage_bounds, release_bounds):
    release, _, _ = month_end(storage, asked, inflow, volume, storage_bounds, release_bounds, NO_DEAD_STORAGE)
    assert release_bounds[0] <= release <= release_bounds[1]


@given(storages, st.floats(-1e4, 1e4), flows, volumes, ordered(storages), ordered(flows), st.floats(0.0, 100.0))
def test_below_dead_storage_nothing_is_released(storage, asked, inflow, volume, storage_bounds, release_bounds, dead):
    release, _, end = month_end(storage, asked, inflow, volume, storage_bounds, release_bounds, dead)
    assert 0 <= release <= release_bounds[1]
    assert end - storage == pytest.approx((inflow - release) * volume, abs=1e-9)
    if release < release_bounds[0]:
        assert end == pytest.approx(dead, abs=1e-9) or (release == 0 and end < dead)
    assert end >= dead - 1e-9 or release == 0


@given(storages, st.floats(-1e4, 1e4), flows, volumes, ordered(storages), ordered(flows))
def test_the_water_balance_closes(storage, asked, inflow, volume, storage_bounds, release_bounds):
    release, _, end = month_end(storage, asked, inflow, volume, storage_bounds, release_bounds, NO_DEAD_STORAGE)
    assert end - storage == pytest.approx((inflow - release) * volume, abs=1e-9)


@given(storages, st.floats(-1e4, 1e4), flows, volumes, ordered(storages), ordered(flows))
def test_the_storage_leaves_its_bounds_only_where_the_release_is_at_one_of_its_own(
    storage, asked, inflow, volume, storage_bounds, release_bounds
):
    release, _, end = month_end(storage, asked, inflow, volume, storage_bounds, release_bounds, NO_DEAD_STORAGE)
    if end < storage_bounds[0] - 1e-9:
        assert release == release_bounds[0]
    if end > storage_bounds[1] + 1e-9:
        assert release == release_bounds[1]


@given(storages, st.floats(-1e4, 1e4), flows, volumes, ordered(storages), ordered(flows))
def test_what_is_kept_once_is_kept_again(storage, asked, inflow, volume, storage_bounds, release_bounds):
    once = month_end(storage, asked, inflow, volume, storage_bounds, release_bounds, 10.0)
    again = month_end(storage, once[0], inflow, volume, storage_bounds, release_bounds, 10.0)
    assert list(map(float, again)) == pytest.approx(list(map(float, once)), rel=1e-12, abs=1e-9)


@given(storages, flows, flows, volumes)
def test_what_is_possible_is_done_as_asked(storage, asked, inflow, volume):
    free = (-1e6, 1e6)
    assert month_end(storage, asked, inflow, volume, free, free, NO_DEAD_STORAGE)[0] == pytest.approx(
        asked, rel=1e-12, abs=1e-9
    )
