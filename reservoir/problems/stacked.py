"""Years of a system as compiled solvers judge them, in float32: what `system.SystemYears` certifies in float64.

For each reservoir, upstream first, what links bring is known, and with it the storages from which the year can be
completed (eq. 16-17 of Yu et al. 2020); then its steps follow, each ended by a variable. When the storages of all are
known, so are the levels below plants, and their power. All forms of curves have one type and loops run over reservoirs:
the code is compiled once for all systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.benefit import stage_benefit
from reservoir.hydro.compiled_year import missing_at, steps_in, violation_at
from reservoir.hydro.conditions import demanded, ramped, released, unmet, unmet_power, while_operating
from reservoir.hydro.curves.approximation import Form
from reservoir.hydro.curves.forms import AnyForm, PolynomialForm
from reservoir.hydro.elementwise import RealArray, clip, curve_value, mean, rounding
from reservoir.hydro.jit import inlined, overload
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import (
    DEAD,
    HM3_PER_M3S,
    INFLOW,
    REACH_LOWER,
    REACH_UPPER,
    RELEASE_LOWER,
    RELEASE_UPPER,
    START,
    STORAGE_LOWER,
    STORAGE_UPPER,
    TAILWATER,
    Lake,
    YearRows,
)
from reservoir.hydro.step import (
    enforce_limits,
    head_at,
    power_at,
    release_to_reach,
    storage_after_gain,
    storage_before_gain,
    turbined_at,
    volume_gained,
)
from reservoir.hydro.system import Carried
from reservoir.problems.fitness import Scratch, register_fitness
from reservoir.problems.reservoir.year import ends_in_reach

Floats = NDArray[np.float32]

#: Which form of a reservoir: those of its plant, and of its lake.
LEVEL, TAILRACE, CONVERSION, CAPACITY, AREA, SEEPAGE = range(6)


class Curves(NamedTuple):
    """The forms of all reservoirs (`AnyForm`)."""

    ends: Floats  # (reservoirs, forms, 4)
    places: NDArray[np.int64]  # (reservoirs, forms, 3): of the first value, behind the last, and 1 of a table
    values: Floats

    @classmethod
    def of(cls, forms: Sequence[Sequence[Form]]) -> Curves:
        """Pack the forms of each reservoir; in place of those of a lake that loses nothing there may be none."""
        kinds = SEEPAGE + 1
        ends, places = np.zeros((len(forms), kinds, 4), np.float32), np.zeros((len(forms), kinds, 3), np.int64)
        values = [np.zeros(1, np.float32)]
        places[..., 1] = 1  # the zero that stands in front
        for place, of_one in enumerate(forms):
            for kind, form in enumerate(of_one):
                polynomial = isinstance(form, PolynomialForm)
                numbers = np.array(form.coefficients if polynomial else form.values, np.float32)  # type: ignore[union-attr]
                ends[place, kind] = form[:4] if polynomial else (form.lower, 0.0, 0.0, form.per_unit)
                first = sum(map(len, values))
                places[place, kind] = first, first + len(numbers), not polynomial
                values.append(numbers)
        return cls(ends, places, np.concatenate(values))


class Links(NamedTuple):
    """Links between reservoirs, in their order."""

    places: NDArray[np.int64]  # (links, 5): of source and target, what it carries, whole steps of travel, 1 if it wraps
    numbers: Floats  # (links, 5): share, part that arrives, m3/s lost, m3/s before the first step, fraction of a step


#: Columns of them.
SOURCE, TARGET, CARRIES, WHOLE, WRAPS = range(5)
SHARE, ARRIVES, LOST, BEFORE, LATER = range(5)
#: What a link carries of a release, its share besides.
RELEASED, TURBINED, SPILLED = range(3)
KIND_OF = {Carried.ALL: RELEASED, Carried.TURBINED: TURBINED, Carried.SPILLED: SPILLED}
#: What is said of each reservoir: the places of its first variable and behind its last, whether the first is the start
#: of its year, whether its year ends as it begins, whether links end there, and the place of the lake that backs it up
#: or -1.
FIRST, STOP, HAS_START, CYCLIC, LINKED, BELOW = range(6)


class SystemContext(NamedTuple):
    """What compiled solvers read of a year, in float32, and room to work in: one thread's at a time."""

    curves: Curves
    lake: tuple[int, ...]  # empty where no reservoir has losses or demands: else one 0
    priced: tuple[int, ...]  # as of `YearRows`
    reservoirs: NDArray[np.int64]  # (reservoirs, 6)
    rows: Floats  # (reservoirs, fields, steps); what depends on a position is filled in
    numbers: Floats  # (reservoirs, names)
    inflow: Floats  # (reservoirs, steps), local
    ends: Floats  # (reservoirs, 2): bounds of the last storage
    installed_mw: Floats  # (reservoirs,)
    slack: Floats  # (reservoirs, 2): by which reachable bounds and starts are drawn in, hm3
    end_value: Floats  # (reservoirs,)
    terms: Floats  # (fields, steps), of the sum
    links: Links
    penalty: np.float32
    per_stage_benefit: np.float32
    absolute: bool  # variables are parts of the limits
    storage: Floats  # (reservoirs, steps + 1)
    release: Floats  # (reservoirs, steps)
    flow: Floats  # (links, steps)
    total: Floats  # (2, steps): power of all plants, and what leaves the system


