import inspect
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.step import power_at
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.planning.plan import optimise
from reservoir.rules import Forecast, Training, fit
from reservoir.rules.base.physics import Physics
from reservoir.rules.base.simulation import simulate
from reservoir.rules.families import sdp
from reservoir.rules.families.zones import fit_standard
from reservoir.rules.inflow_model import EDGES, InflowModel, inflow_chain, uniform_numbers
from tests.hydro import paper
from tests.rules.stored import energy_at_equal_storage

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
    return energy_at_equal_storage(run, START_HM3)


def test_transitions_are_probabilities_and_no_class_is_ruled_out(eight):
    classes, transitions = inflow_chain(eight)
    np.testing.assert_allclose(transitions.sum(axis=2), 1.0)
    assert transitions.min() > 0
    assert transitions.shape == (12, classes.shape[1], classes.shape[1])
    assert np.all(np.diff(classes, axis=1) > 0)


def test_classes_keep_the_mean_inflow(eight):
    classes, _ = inflow_chain(eight)
    means = classes @ np.diff([0.0, *EDGES, 1.0])
    np.testing.assert_allclose(means, eight.inflow_m3s.mean(axis=0), rtol=2e-3)


def test_classes_reach_into_droughts_and_floods(eight):
    classes, _ = inflow_chain(eight)
    assert np.all(classes[:, 0] < eight.inflow_m3s.min(axis=0) * 1.05)
    assert np.all(classes[:, -1] > eight.inflow_m3s.max(axis=0) * 0.95)


def test_a_month_follows_the_month_before_as_in_the_inflow_model(eight):
    classes, transitions = inflow_chain(eight)
    made = InflowModel.of(eight).futures(-1, np.empty((1, 0)), uniform_numbers(3, 0, 4000, 1, 25)[:, 0])[0]
    share = np.diff([0.0, *EDGES, 1.0])
    for step in range(12):
        both = share[:, None] * transitions[step]
        now, before = classes[step] - classes[step] @ share, classes[step - 1] - classes[step - 1] @ share
        spread = np.sqrt((share @ now**2) * (share @ before**2))
        of_model = np.corrcoef(made[:, step], made[:, step + 1])[0, 1]
        assert before @ both @ now / spread == pytest.approx(of_model, abs=0.08)


def test_a_river_that_never_changes_has_one_inflow(eight):
    flow = np.full_like(eight.inflow_m3s, 300.0)
    flow[:, 4] = 0.0
    steady = Training(**{**vars(eight), "inflow_m3s": flow, "inflow_before_m3s": np.roll(flow, 1, axis=1)})
    classes, _ = inflow_chain(steady)
    np.testing.assert_allclose(classes, np.repeat(flow[:1].T, classes.shape[1], axis=1), atol=1e-9)
    rule = sdp.fit(steady, Forecast.MONTH)
    assert all(np.isfinite(decisions(rule, steady)))


@pytest.mark.parametrize("count", [1, 2, 8])
def test_few_years_are_enough(eight, count):
    few = sdp.fit(eight.select(range(count)), Forecast.NONE)
    assert all(np.isfinite(decisions(few, eight)))


def test_a_fuller_lake_is_never_worth_less_between_its_bounds(rule):
    """Above the bound of a flood season it may be: a flood then overtops it."""
    values, grid = np.array(rule.values_gwh), np.array(rule.grid_hm3)
    for step, of_step in enumerate(values):
        within = of_step[grid <= rule.storage_upper_hm3[step - 1] + 1e-6]
        assert len(within) > 60
        assert np.diff(within, axis=0).min() >= -1e-6 * np.abs(values).max()


def test_below_its_bounds_water_is_worth_more_than_between_them(rule):
    grid, values = np.array(rule.grid_hm3), np.array(rule.values_gwh).mean(axis=(0, 2))
    lowest = np.searchsorted(grid, min(rule.storage_lower_hm3) - 1e-6)
    assert 0 < lowest < len(grid) - 60
    slopes = np.diff(values)
    assert slopes[: lowest - 1].min() > slopes[lowest:].max()


def test_what_a_year_brings_is_what_the_rule_makes_where_every_year_is_alike(eight):
    """With one year there is one class a month: nothing is uncertain, and the rule must make what is expected."""
    one = eight.select([0])
    rule = sdp.fit(one, Forecast.MONTH)
    alike = Inflow(flow_m3s=np.repeat(one.inflow_m3s, 6, axis=0), calendar=Calendar(1953, 6))
    made = simulate(rule, one.model, alike, START_HM3).energy_gwh[-1].sum()
    assert rule.value_of_a_year() == pytest.approx(made, rel=2e-3)


def test_more_is_expected_where_the_month_is_known(eight):
    known, unknown = (sdp.fit(eight, forecast).value_of_a_year() for forecast in (Forecast.MONTH, Forecast.NONE))
    assert known > unknown


