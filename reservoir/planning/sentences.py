"""Sentences about plans: limits that are not kept, proofs, objectives, and whose schedules they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import some_labels
from reservoir.hydro.commitments import LEAST, committed_hm3, is_committed, missing_hm3, sides
from reservoir.hydro.conditions import KEPT
from reservoir.hydro.objectives import Objective
from reservoir.planning.columns import AFTER_PROOF, column_of
from reservoir.planning.planned_record import Plan
from reservoir.planning.shortfalls import Shortfall, by_kind, step_by_step
from reservoir.planning.solving import REFERENCE_SOLVERS, beyond_limits, gap_limits
from reservoir.solvers import solver_named
from reservoir.text.quantities import counted, quantity

#: Years that a sentence names; more are counted.
NAMED_YEARS = 8


def chosen(labels: Sequence[str], which: NDArray[np.bool_]) -> Sequence[str]:
    """Labels of some of the years."""
    return some_labels(labels, np.flatnonzero(which))


def listed(labels: Sequence[str]) -> str:
    """Name years: all of them, or the first and how many more; ``1961, 1963 and 4 more``."""
    if len(labels) <= NAMED_YEARS:
        return ", ".join(labels)
    return f"{', '.join(labels[:NAMED_YEARS])} and {len(labels) - NAMED_YEARS:,} more"


def energy_sentence(plan: Any) -> str:
    """The energy of a joint plan in the years that keep their limits, or that none does."""
    energy, years = plan.kept_energy_gwh, counted(plan.inflow.years, plan.year_word)
    if not energy.size:
        return f"none: no {plan.year_word} satisfies its limits ({years})"
    every = energy.size == plan.inflow.years
    of = "all" if every else f"{counted(energy.size, plan.year_word)} that satisfy their limits"
    return f"{quantity(float(energy.mean()))} GWh a {plan.year_word}; {quantity(float(energy.sum()))} GWh in {of}"


def objective_sentence(plan: Any) -> str:
    """What a plan, a joint one too, optimises and comes to in the years that keep their limits; empty if energy."""
    objective: Objective = plan.objective
    if objective.is_energy:
        return ""
    if objective.is_firm:
        return f"{objective.title}: {firm_power_sentence(plan)}"
    kept = plan.benefit[plan.keeps_limits]
    if not kept.size:
        return objective.title
    lowest, mean, highest, total = (
        quantity(float(value) + 0.0) for value in (kept.min(), kept.mean(), kept.max(), kept.sum())
    )
    unit = f" {objective.unit}" if objective.unit else ""
    whole = "" if plan.year_word == "scenario" else f"{total}{unit}, "
    firm = "" if objective.firm_power_mw is None else f"; {firm_power_sentence(plan)}"
    return f"{objective.title}: {whole}{mean}{unit} a {plan.year_word} ({lowest} to {highest}){firm}"


def firm_power_sentence(plan: Any) -> str:
    """The power that all steps give, or a share of them."""
    share, power = plan.objective.firm_share, plan.firm_power_mw
    steps = "every step gives" if share == 1 else f"{100 * share:g} % of the steps give"
    if len(power) > 1:
        lowest, highest = (quantity(float(each)) for each in (power.min(), power.max()))
        return f"{steps} {lowest} to {highest} MW, by {_horizon_word(plan)}"
    bounds, more = plan.firm_bounds, ""
    if bounds is not None:
        known = "is proved impossible" if bounds.proved[0] else "was not found"
        more = f" ({max(float(bounds.width(power)[0]), 0):.1e} more {known})"
    return f"{steps} {quantity(float(power[0]))} MW{more}"


def _horizon_word(plan: Any) -> str:
    return plan.year_word if plan.horizon.is_year else "horizon"


def proof_sentences(plan: Any) -> list[str]:
    """How far the schedules can be from the best possible, and which problems have none; nothing without a proof."""
    proofs = plan.proofs
    if proofs is None:
        return []
    one = plan.problem_word
    known, nothing = int((~np.isnan(proofs.gap)).sum()), int(np.isinf(proofs.gap).sum())
    sentences = []
    if nothing:
        sentences.append(f"Nothing could be proved of the schedules of {nothing} of {counted(known, one)}")
    elif known:
        within = f"{proofs.reached} of {counted(known, one)} within {proofs.asked:.1e}"
        sentences.append(
            f"Proven: no schedule that keeps the limits is better by more than {proofs.worst_gap:.1e} ({within})"
        )
    better = chosen(plan.problems.labels, plan.better_known(proofs.asked) & ~np.isnan(proofs.gap))
    if len(better):
        which = f"({counted(len(better), one)}: {listed(better)})"
        of = f"{plan.references.solver} found a schedule that is better by more {which}"
        sentences.append(
            f"No proof comes to {proofs.asked:.1e} where {of}: it ends that close to the better one. Fix: plan with "
            "--prove, which takes the better one"
        )
    if proofs.infeasible:
        named = [f"{label} (by {day})" if day else label for label, day in proofs.infeasible.items()]
        count = counted(len(named), one)
        sentences.append(f"Proven: no schedule keeps the limits of {count}: {listed(named)}")
        unable = np.isin(np.array(plan.problems.labels, str), list(proofs.infeasible))
        short = chosen(plan.problems.labels, unable & np.isfinite(proofs.gap))
        if len(short):
            sentences.append(
                f"Of {listed(short)} the gap is to schedules that lack only water for the minimum release, of which a "
                "step is short only where it ends at dead storage or below; bound and gap contain what that costs"
            )
    return sentences


#: Part of the minimum release that rounding leaves unreleased.
_NEGLIGIBLE = 1e-9


def horizon_text(plan: Plan) -> str:
    """What is planned as one problem, in words."""
    if plan.start:
        return plan.units.text(plan.start.note(plan.inflow.calendar)).removesuffix(".")
    if plan.horizon.is_year:
        return "each year as one problem"
    if len(plan.problems) == 1:
        return "the whole record as one problem"
    return f"{len(plan.problems)} windows of {plan.horizon} years"


def has_demands(plan: Plan) -> bool:
    """Whether years must satisfy more than storage limits: losses, demands, or a minimum release without the water."""
    return plan.operation.has_conditions or is_committed(plan.reservoir) or bool(plan.operation.missing_m3s.any())


def limits_word(plan: Plan) -> str:
    """What a year may violate: of a reservoir with losses or demands not only its storage limits."""
    return "limits or demands" if has_demands(plan) else "storage limits"


def all_limits(plan: Plan) -> str:
    """What a year must satisfy: of a reservoir with losses or demands not only its storage limits."""
    return "limits and demands" if has_demands(plan) else "storage limits"


def outside_sentences(plan: Plan) -> list[str]:
    """Which years of a plan violate their limits: no schedule satisfies them, or the solver did not find one."""
    lost = chosen(plan.inflow.labels, ~plan.feasible)
    if len(plan.problems) < plan.inflow.years:
        lost = chosen(plan.problems.labels, ~plan.feasible_problems)
    missed = chosen(plan.inflow.labels, plan.feasible & ~plan.keeps_limits)
    tried = "schedule that was found" if has_demands(plan) else "permitted release"
    sentences = []
    for names, one, cannot, how in (
        (lost, plan.problem_word, "cannot", f" with any {tried}"),
        (missed, "year", "can", ", but the solver found no schedule"),
    ):
        if names:
            their = "its" if len(names) == 1 else "their"
            which = f"{counted(len(names), one)} {cannot} satisfy {their} {all_limits(plan)}"
            sentences.append(f"{which}{how}: {listed(names)}")
    return sentences


def losses_sentence(plan: Plan) -> str:
    """Mean losses and withdrawals of a plan's years, or scenarios, in words; empty if its reservoir has none."""
    named = {"evaporation_hm3": "net evaporation", "seepage_hm3": "seepage", "withdrawal_hm3": "withdrawals"}
    volumes = {name: column_of("summary", name, plan) for name in (*named, "shortage_hm3")}
    means = {name: float(each.mean()) for name, each in volumes.items() if each is not None}
    if not any(means.values()):
        return ""
    amounts = {name: plan.units.amount(mean, "hm3") for name, mean in means.items()}
    parts = [f"{name} {quantity(amounts[key][0])}" for key, name in named.items() if means[key]]
    short, unit = amounts["shortage_hm3"]
    one = plan.year_word
    shortage = f"; {quantity(short)} {unit} a {one} of the withdrawals are not delivered" if short else ""
    return f"{', '.join(parts)} {unit} a {one}{shortage}"


