"""The readers by name, each made when it is asked for."""

from __future__ import annotations

from importlib import import_module

from tests.fuzz.case import Reader

#: Where several stand in one module.
_MODULES = dict.fromkeys(("netcdf", "zarr", "xlsx"), "container_reader")
NAMES = (
    *("inflow", "reservoir", "rule", "plan", "tsplib", "tour", "spin"),
    *("ensemble", "schedule", "netcdf", "zarr", "xlsx", "system"),
)


def reader(name: str) -> Reader:
    """The reader of that name."""
    module = import_module(f"tests.fuzz.{_MODULES.get(name, f'{name}_reader')}")
    found: Reader = getattr(module, f"{name}_reader" if name in _MODULES else "reader")()
    return found
