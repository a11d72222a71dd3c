"""Re-planning of two reservoirs: what futures say of a decision, when it is left, and what the rule makes."""

import json

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.planning.system_plan import optimise_system
from reservoir.rules import Forecast, rule_from_dict
from reservoir.rules.base.system_training import SystemTraining
from reservoir.rules.families import separable_operation, system_replan
from reservoir.rules.families.sdp import shares
from reservoir.rules.families.separable import JointMonth
from reservoir.rules.families.system_replan import Futures, SystemReplan
from reservoir.rules.system_evaluation import operated_by
from tests.rules.test_system_rules import record, two

STEP = 5


@pytest.fixture(scope="module")
def training(small, small_inflow):
    return SystemTraining.of(optimise_system(two(small), record(small_inflow), solver="slp"))


@pytest.fixture(scope="module")
def values(training):
    return separable_operation.fit(training, Forecast.MONTH)


@pytest.fixture(scope="module", params=list(Forecast))
def rule(request, training):
    return separable_operation.fit_replan(training, request.param)


def known(rule, storages=(70.0, 45.0), step=STEP):
    """A situation as `best_releases` takes it, behind system and step."""
    local = np.array([[25.0], [9.0]]), np.ones(1)
    if rule.forecast is Forecast.NONE:
        local = rule.expected(step, 30.0)
    upper = np.array([each.storage_upper_hm3[step] for each in rule.sites])
    return np.array(storages), *local, np.array([[6.0], [2.0], [1.0], [0.0], [0.0]]), upper


def changed(rule, **fields):
    """The values with others in their rule for each reservoir."""
    return rule.__class__(**{name: getattr(rule, name) for name in type(rule).model_fields} | fields)


def test_a_rule_is_the_same_read_back(rule):
    assert SystemReplan.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule
    for name, value in (("members", 3), ("months_ahead", 0.5)):
        with pytest.raises(InputError, match=name):
            SystemReplan.from_dict(rule.to_dict() | {name: value})
    with pytest.raises(InputError, match="is a family of rules of several reservoirs"):
        rule_from_dict(rule.to_dict())


def test_what_reservoirs_ask_for_alone_is_what_their_values_say(rule):
    """At the points of the table; between them as their neighbours."""
    for place, site in enumerate(rule.sites):
        grid = site._smooth[0]
        of = STEP if rule.forecast is Forecast.MONTH else STEP - 1
        flow = 1.5 * site.classes_m3s[of][-1]
        storage, inflow = np.linspace(grid[0], grid[-1], 21)[[3, 12, 19]], np.linspace(0, flow, 21)[[2, 9, 16]]
        said = rule.asked_alone(place, STEP, storage, inflow)
        np.testing.assert_allclose(said, site.releases(STEP, storage, site.known(inflow), inflow))
        between = rule.asked_alone(place, STEP, storage[:2].mean(keepdims=True), inflow[:1])
        ends = [rule.asked_alone(place, STEP, grid[:1] + (grid[-1] - grid[0]) * at / 20, inflow[:1]) for at in (7, 8)]
        assert between == pytest.approx(np.mean(ends))


def test_a_future_is_followed_month_by_month(values, training):
    """One future, by the definition: each reservoir alone in the months behind the one that is decided."""
    rule, system, link = SystemReplan.of(values, months_ahead=2), training.system, training.system.links[0]
    month = JointMonth.of(rule, system, STEP, *known(rule))
    flows, asked = np.array([[30.0, 12.0], [28.0, 7.0]]), np.array([40.0, 50.0])
    told = Futures(rule, month, flows[np.newaxis, np.newaxis]).worth(asked[:, np.newaxis])
    volume, storages = rule.sites[0].months.volume_per_flow, np.array([70.0, 45.0])
    worth, carried = 0.0, []
    for ahead, local in enumerate(np.array([[25.0, 9.0], *flows])):
        step, ends = STEP + ahead, np.empty(2)
        for place, site in enumerate(rule.sites):
            inflow = local[place]
            if place:
                brought = (6.0, 2.0, 1.0)[ahead] + 0.98 * 0.75 * carried[ahead] - link.lost_m3s
                brought += 0.98 * 0.25 * carried[ahead - 1] * volume[step - 1] / volume[step] if ahead else 0.0
                inflow += brought
            wanted = np.array(asked[place])
            if ahead:
                wanted = rule.asked_alone(place, step, storages[place], np.array(inflow))
            end, kept, made = site.outcome(step, storages[place], wanted, np.array(inflow))
            worth, ends[place] = worth + made, end
            carried += [float(kept)] if place == 0 else []
        storages = ends
    share = shares(np.array(rule.classes_m3s[STEP + 2]), flows[-1].sum())
    for place, site in enumerate(rule.sites):
        worth += np.interp(storages[place], site._smooth[0], site._smooth[1][STEP + 3] @ share)
    left = 0.98 * 0.25 * carried[-1] * volume[STEP + 2] / volume[STEP + 3]
    assert told.item() == pytest.approx(worth + left * rule.per_arrival[1][STEP + 3], rel=1e-9)


