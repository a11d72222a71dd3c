"""``reservoir rules``: fit every family of operation rules to a plan and test them on held-out years."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.cli.options import FilePath
from reservoir.errors import InputError, Mistake
from reservoir.hydro.unit_system import SI
from reservoir.planning.columns import BENEFIT, ResultColumn, shown_columns
from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.rules.base.simulation import Violations
    from reservoir.rules.evaluation import Evaluation
    from reservoir.rules.system_evaluation import SystemEvaluation

LEAVE_ONE_OUT = "leave-one-out"


class Folds(click.ParamType):  # type: ignore[type-arg] # generic in click 8.4 and later alone
    """A number of blocks, or ``leave-one-out``, which is told as 0."""

    name = "folds"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a number of blocks."""
        if value == LEAVE_ONE_OUT:
            return 0
        if not str(value).isdecimal() or len(str(value)) > 9 or int(str(value)) < 2:
            self.fail(f"{value!r} is not a number of blocks (2 or more) or {LEAVE_ONE_OUT!r}", param, ctx)
        return int(str(value))


# fmt: off
_OPTIONS = (
    click.argument("plan_folder", metavar="PLAN_DIR", type=FilePath()),
    options.forecast,
    click.option("--folds", type=Folds(), default=5, show_default=True,
        help=f"Blocks of years (of an ensemble: of members) for cross-validation, or {LEAVE_ONE_OUT}."),
    click.option("--family", "families", multiple=True, metavar="NAME",
        help="Rule family to fit, repeatable.  [default: all; of a system all but replan, which takes longest]"),
    click.option("--horizon", metavar="year|record|N",
        help="Fit the rules to the optimum of the plan's record with this horizon, such as the whole record as one "
        "problem.  [default: to the plan]"),
    click.option("--test", "test_file", metavar="INFLOW", type=FilePath(),
        help="Test the rules fitted to all years on another record or ensemble, too."),
    options.reading,
    click.option("--reliability", type=options.Share(), metavar="SHARE",
        help="Share of the months, such as 0.95, in which rules are to give the guaranteed power of the reservoir "
        "file, or without one what the standard policy gives so often.  [default: no share is asked for]"),
    click.option("--bound", "bound_members", type=click.IntRange(min=2), metavar="N",
        help="Of a system: bound what any rule brings on average, by information relaxation in N years drawn from the "
        "inflow classes of separable, each bounded by a proof of up to 40 s."),
    click.option("--units", "unit_system", type=click.Choice(["si", "us"]),
        help="Units of the rules' tables and figures; the plan keeps its own.  [default: those of the plan]"),
    click.option("--figures/--no-figures", default=True, help="Draw the figures."),
    options.table_format,
    click.option("--force", is_flag=True, help="Replace earlier rules in that folder."),
    options.json, options.debug,
)
# fmt: on


