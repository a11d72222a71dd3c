"""The rule by a network: it counts what a simulation counts, its second stage gains, and its file says all of it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning.plan import optimise
from reservoir.problems.mlp import Perceptron
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules import Forecast, Training, fit, rule_from_dict
from reservoir.rules.base.simulation import simulate
from reservoir.rules.families import ann, ann_training
from reservoir.rules.families.ann import Scales, input_names
from reservoir.rules.families.ann_operation import NetworkOperation
from reservoir.rules.families.ann_training import (
    SEARCHES,
    SIZES,
    SMALLEST,
    samples,
    synthetic_years,
    trained,
)
from reservoir.rules.inflow_model import InflowModel, uniform_numbers

FLOWS = np.array([35, 25, 18, 14, 12, 16, 24, 38, 55, 80, 75, 50], float)


@pytest.fixture(scope="module")
def found(training, forecast):
    """Both stages on ten years, which are too few to choose a size by."""
    return trained(training, forecast)


@pytest.fixture
def brief(monkeypatch):
    """Searches that take a fraction of a second; what was trained before of the same years is kept."""
    for name in ("REGRESSION", "SEARCH", "TRIAL"):
        monkeypatch.setattr(ann_training, name, getattr(ann_training, name) | {"generations": 20, "exchange_every": 10})
    monkeypatch.setattr(ann_training, "SYNTHETIC_YEARS", 10)
    monkeypatch.setattr(ann_training, "TRIAL_YEARS", 5)


def mean_gwh(rule, training, inflow):
    """Energy of a year as the search counts it, from a simulation."""
    start = float(training.storage_start_hm3[0, 0])
    operation = operation_of(training, rule.forecast, len(rule.hidden_biases))
    run = simulate(rule, training.model, inflow, start)
    return (run.energy_gwh.sum() + operation.record.water_value * (run.end_storage_hm3[-1] - start)) / training.years


def operation_of(training, forecast, hidden, **options):
    network = Perceptron(len(input_names(forecast)), hidden, 1, bias=True)
    return NetworkOperation.of(training, network, forecast, Scales.of(training), **options)


def rule_of_part(training, forecast, part):
    """A rule whose network says the same part always: the bias of its output alone."""
    network = Perceptron(len(input_names(forecast)), 1, 1, bias=True)
    position = np.zeros(network.dimension)
    position[-1] = part
    return ann.AnnRule.of(training, forecast, Scales.of(training), network, position)


@pytest.mark.parametrize("seed", range(3))
def test_any_network_is_counted_as_it_is_simulated(training, ten_years, forecast, seed):
    operation = operation_of(training, forecast, 6)
    position = np.random.default_rng(seed).normal(0, 2, operation.dimension)
    rule = ann.AnnRule.of(training, forecast, operation.scales, operation.network, position)
    counted = float(operation.mean_benefits(position[None])[0])
    assert counted == pytest.approx(mean_gwh(rule, training, ten_years), rel=1e-9)


def test_the_second_stage_gains_on_the_first_and_fits_the_plan_less(training, ten_years, forecast, found):
    stages = [
        family.of(training, forecast, found.scales, network, position)
        for family, network, position in (
            (ann.AnnRegressionRule, found.network, found.fitted),
            (ann.AnnRule, found.mean, found.searched),
        )
    ]
    energy = [mean_gwh(rule, training, ten_years) for rule in stages]
    assert energy[1] > energy[0]
    inputs, parts, weights = samples(training, forecast, found.scales)
    missed = [
        np.sum(weights[:, None] * (network(position, inputs) - parts) ** 2)
        for network, position in ((found.network, found.fitted), (found.mean, found.searched))
    ]
    assert missed[0] < missed[1]


def test_the_families_are_the_two_stages(training, forecast, found):
    stages = (("ann-regression", found.network, found.fitted), ("ann", found.mean, found.searched))
    for family, network, position in stages:
        rule = fit(family, training, forecast)
        assert np.array(rule.hidden_biases) == pytest.approx(network.units(position)[:, -2])
        assert rule.family == family


def test_samples_say_what_the_plan_decided(training, forecast):
    """A network that hits a sample's part releases what the plan releases."""
    inputs, parts, weights = samples(training, forecast, Scales.of(training))
    assert inputs.shape == (120, len(input_names(forecast)))
    assert np.all((parts >= 0) & (parts <= 1))
    for place in np.flatnonzero(weights)[::7]:
        year, step = divmod(int(place), 12)
        rule = rule_of_part(training, forecast, parts[place, 0])
        now = float(training.inflow_m3s[year, step]) if forecast is Forecast.MONTH else None
        asked = rule.release(step, float(training.storage_start_hm3[year, step]), now, 700.0)
        if 0 < parts[place, 0] < 1 and (forecast is Forecast.NONE or step != 1):  # February's days differ
            assert asked == pytest.approx(training.release_m3s[year, step], rel=1e-6)