@inlined
def form_at(curves: Curves, place: int, kind: int) -> AnyForm:
    """A form of a reservoir."""
    places = curves.places[place, kind]
    return AnyForm(curves.ends[place, kind], curves.values[places[0] : places[1]], places[2] == 1)


def lake_at(lake: tuple[int, ...], curves: Curves, place: int) -> Any:
    """The forms of a lake; nothing where no reservoir has losses or demands."""
    raise NotImplementedError("call this from compiled code")


@overload(lake_at)
def _lake_at(lake: Any, curves: Any, place: Any) -> Any:
    if lake.count == 0:
        return lambda lake, curves, place: ()
    return lambda lake, curves, place: Lake(form_at(curves, place, AREA), form_at(curves, place, SEEPAGE))


@inlined
def _plant(context: SystemContext, place: int) -> Plant:
    curves = context.curves
    return Plant(
        form_at(curves, place, LEVEL),
        form_at(curves, place, TAILRACE),
        form_at(curves, place, CONVERSION),
        form_at(curves, place, CAPACITY),
        context.installed_mw[place],
    )


@inlined
def _gain(year: YearRows, step: int, release: int) -> float:
    """What a step gains with a bound of its release, before evaporation and seepage, hm3."""
    rows = year.rows
    gain: float = volume_gained(rows[INFLOW, step], rows[release, step], rows[HM3_PER_M3S, step])
    return gain


@inlined
def start_range(year: YearRows, slack: float) -> tuple[float, float]:
    """Lowest and highest start to which a cyclic year can return within its bounds (`horizon_limits.cyclic_starts`).

    All of the last bounds where there is none. Losses are reckoned from storages at the bounds.
    """
    rows, last = year.rows, steps_in(year) - 1
    need, most = rows[STORAGE_LOWER, last], rows[STORAGE_UPPER, last]
    for step in range(last, -1, -1):
        need = max(need, rows[STORAGE_LOWER, step])
        most = min(most, rows[STORAGE_UPPER, step])
        per_flow = rows[HM3_PER_M3S, step]
        need = storage_before_gain(need, _gain(year, step, RELEASE_LOWER), per_flow, year, step)
        most = storage_before_gain(most, _gain(year, step, RELEASE_UPPER), per_flow, year, step)
    least, top = rows[STORAGE_LOWER, 0], rows[STORAGE_UPPER, 0]
    for step in range(1, last + 1):
        per_flow = rows[HM3_PER_M3S, step]
        least = storage_after_gain(least, _gain(year, step, RELEASE_UPPER), per_flow, year, step)
        top = storage_after_gain(top, _gain(year, step, RELEASE_LOWER), per_flow, year, step)
        least, top = max(least, rows[STORAGE_LOWER, step]), min(top, rows[STORAGE_UPPER, step])
    lowest, highest = max(need, least) + slack, min(most, top) - slack
    if lowest > highest:
        return rows[STORAGE_LOWER, last], rows[STORAGE_UPPER, last]
    return lowest, highest


