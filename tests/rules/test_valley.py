"""A valley of two reservoirs with known expected values: its scenario tree as one linear program, and rules on it.

The valley of three stages is an example of SDDP.jl (Dowson and Kapelevich 2021), whose four values are published. Of
the program it is the first three months of a year; what flows in behind them, unpaid, fills both lakes.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

from reservoir.hydro.attributes import ConversionKind, YearEnd
from reservoir.hydro.calendar import Calendar, CalendarKind
from reservoir.hydro.curves.curve import Table, constant
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.planning.system_plan import optimise_system
from reservoir.rules import Forecast
from reservoir.rules.base.system_training import SystemTraining
from reservoir.rules.families.separable_operation import fit
from reservoir.rules.system_evaluation import operated_by

FULL, STAGES = 200.0, 3
#: Flow and power of each turbine, with straight lines between; price by stage and Markov state.
FLOW, POWER, PRICE = (50.0, 60.0, 70.0), (55.0, 65.0, 70.0), ((1, 2), (2, 1), (3, 4))
#: Inflow of the two reservoirs, equally likely from the second stage on.
NOISE = ((0.0, 0.0), (20.0, 0.0), (50.0, 20.0))
#: Probabilities of the states of a stage after each of the stage before.
CHAIN = (((1.0,),), ((0.6, 0.4),), ((0.6, 0.4), (0.3, 0.7)))


def tree(inflow_is_random: bool, price_is_random: bool) -> list[tuple[int, float, int, int, tuple[float, float]]]:
    """Nodes: place of the one before, probability, stage, Markov state, inflow."""
    nodes, first = [(-1, 1.0, 0, 0, NOISE[0])], 0
    noise = NOISE if inflow_is_random else NOISE[:1]
    for stage in range(1, STAGES):
        before = range(first, len(nodes))
        first = len(nodes)
        for parent in before:
            states = enumerate(CHAIN[stage][nodes[parent][3]]) if price_is_random else [(0, 1.0)]
            nodes += [
                (parent, nodes[parent][1] * chance / len(noise), stage, state, inflow)
                for state, chance in states
                for inflow in noise
            ]
    return nodes


def value(nodes) -> float:
    """The most expected revenue: of each node and reservoir the storage at the end, inflow not taken, and dispatch."""
    width = 2 + len(FLOW)
    count = 2 * len(nodes)
    cost, bounds = np.zeros(count * width), []
    balance, whole, held = lil_matrix((count, count * width)), lil_matrix((count, count * width)), np.zeros(count)
    for place, (parent, chance, stage, state, inflow) in enumerate(nodes):
        for site in range(2):
            row = 2 * place + site
            at = row * width
            bounds += [(0, FULL), (0, inflow[site]), *[(0, 1)] * len(FLOW)]
            cost[at + 2 : at + width] = -chance * PRICE[stage][state] * np.array(POWER)
            whole[row, at + 2 : at + width] = 1
            balance[row, at], balance[row, at + 1] = 1, 1
            balance[row, at + 2 : at + width] = FLOW
            if site:
                balance[row, at - width + 2 : at] = -np.array(FLOW)
            held[row] = inflow[site] + (FULL if parent < 0 else 0.0)
            if parent >= 0:
                balance[row, (2 * parent + site) * width] = -1
    found = linprog(cost, whole.tocsr(), np.ones(count), balance.tocsr(), held, bounds, method="highs")
    return -found.fun


@pytest.mark.parametrize(
    ("inflow_is_random", "price_is_random", "count", "expected"),
    [(False, False, 3, 835.0), (True, False, 13, 838.0 + 1 / 3), (False, True, 7, 851.8), (True, True, 43, 855.0)],
)
def test_the_tree_has_the_published_value(inflow_is_random, price_is_random, count, expected):
    nodes = tree(inflow_is_random, price_is_random)
    assert len(nodes) == count
    assert value(nodes) == pytest.approx(expected, rel=1e-9)


#: 1 m3/s makes 1 MW with 125 m of head and 8 kW for a m3/s and a metre; the lake is so high that tailraces fit.
HEAD_M, COEFFICIENT, LEVEL_M = 125.0, 8.0, 200.0
CALENDAR = Calendar(2001, len(NOISE) ** 2, kind=CalendarKind.EQUAL_MONTHS)
VOLUME = float(CALENDAR.hm3_per_m3s[0, 0])


def valley() -> System:
    """The two reservoirs: a tailrace that leaves each release the head that makes its power.

    Inflow that the tree does not take is spilled, and leaves the valley.
    """
    flow = np.arange(0.0, FLOW[-1] + 1)
    power = np.interp(flow, (0.0, *FLOW), (0.0, *POWER))
    head = HEAD_M * np.divide(power, flow, out=np.full_like(flow, POWER[0] / FLOW[0]), where=flow > 0)
    tailrace = Table((*flow, 1000.0), (*(LEVEL_M - head), LEVEL_M - head[-1]))
    one = Reservoir(
        name="one",
        level=constant(LEVEL_M, (0.0, VOLUME * FULL)),
        tailrace=tailrace,
        conversion=constant(COEFFICIENT, (0.0, LEVEL_M)),
        conversion_kind=ConversionKind.COEFFICIENT,
        capacity_m3s=constant(FLOW[-1], (0.0, LEVEL_M)),
        installed_mw=1000.0,
        storage_lower_hm3=np.zeros(12),
        storage_upper_hm3=np.full(12, VOLUME * FULL),
        release_lower_m3s=np.zeros(12),
        release_upper_m3s=np.full(12, 1000.0),
        initial_storage_hm3=VOLUME * FULL,
        final_storage_hm3=VOLUME * FULL,
        year_end=YearEnd.FIXED,
        calendar=CalendarKind.EQUAL_MONTHS,
        first_month=1,
        penalty=1e4,
    )
    paid = Objective({Goal.REVENUE: 1.0}, price_per_mwh=np.ones(12), currency="units")
    two = replace(one, name="two")
    return System((one, two), (Link("one", "two", carries="turbined"),), objective=paid, penalty=1e4, name="valley")


def scenarios() -> SiteInflows:
    """Every sequence of inflows as a year; prices are what a unit of power is paid, and nothing behind the stages."""
    price, flows = np.zeros((CALENDAR.years, 12)), np.full((2, CALENDAR.years, 12), 60.0)
    price[:, :STAGES] = [each[0] * 3600 / VOLUME for each in PRICE]
    for year, noise in enumerate(product(NOISE, repeat=STAGES - 1)):
        flows[:, year, :STAGES] = np.transpose([NOISE[0], *noise])
    records = (Inflow(flow, CALENDAR, price_per_mwh=price) for flow in flows)
    return SiteInflows(dict(zip(("one", "two"), records, strict=True)))


def test_rules_of_the_valley_bring_no_more_than_its_tree():
    plan = optimise_system(valley(), scenarios(), solver="slp")
    assert plan.operation.benefit[0] == pytest.approx(835, rel=1e-4)  # without any inflow
    training = SystemTraining.of(plan)
    rule = fit(training, Forecast.MONTH)
    made = [operated_by([rule], training.select([year])) for year in range(len(training))]
    assert max(float(each.violation_sum[0]) for each in made) == 0
    expected = np.mean([each.benefit[0] for each in made])
    known = value(tree(True, False))
    assert 0.999 * known < expected <= known * (1 + 1e-5)  # the tailrace is a curve between whole flows
    assert known < plan.operation.benefit.mean()  # who knows the inflow to come makes more
