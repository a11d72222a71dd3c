"""The readers by name, each made when it is asked for."""

from __future__ import annotations

from importlib import import_module

from tests.fuzz.case import Reader

NAMES = ("inflow", "reservoir", "rule", "plan", "tsplib", "tour", "spin")


def reader(name: str) -> Reader:
    """The reader of that name."""
    found: Reader = import_module(f"tests.fuzz.{name}_reader").reader()
    return found
