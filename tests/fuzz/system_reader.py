"""System files with their reservoirs inline, spoiled."""

from __future__ import annotations

from pathlib import Path

from reservoir.hydro.attributes import LINK_ATTRIBUTES, SITE_ATTRIBUTES
from reservoir.io.system_file import read_system
from tests.fuzz.case import Reader, one_file
from tests.fuzz.spoiling import spoiled
from tests.io.small_reservoir import SMALL
from tests.io.two_dams import TWO

FILE = "system.toml"
_WORDS = (b"[[links]]", b"[[reservoirs]]", b"[links]", b"[storage]", b'kind = "reservoir"', b"[horizon]\nspan = 3\n")


def reader() -> Reader:
    """`read_system`."""
    inline = SMALL.partition("\n\n")[2].replace("\n[", "\n[reservoirs.")
    text = TWO.replace('file = "upper.toml"', f"[reservoirs.{inline[1:]}").replace(
        'file = "lower.toml"', f"[reservoirs.{inline[1:]}"
    )
    keys = [row.name for row in (*SITE_ATTRIBUTES, *LINK_ATTRIBUTES)]
    words = [word.encode() for key in keys for word in (key, f"{key} = 1\n", f'{key} = "lower"\n')]
    return Reader(FILE, one_file(FILE, spoiled([text.encode()], (*_WORDS, *words), cells=b" ")), _read)


def _read(folder: Path) -> None:
    system = read_system(folder / FILE)
    assert set(system.names) == {each.name for each in system.reservoirs}
    assert all(link.source in system.names and link.target in (None, *system.names) for link in system.links)
    assert all(0 <= link.lost_share <= 1 and link.travel_steps >= 0 for link in system.links)
