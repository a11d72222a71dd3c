"""How a swarm of two levels is laid out on a device, and the program that is specialised for it."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.opencl import BuiltProgram, DeviceInfo, assemble, build, require_local
from reservoir.problems.base import KernelProblem, Problem
from reservoir.solvers.base.work_groups import VECTOR_WIDTHS, items_for, lanes_for, local_bytes_of
from reservoir.solvers.rng.counter_rng import NumberScheme
from reservoir.solvers.two_level_pso.settings import TwoLevelSettings

#: Work items of a group on a GPU that share sums, and vectors of terms that one of them handles together.
SUMMING_ITEMS, TILE = 512, 4
#: Words at hand of each particle of a group.
_MEMBER_WORDS = 5


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

    def constants(self) -> dict[str, int]:
        """Macros."""
        return {
            "LANES": self.lanes,
            "ITEMS": self.items,
            "MEMBERS": self.members,
            "TEAMS": self.teams,
            "TEAM": self.items // self.teams,
            "TILE": self.tile,
        }

    def local_bytes(self, terms: int) -> int:
        """Local memory of a work group."""
        sums = self.teams * self.width + self.items if terms else 0
        return 4 * (_MEMBER_WORDS * self.members + sums)


def layout_for(
    device: DeviceInfo,
    problem: Problem,
    settings: TwoLevelSettings,
    lanes: int | None = None,
    items: int | None = None,
) -> TwoLevelLayout:
    """On a GPU a work item has a particle, or a share of the terms of one; on a CPU one has a group, in vectors.

    Raises
    ------
    DeviceError
        If a work group would need more local memory than there is.
    InputError
        If no vector has so many lanes, or no group so many items.
    """
    terms, group = problem.kernel().terms, min(settings.group, settings.particles)
    if terms and lanes is None and device.kind == "CPU":
        lanes = max(width for width in VECTOR_WIDTHS if width <= max(2 * device.native_float_width, 4))
    lanes = lanes_for(device, group, lanes)
    width = -(-problem.dimension // lanes) * lanes
    if not terms:
        members = -(-group // lanes) * lanes
        layout = TwoLevelLayout(lanes, items_for(device, members // lanes, items), members, width)
    else:
        layout = _summing(device, terms, group, lanes, width, items)
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
    return TwoLevelLayout(lanes, teams * team, group, width, teams, tile)


def _power_of_two(most: int) -> int:
    return 1 << (max(most, 1).bit_length() - 1)


def build_program(
    device: DeviceInfo, problem: Problem, settings: TwoLevelSettings, scheme: NumberScheme, layout: TwoLevelLayout
) -> BuiltProgram:
    """Assemble and build the swarm for a problem's signature."""
    kernel = problem.kernel()
    numbers = numbers_of(kernel, problem.dimension)
    constants = {
        **kernel.constants,
        **settings.constants(),
        **(layout.constants() if kernel.terms else _without_teams(layout)),
        "NUMBERS": numbers,
        "BOUNDED": int(kernel.bounded),
        "CONTEXT_SPACE": "__global",
    }
    before = assemble(["common/vector/lanes.cl"], constants)
    files = [*scheme.files, "common/sync/reduce.cl"]
    after = [
        assemble(files, {}),
        kernel.source,
        assemble([*kernel.files, "solvers/two_level_pso/two_level_pso.cl"], {}),
    ]
    return build(device, "\n".join([before, scheme.source(numbers), *after]))


def numbers_of(kernel: KernelProblem, dimension: int) -> int:
    """Random numbers that a particle draws in a generation."""
    return 2 * dimension + int(kernel.noisy)


def _without_teams(layout: TwoLevelLayout) -> dict[str, int]:
    return {name: value for name, value in layout.constants().items() if name not in ("TEAMS", "TEAM", "TILE")}