@inlined
def _fill_reach(year: YearRows, slack: float) -> None:
    """Storages from which the year can be completed, as `compiled_year.draw_in` has them."""
    rows, last = year.rows, steps_in(year) - 1
    lower, upper = rows[STORAGE_LOWER, last], rows[STORAGE_UPPER, last]
    rows[REACH_LOWER, last], rows[REACH_UPPER, last] = lower, upper
    for step in range(last, 0, -1):
        per_flow, dead = rows[HM3_PER_M3S, step], year.numbers[DEAD]
        must = rows[RELEASE_LOWER, step] + demanded(year, step) > 0
        least = max(lower, dead) if must else lower
        need_lower = storage_before_gain(least, _gain(year, step, RELEASE_LOWER) - slack, per_flow, year, step)
        need_upper = storage_before_gain(upper, _gain(year, step, RELEASE_UPPER) + slack, per_flow, year, step)
        if need_lower > need_upper:
            need_lower = need_upper = mean(need_lower, need_upper)
        lowest, highest = rows[STORAGE_LOWER, step - 1], rows[STORAGE_UPPER, step - 1]
        if must and least <= dead and need_lower > highest + rounding(highest):
            need_lower = lowest
        lower, upper = clip(need_lower, lowest, highest), clip(need_upper, lowest, highest)
        rows[REACH_LOWER, step - 1], rows[REACH_UPPER, step - 1] = lower, upper


@inlined
def draft_towards(
    year: YearRows, step: int, storage: float, before: float, part: float, absolute: bool
) -> tuple[float, float, float]:
    """Draft that a variable asks of a step, the one that limits leave of it, and the storage that it leads to."""
    rows = year.rows
    lower, upper = ends_in_reach(year, step, storage, storage)
    target = lower + part * (upper - lower)
    if absolute:
        least, most = rows[STORAGE_LOWER, step], rows[STORAGE_UPPER, step]
        target = min(max(least + part * (most - least), lower), upper)
    inflow, per_flow = rows[INFLOW, step], rows[HM3_PER_M3S, step]
    bounds = rows[RELEASE_LOWER, step], rows[RELEASE_UPPER, step]
    asked = clip(release_to_reach(storage, target, inflow, per_flow, year, step), bounds[0], bounds[1])
    if step > 0:
        asked = ramped(year, asked, before)
    reach = rows[REACH_LOWER, step], rows[REACH_UPPER, step]
    draft, end = enforce_limits(storage, asked, inflow, per_flow, reach, bounds, year.numbers[DEAD], year, step)
    return asked, draft, end


@inlined
def _take_arriving(context: SystemContext, place: int, year: YearRows) -> None:
    """Fill in what flows in: of its own, and what links bring (`Link.arriving_m3s`)."""
    links, rows, steps = context.links, year.rows, steps_in(year)
    for step in range(steps):
        rows[INFLOW, step] = context.inflow[place, step]
    for link in range(len(links.places)):
        if links.places[link, TARGET] != place:
            continue
        flow, whole, later = context.flow[link], links.places[link, WHOLE], links.numbers[link, LATER]
        for step in range(steps):
            arriving = flow[step]
            if whole > 0 or later > 0:
                sooner = _moved(context, link, step - whole, year)
                arriving = sooner - later * sooner
                if later > 0:
                    arriving += later * _moved(context, link, step - whole - 1, year)
                arriving /= rows[HM3_PER_M3S, step]
            arriving = arriving * links.numbers[link, ARRIVES] - links.numbers[link, LOST]
            rows[INFLOW, step] += max(arriving, np.float32(0))


@inlined
def _moved(context: SystemContext, link: int, step: int, year: YearRows) -> float:
    """Volume that a link took on in a step, before the first too, hm3."""
    links, steps = context.links, steps_in(year)
    flow = context.flow[link, step % steps]
    if step < 0 and links.places[link, WRAPS] == 0:
        flow = links.numbers[link, BEFORE]
    volume: float = flow * year.rows[HM3_PER_M3S, step % steps]
    return volume


@inlined
def _hand_on(context: SystemContext, place: int, year: YearRows) -> None:
    """Fill in what the links of a reservoir carry."""
    links, plant = context.links, _plant(context, place)
    storage, releases = context.storage[place], context.release[place]
    for link in range(len(links.places)):
        if links.places[link, SOURCE] != place:
            continue
        carries, share = links.places[link, CARRIES], links.numbers[link, SHARE]
        for step in range(steps_in(year)):
            flow = release = releases[step]
            if carries != RELEASED:
                mean_storage = mean(storage[step], storage[step + 1])
                head = head_at(plant, mean_storage, release, year, step)
                flow = while_operating(year, mean_storage, turbined_at(plant, head, release, year, step))
            context.flow[link, step] = release - flow if carries == SPILLED else share * flow