@click.command("rules")
@options.taking(_OPTIONS)
def command(
    plan_folder: Path,
    forecast: str,
    folds: int,
    families: tuple[str, ...],
    horizon: str | None,
    test_file: Path | None,
    reading: dict[str, Any],
    reliability: float | None,
    bound_members: int | None,
    unit_system: str | None,
    figures: bool,
    table_format: str,
    force: bool,
    as_json: bool,
) -> int:
    """Fit operation rules to a plan and test them on held-out years.

    PLAN_DIR is a folder written by "reservoir plan". Adds rules/*.json, scores.csv, rules.json, figures and a page of
    its own, rules.html, to it, and of ensembles robustness.csv. Fits of a call that ends early are kept in
    PLAN_DIR/rules.parts: the same call goes on from there. Of a system, rules of all reservoirs together and rules for
    each operate the record.
    """
    from reservoir.io.plan_folder.files import SYSTEM

    if (plan_folder / SYSTEM).is_file():
        options.require_of_one({"--horizon": horizon, "--test": test_file, "--reliability": reliability})
        _require_test(test_file, reading)
        shown: dict[str, Any] = {"unit_system": unit_system, "table_format": table_format, "as_json": as_json}
        return _of_system(plan_folder, forecast, folds, families, bound_members or 0, figures, force, **shown)
    options.require_of_several({"--bound": bound_members})
    from reservoir.cli import say, warn
    from reservoir.cli.screen import checks_json, progress_bars, show_checks, show_json
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.kept_fits import KeptFits
    from reservoir.io.plan_folder.formats import PlanFormat, format_of
    from reservoir.io.plan_folder.saved_plan import read_plan
    from reservoir.io.rule_inputs import unit_said
    from reservoir.planning.checks import all_pass
    from reservoir.report.folder import FITS
    from reservoir.report.rules_folder import claimed_for_rules, write_rules
    from reservoir.rules import FAMILIES, Forecast
    from reservoir.rules.evaluation import evaluate, robustness_table
    from reservoir.rules.findings import best_fitted, findings, rules_checks, sentence_on_test, shortfalls, spills

    workbook = format_of(table_format, 1) is PlanFormat.XLSX
    with claimed_for_rules(plan_folder, force=force) as claim, KeptFits(plan_folder / FITS, warn) as fits:
        saved = read_plan(plan_folder)
        inflow = saved.plan.inflow
        blocks = inflow.member_count if inflow.member_count > 1 else inflow.years
        _check_request(families, folds, blocks, "members" if inflow.member_count > 1 else "years")
        _require_test(test_file, reading)
        test = None
        if test_file is not None:
            unit = unit_said(saved.origin["inflow"])
            test = options.read_record(test_file, reading, saved.plan.reservoir, plan_unit=unit)
        units = UnitSystem.of(unit_system or saved.plan.units.name)
        with progress_bars() as progress:
            evaluation = evaluate(
                replace(saved.plan, units=units),
                forecast=Forecast(forecast),
                folds=folds or blocks,
                families=dict.fromkeys(families) or FAMILIES,
                horizon=horizon,
                test=test,
                reliability=reliability,
                fitter=fits,
                progress=progress,
            )
            checks = rules_checks(evaluation)
            write_rules(
                evaluation, saved, checks, claim=claim, figures=figures, workbook=workbook, progress=progress, tell=warn
            )
        fits.remove()
    if as_json:
        import pandas as pd

        best, robustness = best_fitted(evaluation), robustness_table(evaluation)
        table = evaluation.table()
        results = {
            "scores": pd.DataFrame(units.columns(table)).to_dict("records"),
            "best_fitted": None if best is None else best.family,
            "shortfalls": shortfalls(evaluation),
            "findings": [finding.as_dict() for finding in findings(evaluation)],
            "spills": [finding.as_dict() for finding in spills(evaluation)],
        }
        results |= {"test": sentence_on_test(evaluation)} if evaluation.tests else {}
        results |= {} if robustness is None else {"robustness": robustness.to_dict("records")}
        results |= {"fitted_to": evaluation.fitted_to} if evaluation.fitted_to else {}
        show_json(checks_json(checks) | results | {"folder": str(plan_folder)})
    else:
        show_evaluation(evaluation)
        _show_robustness(evaluation)
        show_checks(checks, units)
        drawn = "figures, " if figures else ""
        scores = "rules.xlsx" if workbook else "scores.csv"
        say(f"Written to {plan_folder}: rules/*.json, {scores}, rules.json, {drawn}rules.html")
    return 0 if all_pass(checks) else 1


def _require_test(test_file: Path | None, reading: dict[str, Any]) -> None:
    """Refuse what says how a record is to be read where there is none."""
    unread = next((name for name, value in reading.items() if value), None)
    if test_file is None and unread is not None:
        column = f"--{unread.replace('_', '-')}"
        raise InputError("is given without --test", "the inflow file of --test", column=column)


def _of_system(
    plan_folder: Path,
    forecast: str,
    folds: int,
    families: tuple[str, ...],
    bound_members: int,
    figures: bool,
    force: bool,
    *,
    unit_system: str | None,
    table_format: str,
    as_json: bool,
) -> int:
    """Fit rules to the joint plan of a system; arguments are options of the command."""
    from reservoir.cli import say, warn
    from reservoir.cli.screen import checks_json, progress_bars, show_checks, show_json
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.plan_folder.formats import PlanFormat, format_of
    from reservoir.io.plan_folder.saved_system import read_system_plan
    from reservoir.planning.checks import all_pass
    from reservoir.report.rules_folder import claimed_for_rules
    from reservoir.report.system_rules_folder import write_system_rules
    from reservoir.rules import Forecast
    from reservoir.rules.system_evaluation import USUAL_FAMILIES, evaluate_system, require_family

    workbook = format_of(table_format, 1) is PlanFormat.XLSX
    for family in families:
        require_family(family)
    with claimed_for_rules(plan_folder, force=force) as claim:
        saved = read_system_plan(plan_folder)
        units = UnitSystem.of(unit_system or saved.plan.units.name)
        _check_request((), folds, saved.plan.inflow.years, "years")
        with options.named_as({"bound_members": "--bound"}), progress_bars() as progress:
            evaluation = evaluate_system(
                replace(saved.plan, units=units),
                forecast=Forecast(forecast),
                folds=folds or saved.plan.inflow.years,
                families=families or USUAL_FAMILIES,
                bound_members=bound_members,
                progress=progress,
            )
            checks = evaluation.checks()
            write_system_rules(
                evaluation, saved, checks, claim=claim, figures=figures, workbook=workbook, progress=progress, tell=warn
            )
    if as_json:
        import pandas as pd

        shown: dict[str, Any] = {"scores": pd.DataFrame(units.columns(evaluation.table())).to_dict("records")}
        shown |= {"best": evaluation.ranked[0].family, "foresight": evaluation.foresight.words}
        shown |= {} if evaluation.bound is None else {"bound": evaluation.bound.as_dict}
        show_json(checks_json(checks) | shown | {"folder": str(plan_folder)})
    else:
        _show_system(evaluation)
        show_checks(checks, units)
        scores_file = "rules.xlsx" if workbook else "scores.csv"
        drawn = "figures, " if figures else ""
        say(f"Written to {plan_folder}: rules/*.json, {scores_file}, rules.json, {drawn}rules.html")
    return 0 if all_pass(checks) else 1