def left_out_sentence(plan: Plan, marks: str = "") -> str:
    """Name the years excluded from means, sums and bands, and how a figure `marks` them; empty if there are none."""
    names = chosen(plan.inflow.labels, ~plan.keeps_limits)
    if not names:
        return ""
    one = len(names) == 1
    subject, violate = ("it is", "violates its") if one else ("they are", "violate their")
    left_out = f"{subject} {f'{marks} and ' if marks else ''}excluded from means and sums"
    return f"{counted(len(names))} ({listed(names)}) {violate} {limits_word(plan)}: {left_out}."


def shortfall_months(plan: Plan) -> int:
    """How many steps do not keep a limit or demand."""
    return int((~(plan.operation.violation <= 0)).sum())


def shortfalls(plan: Plan, most_months: int | None = None) -> list[str]:
    """A sentence for every limit or demand that a step does not keep: year, step, quantity and amount.

    Of the first `most_months` that do not keep one, if that is given.
    """
    return step_by_step(_shortfalls(plan, most_months), plan.inflow)


def shortfalls_by_kind(plan: Plan) -> list[str]:
    """What limits and demands are not kept, in a few sentences: of each kind how many steps, which, and the worst."""
    return by_kind(_shortfalls(plan), plan.inflow)


def _shortfalls(plan: Plan, most_months: int | None = None) -> Iterator[Shortfall]:
    for year, step in np.argwhere(~(plan.operation.violation <= 0))[:most_months].tolist():
        blame = _blame(plan.feasible[year], plan)
        for each in (*storage_shortfall(plan, year, step), *demand_shortfalls(plan, year, step)):
            yield each._replace(kind=f"{each.kind}, {blame}", sentence=f"{each.sentence}; {blame}")


