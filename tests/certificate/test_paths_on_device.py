"""A device finds the best paths of reservoirs at prices that compiled code finds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from reservoir.bench.cascade_systems import lancang
from reservoir.certificate import system as certificate
from reservoir.certificate.multipliers import multipliers
from reservoir.certificate.paths_on_device import best_paths
from reservoir.certificate.system import SystemProblem
from reservoir.certificate.together import Together
from reservoir.planning.system_plan import optimise_system
from reservoir.zoo import zoo_system

#: A cascade without further terms, and lakes with losses and demands; and by how much paths may differ: sections of
#: what is level end anywhere in it, and the end after losses is found in fewer steps.
CASES = {
    "cascade": (partial(lancang, "lancang-2", 1957), 1e-8),
    "lakes": (partial(zoo_system, 5, 1, reservoirs=3), 2e-7),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """A year, a schedule of it, its prices, and a tolerance."""
    of, within = CASES[request.param]
    plan = optimise_system(*of(), solver="slp")
    batch, schedule = plan.problems.batches[0], plan.operation
    return batch, schedule, multipliers(batch, schedule), within


def test_paths_at_prices_are_those_of_compiled_code(case, device):
    batch, schedule, prices, within = case
    problem, random, far = SystemProblem(batch, schedule), np.random.default_rng(1), 0
    for least in (1.0, 0.7):
        at = prices * random.uniform(least, 1.0 / least, prices.shape)
        (frees, _), (filled, _) = problem.frees(at), problem.frees(at)
        expected = [single.best(free) for single, free in zip(problem.singles, frees, strict=True)]
        found = best_paths(Together(device), problem.singles, filled)
        far += sum(single.grid_near(path) is not None for single, path in zip(problem.singles, found, strict=True))
        for path, other, free, of in zip(found, expected, filled, frees, strict=True):
            assert path.worth == pytest.approx(other.worth, rel=within)
            assert np.abs(free.best - of.best).max() < 1e-2
            for mine, theirs in zip(path[1:], other[1:], strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=0.3)
    assert far > 0


@pytest.mark.parametrize("case", ["cascade"], indirect=True)
def test_prices_are_bettered_as_far(case, device, monkeypatch):
    monkeypatch.setattr(certificate, "_EVALUATIONS", 6)
    batch, schedule, prices = *case[:2], 1.1 * case[2]
    first = SystemProblem(batch, schedule).valued(prices)[0]
    worths = [
        SystemProblem(batch, schedule, together=together).better_prices(prices, -np.inf, np.inf)[1]
        for together in (None, Together(device))
    ]
    assert worths[1] == pytest.approx(worths[0], abs=0.05 * (first - worths[0]))
    assert worths[1] < first