def values_by_the_paper(rule, plant, step, storage, inflow, following, releases):
    """Energy of a month, less the cost of violations, and the value of what is left, of each release (eq. 6-20)."""
    found = []
    for release in releases:
        month = month_of(rule, plant, step, storage, inflow)
        kept, storages = paper.repaired(month, [release])
        short = max(month.release_lower[0] - kept[0], 0.0) * month.volume(0, 1.0) * rule.physics.months.per_missing_hm3
        violations = [*paper.violations(month, storages), short]
        cost = rule.penalty_gwh * sum(each for each in violations if each > 1e-9)
        left = np.interp(storages[-1], rule.grid_hm3, following)
        found.append(paper.energy_gwh(plant, month, kept, storages) - cost + left)
    return np.array(found)


def month_of(rule, plant, step, storage, inflow):
    """One month of a calendar year, from a storage."""
    return paper.Year(
        inflow=[inflow],
        days=[[31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][step]],
        release_lower=[plant.release_lower_m3s[step]],
        release_upper=[plant.release_upper_m3s[step]],
        storage_lower=[plant.storage_lower_hm3[step]],
        storage_upper=[plant.storage_upper_hm3[step]],
        start=storage,
        end=None,
        dead=float(min(plant.storage_lower_hm3)),
    )