def _blame(feasible: bool, plan: Plan) -> str:
    if feasible:
        return "a feasible schedule exists, but the solver did not find it: increase --generations or --evaluations"
    if has_demands(plan):
        return f"no schedule was found that keeps all limits and demands of this {plan.problem_word}"
    return f"no permitted release keeps the storage of this {plan.problem_word} within its limits"


def storage_shortfall(plan: Plan, year: int, step: int) -> Iterator[Shortfall]:
    """How far the storage at the end of a step is beyond its limits; nothing within them."""
    limits, storages = plan.problems.year_bounds, plan.operation.storage_hm3[year]
    storage = storages[step + 1]
    lower, upper = limits.storage_lower_hm3[year, step], limits.storage_upper_hm3[year, step]
    closes = plan.problems.cyclic and plan.problems.ends_with(year) and step == limits.steps - 1
    if closes:
        lower = upper = plan.operation.storage_hm3[plan.problems.first_year(year), 0]
    sentence = beyond_bounds(
        f"the storage at the end of the {plan.inflow.calendar.step.noun}", storage, (lower, upper), "hm3", plan
    )
    if sentence:
        side, size = ("above", storage - upper) if storage > upper else ("below", lower - storage)
        end = f", where the {plan.problem_word} began and has to end" if closes else ""
        yield Shortfall(year, step, f"storage {side}{end}", float(size), sentence + end)


def beyond_bounds(what: str, value: float, bounds: tuple[float, float], unit: str, plan: Plan) -> str:
    """How far a quantity is beyond its lower or its upper bound, in words; empty within them."""
    lower, upper = bounds
    if lower <= value <= upper:
        return ""
    above, stated = value > upper, partial(plan.units.stated, unit=unit)
    side, bound = ("above its upper", upper) if above else ("below its lower", lower)
    amount = stated(abs(value - bound), form=",.4g")
    return f"{what} is {stated(value, form=',.6g')}, {amount} {side} limit of {stated(bound, form=',.6g')}"


class Leeway(NamedTuple):
    """What a schedule's rounding leaves open of a step's shortage, power and change, and of a water year's release."""

    shortage_m3s: float = 0.0
    power_mw: float = 0.0
    change_m3s: float = 0.0
    annual_hm3: float = 0.0


_NO_LEEWAY = Leeway()


def demand_shortfalls(plan: Plan, year: int, step: int, leeway: Leeway = _NO_LEEWAY) -> Iterator[Shortfall]:
    """What a month does not deliver of minimum release, withdrawal and power, and how far its release changes.

    A demand is kept as in `reservoir.hydro.conditions`, or where it is missed by no more than the leeway.
    """
    limits, operation = plan.problems.year_bounds, plan.operation
    flow = partial(plan.units.stated, unit="m3/s", form=",.4g")
    missing, least = float(operation.missing_m3s[year, step]), float(plan.reservoir.release_bounds_m3s[0].max())
    if not missing <= _NEGLIGIBLE * least:
        release = float(operation.release_m3s[year, step])
        of_least = f"of the minimum release of {flow(release + missing)}: there is no more water above dead storage"
        yield Shortfall(year, step, "minimum release", missing, f"{flow(missing)} are missing {of_least}")
    if is_committed(plan.reservoir) and step == limits.steps - 1:
        yield from _commitment_shortfall(plan, year, step, leeway.annual_hm3)
    if not limits.lake:
        return
    short, demanded = float(operation.shortage_m3s[year, step]), float(limits.withdrawal_m3s[year, step])
    if not short <= KEPT * demanded + leeway.shortage_m3s:  # NaN fulfils nothing, here and below
        part = plan.units.number(short, "m3/s", ",.4g")
        sentence = f"{part} of the {flow(demanded)} to be withdrawn are not delivered"
        yield Shortfall(year, step, "withdrawal", short, sentence)
    power, lowest = float(operation.power_mw[year, step]), float(limits.power_demanded_mw[year, step])
    if not lowest - power <= KEPT * lowest + leeway.power_mw:
        sentence = f"the mean power is {lowest - power:,.4g} MW below the minimum of {lowest:,.4g} MW"
        yield Shortfall(year, step, "power", lowest - power, sentence)
    releases = operation.release_m3s.ravel()
    place = year * operation.release_m3s.shape[1] + step
    if step == 0 and plan.problems.first_year(year) == year:
        return
    change = float(releases[place] - releases[place - 1])
    most = float((limits.ramp_up_m3s if change > 0 else limits.ramp_down_m3s)[year])
    if not abs(change) - most <= KEPT * most + leeway.change_m3s:
        way, step_noun = "rises" if change > 0 else "falls", plan.inflow.calendar.step.noun
        sentence = f"the release {way} by {flow(abs(change))} from the {step_noun} before, more than {flow(most)}"
        yield Shortfall(year, step, f"release {way}", abs(change) - most, sentence)


