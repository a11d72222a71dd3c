"""What no rule of a system can exceed on average, whatever it makes of all that it has seen: information relaxation.

A schedule that knows its whole year is worth no less than what any rule makes of it. It is charged for what it knows:
in each month, for all that was released before it beyond what the rule released, by how much its inflow makes
water worth more than was to be expected. Who does not know the inflow to come is charged nothing on average, so that
the mean over years of the best schedule less its charge is a bound for all rules (Brown, Smith and Sun 2010, Oper. Res.
58:785; charges that are linear in what is decided: Brown and Smith 2014, Oper. Res. 62:1394). The charge is a price on
releases and on what links bring, so that the best schedule of each year is bounded as plans are (`certificate`).

It is a bound for years of the rule's chain of inflow classes, not for the record, and for rules that keep the limits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.single import LinkFlow
from reservoir.certificate.system import SystemProblem
from reservoir.errors import InputError
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.hydro.system_operation import SystemOperation
from reservoir.planning.solving import StageProgress, silent_stage
from reservoir.problems.system import SystemYears, system_problems
from reservoir.rules.base.physics import interpolate_values
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.system_training import operated_years
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.sdp import marginal_values, outcomes
from reservoir.rules.families.separable import Separable
from reservoir.rules.families.separable_operation import joint_releases
from reservoir.rules.inflow_model import uniform_numbers
from reservoir.text.quantities import percentage

#: The stage that is told.
BOUND = "bound all rules"
#: Slopes of the value of the end that are tried, each between that of the last and of where it led.
_SLOPES = 2
#: Part of the objective that boxes may add to a bound.
_GAP = 1e-4


@dataclass(frozen=True, eq=False)
class RuleBound:
    """A bound of what rules bring on average, arrays of members.

    Parameters
    ----------
    benefit : ndarray
        What the rule brings in a year, less costs of violations, in the unit of the objective.
    left : ndarray
        What is worth what it leaves at the end, by a concave curve no less than its values.
    bounds : ndarray
        Proven: no schedule that keeps the limits brings and leaves more, less what it is charged more than the rule.
    foresight : ndarray
        Proven, of schedules that are charged nothing.
    """

    benefit: FloatArray
    left: FloatArray
    bounds: FloatArray
    foresight: FloatArray

    @property
    def unbounded(self) -> int:
        """Members that no bound was proven of: then there is none of the mean."""
        return int((~np.isfinite(np.stack([self.bounds, self.foresight]))).any(axis=0).sum())

    @property
    def words(self) -> str:
        """What it is and says, for those who read scores."""
        members = f"{len(self.bounds)} drawn years"
        if self.unbounded:
            return f"no bound of all rules: the proofs of {self.unbounded} of {members} ended without one"
        (gap, error), (knowing, _) = self.gap, self.foresight_gap
        return (
            f"no rule that keeps the limits brings more than {percentage(gap)} above separable on average (standard "
            f"error {percentage(error)}; who knows the inflow to come: {percentage(knowing)}). It is the mean of "
            f"bounds by information relaxation, each proven, of {members} of separable's own inflow classes, and no "
            "bound of the record"
        )

    @property
    def as_dict(self) -> dict[str, Any]:
        """The same as numbers, parts of what separable brings, beside the words; no numbers without a bound."""
        told: dict[str, Any] = {"words": self.words, "members": len(self.bounds), "unbounded": self.unbounded}
        if not self.unbounded:
            told |= dict(zip(("gap", "standard_error"), self.gap, strict=True))
            told["foresight_gap"] = self.foresight_gap[0]
        return told

    @property
    def gap(self) -> tuple[float, float]:
        """Part of its benefit that the best rule may bring more than this one, at most, and its standard error."""
        return self._above(self.bounds)

    @property
    def foresight_gap(self) -> tuple[float, float]:
        """As `gap`, of who knows the inflow to come."""
        return self._above(self.foresight)

    def _above(self, bounds: FloatArray) -> tuple[float, float]:
        apart = (bounds - self.benefit - self.left) / max(abs(self.benefit.mean()), 1e-300)
        return float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))


class Member(NamedTuple):
    """A year of the chain: classes, that of the month before first, local inflow, and what the rule makes of it."""

    classes: NDArray[np.int64]
    inflows: SiteInflows
    run: SystemOperation


def bound_of_rules(
    rule: Separable,
    system: System,
    inflows: SiteInflows,
    members: int,
    *,
    seed: int = 1,
    seconds: float = 20.0,
    progress: StageProgress = silent_stage,
) -> RuleBound:
    """Bound what rules that know the inflow of the month, or less, bring on average in years of a rule's chain.

    Parameters
    ----------
    rule : Separable
        Whose classes of inflow and values of water count.
    system : System
        Years begin at its initial storages, and what is left at the end is worth what the rule's values say.
    inflows : SiteInflows
        The first year gives prices and other conditions.
    members : int
        Years, two or more.
    seed : int
    seconds : float
        Most time for each of the two proofs of a member, about.
    progress : callable
        Told the stage, how many members are done and how many there are.

    Raises
    ------
    InputError
        If there are fewer than two members.
    """
    if members < 2:
        raise InputError("too few members for a standard error", "2 or more", "ask for more", value=members)
    known, found = known_slopes(rule), list[tuple[float, float, float, float]]()
    for done, classes in enumerate(_drawn(rule, members, seed)):
        progress(BOUND, done, members)
        found.append(_bounded(rule, system, known, member_of(rule, system, inflows, classes), seconds))
    progress(BOUND, members, members)
    return RuleBound(*np.array(found).T)


def _drawn(rule: Separable, members: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Classes of years of the chain, that of the month before the first from what it comes to in the long run."""
    chain = rule._chain[1]
    steps, count = chain.shape[:2]
    share = np.full(count, 1 / count)
    for step in [*range(steps)] * 3:
        share = share @ chain[step]
    for uniform in uniform_numbers(seed, 0, members, 1, steps + 1)[:, 0]:
        found = list[int]()
        for chances, number in zip((share, *chain), uniform, strict=True):
            of_class = np.cumsum(chances[found[-1]] if found else chances)
            found.append(min(int(np.searchsorted(of_class, number)), count - 1))
        yield np.array(found)


