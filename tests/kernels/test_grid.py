"""A roll call tells whether all work groups are there at once, and never hangs."""

import time

import numpy as np
import pytest

from reservoir.opencl import Session, assemble, build

ABSENT, PRESENT = 1, 2
KERNEL = """
__kernel void call(volatile __global int *roll, __global int *verdicts) {
    __local int heard;
    const int item = get_local_id(0);
    const int verdict = roll_call(roll, get_num_groups(0), &heard, item);
    verdicts[get_global_id(0)] = verdict;
}
"""


def verdicts_of(device, groups, items):
    constants = {"PTX": 0, "PATIENCE": 2_000_000, "LANES": 1}
    program = build(device, assemble(["common/lanes.cl", "common/grid.cl"], constants) + KERNEL)
    with Session(device) as session:
        session.allocate(roll=(3, np.int32), verdicts=(groups * items, np.int32))
        session.run(program, "call", groups * items, items, "roll", "verdicts")
        return session.download("verdicts"), session.download("roll")


@pytest.mark.parametrize("items", [1, 5])
def test_a_group_alone_is_present(pocl, items):
    verdicts, roll = verdicts_of(pocl, 1, items)
    assert np.all(verdicts == PRESENT)
    assert roll.tolist() == [1, PRESENT, 0]


@pytest.mark.parametrize("items", [1, 5])
def test_groups_that_are_not_all_there_are_absent_for_all_and_soon(pocl, items):
    started = time.perf_counter()
    verdicts, _ = verdicts_of(pocl, 40 * pocl.compute_units, items)
    assert np.all(verdicts == ABSENT)
    assert time.perf_counter() - started < 5  # compiling included