def test_what_is_missed_later_is_charged(values, training):
    """Where values know nothing of a lowest storage two months ahead, separable empties the lake that needs it."""
    late = (STEP + 2) % 12
    blind = [
        site.__class__(
            **{name: getattr(site, name) for name in type(site).model_fields}
            | {"values_gwh": np.zeros_like(site.arrays[3]).tolist()}
            | {
                "storage_lower_hm3": tuple(
                    80.0 if at == late else each for at, each in enumerate(site.storage_lower_hm3)
                )
            }
        )
        for site in values.sites
    ]
    separable = changed(values, sites=blind)
    rule, given = SystemReplan.of(separable), known(values, (75.0, 75.0))
    emptied, kept = (each.best_releases(training.system, STEP, *given) for each in (separable, rule))
    assert (kept < emptied - 5.0).any()
    month = JointMonth.of(rule, training.system, STEP, *given)
    futures = Futures(rule, month, rule.futures(month, 1))
    worse, better = futures.worth(np.stack([emptied, kept], axis=1)).mean(axis=(1, 2))
    assert better > worse


def test_the_decision_is_left_only_where_other_futures_say_so_too(rule, training, monkeypatch):
    separable = separable_operation.fit(training, rule.forecast)
    moved = 0
    for step, storages in ((0, (60.0, 75.0)), (5, (70.0, 45.0)), (10, (88.0, 90.0))):
        given = known(rule, storages, step)
        first, chosen = (each.best_releases(training.system, step, *given) for each in (separable, rule))
        month = JointMonth.of(rule, training.system, step, *given)
        futures = Futures(rule, month, rule.futures(month, 1))
        made = futures.worth(np.stack([first, chosen], axis=1)).mean(axis=2) @ given[2]
        assert made[1] >= made[0]
        moved += not np.array_equal(first, chosen)
        with monkeypatch.context() as patch:
            patch.setattr(system_replan, "_MARGIN", np.inf)
            assert np.array_equal(rule.best_releases(training.system, step, *given), first)
    assert moved


def test_futures_are_in_pairs_that_are_opposite_and_the_halves_differ(values, training):
    rule = SystemReplan.of(values)
    month = JointMonth.of(rule, training.system, STEP, *known(rule))
    seen, others = (rule.futures(month, half) for half in range(2))
    assert (seen.shape, others.shape) == ((1, 20, 4, 2), (1, 60, 4, 2))
    assert not np.isclose(seen, others[:, :20]).any()
    assert np.array_equal(seen, rule.futures(month, 0))
    pairs = np.log(others[0, :30, 0, 0]), np.log(others[0, 30:, 0, 0])
    assert np.corrcoef(*pairs)[0, 1] < -0.9


def test_rules_operate_a_record_within_its_limits(values, training):
    some = training.select([0, 1])
    made, separable = (operated_by([each] * 2, some) for each in (SystemReplan.of(values), values))
    assert made.violation_sum[0] <= 1e-9
    assert made.benefit[0] > 0.97 * separable.benefit[0]
    assert np.abs(made.stacked("storage_hm3") - separable.stacked("storage_hm3")).max() > 0.1
