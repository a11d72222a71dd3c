"""Cases that come with the program: a reservoir and its inflow record, listed in ``data/cases.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reservoir import runtime
from reservoir.errors import InputError

if TYPE_CHECKING:
    from reservoir.hydro.inflow import Inflow
    from reservoir.hydro.reservoir import Reservoir
    from reservoir.hydro.site_inflows import SiteInflows
    from reservoir.hydro.system import System


@dataclass(frozen=True)
class Case:
    """A reservoir file and its inflow file.

    Parameters
    ----------
    name : str
    reservoir_file, inflow_file : Path
    reference_gwh : float or None
        Energy of all years that an independent dynamic program found, if one did.
    typical_years : mapping of str to str, or None
        Labels of the years drawn as ``wet``, ``normal`` and ``dry``; chosen by quantile if None.
    """

    name: str
    reservoir_file: Path
    inflow_file: Path
    reference_gwh: float | None = None
    typical_years: Mapping[str, str] | None = None

    @property
    def says(self) -> list[str]:
        """What its files say of themselves: descriptions and caveats."""
        tree = tomllib.loads(self.reservoir_file.read_text("utf-8"))
        of_record = re.findall(r"^# caveat: (.+)$", self.inflow_file.read_text("utf-8"), re.MULTILINE)
        return [str(text) for text in (tree.get("description"), tree.get("caveat"), *of_record) if text]

    def reservoir(self) -> Reservoir:
        """Read the reservoir."""
        from reservoir.io.reservoir_toml.reader import read_reservoir

        return read_reservoir(self.reservoir_file)

    def inflow(self) -> Inflow:
        """Read the inflow record, in the reservoir's water year."""
        from reservoir.io.records.reader import read_inflow

        inflow = read_inflow(self.inflow_file, first_month=self.reservoir().first_month)
        return replace(inflow, typical_years=self.typical_years)

    def system(self) -> System:
        """Read the system of several reservoirs; of one reservoir a system of one."""
        from reservoir.io.system_file import read_system

        return read_system(self.reservoir_file)

    def inflows(self) -> SiteInflows:
        """Read the local inflow of each reservoir of the system."""
        from reservoir.io.records.sites import read_system_inflow

        return read_system_inflow(self.system(), self.inflow_file)


def case_names(kind: str = "reservoir") -> list[str]:
    """Names of the bundled cases of a kind, ``reservoir`` or ``system``; imports nothing heavy."""
    return [name for name, case in _listing()["cases"].items() if case.get("kind", "reservoir") == kind]


def bundled_case(name: str | None = None) -> Case:
    """A bundled case by name; without a name, the one that ``data/cases.toml`` makes the default.

    Raises
    ------
    InputError
        If there is no such case.
    """
    listing = _listing()
    wanted = listing["default"] if name is None else name
    if wanted not in listing["cases"]:
        raise InputError("unknown bundled case", ", ".join(listing["cases"]), value=wanted)
    case = listing["cases"][wanted]
    folder = runtime.package_folder("data") / case["folder"]
    files = folder / case["reservoir"], folder / case["inflow"]
    return Case(wanted, *files, case.get("reference_gwh"), case.get("typical_years"))


def _listing() -> dict[str, Any]:
    return tomllib.loads(runtime.package_text("data", "cases.toml"))
