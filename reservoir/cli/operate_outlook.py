"""What ``reservoir operate`` adds for a rule that re-plans: the futures of its decision."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reservoir.errors import InputError, Mistake, OutputError
from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    from reservoir.cli.rule_inputs import RuleInputs
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.rules import Rule
    from reservoir.rules.advice import Situation
    from reservoir.rules.families.replan import Outlook, Replan

#: The family that has futures.
FAMILY = "replan"
#: Months of the outlook where none are asked for, and the quantiles that are told of them.
USUAL_MONTHS = 12
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def with_futures(
    found: RuleInputs, month: int, members: int | None, months: int | None, ensemble: Path | None, figure: Path | None
) -> RuleInputs:
    """The inputs with another number of futures, or with those of a forecast; refused with a rule that has none.

    Raises
    ------
    InputError
        With what does not go together, or with the mistakes of the forecast's file.
    """
    given = {"--members": members, "--months-ahead": months, "--ensemble": ensemble, "--figure": figure}
    if found.rule.family != FAMILY:
        mend = "add --replan, or use the rule file of the family replan"
        mistakes = [
            Mistake(f"needs futures, and a rule of the family {found.rule.family} has none", "", mend, column=name)
            for name, value in given.items()
            if value is not None
        ]
        if mistakes:
            raise InputError(mistakes)
        return found
    if figure is not None and figure.suffix not in (".png", ".svg"):
        raise InputError(Mistake("is not a kind of figure", "a name that ends in .png or .svg", column="--figure"))
    if ensemble is not None and members is not None:
        raise InputError(
            Mistake("is given together with --ensemble", "the members of the forecast", column="--members")
        )
    if ensemble is not None:
        return replace(found, rule=_on_forecast(found, ensemble, month))
    return found if members is None else replace(found, rule=_replan(found.rule).changed(members=members))


def _replan(rule: Rule) -> Replan:
    from reservoir.rules.families.replan import Replan

    assert isinstance(rule, Replan)
    return rule


def _on_forecast(found: RuleInputs, file: Path, month: int) -> Replan:
    from reservoir.io.records.reader import read_inflow_forecast
    from reservoir.rules.families.replan import MOST_MEMBERS, ReplanOnForecast

    forecast = read_inflow_forecast(file, unless_said=found.record_unit)
    forecast.require_from(month)
    if len(forecast.flow_m3s) > MOST_MEMBERS:
        problem, expected = f"has {len(forecast.flow_m3s):,} members", f"at most {MOST_MEMBERS:,}"
        raise InputError(Mistake(problem, expected, "give fewer of them", file=str(file)))
    return ReplanOnForecast.of(_replan(found.rule), forecast.flow_m3s)


def mean_inflow(rule: Rule) -> float | None:
    """Mean of a forecast's members in the month that is decided, m3/s; None without one."""
    flows = getattr(rule, "forecast_m3s", None)
    return None if flows is None else sum(each[0] for each in flows) / len(flows)


def outlook_of(found: RuleInputs, situation: Situation, release_m3s: float, months: int | None) -> Outlook | None:
    """Futures of a decision; None of a rule that has none."""
    if found.rule.family != FAMILY:
        return None
    from reservoir.rules.families.replan import outlook

    return outlook(_replan(found.rule), found.reservoir, situation, release_m3s, months or USUAL_MONTHS)


def as_json(found: Outlook, units: UnitSystem) -> dict[str, Any]:
    """The outlook for machines: probabilities, and quantiles of the storage at the end of each month."""
    import numpy as np

    levels = np.quantile(found.storage_hm3[:, 1:], _QUANTILES, axis=0).T
    months = [
        {"month": int(month)}
        | units.values(
            {f"storage_q{100 * share:02.0f}_hm3": float(each) for share, each in zip(_QUANTILES, row, strict=True)}
        )
        for month, row in zip(found.calendar_month, levels, strict=True)
    ]
    return {
        "members": len(found.storage_hm3),
        "refill_probability": found.refill_probability,
        "spill_probability": found.spill_probability,
        "firm_mw": found.firm_mw,
        "firm_probability": found.firm_probability,
        "months": months,
    }


def rows(found: Outlook, units: UnitSystem) -> list[tuple[str, str]]:
    """The outlook as rows on the screen."""
    import numpy as np

    from reservoir.hydro.calendar import MONTH_NAMES

    members, months = found.power_mw.shape
    low, middle, high = np.quantile(found.storage_hm3[:, -1], [0.1, 0.5, 0.9])
    told = [f"full in {found.refill_probability:.0%}", f"spill in {found.spill_probability:.0%}"]
    if found.firm_mw is not None and found.firm_probability is not None:
        told.append(f"at least {quantity(found.firm_mw)} MW in every month in {found.firm_probability:.0%}")
    end = MONTH_NAMES[found.calendar_month[-1] - 1]
    lowest, highest = quantity(units.amount(float(low), "hm3")[0]), units.written(float(high), "hm3")
    median = units.written(float(middle), "hm3")
    storage = f"{lowest} to {highest} at the end of {end} in 80 % of them, median {median}"
    return [(f"Next {months} months", f"of {members:,} futures: {', '.join(told)}"), ("Storage", storage)]


def write_figure(found: Outlook, inputs: RuleInputs, units: UnitSystem, caveats: tuple[str, ...], file: Path) -> None:
    """Draw the fan chart into a file."""
    from reservoir.cli.streams import warn
    from reservoir.report.figures.figures import attempted, left_out_sentences
    from reservoir.report.figures.storages import outlook_figure
    from reservoir.report.figures.style import rendered

    left_out: dict[str, str] = {}
    drawn = attempted(
        file.name, lambda: rendered(outlook_figure(found, inputs.reservoir, units, caveats), file.suffix[1:]), left_out
    )
    for sentence in left_out_sentences(left_out):
        warn(sentence)
    try:
        if drawn is not None:
            file.write_bytes(drawn)
    except OSError as error:
        raise OutputError(Mistake(f"cannot be written: {error.strerror or error}", file=str(file))) from error