def _commitment_shortfall(plan: Plan, year: int, step: int, leeway_hm3: float) -> Iterator[Shortfall]:
    """What a water year releases less, or more, than it is committed to."""
    own, volumes = plan.operation[year : year + 1], plan.inflow.calendar.hm3_per_m3s[year : year + 1]
    for side in sides(plan.reservoir):
        missing = float(missing_hm3(plan.reservoir, own, volumes, side).sum())
        committed = float(committed_hm3(plan.reservoir, own.storage_hm3, side).sum())
        short, whole = (plan.units.stated(each, "hm3", ",.4g") for each in (missing, committed))
        if missing <= leeway_hm3:
            continue
        if side == LEAST:
            sentence = f"{short} of the annual release of {whole} are missing"
            yield Shortfall(year, step, "annual release", missing, sentence)
        else:
            sentence = f"the annual release is {short} more than its most, {whole}"
            yield Shortfall(year, step, "largest annual release", missing, sentence)


def source_sentence(plan: Plan) -> str:
    """Count the years whose schedule is not of the solver's first run, and say what to do; empty without any.

    Of a plan of the solver's own schedules alone, the years that are not close enough to the reference are counted.
    """
    solver, one = plan.solutions.solver, plan.year_word
    most, most_of_sum = (f"{100 * limit:g} %" for limit in gap_limits(solver, plan.problems))
    close = f"close enough to the reference optimum ({most} of a {_horizon_word(plan)}, {most_of_sum} of the sum)"
    if not plan.sources:
        count = 0
        if plan.references and solver not in REFERENCE_SOLVERS:
            of_plan = plan.solutions, plan.references, gap_limits(solver, plan.problems)
            count = int(beyond_limits(*of_plan, plan.problems.least_gap_scale)[plan.problems.of_year].sum())
        are_not = f"{'is' if count == 1 else 'are'} not {close}"
        return f"{counted(count, one)} {are_not}. Fix: omit --engine-only, or {_more(plan)}." if count else ""
    _, *others = ((name, count) for name, count in plan.source_counts.items() if name != AFTER_PROOF)
    if not others:
        return ""
    of_others = " and ".join(f"{counted(count, one)} from {name}" for name, count in others)
    fix = f"For a plan by {solver} alone: {_more(plan)}"
    if not plan.from_reference.any():
        fix = f"To avoid the second run: {_settings(plan) or 'another --solver'}"
    return f"{of_others}, where the first run of {solver} was not {close}. {fix}."


def solved_by(plan: Plan) -> str:
    """Whose schedules a plan holds: the solver, and how many years are the reference's."""
    taken = int(plan.from_reference.sum())
    return (
        f"{plan.solutions.solver}{f', {counted(taken, plan.year_word)} by {plan.references.solver}' if taken else ''}"
    )


def reference_sentence(plan: Plan, marks: str = "") -> str:
    """Name the years that hold the schedule of the reference, and how a figure `marks` them; empty without any."""
    names = chosen(plan.inflow.labels, plan.from_reference)
    if not names:
        return ""
    marked = f", {marks}" if marks else ""
    what = f"{counted(len(names), plan.year_word)} ({listed(names)}){marked}"
    return f"Schedule of {plan.references.solver}, to which {plan.solutions.solver} did not come close enough: {what}."


def _more(plan: Plan) -> str:
    """What brings a solver closer, or is closer; how close others come is not known here."""
    settings = _settings(plan)
    enough = f"more than {settings}" if settings else "other settings"
    return f"{enough}, or another --solver (`reservoir compare` prints the gap of each)"


def _settings(plan: Plan) -> str:
    """Options of the last run that say how much it worked, as they are typed; empty if there are none."""
    second = plan.sources.second_settings if plan.sources else {}
    made = second or plan.settings
    names = [name for name in solver_named(plan.solutions.solver).budget[-1:] if name in made]
    changed = [name for name in names if not second or made[name] != plan.settings.get(name)]
    return " ".join(f"--{name} {made[name]}" for name in changed)
