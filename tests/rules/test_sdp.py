import inspect
import json
import pickle

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.step import power_at
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.planning.plan import optimise
from reservoir.rules import Forecast, Training
from reservoir.rules.base.simulation import simulate
from reservoir.rules.evaluation.scores import energy_at_equal_storage
from reservoir.rules.families import standard
from reservoir.rules.families.sdp import rule as sdp
from reservoir.rules.families.sdp.inflow_chain import inflow_chain
from reservoir.rules.families.sdp.month_physics import Physics
from reservoir.rules.families.sdp.value_iteration import interpolate_values, outcomes, repeating_values

START_HM3 = 14557.0


@pytest.fixture(scope="module")
def years(inflow):
    """The first eight years of the bundled record."""
    return Inflow(flow_m3s=inflow.flow_m3s[:8], calendar=Calendar(1953, 8))


@pytest.fixture(scope="module")
def eight(xiaowan, years):
    return Training.of(optimise(xiaowan, years, solver="dp", reference=False))


@pytest.fixture(scope="module", params=list(Forecast))
def rule(request, eight):
    return sdp.fit(eight, request.param)


def decisions(rule, training):
    """What a rule asks for in every training month, from the plan's storage."""
    return [
        rule.release(step, training.storage_start_hm3[year, step], now, training.inflow_before_m3s[year, step])
        for year in range(training.years)
        for step, now in enumerate(training.inflow_m3s[year])
    ]


def energy(rule, training, years):
    """Energy of the training years, with the water left short of the start charged at its value."""
    run = simulate(rule, training.model, years, START_HM3)
    return energy_at_equal_storage(run, training.model, START_HM3).sum()


def test_transitions_are_probabilities_and_no_class_is_ruled_out(eight):
    classes, transitions = inflow_chain(eight)
    np.testing.assert_allclose(transitions.sum(axis=2), 1.0)
    assert transitions.min() > 0
    assert transitions.shape == (12, classes.shape[1], classes.shape[1])
    assert np.all(np.diff(classes, axis=1) > 0)


def test_classes_keep_the_mean_inflow(eight):
    classes, _ = inflow_chain(eight)
    groups = np.array_split(np.arange(eight.years), classes.shape[1])
    means = classes @ np.array([len(group) for group in groups]) / eight.years
    np.testing.assert_allclose(means, eight.inflow_m3s.mean(axis=0))


def test_transitions_lean_towards_what_was_seen(eight):
    flow = np.tile(np.repeat([100.0, 200.0], 4)[:, None], 12)
    chain = {"inflow_m3s": flow, "inflow_before_m3s": flow}
    steady = Training(**{**vars(eight), **chain})
    _, transitions = inflow_chain(steady)
    # Four years seen after each class, and one more as the months' frequencies have it.
    np.testing.assert_allclose(transitions, np.broadcast_to([[0.9, 0.1], [0.1, 0.9]], (12, 2, 2)))


@pytest.mark.parametrize("count", [1, 2, 8])
def test_few_years_are_enough(eight, count):
    few = sdp.fit(eight.select(range(count)), Forecast.NONE)
    assert all(np.isfinite(decisions(few, eight)))


def test_a_fuller_lake_is_never_worth_less(rule):
    values = np.array(rule.values_gwh)
    assert np.diff(values, axis=1).min() >= -1e-6 * np.abs(values).max()


def test_values_repeat_after_a_year(rule):
    """Going back one step more from the first leaves the last step's values, but for the yearly gain."""
    grid, classes, transitions, values = rule.arrays
    again = repeating_values(rule.physics, rule.forecast, grid, classes, transitions)
    np.testing.assert_array_equal(again, values)
    end, gained = outcomes(rule.physics, rule.forecast, 11, grid, classes[11])
    worth = gained + interpolate_values(grid, values[0], end)
    if rule.forecast is Forecast.MONTH:
        back = worth.max(axis=0) @ transitions[11].T
    else:
        back = (worth @ transitions[11].T).max(axis=0)
    difference = back - values[11]
    assert np.ptp(difference) < 1e-5 * np.abs(difference).max()


