"""How a swarm of two levels is laid out on a device."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.opencl import DeviceInfo, require_local
from reservoir.problems.base import Problem
from reservoir.solvers.base.work_groups import VECTOR_WIDTHS, items_for, lanes_for, local_bytes_of
from reservoir.solvers.two_level_pso.settings import DeviceTwoLevelSettings


@dataclass(frozen=True)
class TwoLevelLayout:
    """A work group has a group of particles.

    Parameters
    ----------
    lanes : int
        Of a vector: particles, or terms of a sum.
    items : int
        Work items of a group.
    members : int
        Particles of a group, with padding.
    width : int
        Numbers of a position, with padding.
    teams, tile : int
        Where fitness is a sum: particles that are evaluated at a time, each by ``items / teams`` work items, and
        vectors of terms that an item handles together. Else 1.
    """

    lanes: int
    items: int
    members: int
    width: int
    teams: int = 1
    tile: int = 1

    def constants(self, terms: int) -> dict[str, int]:
        """Macros; those of teams where fitness is a sum of terms."""
        shared = {"LANES": self.lanes, "ITEMS": self.items, "MEMBERS": self.members}
        return shared | ({"TEAMS": self.teams, "TEAM": self.items // self.teams, "TILE": self.tile} if terms else {})

    def local_bytes(self, terms: int) -> int:
        """Local memory of a work group."""
        sums = self.teams * self.width + self.items if terms else 0
        return 4 * (_MEMBER_WORDS * self.members + sums)


#: Words at hand of each particle of a group.
_MEMBER_WORDS = 5
#: Work items of a group on a GPU that share sums, and vectors of terms that one of them handles together.
SUMMING_ITEMS, TILE = 512, 4


def layout_for(device: DeviceInfo, problem: Problem, settings: DeviceTwoLevelSettings) -> TwoLevelLayout:
    """On a GPU a work item has a particle, or a share of the terms of one; on a CPU one has a group, in vectors.

    Raises
    ------
    DeviceError
        If a work group would need more local memory than there is.
    InputError
        If no vector has so many lanes, or no group so many items.
    """
    terms, group, lanes = problem.kernel().terms, min(settings.group, settings.particles), settings.lanes
    if terms and lanes is None and device.kind == "CPU":
        lanes = max(width for width in VECTOR_WIDTHS if width <= max(2 * device.native_float_width, 4))
    lanes = lanes_for(device, group, lanes)
    width = -(-problem.dimension // lanes) * lanes
    if not terms:
        members = -(-group // lanes) * lanes
        items = items_for(device, members // lanes, settings.items)
        layout = TwoLevelLayout(lanes=lanes, items=items, members=members, width=width)
    else:
        layout = _summing(device, terms, group, lanes, width, settings.items)
    require_local(device, layout.local_bytes(terms))
    return layout


def _summing(device: DeviceInfo, terms: int, group: int, lanes: int, width: int, asked: int | None) -> TwoLevelLayout:
    """As many teams as particles if their weights fit into local memory, of as many items as leave none idle."""
    if asked is None:
        asked = 1 if device.kind == "CPU" else min(SUMMING_ITEMS, device.max_work_group_size)
    room = (local_bytes_of(device) - 4 * (_MEMBER_WORDS * group + asked)) // (4 * width)
    teams = _power_of_two(max(1, min(group, asked, room)))
    shares = -(-terms // lanes)
    team = min(_power_of_two(asked // teams), _power_of_two(2 * shares - 1))
    tile = 1 if lanes > 1 else max(1, min(TILE, -(-shares // team)))
    return TwoLevelLayout(lanes=lanes, items=teams * team, members=group, width=width, teams=teams, tile=tile)


def _power_of_two(most: int) -> int:
    return 1 << (max(most, 1).bit_length() - 1)
