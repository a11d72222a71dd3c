"""Boxes of every case, with curves of every kind and steps with every term, on a device and by compiled code."""

from __future__ import annotations

import numpy as np

from reservoir.certificate.bound import bound_pairs
from reservoir.certificate.cells import Cells, pairs_of
from reservoir.certificate.on_device import BracketsOnDevice
from reservoir.certificate.stages import stages_of
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.curves.forms import exact_value
from reservoir.hydro.rows import Lake
from reservoir.opencl import Session
from tests.certificate.cases import every_case, one_cell_a_time, random_schedules

CASES = every_case()


def random_cells(year, random, cells=12):
    """Cells from 1e-7 of the range of storage to half of it, with values as a benefit may have."""
    lower, upper = float(year.limits.storage_lower_hm3.min()), float(year.limits.storage_upper_hm3.max())
    places, width = np.arange(year.limits.steps + 2) * cells, upper - lower
    middle = random.uniform(lower, upper, places[-1])
    half = 0.5 * width * 10.0 ** random.uniform(-7, np.log10(0.5), len(middle))
    value, slope = 100 * random.normal(size=(2, len(middle)))
    first_end = np.repeat(places[1:-1], cells)
    return Cells(
        places, first_end, np.arange(len(first_end) + 1) * cells, middle - half, middle + half, value, slope / width
    )


def without_power(curve):
    """A curve with a table in place of a power law."""
    if not curve.is_power:
        return curve
    x = np.linspace(*curve.breaks, 9)
    return Table(tuple(x), tuple(exact_value(curve, each) for each in x)).compiled()


def tabled(plant, stages):
    """Plant and steps whose curves need nothing but + - * /."""
    conversion = plant.conversion._replace(curve=without_power(plant.conversion.curve))
    curves = {name: without_power(getattr(plant, name)) for name in ("level", "tailrace", "capacity")}
    lakes = (Lake(*map(without_power, each.lake)) if each.lake else () for each in stages)
    horizons = [each._replace(lake=lake) for each, lake in zip(stages, lakes, strict=True)]
    return plant._replace(conversion=conversion, **curves), horizons


def narrowed(plant, stages, random):
    """Tables that end within the heads and storages of the boxes, and steps with every kind of term at once."""
    inner = {name: inner_table(getattr(plant, name), 0.3) for name in ("level", "capacity")}
    curve = inner_table(plant.conversion.curve, 0.4)
    conversion = plant.conversion._replace(curve=curve, lower=float(curve.breaks[0]), upper=float(curve.breaks[-1]))
    return plant._replace(conversion=conversion, **inner), [with_every_term(plant, each, random) for each in stages]


def inner_table(curve, left_out):
    """A table of a curve but for a part of its domain at either end."""
    first, last = curve.breaks[0], curve.breaks[-1]
    x = np.linspace(first + left_out * (last - first), last - left_out * (last - first), 6)
    return Table(tuple(x), tuple(exact_value(curve, each) for each in x)).compiled()


def with_every_term(plant, stages, random):
    steps, most = len(stages.hm3_per_m3s), plant.installed_mw
    cost = stages.power_value * random.uniform(0.0, 3.0, steps)
    return stages.changed(
        spare=1e-3 * stages.release_upper * random.integers(0, 2, steps),
        power_lower=np.where(random.random(steps) < 0.3, 0.1 * most, -1.0),
        power_target=random.uniform(0.1, 0.9, steps) * most,
        power_cost=cost,
        power_cost_squared=cost / most * random.integers(0, 2, steps),
        power_cost_most=np.where(random.random(steps) < 0.5, 0.2 * cost * most, 1e30),
        supply_target=random.uniform(0.0, 0.5, steps) * stages.release_upper,
        supply_cost_squared=cost / stages.release_upper,
        operating_storage=float(np.quantile(plant.level.breaks, 0.6)),
        missing_price=cost / stages.hm3_per_m3s * random.integers(0, 2, steps),
        missing_as_none=1e-3 * stages.release_upper,
        touched=float(np.quantile(plant.level.breaks, 0.4)),
    )


def on_host(plant, horizons, cells):
    brackets = []
    for stages, each in zip(horizons, cells, strict=True):
        brackets.append(np.zeros(each.first_pair[-1]))
        bound_pairs(plant, stages, each, brackets[-1], 0, len(stages.hm3_per_m3s))
    return np.concatenate(brackets)


