"""Reductions by pairs find what they should, of any number of numbers and by any number of work items."""

import numpy as np
import pytest

from reservoir.opencl import DeviceInfo, Session, assemble, build

KERNEL = """
__kernel void best(__global float *values, __global int *owners, const int count) {
    __local float value[200];
    __local int owner[200];
    const int item = get_local_id(0);
    for (int place = item; place < count; place += ITEMS) {
        value[place] = values[place];
        owner[place] = place;
    }
    GROUP_BARRIER(ALL_MEMORY);
    best_by_pairs(value, owner, count, item);
    if (item == 0) values[0] = value[0];
    if (item == 0) owners[0] = owner[0];
}

__kernel void sum(__global float *values, const int count) {
    __local float value[200];
    const int item = get_local_id(0);
    for (int place = item; place < count; place += ITEMS) value[place] = values[place];
    GROUP_BARRIER(ALL_MEMORY);
    sum_by_pairs(value, count, item, ITEMS);
    if (item == 0) values[0] = value[0];
}
"""
COUNTS = (1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 100, 199)


def reduced(device: DeviceInfo, kernel: str, values: np.ndarray, items: int) -> tuple[float, int]:
    program = build(
        device,
        assemble(
            ["common/vector/lanes.cl", "common/sync/group_barrier.cl", "common/sync/reduce.cl"],
            {"LANES": 1, "ITEMS": items},
        )
        + KERNEL,
    )
    with Session(device) as session:
        session.upload(values=values.astype(np.float32))
        session.allocate(owners=(1, np.int32))
        arguments = ("values", "owners") if kernel == "best" else ("values",)
        session.run(program, kernel, items, items, *arguments, np.int32(len(values)))
        return float(session.download("values")[0]), int(session.download("owners")[0])


@pytest.mark.parametrize("items", [1, 3, 8, 64])
@pytest.mark.parametrize("count", COUNTS)
def test_the_best_of_any_number_is_found_with_its_owner(device, count, items):
    values = np.random.default_rng(count).permutation(count).astype(float)
    assert reduced(device, "best", values, items) == (count - 1, int(values.argmax()))


@pytest.mark.parametrize("items", [1, 8])
def test_of_equals_the_first_stands(device, items):
    values = np.zeros(37)
    values[[5, 9, 31]] = 2
    assert reduced(device, "best", values, items) == (2, 5)


def test_infinities_are_numbers_like_others(device):
    assert reduced(device, "best", np.array([-np.inf, -np.inf, -3.0, -np.inf]), 2) == (-3, 2)
    assert reduced(device, "best", np.full(5, -np.inf), 2) == (-np.inf, 0)


@pytest.mark.parametrize("items", [1, 3, 8, 64])
@pytest.mark.parametrize("count", COUNTS)
def test_sums_are_whole(device, count, items):
    values = np.random.default_rng(count).integers(-100, 100, count).astype(float)
    assert reduced(device, "sum", values, items)[0] == values.sum()
