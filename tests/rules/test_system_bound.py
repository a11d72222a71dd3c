"""A bound of what rules of two dams bring on average: who does not know the inflow to come is charged nothing."""

import numpy as np
import pytest

from reservoir.bench.cascade_systems import lancang
from reservoir.errors import InputError
from reservoir.planning.system_plan import optimise_system
from reservoir.rules import Forecast
from reservoir.rules.base.system_training import SystemTraining
from reservoir.rules.families.separable_operation import fit
from reservoir.rules.system_bound import RuleBound, _news, bound_of_rules, known_slopes, member_of

CLASSES = np.array([4, 3, 2, 4, 5, 6, 5, 4, 4, 3, 4, 5, 4])


@pytest.fixture(scope="module")
def known():
    system, inflows = lancang("lancang-2")
    plan = optimise_system(system, inflows.span(0, 4), solver="slp")
    training = SystemTraining.of(plan)
    return fit(training, Forecast.MONTH), training.system, plan.inflows


def test_what_inflow_says_of_the_worth_of_water_is_nothing_on_average(known):
    rule = known[0]
    chain = np.array(rule.transitions)
    member, slopes = member_of(*known, CLASSES), known_slopes(rule)
    stored = member.run.stacked("storage_hm3")[0]
    for step in (3, 8):
        news = []
        for now in range(chain.shape[1]):
            classes = CLASSES.copy()
            classes[step + 1] = now
            news.append(_news(rule, slopes, member._replace(classes=classes), stored)[0][:, step])
        scale = np.abs(news).max(axis=0)
        assert (scale > 0).all()
        np.testing.assert_allclose(chain[step, CLASSES[step]] @ np.array(news) / scale, 0, atol=1e-9)


def test_no_year_of_the_rule_is_above_its_bound_and_knowledge_is_charged(known):
    bound = bound_of_rules(*known, 2, seconds=60.0)
    brought = bound.benefit + bound.left
    assert (bound.bounds >= brought).all()
    assert (bound.foresight >= brought).all()
    (gap, error), (of_foresight, _) = bound.gap, bound.foresight_gap
    assert 0 <= gap < of_foresight < 0.1
    assert 0 < error < 0.05


def test_one_member_has_no_standard_error(known):
    with pytest.raises(InputError, match="too few members"):
        bound_of_rules(*known, 1)


def test_a_member_without_a_bound_is_told_and_not_averaged_away():
    two, brought, open_ended = np.full(2, 10.0), np.array([0.0, 1.0]), np.array([11.0, np.inf])
    bound = RuleBound(two, brought, open_ended, np.full(2, 12.0))
    assert bound.words == "no bound of all rules: the proofs of 1 of 2 drawn years ended without one"
    assert set(bound.as_dict) == {"words", "members", "unbounded"}
    known = RuleBound(two, brought, np.array([11.0, 12.0]), np.full(2, 12.0))
    assert known.as_dict["gap"] == pytest.approx(0.1)
    assert "more than 10.0 % above separable on average (standard error 0" in known.words