@pytest.mark.parametrize("step", [0, 6, 9, 11])
def test_a_value_is_the_best_that_bellmans_equation_finds(rule, xiaowan, step):
    """By the paper's equations and the exact curves; over the last step it rises by the yearly gain, everywhere."""
    _, classes, transitions, values = rule.arrays
    releases = np.linspace(xiaowan.release_lower_m3s[step], xiaowan.release_upper_m3s[step], 400)
    following, gains = values[(step + 1) % 12], []
    below = len(rule.grid_hm3) - 61
    for place in (below // 2, *(below + between for between in (0, 20, 40, 60))):
        expected_values = np.array(
            [
                values_by_the_paper(rule, xiaowan, step, rule.grid_hm3[place], inflow, following[:, k], releases)
                for k, inflow in enumerate(classes[step])
            ]
        )
        # What is known when the release is chosen: the month's class, or only that of the month before.
        known = rule.forecast is Forecast.MONTH
        expected = (
            transitions[step] @ expected_values.max(axis=1)
            if known
            else (transitions[step] @ expected_values).max(axis=1)
        )
        gains += (expected - values[step, place]).tolist()
    yearly = np.mean(gains) if step == 11 else 0.0
    # Of some 15,000 GWh a year: the rule compares 61 releases, and has tables for curves.
    np.testing.assert_allclose(gains, yearly, atol=1.0)
    assert step < 11 or yearly > 10_000


def test_energy_is_that_of_the_exact_plant(eight):
    """The table of the plant makes what the plan made, month by month, from the same storages and releases."""
    physics = Physics.of(eight)
    plant = physics.plant
    mean = (eight.storage_start_hm3 + eight.storage_end_hm3) / 2
    np.testing.assert_allclose(power_at(plant.curves, mean, eight.release_m3s), eight.power_mw, rtol=2e-5)


def test_a_month_makes_what_the_papers_equations_make(rule, eight, xiaowan):
    physics, release = Physics.of(eight), np.array(1000.0)
    for step, start, inflow in ((0, START_HM3, 1000.0), (6, 7000.0, 2500.0), (9, 12_000.0, 700.0)):
        end, gained = physics.after(step, np.array(start), release, np.array(inflow))
        month = month_of(rule, xiaowan, step, start, inflow)
        kept, storages = paper.repaired(month, [1000.0])
        assert kept == [1000.0]
        assert end == pytest.approx(storages[-1])
        assert gained == pytest.approx(paper.energy_gwh(xiaowan, month, kept, storages), rel=2e-5)


def test_physics_repairs_as_the_simulation_and_charges_what_it_cannot(eight):
    physics = Physics.of(eight)
    least = physics.months.release_lower_m3s[0]
    assert least > 0
    empty = np.array(physics.storage_lower_hm3[0])
    end, _ = physics.after(0, empty, np.array(1e9), np.array(least + 10))
    assert end == pytest.approx(float(empty))
    end, gained = physics.after(0, empty, np.array(0.0), np.array(0.0))
    assert end == empty
    missing = least * physics.months.volume_per_flow[0] * physics.months.per_missing_hm3
    assert gained == pytest.approx(-physics.penalty_gwh * missing)


def test_the_order_of_the_years_makes_no_difference(rule, eight):
    turned = sdp.fit(eight.select([5, 2, 7, 0, 6, 1, 4, 3]), rule.forecast)
    np.testing.assert_allclose(turned.values_gwh, rule.values_gwh, atol=1e-3)
    np.testing.assert_allclose(decisions(turned, eight), decisions(rule, eight), rtol=1e-6)


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
    known = list(inspect.signature(sdp.Sdp.releases).parameters)
    assert known == ["self", "step", "storage_hm3", "inflow_now_m3s", "inflow_before_m3s"]


def test_a_forecast_is_worth_something_on_the_training_years(eight, years):
    knowing, blind = (energy(sdp.fit(eight, forecast), eight, years) for forecast in Forecast)
    assert knowing >= blind


def test_beats_the_standard_rule_on_the_training_years(rule, eight, years):
    assert energy(rule, eight, years) > energy(fit_standard(eight, rule.forecast), eight, years)


def test_stays_below_perfect_foresight(rule, eight, years):
    assert energy(rule, eight, years) <= GWH_PER_MW_VOLUME * float((eight.power_mw * eight.hm3_per_m3s).sum())


def test_other_reservoirs_with_months_of_their_own_bounds(small, small_inflow):
    training = Training.of(optimise(small, small_inflow, solver="dp", reference=False))
    fitted = sdp.fit(training, Forecast.MONTH)
    run = simulate(fitted, training.model, small_inflow, 105.0)
    assert run.operation.violation.sum() == pytest.approx(0.0, abs=1e-9)
    baseline = simulate(fit_standard(training, Forecast.MONTH), training.model, small_inflow, 105.0)
    assert run.energy_gwh.sum() > baseline.energy_gwh.sum()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda content: content.pop("values_gwh"), "values_gwh: is missing"),
        (lambda content: content.pop("months"), "months: is missing"),
        (
            lambda content: content["months"]["inflow_m3s"].pop(),
            r"months\.inflow_m3s: has the wrong number of values \(found 11\); expected 12",
        ),
        (
            lambda content: content["months"].update(volume_per_flow=[None] * 12),
            r"months\.volume_per_flow\[11\]: is null",
        ),
        (
            lambda content: content.update(forecast="year"),
            "forecast: is not one of the choices .*expected 'month' or 'none'",
        ),
        (lambda content: content.update(classes_m3s=[]), "classes_m3s: has the wrong number of values"),
        (lambda content: content.update(penalty_gwh="much"), 'penalty_gwh: is not a number .found "much"'),
        (lambda content: content.update(storage_lower_hm3=[1.0]), "storage_lower_hm3: has the wrong number of values"),
        (lambda content: content["values_gwh"].pop(), r"values_gwh: has the wrong number of values \(found 11\)"),
        (
            lambda content: content["values_gwh"][0].pop(),
            r"values_gwh\[0\]: has the wrong number of values \(found 79\); expected 80, one list for each value of "
            "grid_hm3",
        ),
        (
            lambda content: content["values_gwh"][0][3].pop(),
            r"values_gwh\[0\]\[3\]: has the wrong number of values \(found 8\); expected 9, one for each",
        ),
        (lambda content: content["grid_hm3"].reverse(), r"grid_hm3\[1\]: is less than the previous value"),
        (
            lambda content: content["grid_hm3"].__setitem__(3, content["grid_hm3"][3] + 1.0),
            "grid_hm3: is not evenly spaced",
        ),
        (
            lambda content: content["grid_hm3"].__setitem__(3, float("nan")),
            r"grid_hm3\[3\]: is not a finite number \(found nan\)",
        ),
        (
            lambda content: content["classes_m3s"][2].reverse(),
            r"classes_m3s\[2\]\[1\]: is less than the previous value",
        ),
        (
            lambda content: content["classes_m3s"][2].pop(),
            r"classes_m3s\[2\]: has the wrong number of values \(found 8\)",
        ),
        (
            lambda content: content["transitions"][0].__setitem__(0, [2.0, -1.0]),
            r"transitions\[0\]\[0\]\[1\]: is negative",
        ),
        (
            lambda content: content["transitions"][0].__setitem__(1, [0.5, 0.4]),
            r"transitions\[0\]\[1\]: does not sum to 1 \(found 0\.9\)",
        ),
        (
            lambda content: content["transitions"][5].pop(),
            r"transitions\[5\]: has the wrong number of values \(found 8\)",
        ),
        (lambda content: content["plant"].pop("level_m"), r"plant\.level_m: is missing"),
        (
            lambda content: content["plant"]["level_m"].pop(),
            r"plant\.level_m: has the wrong number of values \(found 532\); expected 533, one for each value of "
            "storage_hm3",
        ),
        (lambda content: content["plant"]["head_m"].reverse(), r"plant\.head_m\[1\]: is less than the previous value"),
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


def test_families_share_the_values_of_the_same_years(training, monkeypatch):
    years, solved = replace(training), []
    repeating = sdp.repeating_values
    monkeypatch.setattr(sdp, "repeating_values", lambda *given: solved.append(given) or repeating(*given))
    rules = [fit(family, years) for family in ("sdp", "water-value", "replan")]
    assert rules[2].end is rules[0]
    assert len(solved) == 1
    assert fit("sdp", training.select(range(training.years))) == rules[0]
    assert len(solved) == 2
