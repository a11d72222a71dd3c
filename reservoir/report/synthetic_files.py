"""What is written of synthetic inflow: the ensemble, and beside it the table and the figure of its acceptance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.io.output import require_free, write_new
from reservoir.io.plan_folder.tables import write_table
from reservoir.io.records.members import check_writable, ensemble_columns, write_ensemble
from reservoir.io.workbook import SUFFIXES, write_workbook
from reservoir.report.figures.figures import attempted
from reservoir.report.figures.inflow import synthetic_inflow_figure
from reservoir.report.figures.style import rendered
from reservoir.report.folder import figures_left_out
from reservoir.synthetic.acceptance import Assessment, Comparison
from reservoir.synthetic.ensemble import SyntheticInflow
from reservoir.synthetic.sites import SyntheticSites
from reservoir.text.quantities import printable

_ADVICE = {"choose": "choose another --out", "replace": "give --force to replace it"}


class SyntheticFiles:
    """Names of the files, refused at once if they cannot be written.

    Parameters
    ----------
    target : Path
        The ensemble; a workbook has the table of its acceptance as a sheet beside it.
    sites : collection of str
        Their names; that of a site alone is empty.
    checked : bool
        Whether there is a table and a figure (for each site) of its acceptance.
    force : bool
        Replace existing files.
    units : UnitSystem
        Of the flows in tables and the figure; NetCDF keeps to m3/s.
    tell : callable
        Told of a figure that fails, which is left out.

    Raises
    ------
    InputError
        If one is there already and `force` is off, or the format cannot be written here.
    """

    def __init__(
        self,
        target: Path,
        *,
        sites: Collection[str] = ("",),
        checked: bool,
        force: bool,
        units: UnitSystem = SI,
        tell: Callable[[str], None] = warnings.warn,
    ) -> None:
        require_free(target, force=force, **_ADVICE)  # a folder first of all: . has no name
        self.target, self.force, self.units, self.tell = target, force, units, tell
        self.written: list[Path] = []
        self.table = target.with_name(f"{target.stem}-checks.csv")
        self.figures = {
            site: target.with_name("-".join(filter(None, (target.stem, "checks", site))) + ".svg") for site in sites
        }
        self.workbook = target.name.casefold().endswith(SUFFIXES)
        check_writable(target.name)
        for path in (*([] if self.workbook else [self.table]), *self.figures.values()) if checked else ():
            require_free(path, force=force, **_ADVICE)

    def write(
        self, inflow: Inflow | SiteInflows, source: SyntheticInflow | SyntheticSites, assessment: Assessment | None
    ) -> None:
        """Write the ensemble, completely or not at all; and the table and the figure of its acceptance."""
        checks = None if assessment is None else comparison_table(assessment.comparisons, self.units)
        if self.workbook:
            sheets: dict[str, Any] = {
                "inflow": ensemble_columns(inflow, self.units),
                **({} if checks is None else {"checks": checks}),
            }
            self._write(self.target, lambda path: write_workbook(sheets, path, printable(inflow.caveat)))
        else:
            self._write(self.target, lambda path: write_ensemble(inflow, self.target.name, path, self.units))
        if checks is not None and not self.workbook:
            self._write(self.table, lambda path: write_table(checks, path))
        if assessment is not None:
            self._write_figures(source, assessment)

    def _write_figures(self, source: SyntheticInflow | SyntheticSites, assessment: Assessment) -> None:
        left_out: dict[str, str] = {}
        for site, comparisons in assessment.of_sites.items():
            by_name = {comparison.statistic: comparison for comparison in comparisons}
            draw = partial(_drawn, by_name, source.calendar, assessment.optimised, source.caveat, self.units, site)
            drawn = attempted(self.figures[site].name, draw, left_out)
            if drawn is not None:
                self._write(self.figures[site], partial(Path.write_bytes, data=drawn))
        figures_left_out(left_out, self.tell, source.caveat)

    def _write(self, path: Path, content: Callable[[Path], object]) -> None:
        write_new(path, content, force=self.force, **_ADVICE)
        self.written.append(path)


def _drawn(*about: Any) -> bytes:
    return rendered(synthetic_inflow_figure(*about), "svg")


def comparison_table(comparisons: Sequence[Comparison], units: UnitSystem = SI) -> pd.DataFrame:
    """One row for each value of each statistic: of the record, of synthetic records, and whether it is accepted."""
    tables = []
    for compared in comparisons:
        size = units.size("flow_m3s") ** compared.flow_power
        columns = {
            "statistic": compared.statistic,
            "place": list(compared.places),
            "record": compared.record / size,
            "synthetic_mean": compared.synthetic.mean(axis=0) / size,
            "standard_error": compared.synthetic.std(axis=0, ddof=1) / size,
            "deviation": compared.deviation,
            "limit": compared.limit,
            "claim": compared.claim.value,
            "pass": ["yes" if value <= compared.limit else "no" for value in compared.deviation],
        }
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)