def _show_system(evaluation: SystemEvaluation) -> None:
    """Print the scores of all reservoirs together, and of each."""
    from reservoir.cli.screen import Column, console, show_table
    from reservoir.rules.scores import benefit_suffix

    plan, table = evaluation.plan, evaluation.table()
    suffix, columns = benefit_suffix(plan.objective), shown_columns("system_scores", "screen")
    known = "a perfect forecast of the month's inflow" if evaluation.forecast == "month" else "no forecast"
    unit = f" in {plan.objective.unit} a year" if plan.objective.unit else ""
    title = f"Rules with {known}, simulated over {plan.inflow.years} years; "
    title += f"held out: {evaluation.cross_validation}; {plan.objective.title}{unit}"
    rows, lines = list[tuple[str, ...]](), list[int]()
    for row in table.to_dict("records"):
        if rows and row["family"] != rows[-1][0]:
            lines.append(len(rows) - 1)
        cells = (_cell(column, row[column.benefit_name(suffix)], plan.units) for column in columns)
        rows.append((row["family"], row["sample"], row["reservoir"], *cells))
    heads = [*map(Column, ("family", "years", "reservoir"))]
    heads += [Column(_title(column, plan.units), "right") for column in columns]
    show_table(heads, rows, title=title, lines_after=lines, most_columns=3 + _MOST_SCORES)
    best, screen = evaluation.ranked[0], console()
    regret = 100 * (1 - best.charged / best.best) if best.best > 0 else float("nan")
    found = f"Best in years that it has not seen: {best.family}"
    screen.print(f"{found}, {regret:.2f} % below perfect foresight" if regret == regret else found, soft_wrap=True)
    screen.print(f"Perfect foresight is {evaluation.foresight.words}", soft_wrap=True)
    if evaluation.bound is not None:
        screen.print(f"Bound: {evaluation.bound.words}", soft_wrap=True)


def _check_request(families: tuple[str, ...], folds: int, units: int, unit: str) -> None:
    """Refuse, before anything is computed, what cannot be fitted or held out."""
    from reservoir.rules import FAMILIES, unknown_family

    mistakes = [unknown_family(name, "--family") for name in dict.fromkeys(families) if name not in FAMILIES]
    if units < 2:
        problem = "the plan has only one year, too few for cross-validation"
        mistakes.append(Mistake(problem, "2 years or more", "plan a longer record"))
    elif folds > units:
        problem, expected = f"more blocks than {unit} in the plan", f"2 to {units}, or {LEAVE_ONE_OUT}"
        mistakes.append(Mistake(problem, expected, column="--folds", value=folds))
    if mistakes:
        raise InputError(mistakes)


#: What is less, in any unit, is none.
_ROUNDING = 1e-6
#: Columns beside family and years that a screen of 80 characters has room for; files and --json have all.
_MOST_SCORES = 5
#: Columns that need a target.
_SERVICE = ("reliability", "resilience", "vulnerability")


