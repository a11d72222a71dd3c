"""Change keys of a reservoir file: all keys are read again, so that every check of the reader holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from reservoir.errors import InputError
from reservoir.hydro.reservoir import Reservoir, differing_parts, reservoir_digests
from reservoir.io.reservoir_toml.draft import ONE_OF, WAYS_TO_POWER, known_unit, parsed
from reservoir.io.reservoir_toml.reader import is_system, reservoir_of_tree
from reservoir.io.reservoir_toml.writer import write_reservoir

#: Values by dotted key of a reservoir file, such as ``storage.upper_hm3``, as TOML has them; None leaves a key out.
Changes = Mapping[str, Any]
#: Keys and sections of which a file has one: a change of one replaces the others.
_INSTEAD = (*ONE_OF, WAYS_TO_POWER, ("objective.goal", "objective.weights"))


@dataclass(frozen=True)
class ReservoirKeys:
    """The keys of a reservoir as its file has them, or would have them.

    Parameters
    ----------
    tree : mapping
        Sections and keys.
    source : str
        What messages call the file.
    """

    tree: Mapping[str, Any]
    source: str

    @staticmethod
    def of(reservoir: Reservoir) -> ReservoirKeys:
        """The keys of the file that a reservoir was read from; of one made otherwise, those of the file to write.

        Raises
        ------
        InputError
            If no reservoir file can contain it.
        """
        with suppress(InputError):
            tree = parsed(reservoir.content, reservoir.source)
            read = None if is_system(tree) else reservoir_of_tree(tree, reservoir.source)
            if read and read.name == reservoir.name and not differing_parts(read, reservoir_digests(reservoir)):
                return ReservoirKeys(tree, reservoir.source)
        return ReservoirKeys(parsed(write_reservoir(reservoir).encode(), ""), reservoir.source)

    def changed(self, changes: Changes) -> Reservoir:
        """Read the keys with changes.

        A changed key replaces the same quantity in another unit, and other ways to say the same
        (``plant.unit_capacity_mw`` by ``plant.installed_capacity_mw``).

        Raises
        ------
        InputError
            With every mistake, as `reservoir.read_reservoir` does.
        """
        tree: dict[str, Any] = deepcopy(dict(self.tree))
        for dotted in changes:
            for key in (dotted, *_replaced(dotted)):
                section, _, written = key.rpartition(".")
                table, name = _table(tree, section), known_unit(section, written)[0]
                for same in [each for each in table if known_unit(section, each)[0] == name]:
                    del table[same]
        for dotted, value in changes.items():
            section, _, written = dotted.rpartition(".")
            if value is not None:
                _table(tree, section, made=True)[written] = deepcopy(value)
        plant = _table(tree, "plant")
        if "plant.units" not in changes and not any(key.startswith("unit_") for key in plant):
            plant.pop("units", None)  # counts what is no longer given
        return reservoir_of_tree(tree, self.source)


def _replaced(dotted: str) -> Iterator[str]:
    """Other keys and sections that a changed key takes the place of."""
    section, _, written = dotted.rpartition(".")
    name = f"{section}.{known_unit(section, written)[0]}."
    for keys in _INSTEAD:
        own = [key for key in keys if name.startswith(f"{key}.")]
        yield from (key for key in keys if own and key not in own)


def _table(tree: dict[str, Any], section: str, *, made: bool = False) -> dict[str, Any]:
    """A section; where there is none, an empty one that is `made` there, or stands alone."""
    for part in filter(None, section.split(".")):
        if not isinstance(tree.get(part), dict):
            if not made:
                return {}
            tree[part] = {}
        tree = tree[part]
    return tree