@inlined
def _year(context: SystemContext, place: int) -> YearRows:
    lake = lake_at(context.lake, context.curves, place)
    return YearRows(context.rows[place], context.numbers[place], lake, context.priced, False, ())


@inlined
def _follow(context: SystemContext, place: int, year: YearRows, position: RealArray) -> float:
    """Run a reservoir's year; the sum of its violations but for those of the lowest power."""
    said, rows, steps = context.reservoirs[place], year.rows, steps_in(year)
    linked, cyclic, has_start = said[LINKED] == 1, said[CYCLIC] == 1, said[HAS_START]
    storages, releases = context.storage[place], context.release[place]
    if linked:
        _take_arriving(context, place, year)
    start = year.numbers[START]
    if cyclic:
        rows[STORAGE_LOWER, steps - 1], rows[STORAGE_UPPER, steps - 1] = context.ends[place, 0], context.ends[place, 1]
        lowest, highest = start_range(year, context.slack[place, 1])
        start = lowest + position[said[FIRST]] * (highest - lowest) if has_start == 1 else lowest
        rows[STORAGE_LOWER, steps - 1] = rows[STORAGE_UPPER, steps - 1] = start
    if linked or cyclic:
        _fill_reach(year, context.slack[place, 0])
    storages[0] = start
    storage = start
    before: float = start - start
    violation: float = before
    for step in range(steps):
        at = said[FIRST] + has_start + step
        part = position[at] if at < said[STOP] else position[0] - position[0]
        _, draft, storage = draft_towards(year, step, storage, before, part, context.absolute)
        storages[step + 1] = storage
        release = released(year, step, draft, rows[RELEASE_LOWER, step])
        missed = unmet(year, step, draft, release, before if step > 0 else release)
        violation += violation_at(year, step, storage, start)
        violation += missing_at(year, step, draft)
        violation += missed
        releases[step] = before = release
    _hand_on(context, place, year)
    return violation


@inlined
def _value(context: SystemContext, place: int, year: YearRows) -> tuple[float, float]:
    """Benefit of a reservoir's year when all storages are known, and the sum of violations of its lowest power."""
    below, plant = context.reservoirs[place, BELOW], _plant(context, place)
    storages, releases, rows = context.storage[place], context.release[place], year.rows
    benefit = violation = storages[0] - storages[0]
    if below >= 0:
        level, lake = form_at(context.curves, below, LEVEL), context.storage[below]
        for step in range(steps_in(year)):
            rows[TAILWATER, step] = curve_value(level, mean(lake[step], lake[step + 1]))
    for step in range(steps_in(year)):
        release = releases[step]
        power = power_at(plant, mean(storages[step], storages[step + 1]), release, year, step)
        benefit += stage_benefit(year, step, power, release, rows[HM3_PER_M3S, step])
        violation += unmet_power(year, step, power)
        if len(context.priced) > 0:
            context.total[0, step] += power
            context.total[1, step] += release
    return benefit, violation


@inlined
def _value_of_sum(context: SystemContext) -> float:
    """Benefit of what is reckoned of all plants together."""
    flow, total = context.flow, context.total
    of_sum = YearRows(context.terms, context.numbers[0], (), context.priced, False, ())
    benefit: float = total[0, 0] - total[0, 0]
    for step in range(total.shape[1]):
        leaving = total[1, step]
        for link in range(len(flow)):
            leaving -= flow[link, step]
        benefit += stage_benefit(of_sum, step, total[0, step], leaving, context.rows[0, HM3_PER_M3S, step])
    return benefit


def _fitness(context: SystemContext, position: RealArray, scratch: Scratch) -> float:
    benefit = violation = ended = position[0] - position[0]
    for place in range(len(context.rows)):
        year = _year(context, place)
        violation += _follow(context, place, year, position)
        storages = context.storage[place]
        ended += context.end_value[place] * (storages[steps_in(year)] - storages[0])
    for step in range(context.total.shape[1]):
        context.total[0, step] = context.total[1, step] = np.float32(0)
    for place in range(len(context.rows)):
        made, missed = _value(context, place, _year(context, place))
        benefit += made
        violation += missed
    if len(context.priced) > 0:
        benefit += _value_of_sum(context)
    fitness: float = benefit * context.per_stage_benefit - context.penalty * violation + ended
    return fitness


register_fitness(SystemContext, _fitness)