def test_a_part_of_nothing_fills_the_reservoir_and_one_of_all_empties_it(training, forecast):
    """Unless a bound of the release forbids it; parts between divide the releases evenly. By the balance of eq. 10."""
    plant, held = training.model.reservoir, 0
    for step in (0, 4, 6, 11):  # months of the same days every year
        known = {Forecast.MONTH: 900.0, Forecast.NONE: float(training.inflow_m3s[:, step].mean())}[forecast]
        now = 900.0 if forecast is Forecast.MONTH else None
        lowest, highest = plant.release_lower_m3s[step], plant.release_upper_m3s[step]
        fills, empties, between = (
            rule_of_part(training, forecast, part).release(step, 9000.0, now, 700.0) for part in (-3.0, 4.0, 0.25)
        )
        for release, target in ((fills, plant.storage_upper_hm3[step]), (empties, plant.storage_lower_hm3[step])):
            end = 9000.0 + (known - release) * [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][step] * 0.0864
            reached = end == pytest.approx(target)
            held += reached
            forbidden = lowest if end < target else highest
            assert reached or release == pytest.approx(forbidden)
        assert between == pytest.approx(0.75 * fills + 0.25 * empties)
    assert held > 0


@pytest.mark.parametrize(
    ("step", "storage", "inflow", "fills", "empties"),
    [
        (0, 85, 25, 25 - 5 / 2.592, 25 + 65 / 2.592),  # June: 20 to 90 hm3
        (0, 85, None, 170.5 / 3 - 5 / 2.592, 170.5 / 3 + 65 / 2.592),  # the mean of 33, 55 and 82.5 m3/s
        (3, 96, 10, 10 - 4 / 2.592, 10 + 76 / 2.592),  # September: 20 to 100 hm3
        (10, 115, 60, 60, 80),  # April: no more than 80 m3/s
        (11, 60, 2, 6, 2 + 30 / 2.6784),  # May: 30 to 110 hm3, and no less than 6 m3/s
    ],
)
def test_the_range_of_releases_is_that_of_the_months_own_bounds(
    small, small_inflow, step, storage, inflow, fills, empties
):
    training = Training.of(optimise(small, small_inflow, solver="dp", reference=False))
    forecast = Forecast.NONE if inflow is None else Forecast.MONTH
    found = [rule_of_part(training, forecast, part).release(step, storage, inflow, 20.0) for part in (0.0, 1.0)]
    assert found == pytest.approx([fills, empties])


def test_the_network_of_a_rule_is_the_network_that_was_trained(training, forecast, found):
    rule = ann_training.fit(training, forecast)
    inputs = samples(training, forecast, found.scales)[0].reshape(training.years, 12, -1)
    for year, step in ((0, 0), (4, 6), (9, 11)):
        now = training.inflow_m3s[year, [step]] if forecast is Forecast.MONTH else None
        storage, before = training.storage_start_hm3[year, step], training.inflow_before_m3s[year, step]
        expected = np.clip(found.mean(found.searched, inputs[year, step])[0], 0, 1)
        (part,) = rule.parts(step, np.array([storage]), now, np.array([before]))
        assert part == pytest.approx(expected, abs=1e-12)


def test_a_rules_file_can_be_read_by_hand(training):
    content = ann_training.fit(training, Forecast.MONTH).to_dict()
    assert content["inputs"] == ["start_storage", "inflow", "inflow_before", "month_sine", "month_cosine"]
    weights, biases = np.array(content["hidden_weights"]), np.array(content["hidden_biases"])
    assert weights.shape == (len(biases), 5) == (len(content["output_weights"]), 5)

    def scaled(value, low, high):
        return 2 * (value - low) / (high - low) - 1

    low, high = content["inflow_low_m3s"], content["inflow_high_m3s"]
    turn = 2 * np.pi * (6 + 0.5) / 12
    known = [scaled(9000.0, content["storage_low_hm3"], content["storage_high_hm3"])]
    known += [scaled(np.log(flow), np.log(low), np.log(high)) for flow in (900.0, 700.0)]
    known += [np.sin(turn), np.cos(turn)]
    active = 1 / (1 + np.exp(-(biases + weights @ known)))
    output = content["output_bias"] + active @ content["output_weights"]
    part = ann_training.fit(training, Forecast.MONTH).parts(6, *np.array([[9000.0], [900.0], [700.0]]))[0]
    assert part == pytest.approx(min(max(output, 0), 1))


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("inputs", ["start_storage"], "are not the inputs of a rule of this family"),
        ("hidden_weights", [], "has no hidden unit"),
        ("hidden_weights", [[1.0, 2.0]] * 4, r"hidden_weights\[0\].*wrong number of values"),
        ("hidden_biases", [0.5], "wrong number of values"),
        ("output_weights", ["x"] * 4, "is not a number"),
        ("inflow_low_m3s", 0.0, "is not positive"),
        ("inflow_high_m3s", 1e-9, "is not above inflow_low_m3s"),
        ("storage_high_hm3", -1.0, "is not above storage_low_hm3"),
        ("storage_upper_hm3", [0.0] * 12, "below"),
    ],
)
def test_what_is_wrong_in_a_file_is_told(training, key, value, told):
    content = json.loads(json.dumps(ann_training.fit(training, Forecast.MONTH).to_dict()))
    with pytest.raises(InputError, match=told):
        rule_from_dict(content | {key: value})


