"""How the genetic algorithm's populations are laid out on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reservoir.errors import DeviceError, InputError, Mistake
from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem
from reservoir.problems.encoding import PERMUTATION, encoding_of
from reservoir.solvers.base.work_groups import items_for, lanes_for, local_bytes_of, require_countable
from reservoir.solvers.island_ga.settings import DeviceIslandSettings


@dataclass(frozen=True)
class IslandLayout:
    """How work groups share a population.

    Parameters
    ----------
    team : int
        Work items that make a child of permutations together.
    lanes : int
        Real vectors that an item handles at once.
    items : int
        Work items of a group.
    stride : int
        Genes of a row, with padding.
    groups : int
        Groups of a problem with a single population; of islands there is one each.
    """

    team: int
    lanes: int
    items: int
    stride: int
    groups: int = 1


#: Work items of an island of tours that teams share, where every island has a compute unit of its own, and where not;
#: measured on an H200 with islands of 128 tours of 48 cities.
ITEMS_ALONE, ITEMS_CROWDED = 1024, 512
#: Fewest items of such a team; with fewer, the loops of the items of a warp fall apart.
FEWEST_IN_TEAM = 8
#: Work items of a group of a single population: twice as fast on an H200 as the 1024 of SAK in the paper.
SINGLE_ITEMS = 128
#: Groups of SLK, in compute units of a GPU; a CPU's have one each.
GROUPS_PER_UNIT = 2
#: Work items of the group that finds the best individual.
ITEMS_OF_BEST = {"GPU": 256, "accelerator": 256, "CPU": 1}

#: Cities that genes can tell apart.
MOST_CITIES = 65_536

_TEAM_LIMIT = 32
#: Words that a group has at hand beside its scratch, with padding.
_GROUP_WORDS = 6


def gene_type(problem: Problem) -> Any:
    """Type of a gene in numpy; InputError if a problem has more cities than genes can tell apart."""
    if encoding_of(problem) != PERMUTATION:
        return np.float32
    if problem.dimension > MOST_CITIES:
        wrong = f"{problem.label}: has too many cities"
        raise InputError(
            Mistake(wrong, f"at most {MOST_CITIES:,}", "choose a smaller problem", value=problem.dimension)
        )
    return np.uint8 if problem.dimension <= 256 else np.uint16


def island_layout(
    device: DeviceInfo, problem: Problem, settings: DeviceIslandSettings, *, islands: int
) -> IslandLayout:
    """A group has an island, in local memory; `islands` of them are launched together.

    On a GPU whose warps can synchronise, a warp or a part of one makes a tour; else an item an individual, or a vector
    of them.

    Raises
    ------
    DeviceError
        If local memory is too small for an island; tells how large one may be.
    InputError
        If a group cannot have so many items, or a team.
    """
    tours = encoding_of(problem) == PERMUTATION
    lanes = 1 if tours else lanes_for(device, settings.bred, settings.lanes)
    crowded = islands > device.compute_units
    team, items = _team(device, settings, crowded) if tours else 1, settings.items
    if team > 1 and items is None:
        most = min(ITEMS_CROWDED if crowded else ITEMS_ALONE, device.max_work_group_size)
        items = max(1, min(most // team, settings.island_size)) * team
    items = items_for(device, -(-settings.bred // lanes), items)
    if items % team:
        raise InputError(
            Mistake(
                "the work group size is not a multiple of the team size",
                f"a multiple of {team}",
                "choose other items or another team",
                value=items,
            )
        )
    layout = IslandLayout(team=team, lanes=lanes, items=items, stride=_stride(problem))
    _require_room(device, problem, settings, layout)
    return layout


def single_layout(
    device: DeviceInfo, problem: Problem, settings: DeviceIslandSettings, *, groups: int | None = None
) -> IslandLayout:
    """Groups share one population in global memory, an individual (or a vector of them) an item.

    Raises
    ------
    InputError
        If a group cannot have so many items, or a team is asked for.
    """
    if settings.team not in (None, 1):
        raise InputError(Mistake("this scheme has no teams", "a team of 1", "remove team", value=settings.team))
    items, tours = settings.items, encoding_of(problem) == PERMUTATION
    require_countable(settings.population * _stride(problem), "the population", "choose fewer individuals")
    lanes = 1 if tours else lanes_for(device, settings.bred, settings.lanes)
    vectors = most = -(-settings.island_size // lanes)
    if items is not None:
        most = -(-vectors // max(items, 1))
    else:
        per_group = SINGLE_ITEMS if groups is None else -(-vectors // groups)
        items = 1 if device.kind == "CPU" else max(1, min(per_group, vectors, device.max_work_group_size))
    items = items_for(device, vectors, items)
    if groups is None:
        groups = 4 * device.compute_units if device.kind == "CPU" else -(-vectors // items)
    return IslandLayout(team=1, lanes=lanes, items=items, stride=_stride(problem), groups=min(groups, most))


def _team(device: DeviceInfo, settings: DeviceIslandSettings, crowded: bool) -> int:
    """Items that make a tour together: so many that all children of an island are made at once, if there is room."""
    if settings.team is not None:
        if not 1 <= settings.team <= _TEAM_LIMIT:
            raise InputError(
                Mistake(
                    "the team size is out of range", f"1 to {_TEAM_LIMIT}", "choose another team", value=settings.team
                )
            )
        return settings.team
    if not device.warps:
        return 1
    if crowded:
        return device.sub_group_size // 2
    share = ITEMS_ALONE // settings.bred
    return min(max(1 << max(share, 1).bit_length() - 1, FEWEST_IN_TEAM), device.sub_group_size)


def _stride(problem: Problem) -> int:
    """Genes from one row to the next, one to spare.

    Rows begin at words, an odd number of them apart, so that items with a row each use all banks of local memory.
    """
    size = np.dtype(gene_type(problem)).itemsize
    words = -(-(problem.dimension + 1) * size // 4)
    return int((words + (words + 1) % 2) * 4 // size)


def _scratch_words(problem: Problem, layout: IslandLayout) -> int:
    if encoding_of(problem) != PERMUTATION:
        return 1
    return -(-problem.dimension // 32) + (layout.team if layout.team > 1 else 0)


def _require_room(device: DeviceInfo, problem: Problem, settings: DeviceIslandSettings, layout: IslandLayout) -> None:
    each = layout.stride * np.dtype(gene_type(problem)).itemsize + 4 + 2 * 2
    at_hand = 4 * (layout.items // layout.team * _scratch_words(problem, layout) + _GROUP_WORDS)
    room = local_bytes_of(device)
    needed = each * settings.island_size + at_hand
    if needed <= room:
        return
    fits = (room - at_hand) // each
    mend = f"choose islands of {fits} individuals or fewer" if fits >= 4 else "choose a device with more local memory"
    problem_words = (
        f"an island of {settings.island_size} individuals needs {needed:,} bytes of local memory on {device.name}"
    )
    raise DeviceError(Mistake(problem_words, f"at most {room:,} bytes", mend))


def items_of_best(device: DeviceInfo) -> int:
    """Work items of the group that finds the best individual."""
    return min(ITEMS_OF_BEST[device.kind], device.max_work_group_size)
