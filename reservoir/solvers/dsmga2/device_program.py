"""The linkage model's kernels, specialised for so many loci and individuals on a device."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.opencl import BuiltProgram, DeviceInfo, assemble, build
from reservoir.solvers.base.work_groups import items_for, team_of
from reservoir.solvers.dsmga2.information import rank_bits

#: Loci of a work item of a GPU beyond which a group takes more items, and how many it takes at most; measured on an
#: H200 with 60 to 600 loci.
MOST_OWN, MOST_ITEMS = 5, 128
#: Loci of a vector on a CPU.
CPU_LANES = 8


@dataclass(frozen=True)
class ModelLayout:
    """How a model is laid out on a device.

    Parameters
    ----------
    loci, individuals : int
    lossy : bool
    lanes : int
        Loci of a vector.
    items : int
        Work items that make a linkage set together.
    team : int
        Items that exchange in registers: a warp, or 1.
    """

    loci: int
    individuals: int
    lossy: bool
    lanes: int
    items: int
    team: int

    @property
    def padded(self) -> int:
        """Loci and more, whole vectors."""
        return -(-self.loci // self.lanes) * self.lanes

    @property
    def words(self) -> int:
        """Words of 64 individuals of a column."""
        return -(-self.individuals // 64)

    @property
    def numbers(self) -> int:
        """Words that the host sends for a problem."""
        return 2 * self.loci * self.words + self.individuals + 4 * self.loci

    @property
    def longest(self) -> int:
        """Loci of the longest set: mixing never asks for more than half of all, and sets that may end may end there."""
        return min(max(self.loci // 2, 2), self.loci) if self.lossy else self.loci

    def constants(self) -> dict[str, int]:
        """Macros."""
        return {
            "LOCI": self.loci,
            "PADDED": self.padded,
            "PEOPLE": self.individuals,
            "WORDS": self.words,
            "LANES": self.lanes,
            "ITEMS": self.items,
            "OWN": -(-self.padded // (self.lanes * self.items)),
            "OWN_WORDS": -(-2 * self.words // self.items),
            "LONGEST": self.longest,
            "RANK_BITS": rank_bits(self.loci),
            "LOSSY": int(self.lossy),
            "TEAM": self.team,
            "WARPS": int(self.team > 1),
        }


def model_layout(
    device: DeviceInfo, loci: int, individuals: int, *, lossy: bool, items: int | None = None
) -> ModelLayout:
    """On a CPU an item makes a set, in vectors; on a GPU so many that each has a few loci, in registers.

    Raises
    ------
    InputError
        If no group has so many items.
    """
    cpu = device.kind == "CPU"
    if items is None and not cpu:
        items = device.sub_group_size
        while items * MOST_OWN < loci and 2 * items <= min(MOST_ITEMS, device.max_work_group_size):
            items *= 2
    items = items_for(device, loci, items)
    return ModelLayout(
        loci=loci,
        individuals=individuals,
        lossy=lossy,
        lanes=CPU_LANES if cpu else 1,
        items=items,
        team=team_of(device, items),
    )


def build_model_program(device: DeviceInfo, layout: ModelLayout) -> BuiltProgram:
    """Assemble and build."""
    files = ["common/vector/lanes.cl", "common/sync/teams.cl", "solvers/dsmga2/linkage_model.cl"]
    return build(device, assemble(files, layout.constants()))