def show_evaluation(evaluation: Evaluation) -> None:
    """Print the scores of every family, findings, and limits that rules do not keep."""
    from rich.markup import escape

    from reservoir.cli.screen import Column, console, show_table
    from reservoir.rules.findings import findings, sentence_on_test, shortfalls, spills
    from reservoir.rules.scores import SimulationMode

    screen = console()
    plan, units, columns = evaluation.plan, evaluation.plan.units, shown_columns("scores", "screen")
    for caveat in evaluation.caveats:
        screen.print(f"[yellow]{escape(caveat[:1].upper() + caveat[1:])}[/]", soft_wrap=True)
    if evaluation.fitted_to:
        screen.print(f"Fitted to {escape(evaluation.fitted_to)}", soft_wrap=True)
    known = "a perfect forecast of the month's inflow" if evaluation.forecast == "month" else "no forecast"
    years, targets = plan.inflow.years // plan.inflow.member_count, evaluation.targets
    members = f" of {plan.inflow.member_count:,} members" if plan.inflow.member_count > 1 else ""
    title = f"Rules with {known}, simulated continuously over {years} years{members}; "
    title += f"held out: {evaluation.cross_validation}; {plan.objective.title}"
    title += f" in {plan.objective.unit} a year" if plan.objective.unit else ""
    foresight = evaluation.foresight_benefit(SimulationMode.CONTINUOUS)
    rows = [_foresight_row(evaluation, "all", foresight, evaluation.foresight_violations)]
    for run in evaluation.tests[:1]:
        if run.foresight_violations is not None:
            rows.append(_foresight_row(evaluation, run.sample, run.foresight_benefit, run.foresight_violations))
    # Reliability is that of years where something is guaranteed; firm power is a power of months.
    of_months = () if targets.guaranteed else _SERVICE
    names = [f"firm_{column.name}" if column.name in of_months else column.name for column in columns]
    lines: list[int] = []
    for result, score in evaluation.scores_of(SimulationMode.CONTINUOUS):
        if rows[-1][0] != result.family:
            lines.append(len(rows) - 1)
        cells = (_cell(column, getattr(score, name), units) for column, name in zip(columns, names, strict=True))
        rows.append((result.family, str(score.sample), *cells))
    heads = [Column("family"), Column("years"), *(Column(_title(column, units), "right") for column in columns)]
    filled = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    heads, table = [heads[place] for place in filled], [[row[place] for place in filled] for row in rows]
    show_table(heads, table, title=escape(title), lines_after=lines, most_columns=2 + _MOST_SCORES, screen=screen)
    power = f"{quantity(targets.firm_mw)} MW"
    reliable = f"months with {power}"
    if targets.guaranteed:
        reliable = f"years with {quantity(targets.annual_gwh)} GWh ({power} in every month)"
    screen.print(escape(f"Reliability: {reliable}, {targets.origin}"), soft_wrap=True)
    if evaluation.tests:
        screen.print(escape(sentence_on_test(evaluation)), soft_wrap=True)
    for finding in (*findings(evaluation), *spills(evaluation)):
        screen.print(escape(f"Finding: {finding.compared}: {finding.found}"), soft_wrap=True)
    for sentence in shortfalls(evaluation):
        screen.print(f"[red]{escape(sentence)}[/]", soft_wrap=True)


def _foresight_row(
    evaluation: Evaluation, years: str, benefit: NDArray[np.float64], violations: Violations
) -> tuple[str, ...]:
    """What perfect foresight brings and cannot keep."""
    objective = evaluation.plan.objective
    cells = {
        "mean": quantity(abs(benefit.mean()) if objective.is_cost else benefit.mean()),
        "percent_of_foresight": "" if objective.is_cost else "100.00",
        "months_violated": f"{violations.months:d}",
        "months_unmet": f"{violations.unmet_months:d}",
    }
    return "foresight", years, *(cells.get(column.name, "") for column in shown_columns("scores", "screen"))


def _title(column: ResultColumn, units: UnitSystem) -> str:
    """The head of a column on the screen, with its unit unless it is that of the objective."""
    assert column.screen is not None
    unit = "" if column.unit in ("", BENEFIT) else f", {units.unit_name(column.unit)}"
    return f"{column.screen.title}{unit}"


def _cell(column: ResultColumn, value: float, units: UnitSystem) -> str:
    """A score as it is shown; nothing where it is not known."""
    assert column.screen is not None
    if value != value:
        return ""
    value = value / units.size(column.name) if units.unit(column.name) else value
    if column.screen.form:
        return column.screen.form.format(value)
    return quantity(value if abs(value) >= _ROUNDING else 0.0)


def _show_robustness(evaluation: Evaluation) -> None:
    """Energy and regret over members that rules have not seen; nothing of a record."""
    from reservoir.cli.screen import Column, show_table
    from reservoir.rules.evaluation import robustness_table
    from reservoir.rules.scores import benefit_suffix

    table = robustness_table(evaluation)
    if table is None:
        return
    suffix, objective = benefit_suffix(evaluation.plan.objective), evaluation.plan.objective
    shown = shown_columns("robustness", "screen")
    rows = [
        (row["family"], row["sample"], *(_cell(column, row[column.benefit_name(suffix)], SI) for column in shown))
        for row in table.to_dict("records")
    ]
    unit = f" ({objective.unit})" if objective.unit else ""
    title = f"Robustness: mean annual {objective.title}{unit} of the members, and regret against their foresight"
    columns = [Column("family"), Column("members"), *(Column(_title(column, SI), "right") for column in shown)]
    show_table(columns, rows, title=title, most_columns=2 + _MOST_SCORES)
