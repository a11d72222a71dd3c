"""Teams of any size agree on what their items say."""

import numpy as np
import pytest

from reservoir.opencl import Session, assemble, build

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


@pytest.mark.parametrize("team", [1, 2, 3, 8, 32])
def test_sums_and_products_of_floats(pocl, team):
    group, groups = 2 * team, 3
    constants = {"TEAM": team, "WARPS": 0, "GROUP": group, "LANES": 1}
    program = build(pocl, assemble(["common/vector/lanes.cl", "common/sync/teams.cl"], constants) + FLOATS)
    numbers = np.random.default_rng(team).uniform(-1.5, 1.5, group * groups).astype(np.float32)
    with Session(pocl) as session:
        session.upload(numbers=numbers)
        session.allocate(found=((numbers.size, 2), np.float32))
        session.run(program, "fold", numbers.size, group, "numbers", "found")
        found = session.download("found").reshape(-1, team, 2)
    of_teams = numbers.reshape(-1, 1, team).astype(float)
    np.testing.assert_allclose(found[..., 0], np.broadcast_to(of_teams.sum(axis=2), found.shape[:2]), atol=1e-5)
    np.testing.assert_allclose(found[..., 1], np.broadcast_to(of_teams.prod(axis=2), found.shape[:2]), rtol=1e-5)


@pytest.mark.parametrize("team", [1, 2, 3, 8, 32])
def test_bits_sums_and_the_most(pocl, team):
    group, groups = 2 * team, 3
    constants = {"TEAM": team, "WARPS": 0, "GROUP": group, "LANES": 1}
    program = build(pocl, assemble(["common/vector/lanes.cl", "common/sync/teams.cl"], constants) + KERNEL)
    numbers = np.random.default_rng(team).integers(-50, 50, group * groups).astype(np.int32)
    with Session(pocl) as session:
        session.upload(numbers=numbers)
        session.allocate(found=((numbers.size, 4), np.int32))
        session.run(program, "ask", numbers.size, group, "numbers", "found")
        found = session.download("found")
    for first in range(0, numbers.size, team):
        mine, own = numbers[first : first + team], found[first : first + team]
        bits = sum(int(number > 0) << place for place, number in enumerate(mine))
        assert np.all(own[:, 0].astype(np.uint32) == bits)
        np.testing.assert_array_equal(own[:, 1], np.cumsum(mine > 0) - (mine > 0))
        assert np.all(own[:, 2] == mine.sum())
        assert np.all(own[:, 3] == mine.max())