def test_energy_is_that_of_the_exact_plant(eight):
    """The table of the plant makes what the plan made, month by month, from the same storages and releases."""
    physics = Physics.of(eight)
    plant = physics.plant
    mean = (eight.storage_start_hm3 + eight.storage_end_hm3) / 2
    np.testing.assert_allclose(power_at(plant.curves, mean, eight.release_m3s), eight.power_mw, rtol=2e-5)
    full = np.array(START_HM3)
    flow = np.array(1000.0)
    end, gained = physics.after(0, full, flow, flow)
    assert end == pytest.approx(START_HM3)
    expected = power_at(plant.curves, full, flow) * physics.months.volume_per_flow[0] * GWH_PER_MW_VOLUME
    assert gained == pytest.approx(float(expected))


def test_physics_repairs_as_the_simulation_and_charges_what_it_cannot(eight):
    physics = Physics.of(eight)
    least = physics.months.release_lower_m3s[0]
    assert least > 0
    empty = np.array(physics.storage_lower_hm3[0])
    end, _ = physics.after(0, empty, np.array(1e9), np.array(least + 10))
    assert end == pytest.approx(float(empty))
    end, gained = physics.after(0, empty, np.array(0.0), np.array(0.0))
    assert end < empty
    short = (float(empty) - float(end)) / float(empty)
    made = gained + physics.penalty_gwh * short
    assert 0 <= made < 5000


def test_the_same_decision_every_time(rule, eight):
    assert decisions(rule, eight) == decisions(rule, eight)
    assert sdp.fit(eight, rule.forecast) == rule


def test_round_trip_gives_an_equal_rule_and_equal_decisions(rule, eight):
    back = sdp.Sdp.from_dict(json.loads(json.dumps(rule.to_dict(), allow_nan=False)))
    assert back == rule
    assert back.to_dict() == rule.to_dict()
    assert decisions(back, eight) == decisions(rule, eight)


def test_decisions_keep_the_bounds_of_the_release(rule, eight):
    for step, (least, most) in enumerate(
        zip(rule.physics.months.release_lower_m3s, rule.physics.months.release_upper_m3s, strict=True)
    ):
        for storage in (rule.grid_hm3[0], rule.grid_hm3[30], rule.grid_hm3[-1], 2 * rule.grid_hm3[-1]):
            for inflow in (0.0, 500.0, 20_000.0):
                assert least <= rule.release(step, storage, inflow, inflow) <= most


def test_without_a_forecast_the_inflow_of_the_month_changes_nothing(eight):
    blind = sdp.fit(eight, Forecast.NONE)
    asked = {blind.release(6, 9000.0, now, 1500.0) for now in (None, 100.0, 9000.0)}
    assert len(asked) == 1


def test_nothing_of_the_future_can_be_told_to_the_rule():
    known = list(inspect.signature(sdp.Sdp.release).parameters)
    assert known == ["self", "step", "storage_hm3", "inflow_now_m3s", "inflow_before_m3s"]


def test_a_forecast_is_worth_something_on_the_training_years(eight, years):
    knowing, blind = (energy(sdp.fit(eight, forecast), eight, years) for forecast in Forecast)
    assert knowing >= blind


def test_beats_the_standard_rule_on_the_training_years(rule, eight, years):
    assert energy(rule, eight, years) > energy(standard.fit(eight, rule.forecast), eight, years)


def test_stays_below_perfect_foresight(rule, eight, years):
    assert energy(rule, eight, years) <= GWH_PER_MW_VOLUME * float((eight.power_mw * eight.hm3_per_m3s).sum())


