"""Plans beside each other: what differs in their inputs and results, as a table, figures and a page."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.output import Claim, drafted
from reservoir.io.plan_folder.differences import NOTHING, input_differences, read_any_plan
from reservoir.io.plan_folder.files import FIGURES
from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.io.plan_folder.tables import read_cells, read_sheets, write_tables
from reservoir.io.workplace import leaves
from reservoir.planning.columns import BENEFIT, ResultColumn, shown_columns
from reservoir.planning.plan_comparison import (
    ALIKE_SPILL,
    CHANGES,
    WHOLE,
    ComparedPlan,
    alike_spill,
    compared_plans,
    with_best_rules,
)
from reservoir.report.folder import (
    RULES_WORKBOOK,
    SCORES,
    check_new,
    figures_left_out,
    refuse_foreign,
    run_provenance,
    to_replace,
    write_json,
)
from reservoir.report.html.page import Column, Heading, HtmlTable, Section, read_pictures, render
from reservoir.text.quantities import counted, decimals_of
from reservoir.text.strict_json import known

#: Names of the files.
PROVENANCE, TABLE, DIFFERENCES, REPORT = "comparison.json", "comparison.csv", "differences.csv", "report.html"
WORKBOOK = "comparison.xlsx"
_OWN = (PROVENANCE, TABLE, DIFFERENCES, REPORT, WORKBOOK, FIGURES)
#: Figures and their titles.
TITLES = {
    "storage": "Storage through the year",
    "power-duration": "Duration of power",
    "varied": "What the key changes",
}
_ALIKE = "about the same"
_FORESIGHT = "foresight"


class Told(NamedTuple):
    """A difference of the inputs of a plan, or of a variant, from those of the base."""

    plan: str
    what: str
    base: str
    value: str


@dataclass(frozen=True, eq=False)
class PlanComparison:
    """Plans beside the first of them, the base.

    Parameters
    ----------
    saved : tuple of SavedPlan
        As they were read from their folders.
    plans : tuple of ComparedPlan
    differences : tuple of Told
        What their inputs have otherwise than the base.
    rows : sequence of dict
        The table ``compared_plans`` (`reservoir.planning.columns`).
    units : UnitSystem
        In which it is shown.
    refused : mapping of str to str
        Plans that could not be made, and why.
    """

    saved: tuple[SavedPlan[Any], ...]
    plans: tuple[ComparedPlan, ...]
    differences: tuple[Told, ...]
    rows: Sequence[Mapping[str, Any]]
    units: UnitSystem
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to know before any number: plans that were not made, years that fail, years not in common."""
        refused = (f"{name} was not planned: {why}" for name, why in self.refused.items())
        said = [*refused, *(sentence for plan in self.plans for sentence in plan.sentences)]
        if any(alike_spill(row) and row[CHANGES["spill_hm3"]] for row in self.rows):
            said.append(f"Spill is {_ALIKE} where it changes by less than {100 * ALIKE_SPILL:g} %")
        return tuple(said)

    def as_dict(self) -> dict[str, Any]:
        """The comparison for machines, in its units."""
        return {
            "base": self.plans[0].name,
            "units": self.units.as_dict,
            "differences": [each._asdict() for each in self.differences],
            "plans": [known(self.units.values(row)) for row in self.rows],
            "failing": {plan.name: list(plan.failing) for plan in self.plans if plan.failing},
            "not_planned": dict(self.refused),
            "notes": list(self.sentences),
        }


def compare_folders(
    folders: Sequence[Path], units: UnitSystem, refused: Mapping[str, str] | None = None
) -> PlanComparison:
    """Read plans, and compare them with the first.

    Raises
    ------
    InputError
        If there is one alone, with all that is wrong with their folders, or if they have nothing in common.
    """
    saved, mistakes, folders = list[SavedPlan[Any]](), list[Mistake](), [*dict.fromkeys(folders)]
    for folder in folders:
        try:
            saved.append(read_any_plan(folder))
        except InputError as error:
            mistakes += error.mistakes
    if mistakes:
        raise InputError(dict.fromkeys(mistakes))
    if len(saved) < 2 and not refused:
        problem, mend = "is a plan alone, with nothing to compare it with", "give the folders of other plans behind it"
        raise InputError(problem, "two plans or more, the base first", mend, file=str(folders[0]))
    short = [Path(folder).resolve().name for folder in folders]
    names = [name if short.count(name) == 1 else str(folder) for name, folder in zip(short, folders, strict=True)]
    plans = compared_plans({name: each.plan for name, each in zip(names, saved, strict=True)})
    found = (
        Told(name, *each)
        for name, other in zip(names[1:], saved[1:], strict=True)
        for each in input_differences(saved[0], other, units)
    )
    rows = with_best_rules(plans, [best_rule(each.folder) for each in saved])
    return PlanComparison(tuple(saved), plans, tuple(found), rows, units, refused or {})


