"""A probe tells whether all work groups are there at once, and never hangs; a barrier holds however often."""

import numpy as np
import pytest

from reservoir.opencl import DeviceInfo, Session, assemble, build, ordering_of
from reservoir.solvers.device_engine import MAX_POLLS

NOT_CO_RESIDENT, CO_RESIDENT = 1, 2
CALL = """
__kernel void call(volatile __global int *probe, __global int *verdicts) {
    __local int received;
    const int item = get_local_id(0);
    const int verdict = co_residency_probe(probe, get_num_groups(0), &received, item);
    verdicts[get_global_id(0)] = verdict;
}
"""

#: Group 0 is slow to write; the others read what it wrote as soon as they have met it. They meet again before the next.
MEET = """
__kernel void meet(volatile __global int *probe, volatile __global int *written, __global int *early, const uint before,
                   const int times) {
    __local int received;
    const int item = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0);
    const int count = co_residency_probe(probe, groups, &received, item) == CO_RESIDENT ? times : 0;
    for (int time = 1; time <= count; ++time) {
        for (int wait = 0; wait < (group ? 0 : 100000); ++wait) load_int(&probe[1]);
        if (item == 0) store_int(&written[group], time);
        grid_barrier(probe + 2, groups, before + (uint)time, item);
        if (item == 0) early[group] += load_int(&written[0]) < time;
        grid_barrier(probe + 3, groups, before + (uint)time, item);
    }
}
"""


def program_of(device: DeviceInfo, kernel: str, patience: int):
    ordering = ordering_of(device)
    constants = {**ordering.constants(waits=True), "MAX_POLLS": patience, "LANES": 1}
    return build(
        device,
        assemble(["common/vector/lanes.cl", "common/sync/grid.cl"], constants) + kernel,
        ordering.options(waits=True),
    )


def verdicts_of(device, groups, items):
    program = program_of(device, CALL, MAX_POLLS[device.kind] // 10)
    with Session(device) as session:
        session.allocate(probe=(3, np.int32), verdicts=(groups * items, np.int32))
        session.run(program, "call", groups * items, items, "probe", "verdicts")
        return session.download("verdicts"), session.download("probe")


@pytest.mark.parametrize("items", [1, 5])
def test_a_group_alone_is_present(device, items):
    verdicts, probe = verdicts_of(device, 1, items)
    assert np.all(verdicts == CO_RESIDENT)
    assert probe.tolist() == [1, CO_RESIDENT, 0]


@pytest.mark.parametrize("items", [1, 5])
def test_groups_that_are_not_all_there_are_absent_for_all(device, items):
    """And the kernel ends."""
    verdicts, _ = verdicts_of(device, 40 * device.compute_units, items)
    assert np.all(verdicts == NOT_CO_RESIDENT)


@pytest.mark.parametrize("edge", [0, 2**31, 2**32], ids=["from nothing", "past 2^31", "past 2^32"])
def test_a_barrier_holds_where_its_count_of_arrivals_begins_again(device, edge):
    """As after millions of iterations of many groups; what nobody may see is a number of a meeting before."""
    groups, times = 2, 6
    before = max(edge // groups - times // 2, 0)
    arrived = np.array([groups * before] * 2, np.uint32).view(np.int32)
    program = program_of(device, MEET, MAX_POLLS[device.kind])
    for _ in range(20):  # PoCL may have a thread for each of two groups, and may be late with it
        with Session(device) as session:
            session.upload(probe=np.array([0, 0, *arrived], np.int32))
            session.allocate(written=(groups, np.int32), early=(groups, np.int32))
            arguments = "probe", "written", "early", np.uint32(before), np.int32(times)
            session.run(program, "meet", groups, 1, *arguments)
            probe, written, early = (session.download(name).tolist() for name in ("probe", "written", "early"))
        if probe[1] == CO_RESIDENT:
            assert written == [times] * groups
            assert early == [0] * groups
            assert np.array(probe[2:], np.int32).view(np.uint32).tolist() == [groups * (before + times) % 2**32] * 2
            return
    assert device.kind == "CPU", "a device of many units runs two groups at once"
    pytest.skip("the device did not run two groups at once")
