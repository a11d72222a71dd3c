"""The table of both storages of two reservoirs: its decisions, and what they are worth beside separable ones."""

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from reservoir.bench.cascade_systems import lancang
from reservoir.bench.joint_table import JointTable
from reservoir.planning.system_plan import optimise_system
from reservoir.rules import Forecast
from reservoir.rules.base.system_training import SystemTraining
from reservoir.rules.families.separable_operation import fit

STATES, STEP = 3, 7


@pytest.fixture(scope="module")
def training():
    system, inflows = lancang("lancang-2")
    return SystemTraining.of(optimise_system(system, inflows.span(0, 4), solver="slp"))


@pytest.fixture(scope="module")
def table(training):
    return JointTable.of(fit(training, Forecast.MONTH), training.system, STATES)


def test_a_table_of_nothing_decides_as_separable_values_do(table, training):
    rule, nothing = fit(training, Forecast.MONTH), table.model_copy(update={"together": 0.0 * table.together})
    situation = (
        np.array([9000.0, 15000.0]),
        np.array([1500.0, 900.0]),
        2000.0,
        np.zeros((1, 1)),
        np.array([13808.0, 21749.0]),
    )
    releases = [each.releases(training.system, STEP, *situation) for each in (rule, nothing)]
    np.testing.assert_allclose(*releases, rtol=2e-2)


def test_no_pair_of_releases_is_worth_more_than_the_decision(table, training):
    storage, upper, local = np.array([[9000.0], [15000.0]]), np.array([13808.0, 21749.0]), np.array([[1500.0], [900.0]])
    share = table.known_by(STEP, local)

    def worth(asked):
        above, below = table.sites
        first, kept, made = above.outcome(STEP, storage[0], asked[0], local[0], upper[0])
        second, _, too = below.outcome(STEP, storage[1], asked[1], local[1] + kept, upper[1])
        together = RegularGridInterpolator(table._grids, table.together[STEP + 1] @ share[0])
        values = together(np.clip(np.stack([first, second], axis=-1), *np.array(table._grids).T[[0, -1]]))
        for own, site in zip((first, second), table.sites, strict=True):
            grid, each = site._smooth
            values = values + np.interp(own, grid, each[STEP + 1] @ share[0])
        return made + too + values

    chosen = table.decisions(training.system, STEP, storage, local, share, upper).asked
    tried = np.stack([each.ravel() for each in np.meshgrid(np.linspace(300, 6000, 115), np.linspace(300, 6000, 115))])
    best = worth(tried).max()
    assert worth(chosen)[0] >= best - 1e-5 * abs(best)
    assert worth(chosen + np.array([[300.0], [0.0]]))[0] < worth(chosen)[0]


def test_its_decisions_are_worth_more_by_the_same_model(table, training):
    nothing = table.model_copy(update={"together": 0.0 * table.together})
    year = [nothing._of_grid(training.system, step) for step in range(12)]
    separable = nothing._of_decisions(year)["yearly"]
    assert separable < table.yearly < 1.02 * separable


def test_situations_are_decided_alike_alone_and_among_others(table, training):
    rng = np.random.default_rng(1)
    storage = np.stack([rng.uniform(*site._smooth[0][[0, -1]], 40) for site in table.sites])
    local, upper = rng.uniform(0, 4000, (2, 40)), np.array([13808.0, 21749.0])
    share = table.known_by(STEP, local)
    together = table.decisions(training.system, STEP, storage, local, share, upper)
    for place in range(40):
        one = (each[..., place : place + 1] for each in (storage, local, share.T))
        storage_of, local_of, share_of = one
        alone = table.decisions(training.system, STEP, storage_of, local_of, share_of.T, upper)
        np.testing.assert_allclose(alone.asked[:, 0], together.asked[:, place], rtol=1e-9)


def test_it_is_told_how_far_a_table_is(training):
    told = []
    JointTable.of(fit(training, Forecast.MONTH), training.system, STATES, told.append)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)
    assert len(told) > 12