def test_other_reservoirs_with_months_of_their_own_bounds(small, small_inflow):
    training = Training.of(optimise(small, small_inflow, solver="dp", reference=False))
    fitted = sdp.fit(training, Forecast.MONTH)
    run = simulate(fitted, training.model, small_inflow, 105.0)
    assert run.operation.violation.sum() == pytest.approx(0.0, abs=1e-9)
    baseline = simulate(standard.fit(training, Forecast.MONTH), training.model, small_inflow, 105.0)
    assert run.energy_gwh.sum() > baseline.energy_gwh.sum()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda content: content.pop("values_gwh"), "values_gwh: is missing"),
        (lambda content: content.pop("months"), "months: is missing"),
        (
            lambda content: content["months"]["inflow_m3s"].pop(),
            r"months\.inflow_m3s: has too few or too many values \(found 11\); expected 12",
        ),
        (
            lambda content: content["months"].update(volume_per_flow=[None] * 12),
            r"months\.volume_per_flow\[11\]: is null",
        ),
        (
            lambda content: content.update(forecast="year"),
            "forecast: is not one of the choices .*expected 'month' or 'none'",
        ),
        (lambda content: content.update(classes_m3s=[]), "classes_m3s: has too few or too many values"),
        (lambda content: content.update(penalty_gwh="much"), 'penalty_gwh: is not a number .found "much"'),
        (lambda content: content.update(storage_lower_hm3=[1.0]), "storage_lower_hm3: has too few"),
        (lambda content: content["values_gwh"].pop(), r"values_gwh: has too few or too many values \(found 11\)"),
        (
            lambda content: content["values_gwh"][0].pop(),
            r"values_gwh\[0\]: has too few or too many values \(found 60\); expected 61, one list for each of grid_hm3",
        ),
        (
            lambda content: content["values_gwh"][0][3].pop(),
            r"values_gwh\[0\]\[3\]: has too few or too many values \(found 1\); expected 2, one for each",
        ),
        (lambda content: content["grid_hm3"].reverse(), r"grid_hm3\[1\]: is less than the value before it"),
        (
            lambda content: content["grid_hm3"].__setitem__(3, content["grid_hm3"][3] + 1.0),
            "grid_hm3: does not rise in even steps",
        ),
        (
            lambda content: content["grid_hm3"].__setitem__(3, float("nan")),
            r"grid_hm3\[3\]: is not a finite number \(found nan\)",
        ),
        (
            lambda content: content["classes_m3s"][2].reverse(),
            r"classes_m3s\[2\]\[1\]: is less than the value before it",
        ),
        (
            lambda content: content["classes_m3s"][2].pop(),
            r"classes_m3s\[2\]: has too few or too many values \(found 1\)",
        ),
        (
            lambda content: content["transitions"][0].__setitem__(0, [2.0, -1.0]),
            r"transitions\[0\]\[0\]\[1\]: is below 0",
        ),
        (
            lambda content: content["transitions"][0].__setitem__(1, [0.5, 0.4]),
            r"transitions\[0\]\[1\]: does not sum to 1 \(found 0\.9\)",
        ),
        (
            lambda content: content["transitions"][5].pop(),
            r"transitions\[5\]: has too few or too many values \(found 1\)",
        ),
        (lambda content: content["plant"].pop("level_m"), r"plant\.level_m: is missing"),
        (
            lambda content: content["plant"]["level_m"].pop(),
            r"plant\.level_m: has too few or too many values \(found 400\); expected 401, one for each of storage_hm3",
        ),
        (lambda content: content["plant"]["head_m"].reverse(), r"plant\.head_m\[1\]: is less than the value before it"),
        (
            lambda content: content["plant"].update(installed_mw=float("inf")),
            r"plant\.installed_mw: is not a finite number",
        ),
    ],
)
def test_an_edited_rule_is_refused_with_what_and_where(rule, spoil, said):
    content = json.loads(json.dumps(rule.to_dict()))
    spoil(content)
    with pytest.raises(InputError, match=said):
        sdp.Sdp.from_dict(content)


def test_a_rule_that_has_decided_is_still_equal_hashable_and_picklable(rule):
    again, other = pickle.loads(pickle.dumps(rule)), sdp.Sdp.from_dict(rule.to_dict())
    assert [each.release(3, 9000.0, 900.0, 700.0) for each in (again, other)] == [
        rule.release(3, 9000.0, 900.0, 700.0)
    ] * 2
    assert again == rule == other
    assert len({again, rule, other}) == 1
    assert again.to_dict() == rule.to_dict()
