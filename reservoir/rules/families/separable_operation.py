"""Separable water values: how they are fitted to years of a joint plan, and what they ask for in a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from reservoir.hydro.limits import Limits, without_foresight
from reservoir.hydro.system import Carried, Link, System
from reservoir.problems.system import SystemYears
from reservoir.rules.base.physics import Physics, month_end
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.simulation import operated_training
from reservoir.rules.base.system_training import SystemTraining, operated_years, with_inflow
from reservoir.rules.base.training import FloatArray, inflow_before, made_once
from reservoir.rules.families.sdp import STORAGES, repeating_values
from reservoir.rules.families.separable import (
    SEPARABLE,
    LinkedPhysics,
    Separable,
    SiteValues,
    arriving_later,
    brings,
    carried_worth,
)
from reservoir.rules.families.system_replan import SystemReplan


@made_once
def fit(training: SystemTraining, forecast: Forecast) -> Separable:
    """Fit the values of all reservoirs, upstream first: those below are fed by what the rules above release."""
    # The inflow model needs scipy, for which an operator with a rule does not wait.
    from reservoir.rules.inflow_model import inflow_chain
    from reservoir.rules.joint_inflow import JointInflowModel

    system, river, per_arrival = training.system, training.river, training.worth.mean(axis=0).tolist()
    classes, transitions = inflow_chain(river)
    prices = np.stack([prices_of_classes(each, river.inflow_m3s, classes) for each in training.worth.swapaxes(0, 1)])
    sites, asked = list[SiteValues](), list[FloatArray]()

    def decide(place: int, limits: Limits) -> FloatArray:
        if place < len(asked):  # once more, for the lake below
            return asked[place]
        own = replace(with_inflow(training.sites[place], limits.inflow_m3s), limits=limits)
        fed = of_classes(own.inflow_m3s, river.inflow_m3s, classes)
        physics = _linked(Physics.of(own), system, place, prices, fed)
        grid = physics.value_grid(STORAGES)
        values = repeating_values(physics, forecast, grid, fed, transitions)
        paid = {name: getattr(physics, name) for name in ("per_released", "per_turbined")}
        of_chain = {"grid_hm3": grid, "classes_m3s": fed, "transitions": transitions, "values_gwh": values}
        sites.append(SiteValues.weighing(own, forecast, physics, **of_chain, **paid))
        asked.append(operated_training(sites[-1], own).release_m3s)
        return asked[-1]

    operated_years(training.years, training.starts_hm3, decide)
    local = np.stack([of_classes(each, river.inflow_m3s, classes) for each in training.local_m3s.swapaxes(0, 1)])
    total = local.sum(axis=0)
    local = local * np.divide(classes, total, out=np.ones_like(total), where=total > 0)
    return Separable(
        family=SEPARABLE,
        system=system.name,
        forecast=forecast,
        sites=tuple(sites),
        classes_m3s=classes.tolist(),
        transitions=transitions.tolist(),
        local_m3s=local.tolist(),
        per_arrival=per_arrival,
        inflow=JointInflowModel.of(training.local),
    )


def fit_replan(training: SystemTraining, forecast: Forecast) -> SystemReplan:
    """Fit separable values, whose decisions are weighed against others."""
    return SystemReplan.of(fit(training, forecast))


def of_classes(flow_m3s: FloatArray, river_m3s: FloatArray, classes_m3s: FloatArray) -> FloatArray:
    """A flow in classes of the river, by a straight line a month that does not fall.

    Parameters
    ----------
    flow_m3s, river_m3s : ndarray, shape (years, steps)
    classes_m3s : ndarray, shape (steps, classes)

    Returns
    -------
    ndarray, shape (steps, classes)
    """
    return np.maximum(_line(flow_m3s, river_m3s, classes_m3s, 0.0), 0.0)


def prices_of_classes(worth: FloatArray, river_m3s: FloatArray, classes_m3s: FloatArray) -> FloatArray:
    """As `of_classes`, what a m3/s is worth: it may fall, and is within what it is in the years."""
    line = _line(worth, river_m3s, classes_m3s, -np.inf)
    return np.asarray(np.clip(line, *(bound(axis=0)[:, np.newaxis] for bound in (worth.min, worth.max))))


def _line(values: FloatArray, river_m3s: FloatArray, classes_m3s: FloatArray, least_slope: float) -> FloatArray:
    """The straight line of each step through the values of years by the flow of the river, at the classes."""
    value, river = (each - each.mean(axis=0) for each in (values, river_m3s))
    both, spread = (value * river).sum(axis=0), (river**2).sum(axis=0)
    slope = np.maximum(np.divide(both, spread, out=np.zeros_like(both), where=spread > 0), least_slope)
    apart = classes_m3s - river_m3s.mean(axis=0)[:, np.newaxis]
    return np.asarray(values.mean(axis=0)[:, np.newaxis] + slope[:, np.newaxis] * apart)


def _linked(
    physics: Physics, system: System, place: int, per_arrival: FloatArray, classes_m3s: FloatArray
) -> LinkedPhysics:
    """Physics with what links pay for a release, wherever and whenever it arrives, by the class of inflow."""
    volume = physics.months.volume_per_flow
    released, turbined = np.zeros_like(classes_m3s), np.zeros_like(classes_m3s)
    for link in system.links:
        if link.source != system.names[place] or link.target is None:
            continue
        of_class = np.moveaxis(per_arrival, -1, 0).tolist()
        worth = [[carried_worth(system, link, each, volume, step) for each in of_class] for step in range(len(volume))]
        part, share = link.part_and_share
        released += share * np.array(worth) * (part is not Carried.TURBINED)
        turbined += np.array(worth) * ((part is Carried.TURBINED) - 1.0 * (part is Carried.SPILLED))
    fields = {name: getattr(physics, name) for name in Physics.model_fields}
    paid = {"classes_m3s": classes_m3s, "per_released": released, "per_turbined": turbined}
    return LinkedPhysics(**fields, **{name: each.tolist() for name, each in paid.items()})


def joint_releases(rules: Sequence[Separable], years: SystemYears, starts_hm3: FloatArray) -> FloatArray:
    """Releases that rules, one a year, ask for in consecutive years, shape (years, reservoirs, steps).

    Parameters
    ----------
    rules : sequence of Separable
    years : SystemYears
        With local inflow.
    starts_hm3 : ndarray, shape (reservoirs,)
    """
    system, steps = years.system, years.steps
    places, links = range(len(system.reservoirs)), system.links
    limits = [each.limits for each in years.years]
    local, upper = (np.stack([getattr(each, name) for each in limits]) for name in ("inflow_m3s", "storage_upper_hm3"))
    before = inflow_before(local.sum(axis=0))
    rows = [
        without_foresight(each, np.full(len(each), start))._replace(lake=each.lake).by_field
        for each, start in zip(limits, starts_hm3, strict=True)
    ]
    volume, storage = years.hm3_per_m3s.ravel(), np.array(starts_hm3, float)
    asked, flows = np.empty((len(years), len(places), steps)), {link: np.empty(volume.size) for link in links}

    def carried(link: Link, at: int, late: int) -> float:
        before = link.before_m3s or 0.0
        return float(flows[link][at - late]) if late <= at else float(link.of_release(before, before))

    for at, (year, step) in enumerate(np.ndindex(len(years), steps)):
        rule, here = rules[year], (year, step)
        months = rule.months_weighed
        later = [arriving_later(link, partial(carried, link, at), volume, at, months) for link in links]
        late = np.array(later).reshape(len(links), months).T
        now = local[:, year, step] if rule.forecast is Forecast.MONTH else None
        asked[year, :, step] = rule.releases(
            system, step, storage, now, float(before[here]), late, upper[:, year, step]
        )
        for place in places:
            own, site = limits[place], rule.sites[place]
            inflow = float(local[place, year, step])
            for link, brought in zip(links, late[0], strict=True):
                if link.target == system.names[place]:
                    inflow += float(brings(link, brought, flows[link][at]))
            release, _, end = month_end(
                storage[place],
                asked[year, place, step],
                inflow,
                volume[at],
                (own.storage_lower_hm3[here], own.storage_upper_hm3[here]),
                (own.release_lower_m3s[here], own.release_upper_m3s[here]),
                own.dead_hm3[year],
                rows[place],
                here,
            )
            turbined = site.turbined(step, storage[place], end, release)
            for link in links:
                if link.source == system.names[place]:
                    flows[link][at] = link.of_release(release, turbined)
            storage[place] = end
    return asked