def best_rule(folder: Path) -> tuple[str, float] | None:
    """The family that brings most of foresight in held-out years, and how much in per cent; None without rules.

    Raises
    ------
    InputError
        If the scores cannot be read.
    """
    if (folder / SCORES).is_file():
        scores: Any = read_cells(folder / SCORES, "run `reservoir rules` again")
    elif (folder / RULES_WORKBOOK).is_file():
        scores = read_sheets(folder / RULES_WORKBOOK).get(SCORES, {})
    else:
        return None
    names = ("family", "sample", "percent_of_foresight")
    if not all(name in scores for name in names):
        return None
    of_site = scores["reservoir"] if "reservoir" in scores else [WHOLE] * len(scores["family"])
    best = [
        (family, float(percent))
        for family, sample, percent, site in zip(*(scores[name] for name in names), of_site, strict=True)
        if sample == "held-out" and family != _FORESIGHT and site == WHOLE and percent
    ]
    return max(best, key=lambda each: each[1], default=None)


def comparison_cells(comparison: PlanComparison) -> tuple[list[Column], list[tuple[str, ...]], set[int]]:
    """The table of plans for reading: heads, cells with their changes in brackets, and rows with years that fail."""
    rows, units, (base, *_) = comparison.rows, comparison.units, comparison.plans
    heads, cells = [Column("Plan", text=True)], [[str(row["plan"]) for row in rows]]
    if "reservoir" in rows[0]:
        heads.append(Column("Reservoir", text=True))
        cells.append([str(row["reservoir"]) for row in rows])
    failing = [row["failing_years"] for row in rows]
    if any(failing):
        heads.append(Column("Fail", "years"))
        cells.append([f"{failed:,} of {row['years']:,}" for failed, row in zip(failing, rows, strict=True)])
    objective = base.plan.objective
    for column in shown_columns("compared_plans", "page"):
        if column.name not in rows[0] or not any(isfinite(row.get(column.name, np.nan)) for row in rows):
            continue
        page = column.page
        assert page is not None
        unit = column.unit if page.unit is None else page.unit
        title, unit = (objective.title, objective.unit) if unit == BENEFIT else (page.title, units.unit_name(unit))
        heads.append(Column(title[:1].upper() + title[1:], unit))
        cells.append(_with_changes(column, rows, units, base.name))
    return heads, list(zip(*cells, strict=True)), {place for place, failed in enumerate(failing) if failed}


def _with_changes(column: ResultColumn, rows: Sequence[Mapping[str, Any]], units: UnitSystem, base: str) -> list[str]:
    """Numbers of a column with as many decimals as tell them apart, and their changes against the base."""
    size, changed = units.size(column.name), CHANGES[column.name]
    numbers, changes = ([row.get(name, np.nan) / size for row in rows] for name in (column.name, changed))
    largest = [max((abs(each) for each in some if isfinite(each)), default=0.0) for some in (numbers, changes)]
    decimals = decimals_of(largest[0], 4)
    more = min(max(decimals, decimals_of(largest[1])), decimals + 2)
    cells = []
    for row, value, change in zip(rows, numbers, changes, strict=True):
        number = f"{value:,.{decimals}f}" if isfinite(value) else NOTHING
        words = f"{change:+,.{more}f}".replace("-", "−") if isfinite(change) else ""
        if isfinite(change) and not any(digit in words for digit in "123456789"):
            words = "same"
        if column.name == "spill_hm3" and words and words != "same" and alike_spill(row):
            words = _ALIKE
        cells.append(f"{number} ({words})" if words and row["plan"] != base else number)
    return cells


def difference_rows(comparison: PlanComparison) -> list[Told]:
    """Differences of the inputs for reading; a line for a plan that has none."""
    told = {each.plan for each in comparison.differences}
    same = [Told(plan.name, "nothing", NOTHING, NOTHING) for plan in comparison.plans[1:] if plan.name not in told]
    return [*comparison.differences, *same]