def test_a_size_is_chosen_by_years_it_has_not_seen(brief, xiaowan, inflow):
    years = Inflow(flow_m3s=inflow.flow_m3s[:15], calendar=Calendar(1953, 15))
    training = Training.of(optimise(xiaowan, years, solver="dp", reference=False))
    found = trained(training, Forecast.MONTH)
    assert set(found.validated) == set(SIZES)
    assert found.network.hidden == max(found.validated, key=found.validated.get)


def test_too_few_years_to_choose_take_the_smallest_network(found):
    assert found.validated == {}
    assert found.network.hidden == SMALLEST
    assert found.mean.hidden == SEARCHES * SMALLEST


def test_the_same_years_give_the_same_network(brief, training):
    one = trained(replace(training), Forecast.MONTH)
    other = trained(training.select(range(training.years)), Forecast.MONTH)
    assert one is not other
    assert one.searched.tobytes() == other.searched.tobytes()


def test_the_same_decisions_at_another_plant_give_another_network(brief, training, xiaowan):
    other = ReservoirModel.of(replace(xiaowan, installed_mw=0.6 * xiaowan.installed_mw))
    one, two = (trained(each, Forecast.MONTH) for each in (replace(training), replace(training, model=other)))
    assert one.searched.tobytes() != two.searched.tobytes()


def test_without_opencl_a_network_is_trained_on_threads(brief, training, monkeypatch):
    usual = trained(replace(training), Forecast.MONTH)
    monkeypatch.setattr(ann_training, "runs_here", lambda name: False)
    other = trained(replace(training), Forecast.MONTH)
    operation = operation_of(training, Forecast.MONTH, usual.mean.hidden)
    energies = operation.mean_benefits(np.stack([usual.searched, other.searched]))
    assert energies[1] == pytest.approx(
        energies[0], rel=5e-3
    )  # roundings lead to other networks, of about the same energy


@pytest.mark.parametrize("flows", [FLOWS, np.where(FLOWS < 20, 0.0, FLOWS), np.full(12, 30.0)])
def test_dry_months_and_a_river_that_never_changes_make_a_rule(brief, small, flows, forecast):
    inflow = Inflow(np.outer([0.6, 1.0, 1.5, 0.9], flows), Calendar(1955, 4, first_month=small.first_month))
    if np.ptp(flows) == 0:
        inflow = replace(inflow, flow_m3s=np.full((4, 12), 30.0))
    training = Training.of(optimise(small, inflow, solver="dp", reference=False))
    for family in ("ann-regression", "ann"):
        rule = fit(family, training, forecast)
        run = simulate(rule, training.model, inflow, float(training.storage_start_hm3[0, 0]))
        assert np.isfinite(run.energy_gwh).all()
        now = 0.0 if forecast is Forecast.MONTH else None
        assert np.isfinite(rule.release(3, float(training.storage_start_hm3[0, 0]), now, 0.0))


def test_synthetic_years_are_those_of_the_inflow_model_behind_the_last_month(training):
    model, made = InflowModel.of(training), synthetic_years(training, 300, 1)
    assert made.mean(axis=0) == pytest.approx(training.inflow_m3s.mean(axis=0), rel=0.1)
    uniform = uniform_numbers(1, 0, 1, 301, 12, stream=1)[0]
    assert np.array_equal(made, model.years(float(training.inflow_m3s[-1, -1]), uniform))
    assert np.array_equal(synthetic_years(training, 5, 1), made[:5])
    assert not np.array_equal(synthetic_years(training, 5, 1), synthetic_years(training, 5, 2))


def test_of_too_few_years_no_others_are_made(training):
    assert synthetic_years(training.select([0, 1, 2]), 50, 1).shape == (0, 12)
    assert synthetic_years(training, 0, 1).shape == (0, 12)
