"""Why a rule spills with room left in the lake."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.unit_system import UnitSystem
from reservoir.rules import FAMILIES, fit
from reservoir.rules.findings import BEFORE_LIMIT, LEAST_RELEASE, NO_TURBINES, spill_with_room
from reservoir.rules.scores import evaluate_record


@pytest.fixture(scope="module")
def run(training, xiaowan, ten_years):
    """A guide curve that ends every month at dead storage: all of a flood is released, though the lake is empty."""
    rule = fit("guide-curve", training)
    lowest = tuple(np.full(12, float(xiaowan.storage_lower_hm3.min())).tolist())
    rule = rule.model_copy(update={"guide_hm3": lowest, "lower_hm3": lowest})
    return evaluate_record(rule, xiaowan, ten_years, foresight=False)


def with_operation(run, **arrays):
    return replace(run, operation=replace(run.operation, **arrays))


def test_a_rule_that_aims_at_a_storage_says_so(run):
    spill = run.operation.spill_m3s
    months = int((spill > 1e-3 * run.operation.release_m3s).sum())
    volume = float((spill * run.inflow.calendar.hm3_per_m3s).sum()) / 10
    said = spill_with_room(run)
    assert said.startswith(f"{volume:,.0f} hm³ a year in {months} of 120 months: ")
    assert f"{FAMILIES['guide-curve'].spill_reason} (" in said
    assert spill_with_room(run, UnitSystem.of("us")).partition(" a year")[0].endswith("acre-ft")


def test_without_spill_or_without_room_there_is_nothing_to_say(run):
    operation = run.operation
    assert spill_with_room(with_operation(run, turbined_m3s=operation.release_m3s)) == ""
    full = operation.storage_hm3.copy()
    full[:, 1:] = run.limits.storage_upper_hm3
    assert spill_with_room(with_operation(run, storage_hm3=full)) == ""


def test_each_month_has_the_first_reason_that_holds(run):
    """One month of spill in an otherwise dry record, made so that one reason after the other holds."""
    operation, limits = run.operation, run.limits
    release, storage = operation.release_m3s.copy(), operation.storage_hm3.copy()
    turbined = release.copy()
    falls = np.flatnonzero(np.diff(limits.storage_upper_hm3[0]) < 0)
    assert len(falls), "the flood limit of the case"
    step = int(falls[0])
    turbined[0, step] = 0.0
    storage[0, step + 1] = limits.storage_upper_hm3[0, step + 1]
    made = {"release_m3s": release, "turbined_m3s": turbined, "storage_hm3": storage}
    assert spill_with_room(with_operation(run, **made)).endswith(f"of 120 months: {BEFORE_LIMIT} (1 month)")
    storage[0, step + 1] = limits.storage_lower_hm3.min()
    assert spill_with_room(with_operation(run, **made)).endswith(f": {NO_TURBINES} (1 month)")
    turbined[0, step] = release[0, step] / 2
    assert spill_with_room(with_operation(run, **made)).endswith(f": {FAMILIES['guide-curve'].spill_reason} (1 month)")
    release[0, step] = limits.release_lower_m3s[0, step]
    turbined[0, step] = release[0, step] / 2
    assert spill_with_room(with_operation(run, **made)).endswith(f": {LEAST_RELEASE} (1 month)")
