"""Teams of any size agree on what their items say."""

import numpy as np
import pytest

from reservoir.opencl import DeviceInfo, Session, assemble, build

TEAMS = pytest.mark.parametrize("team", [1, 2, 3, 8, 32])
WARPS = pytest.mark.parametrize("warps", [0, 1], ids=["by a pad", "in registers"])
KERNEL = """
__kernel void ask(__global const int *numbers, __global int *found) {
    __local uint pads[GROUP / TEAM * (TEAM_WORDS + 1)];
    const int item = get_local_id(0), all = get_global_id(0);
    const SubGroup team = {item % TEAM, pads + item / TEAM * (TEAM_WORDS + 1)};
    const int number = numbers[all];
    const uint bits = team_bits(number > 0, team);
    found[4 * all] = (int)bits;
    found[4 * all + 1] = bits_before(bits, team);
    found[4 * all + 2] = team_sum(number, team);
    found[4 * all + 3] = team_most(number, team);
}
"""

FLOATS = """
__kernel void fold(__global const float *numbers, __global float *found) {
    __local uint pads[GROUP / TEAM * (TEAM_WORDS + 1)];
    const int item = get_local_id(0), all = get_global_id(0);
    const SubGroup team = {item % TEAM, pads + item / TEAM * (TEAM_WORDS + 1)};
    found[2 * all] = team_sum_of_floats(numbers[all], team);
    found[2 * all + 1] = team_product_of_floats(numbers[all], team);
}
"""


LONGS = """
__kernel void most(__global const long *numbers, __global long *found) {
    const SubGroup team = {(int)get_local_id(0) % TEAM, 0};
    found[get_global_id(0)] = team_most_of_longs(numbers[get_global_id(0)], team);
}
"""


def in_teams(
    device: DeviceInfo, kernel: str, numbers: np.ndarray, found: tuple[int, ...], team: int, warps: int
) -> np.ndarray:
    """What teams, two a work group, make of their numbers."""
    if warps and not (device.warps and device.sub_group_size % team == 0):
        pytest.skip("the device has no registers that such a team could exchange")
    group = 2 * team
    constants = {"TEAM": team, "WARPS": warps, "GROUP": group, "LANES": 1}
    program = build(device, assemble(["common/vector/lanes.cl", "common/sync/teams.cl"], constants) + kernel)
    (name,) = program.kernels
    with Session(device) as session:
        session.upload(numbers=numbers)
        session.allocate(found=(found, numbers.dtype))
        session.run(program, name, numbers.size, group, "numbers", "found")
        return session.download("found")


@TEAMS
@WARPS
def test_sums_and_products_of_floats(device, team, warps):
    numbers = np.random.default_rng(team).uniform(-1.5, 1.5, 6 * team).astype(np.float32)
    found = in_teams(device, FLOATS, numbers, (numbers.size, 2), team, warps).reshape(-1, team, 2)
    of_teams = numbers.reshape(-1, 1, team).astype(float)
    np.testing.assert_allclose(found[..., 0], np.broadcast_to(of_teams.sum(axis=2), found.shape[:2]), atol=1e-5)
    np.testing.assert_allclose(found[..., 1], np.broadcast_to(of_teams.prod(axis=2), found.shape[:2]), rtol=1e-5)


@TEAMS
@WARPS
def test_bits_sums_and_the_most(device, team, warps):
    numbers = np.random.default_rng(team).integers(-50, 50, 6 * team).astype(np.int32)
    found = in_teams(device, KERNEL, numbers, (numbers.size, 4), team, warps)
    for first in range(0, numbers.size, team):
        mine, own = numbers[first : first + team], found[first : first + team]
        bits = sum(int(number > 0) << place for place, number in enumerate(mine))
        assert np.all(own[:, 0].astype(np.uint32) == bits)
        np.testing.assert_array_equal(own[:, 1], np.cumsum(mine > 0) - (mine > 0))
        assert np.all(own[:, 2] == mine.sum())
        assert np.all(own[:, 3] == mine.max())


@pytest.mark.parametrize(("team", "warps"), [(1, 0), (1, 1), (2, 1), (8, 1), (32, 1)])
def test_the_most_of_long_numbers(device, team, warps):
    """Which no pad has room for."""
    numbers = np.random.default_rng(team).integers(-(2**62), 2**62, 6 * team)
    found = in_teams(device, LONGS, numbers, (numbers.size,), team, warps)
    np.testing.assert_array_equal(found, np.repeat(numbers.reshape(-1, team).max(axis=1), team))
