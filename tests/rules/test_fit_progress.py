"""Fits tell which part of them is done, and do the same whether anybody listens or not."""

import numpy as np
import pytest

from reservoir.rules import Forecast, fit
from reservoir.rules.base.training import part_of_fit, parts_of_fit, parts_told, tell_part
from reservoir.rules.evaluation import fitted_rules
from reservoir.rules.families import replan
from reservoir.rules.reliability import fit_promise, promising
from reservoir.rules.scores import evaluate_rules


def test_parts_of_parts_are_told_as_parts_of_the_whole():
    told = []
    with parts_told(told.append):
        for item in parts_of_fit("ab"):
            for _ in parts_of_fit((item, item), 4):
                tell_part(0.5)
        with part_of_fit(1, 2):
            tell_part(0.5)
        tell_part(1.0)
    tell_part(0.3)  # nobody listens any more
    assert told == [0, 0, 1 / 16, 1 / 8, 3 / 16, 0.5, 0.5, 9 / 16, 5 / 8, 11 / 16, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("family", ["zones", "linear-search"])
def test_a_search_tells_its_parts_and_finds_the_same(training, family):
    told, short = [], training.select(range(4))
    with parts_told(told.append):
        rule = fit(family, short)
    assert rule == fit(family, training.select(range(4)))
    assert told == sorted(told)
    assert len(set(told)) > 10
    assert told[0] >= 0
    assert told[-1] < 1


def test_a_promise_tells_its_tries(training):
    told = []
    with parts_told(told.append):
        fit_promise(fit, "water-value", promising(training, 0.9), Forecast.MONTH)
    assert len(told) > 2
    assert told == sorted(told)


def test_the_bar_of_a_family_moves_within_a_fit(training):
    told = []
    fitted_rules(["zones"], training.select(range(4)), Forecast.MONTH, 2, lambda *each: told.append(each))
    done = [part for _, part, _ in told]
    assert {(stage, total) for stage, _, total in told} == {("fit zones", 3)}
    assert done == sorted(done)
    assert {0, 1, 2, 3} < set(done)
    assert any(0 < part < 1 for part in done)


def test_a_rule_that_replans_tells_the_months_that_it_has_operated(training, inflow, monkeypatch):
    """Piece by piece, and decides the same in one piece."""
    rule = fit("replan", training.select(range(4))).changed(members=40)
    monkeypatch.setattr(replan, "MOST_FUTURES", 40 * 7)
    told, two_years = [], inflow.span(0, 2)
    known = training.model, two_years, training.start_hm3, None, None, ["record"] * 2
    pieces = [rule.changed(members=40)] * 2, [fit("linear", training)] * 2
    runs = evaluate_rules(pieces, *known, simulated=lambda *each: told.append(each))
    done = [months for months, _ in told]
    assert {total for _, total in told} == {48}
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 48)
    assert sum(0 < months < 24 for months in done) >= 3
    monkeypatch.undo()
    whole = evaluate_rules([[rule.changed(members=40)] * 2], *known[:-1], ["record"])[0]
    assert np.allclose(runs[0].operation.release_m3s, whole.operation.release_m3s, rtol=1e-5)
