"""Where the reservoirs of a system are drawn."""

from __future__ import annotations

from reservoir.hydro.system import System


def places_of(system: System) -> dict[str, tuple[float, float]]:
    """Where each reservoir is drawn: across by branches, down by how many links lie above it."""
    depth: dict[str, int] = {}
    for place, name in enumerate(system.names):
        depth[name] = max((depth[link.source] + 1 for _, link in system.into(place)), default=0)
    rows: dict[int, list[str]] = {}
    for name, row in depth.items():
        rows.setdefault(row, []).append(name)
    widest = max(map(len, rows.values()))
    return {
        name: ((at + 0.5) * widest / len(names), -float(row))
        for row, names in rows.items()
        for at, name in enumerate(names)
    }
