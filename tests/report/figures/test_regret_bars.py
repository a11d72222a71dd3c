"""Families are ranked by what they lack on held-out years."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from reservoir.report.figures.record_runs import TRAINING
from reservoir.report.figures.rule_scores import by_regret, draw_regret
from reservoir.rules.evaluation import HELD_OUT, Evaluation


def test_the_family_of_least_regret_is_on_top(evaluation: Evaluation):
    ax = draw_regret(Figure().add_subplot(), evaluation)
    ranked = by_regret(evaluation)
    regrets = [each.runs[HELD_OUT].score.regret for each in ranked]
    assert regrets == sorted(regrets)
    assert [label.get_text() for label in ax.get_yticklabels()] == [each.family for each in ranked]
    assert ax.yaxis_inverted()


def test_bars_are_the_regrets_with_their_share_of_foresight(evaluation: Evaluation, texts):
    ax = draw_regret(Figure().add_subplot(), evaluation)
    scores = [each.runs[key].score for each in by_regret(evaluation) for key in (HELD_OUT, TRAINING)]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([score.regret for score in scores])
    written = [text for text in texts(ax) if text.endswith("% of foresight")]
    assert len(written) == len(scores)
    for text, score in zip(written, scores, strict=True):
        assert f"{score.percent_of_foresight:.1f} %" in text