def member_of(rule: Separable, system: System, inflows: SiteInflows, classes: NDArray[np.int64]) -> Member:
    """The year of these classes, the first that of the month before, in which the rule operates the system."""
    local = rule._chain[2][:, np.arange(len(classes) - 1), classes[1:]]
    first = [inflows[name].span(0, 1) for name in system.names]
    flows = (replace(each, flow_m3s=flow[np.newaxis]) for each, flow in zip(first, local, strict=True))
    of_member = SiteInflows(dict(zip(system.names, flows, strict=True)))
    years, starts = _year(system, of_member), np.array([each.initial_storage_hm3 for each in system.reservoirs])
    asked = joint_releases([rule], years, starts)
    return Member(classes, of_member, operated_years(years, starts, lambda place, limits: asked[:, place]))


def _year(system: System, inflows: SiteInflows) -> SystemYears:
    problems: Any = system_problems(system, inflows, Horizon())
    years: SystemYears = problems.batches[0]
    return years


def _bounded(
    rule: Separable, system: System, known: list[tuple[FloatArray, FloatArray]], member: Member, seconds: float
) -> tuple[float, float, float, float]:
    """What the rule brings in a year and leaves, and bounds of what is brought with the charge and without."""
    stored, year = member.run.stacked("storage_hm3")[0], _year(system, member.inflows)
    ends = [_concave(site.arrays[0], site.arrays[3][0][:, member.classes[-1]]) for site in rule.sites]
    left = sum(float(np.interp(own[-1], *end)) for own, end in zip(stored, ends, strict=True))
    news, worth = _news(rule, known, member, stored)
    payments = [_payments(year, each, worth) for each in (news, np.zeros_like(news))]
    flows = np.stack([[own.release_m3s[0], own.turbined_m3s[0]] for own in member.run.of_reservoirs])
    charged = -float((payments[0][0][:, :2] * flows).sum())
    with_charge, without = (_best(system, member, ends, *each, seconds) for each in payments)
    return float(member.run.fitness(system.penalty)[0]), left, with_charge + charged, without


