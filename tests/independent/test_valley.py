"""The two-reservoir valley of SDDP.jl's documentation as one linear program over its scenario tree: an oracle.

Data: the public example; the program is written here. Three stages; two reservoirs of 200, full at the start; a plant
passes up to 1 of each of three pieces; spilled water of the upper reservoir reaches the lower one at a cost.
"""

from itertools import product

import numpy as np
import pytest

FLOW, POWER = np.array([50.0, 60.0, 70.0]), np.array([55.0, 65.0, 70.0])
PRICES, INFLOWS = [[1, 2], [2, 1], [3, 4]], [(0, 0), (20, 0), (50, 20)]
#: Of each stage: from a state of prices to those of the stage.
TRANSITIONS = [[[1.0]], [[0.6, 0.4]], [[0.6, 0.4], [0.3, 0.7]]]
FULL, SPILL_COST = 200.0, 1000.0
#: Variables of a reservoir in a node: storage at its end, spill, inflow that is taken, and the pieces.
STORAGE, SPILL, TAKEN, PIECES, COUNT = 0, 1, 2, slice(3, 6), 6


def tree(noisy: bool, markov: bool) -> list[tuple[int, float, int, int, tuple[int, int]]]:
    """Nodes: parent, probability, stage, state of prices, inflows."""
    nodes = [(-1, 1.0, 0, 0, INFLOWS[0])]
    for stage in (1, 2):
        for parent, (_, probability, before, state, _) in list(enumerate(nodes)):
            if before != stage - 1:
                continue
            states = list(enumerate(TRANSITIONS[stage][state])) if markov else [(0, 1.0)]
            flows = INFLOWS if noisy else INFLOWS[:1]
            for (after, part), flow in product(states, flows):
                nodes.append((parent, probability * part / len(flows), stage, after, flow))
    return nodes


def value(nodes: list[tuple[int, float, int, int, tuple[int, int]]]) -> float:
    from scipy.optimize import linprog

    size = 2 * COUNT * len(nodes)
    cost, bounds = np.zeros(size), np.tile([0.0, np.inf], (size, 1))
    balance, right = np.zeros((2 * len(nodes), size)), np.zeros(2 * len(nodes))
    pieces = np.zeros((2 * len(nodes), size))
    for node, (parent, probability, stage, state, flows) in enumerate(nodes):
        for lower in (0, 1):
            row, own = 2 * node + lower, (2 * node + lower) * COUNT
            bounds[own + STORAGE, 1], bounds[own + TAKEN, 1] = FULL, flows[lower]
            at = np.arange(own, own + COUNT)[PIECES]
            bounds[at, 1] = 1.0
            cost[at], cost[own + SPILL] = -probability * PRICES[stage][state] * POWER, probability * SPILL_COST
            pieces[row, at] = 1.0
            balance[row, own + STORAGE], balance[row, own + SPILL], balance[row, own + TAKEN] = 1.0, 1.0, -1.0
            balance[row, at] = FLOW
            if lower:
                upper = own - COUNT
                balance[row, upper + SPILL] = -1.0
                balance[row, np.arange(upper, own)[PIECES]] = -FLOW
            if parent < 0:
                right[row] = FULL
            else:
                balance[row, (2 * parent + lower) * COUNT + STORAGE] = -1.0
    found = linprog(cost, A_ub=pieces, b_ub=np.ones(len(pieces)), A_eq=balance, b_eq=right, bounds=bounds)
    return -float(found.fun)


@pytest.mark.parametrize(
    ("noisy", "markov", "nodes", "published"),
    [(False, False, 3, 835.0), (True, False, 13, 838.0 + 1 / 3), (False, True, 7, 851.8), (True, True, 43, 855.0)],
)
def test_the_tree_has_the_published_values(noisy, markov, nodes, published):
    grown = tree(noisy, markov)
    assert len(grown) == nodes
    assert sum(each[1] for each in grown if each[2] == 2) == pytest.approx(1.0)
    assert value(grown) == pytest.approx(published, rel=1e-9)
