"""A population laid out on the work items of a group, in vectors."""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.opencl import DeviceInfo
from reservoir.solvers.base.work_groups import items_for, lanes_for


@dataclass(frozen=True)
class Blocks:
    """Members of a population: blocks x items x lanes, padded.

    Parameters
    ----------
    lanes, items, blocks : int
        Members in a vector, work items of a population, and vectors in a work item.
    """

    lanes: int
    items: int
    blocks: int

    @property
    def padded(self) -> int:
        """Members with padding."""
        return self.lanes * self.items * self.blocks

    @staticmethod
    def of(device: DeviceInfo, members: int, lanes: int | None, items: int | None, *, populations: int = 1) -> Blocks:
        """So many members, with lanes and items as asked or chosen for a device; of some populations a group."""
        lanes = lanes_for(device, members, lanes)
        vectors = -(-members // lanes)
        items = items_for(device, vectors, items, populations)
        return Blocks(lanes=lanes, items=items, blocks=-(-vectors // items))