def known_slopes(rule: Separable) -> list[tuple[FloatArray, FloatArray]]:
    """Of each reservoir, what a hm3 more is worth at the start of each step with a known inflow; `marginal_values`."""
    found = list[tuple[FloatArray, FloatArray]]()
    for site in rule.sites:
        grid, classes, _, values = site.arrays
        known = list[FloatArray]()
        for step in range(len(classes)):
            end, gained = outcomes(site, Forecast.MONTH, step, grid, classes[step])
            after = values[(step + 1) % len(classes)][np.newaxis]
            known.append((gained + interpolate_values(grid, after, end)).max(axis=0))
        found.append(marginal_values(grid, np.array(known)))
    return found


def _news(
    rule: Separable, known: list[tuple[FloatArray, FloatArray]], member: Member, stored: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """By how much the inflow of each step makes a hm3 at its start worth more than on average; and at its end.

    Both of shape (reservoirs, steps), at the storages of the rule. The mean over the classes that may follow is 0.
    """
    chain, classes = rule._chain[1], member.classes
    news, worth = np.zeros((2, len(rule.sites), len(chain)))
    for place, (site, (storages, slopes)) in enumerate(zip(rule.sites, known, strict=True)):
        for step, chances in enumerate(chain):
            of_classes = np.array([np.interp(stored[place, step], storages, each) for each in slopes[step].T])
            news[place, step] = of_classes[classes[step + 1]] - chances[classes[step]] @ of_classes
            own, at_end = site._marginal
            of_class = at_end[(step + 1) % len(chain)][:, classes[step + 1]]
            worth[place, step] = np.interp(stored[place, step + 1], own, of_class)
    return news, worth


def _payments(year: SystemYears, news: FloatArray, worth: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What a m3/s of each flow is paid for, (reservoirs, 3, steps), and first prices of what links bring."""
    later = np.cumsum(news[:, ::-1], axis=1)[:, ::-1] - news
    volume = year.hm3_per_m3s[0]
    paid = np.zeros((len(news), 3, len(volume)))
    paid[:, 0] = volume * later
    for link in (LinkFlow.of(year, each) for each in year.system.links if each.target is not None):
        paid[link.source, :2] -= np.multiply.outer(link.parts, (volume * later[link.target]) @ link.brings)
    return paid, volume * (worth + later)


def _concave(storages: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least concave function that is no less than values at storages: its corners."""
    kept = list[int]()
    for place in range(len(storages)):
        while len(kept) > 1:
            first, last = kept[-2:]
            rise = (values[place] - values[first]) * (storages[last] - storages[first])
            if (values[last] - values[first]) * (storages[place] - storages[first]) > rise:
                break
            kept.pop()
        kept.append(place)
    return storages[kept], values[kept]


def _best(
    system: System,
    member: Member,
    ends: list[tuple[FloatArray, FloatArray]],
    paid: FloatArray,
    prices: FloatArray,
    seconds: float,
) -> float:
    """A proven bound of what a schedule brings with payments, and what it leaves is worth at most.

    The value of the end is concave, so no more than any of its tangents.
    """
    until, starts = time.monotonic() + seconds, [own.storage_hm3[0, 0] for own in member.run.of_reservoirs]
    at = np.array([own.storage_hm3[0, -1] for own in member.run.of_reservoirs])
    best: tuple[float, float, FloatArray, SystemProblem] | None = None
    for _ in range(_SLOPES):
        slopes, level = list[float](), 0.0
        for (storages, values), own, start in zip(ends, at, starts, strict=True):
            place = int(np.clip(np.searchsorted(storages, own), 1, len(storages) - 1))
            slopes.append(float(np.diff(values)[place - 1] / np.diff(storages)[place - 1]))
            level += float(values[place] + slopes[-1] * (start - storages[place]))
        valued = [
            each
            if each.is_run_of_river
            else replace(each, year_end=YearEnd.VALUED, final_storage_hm3=None, end_value_gwh_per_hm3=slope)
            for each, slope in zip(system.reservoirs, slopes, strict=True)
        ]
        year = _year(replace(system, reservoirs=tuple(valued)), member.inflows)
        problem = SystemProblem(year, member.run, paid=paid)
        found, worth = problem.better_prices(prices, problem.fitness, until)
        if best is None or worth + level < best[0] + best[1]:
            best = worth, level, found, problem
        paths = problem.valued(found)[-1]
        at = 0.5 * (at + np.array([path.storages_hm3[-1] for path in paths]))
        prices = found
    assert best is not None
    _, level, found, problem = best
    return problem.proven(found, _GAP, max(until - time.monotonic(), 0.1 * seconds)).bound + level