def write_comparison(
    comparison: PlanComparison,
    target: Path | Claim,
    *,
    force: bool = False,
    figures: bool = True,
    workbook: bool = False,
    tell: Callable[[str], None] = warnings.warn,
) -> Path:
    """Write tables, figures and the page of a comparison, completely or not at all; returns the folder.

    With `workbook`, the tables are sheets of ``comparison.xlsx``; `force` replaces an earlier comparison, `tell` is
    told of figures that fail.

    Raises
    ------
    OutputError
        If the folder holds something that may not be replaced, or cannot be written.
    """
    with drafted(target, partial(_check, force=force), lambda folder: leaves(folder, _OWN)) as claim:
        draft, left_out, captions = claim.draft, dict[str, str](), dict[str, str]()
        rows, units = comparison.rows, comparison.units
        table = units.columns({name: np.array([row.get(name, np.nan) for row in rows]) for name in rows[0]})
        told = {
            name: np.array([getattr(each, name) for each in comparison.differences], object) for name in Told._fields
        }
        write_tables({TABLE: table, DIFFERENCES: told}, draft, WORKBOOK if workbook else "")
        if figures:
            from reservoir.report.figures.comparison import comparison_captions, comparison_figures
            from reservoir.report.figures.figures import write_figures

            write_figures(comparison_figures(comparison), draft / FIGURES, left_out=left_out)
            captions = {name: text for name, text in comparison_captions(comparison).items() if name not in left_out}
        pictures = read_pictures(draft / FIGURES, TITLES, captions)
        names = [plan.name for plan in comparison.plans] if figures else []
        origin = run_provenance() | comparison.as_dict() | {"figures": captions}
        origin["folders"] = [_source(each) for each in comparison.saved]
        write_json(draft / PROVENANCE, origin | figures_left_out(left_out, tell, *names))
        (draft / REPORT).write_text(_report(comparison, pictures), encoding="utf-8")
    return claim.place


def _check(target: Path, force: bool) -> None:
    if not force:
        return check_new(target)
    refuse_foreign(target, [name for name in to_replace(target, True) if name not in _OWN], "of no comparison")
    return None


def _source(saved: SavedPlan[Any]) -> dict[str, Any]:
    inputs = {name: saved.origin[name] for name in ("created", "reservoir", "inflow", "solver", "settings")}
    return {"plan": saved.folder.name, **inputs}


def _report(comparison: PlanComparison, pictures: Sequence[Any]) -> str:
    """The page: what fails, what differs in the inputs, what the plans come to, figures, and where they come from."""
    base, *others = comparison.plans
    plural = counted(len(others), "plan")
    heads, rows, marked = comparison_cells(comparison)
    caveats = dict.fromkeys(caveat for plan in comparison.plans for caveat in plan.plan.caveats)
    how = "In brackets: the change against the base, in the years that keep their limits in both."
    plans = HtmlTable("plans-table", f"The base first. {how}", tuple(heads), tuple(rows), frozenset(marked))
    columns = tuple(Column(title, text=True) for title in ("Plan", "What", f"In {base.name}", "In the plan"))
    inputs = HtmlTable("inputs-table", "", columns, tuple(map(tuple, difference_rows(comparison))))
    facts = tuple(
        (plan.name, f"{_of(saved)}; {saved.origin['solver']} on {saved.origin['device']}, {saved.origin['created']}")
        for plan, saved in zip(comparison.plans, comparison.saved, strict=True)
    )
    heading = Heading(
        title=f"Comparison of {plural} with {base.name}",
        description="",
        caveats=tuple(caveat[:1].upper() + caveat[1:] for caveat in caveats),
        figures=(),
    )
    sections = [
        Section("first", "Before comparing", items=comparison.sentences, warning=bool(marked or comparison.refused))
        if comparison.sentences
        else None,
        Section("inputs", "What differs in the inputs", tables=(inputs,)),
        Section("plans", "Plans", tables=(plans,)),
        Section("figures", "Figures", pictures=tuple(pictures)) if pictures else None,
        Section("provenance", "Provenance", facts=facts),
    ]
    return render(heading, [section for section in sections if section is not None])


def _of(saved: SavedPlan[Any]) -> str:
    files = (saved.origin[name]["file"] for name in ("reservoir", "inflow"))
    return f"{', '.join(filter(None, files))}; {saved.plan.inflow.span_text}"
