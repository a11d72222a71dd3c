import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.power import stored_energy_gwh
from reservoir.rules import Forecast, Training, fit
from reservoir.rules.base.foresight import Foresight
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.training import blocks
from reservoir.rules.evaluation import Sample, fitted_rules
from reservoir.rules.scores import evaluate_rules, service

FULL = 14557.0


@pytest.fixture(scope="module")
def foresight(training, ten_years):
    return Foresight.of(training.model, ten_years, FULL)


def evaluated(rule, training, inflow, foresight, targets=None):
    """What a rule does with a record, which its score calls that of the training."""
    (run,) = evaluate_rules([[rule] * inflow.years], training.model, inflow, FULL, foresight, targets, ["training"])
    return run


def test_service_of_a_series_by_hand():
    found = service(np.array([9.0, 10.0, 5.0, 8.0, 12.0, 7.0]), 10.0)
    assert found.reliability == pytest.approx(2 / 6)
    assert found.resilience == pytest.approx(2 / 3)  # of 9, 5 and 8 only 9 and 8 are followed by 10 or more
    assert found.vulnerability == pytest.approx(np.mean([0.1, 0.5, 0.2, 0.3]))


def test_a_series_without_failure_recovers_always_and_is_not_vulnerable():
    found = service(np.array([3.0, 4.0]), 2.0)
    assert (found.reliability, found.resilience, found.vulnerability) == (1.0, 1.0, 0.0)


def test_nothing_is_known_of_a_service_without_a_target():
    found = service(np.array([1.0, 2.0]), np.nan, 0.01)
    assert np.isnan([found.reliability, found.resilience, found.vulnerability]).all()


def test_foresight_over_a_record_is_at_least_the_years_one_by_one(plan, foresight):
    assert foresight.operation.violation.sum() == 0
    assert foresight.operation.annual_energy_gwh >= plan.energy_gwh.sum() * (1 - 1e-6)


def test_years_foreseen_together_are_what_each_is_by_itself(training, ten_years):
    found = Foresight.of(training.model, ten_years, FULL, continuous=False).operation
    for year in (0, 9):
        alone = Foresight.of(training.model, ten_years.span(year, year + 1), FULL).operation[0]
        assert np.array_equal(found[year].storage_hm3, alone.storage_hm3)
        assert np.array_equal(found[year].energy_gwh, alone.energy_gwh)


def test_no_rule_makes_more_than_perfect_foresight(training, ten_years, foresight):
    for family in ("guide-curve", "linear", "standard"):
        run = evaluated(fit(family, training), training, ten_years, foresight)
        assert run.at_equal_storage.sum() < run.foresight_benefit.sum()
        assert run.foresight_benefit.sum() == pytest.approx(float(foresight.operation.annual_energy_gwh[0]))


def test_stored_water_is_worth_the_energy_it_makes(training):
    model = training.model
    one_hm3 = stored_energy_gwh(model.reservoir, 10_000.0, 9_999.0, 1_000.0)
    head = float(model.reservoir.level(9_999.5) - model.reservoir.tailrace(1_000.0))
    assert one_hm3 == pytest.approx(1e6 / float(model.reservoir.conversion(head)) / 1e6, rel=1e-6)
    assert stored_energy_gwh(model.reservoir, 5_000.0, 9_000.0, 800.0) == pytest.approx(
        -stored_energy_gwh(model.reservoir, 9_000.0, 5_000.0, 800.0)
    )


def test_water_of_many_years_is_worth_what_it_is_in_each(training):
    ends, releases = np.array([9_000.0, 5_000.0]), np.array([800.0, 1_000.0])
    alone = [
        stored_energy_gwh(training.model.reservoir, end, FULL, release)
        for end, release in zip(ends, releases, strict=True)
    ]
    assert np.array_equal(stored_energy_gwh(training.model.reservoir, ends, FULL, releases), alone)


def test_a_rule_that_empties_the_reservoir_is_charged_what_its_refill_costs_foresight(training, ten_years, foresight):
    run = evaluated(fit("standard", training), training, ten_years, foresight)
    assert np.all(run.end_value[:-1] == 0)
    assert run.end_value[-1] < 0
    # What the water alone would make at the mean release: foresight is charged less, it knows when to refill.
    release = run.operation.release_m3s.mean()
    stored = stored_energy_gwh(training.model.reservoir, run.end_storage_hm3[-1], FULL, release)
    assert run.end_value[-1] == pytest.approx(float(stored), rel=0.3)
    assert np.array_equal(run.by_year, run.energy_gwh)


def test_each_further_hm3_left_at_the_end_is_worth_something_and_the_reference_end_nothing(foresight):
    values = foresight.values_of_ends(np.linspace(5_000.0, FULL, 4)[:, None])[:, 0]
    assert np.all(np.diff(values) > 0)
    assert values[-1] == 0


def test_a_score_is_consistent_with_its_simulation(training, ten_years, foresight):
    aims = Targets(19_000, 1_000, 900, True, "the test")
    run = evaluated(fit("linear", training), training, ten_years, foresight, aims)
    found = run.score
    assert (found.family, found.run, found.sample) == ("linear", "continuous", "training")
    assert found.worst <= found.worst_decile <= found.mean
    assert found.percent_of_foresight == pytest.approx(100 * (1 - found.regret / run.foresight_benefit.mean()))
    assert found.mean == pytest.approx(run.energy_gwh.mean() + found.end_storage_value)


@pytest.mark.parametrize(("years", "folds"), [(10, 5), (10, 3), (10, 10), (62, 5)])
def test_blocks_hold_every_year_once_in_order(years, folds):
    parts = blocks(years, folds)
    assert [year for part in parts for year in part] == list(range(years))
    assert len(parts) == folds
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("folds", [0, 1, 11])
def test_a_number_of_folds_that_leaves_nothing_to_fit_is_refused(folds):
    with pytest.raises(InputError, match="2 to 10"):
        blocks(10, folds)


def test_a_held_out_year_is_decided_by_a_rule_that_never_saw_it(plan):
    seen = []

    def watched(family, training, forecast):
        seen.append(training.labels)
        return fit(family, training, forecast)

    rules = fitted_rules(["linear"], Training.of(plan), Forecast.MONTH, 5, fitter=watched)["linear"][Sample.HELD_OUT]
    assert len(rules) == 10
    for block, labels in zip(blocks(10, 5), seen[1:], strict=True):  # the first rule is fitted to all years
        assert not {plan.inflow.labels[year] for year in block} & set(labels)
        assert len(labels) == 8
        assert len({id(rules[year]) for year in block}) == 1