def of_device(device, plant, horizons, pairs, brackets=None, *, single=False):
    with Session(device) as session:
        given = np.zeros(pairs.number) if brackets is None else brackets
        return BracketsOnDevice(session, plant, horizons, single=single).bound(pairs, given)


def boxes_of(name, seed=3):
    """The plant of a case, its horizons, and random cells of each."""
    random, years = np.random.default_rng(seed), [CASES[name][place] for place in range(len(CASES[name]))]
    horizons = [stages_of(year.limits) for year in years]
    return years[0].model.exact, horizons, [random_cells(year, random) for year in years]


def excess_of(device, name, count, *, single=False, width=(-5, -0.3)):
    """Largest excess of a stage over its bound, relative to what the stage is worth; and how many were compared.

    The boxes of one schedule contain it, and those of all schedules and years are bounded at once. Their widths are
    parts of the range of storages, powers of ten between two.
    """
    problems, random = CASES[name], np.random.default_rng(1)
    horizons, cells, exact, kept, scales = [], [], [], [], []
    for made in random_schedules(problems, count, random):
        for place in range(len(problems)):
            operation = made.operation[place]
            storages, benefit = operation.storage_hm3, operation.stage_benefit
            times, range_hm3 = len(storages), np.ptp(storages) + 1e-9
            widths, share = range_hm3 * 10.0 ** random.uniform(*width, times), random.random(times)
            low, high = storages - share * widths, storages + (1 - share) * widths
            scale = np.abs(benefit).max() + 1e-9
            value, slope = random.normal(size=times), random.normal(size=times) * scale / range_hm3
            horizons.append(stages_of(problems[place].limits))
            cells.append(Cells(*one_cell_a_time(times), low, high, value, slope))
            exact.append(benefit + np.diff(value + slope * (storages - 0.5 * (low + high))))
            kept.append(operation.violation == 0)
            scales.append(np.full(times - 1, scale + np.abs(value).max()))
    found = of_device(device, problems[0].model.exact, horizons, pairs_of(cells), single=single)
    over = (np.concatenate(exact) - found) / np.concatenate(scales)
    compared = np.concatenate(kept)
    return float(over[compared].max(initial=-np.inf)), int(compared.sum())


def boxes_about(name, count, width, seed=1):
    """Horizons, and cells at each of their times: about schedules, with widths as parts of the range of storages."""
    problems, random = CASES[name], np.random.default_rng(seed)
    horizons, cells = [], []
    for made in random_schedules(problems, count, random):
        for place in range(len(problems)):
            storages = made.operation[place].storage_hm3
            times, range_hm3 = len(storages), np.ptp(storages) + 1e-9
            widths, share = range_hm3 * 10.0 ** random.uniform(*width, times), random.random(times)
            low = storages - share * widths
            value, slope = 100 * random.normal(size=(2, times))
            horizons.append(stages_of(problems[place].limits))
            cells.append(Cells(*one_cell_a_time(times), low, low + widths, value, slope / range_hm3))
    return problems[0].model.exact, horizons, cells


def points_of(cells, random):
    """Cells without a width, anywhere in others, also at their ends, with the same values."""
    found = []
    for each in cells:
        share = np.clip(random.uniform(-0.2, 1.2, len(each.lower)), 0.0, 1.0)
        at = np.minimum(each.lower + share * (each.upper - each.lower), each.upper)
        value = each.value + each.slope * (at - 0.5 * (each.lower + each.upper))
        found.append(each._replace(lower=at, upper=at, value=value))
    return found


def excess_of_points(device, plant, horizons, cells, count, seed=2, at=lambda stages, _: stages):
    """By how much brackets of steps between storages in boxes, in double, exceed those of the boxes in float32.

    They are of some of all that horizons may be (`at`).
    """
    random, most = np.random.default_rng(seed), -np.inf
    for _ in range(count):
        points = pairs_of(points_of(cells, random))
        most = np.maximum(most, of_device(device, plant, [at(each, random) for each in horizons], points))
    # The tangent of what a shortage costs begins at the draft: it is above it where the release is more by the spare.
    most -= np.concatenate([each.supply_cost_squared * each.spare**2 for each in horizons])
    found = of_device(device, plant, horizons, pairs_of(cells), single=True)
    compared = most > -np.inf
    return most[compared] - found[compared]
