"""All figures of an evaluation of rules: which there are, what they say, and that nothing overlaps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from reservoir.report.figures.figures import write_figures
from reservoir.report.figures.rules_figures import RULES_TITLES, rules_captions, rules_figures
from reservoir.rules.evaluation import Evaluation
from tests.report.layout import (
    axes_and_legends_lie_apart_within_the_figure,
    foot_of,
    nothing_overlaps_the_foot,
    tick_labels_lie_apart,
)

pytestmark = pytest.mark.usefixtures("drawn_style")

NAMES = (
    "rule-curves",
    "dispatch-chart",
    "rule-scatter",
    "duration-curves",
    "rule-energy",
    "regret",
    "spill-map",
    "level-trace",
)
#: Figures of one rule, fitted to all years; the others show held-out years.
FITTED = NAMES[:3]


@pytest.fixture(scope="module", params=["evaluation", "october_evaluation"])
def any_evaluation(request: pytest.FixtureRequest) -> Evaluation:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def figures(any_evaluation: Evaluation) -> dict[str, Figure]:
    return rules_figures(any_evaluation)


def only(evaluation: Evaluation, *families: str) -> Evaluation:
    return replace(evaluation, families=tuple(each for each in evaluation.families if each.family in families))


def test_every_figure_is_there_with_title_and_caption(any_evaluation: Evaluation, figures: dict[str, Figure]):
    assert tuple(figures) == NAMES
    assert tuple(rules_captions(any_evaluation)) == NAMES
    assert (
        tuple(name for name in RULES_TITLES if name not in ("robustness", "water-value-table")) == NAMES
    )  # of ensembles, of a family


def test_a_figure_of_a_family_that_was_not_evaluated_is_left_out(evaluation: Evaluation):
    left = only(evaluation, "linear")
    assert tuple(rules_captions(left)) == NAMES[2:]
    assert tuple(rules_figures(left)) == NAMES[2:]


def test_without_families_there_is_no_figure(evaluation: Evaluation):
    assert rules_figures(only(evaluation)) == {}


def test_captions_are_sentences(any_evaluation: Evaluation):
    for caption in rules_captions(any_evaluation).values():
        assert caption[0].isupper()
        assert caption.endswith(".")


def test_every_figure_says_which_years_its_rules_were_fitted_to(figures: dict[str, Figure], any_evaluation: Evaluation):
    for name, figure in figures.items():
        foot = foot_of(figure).get_text()
        held_out = f"Rules on held-out years ({any_evaluation.cross_validation}); "
        assert (f"fitted to all {any_evaluation.training.years} years; " if name in FITTED else held_out) in foot, name


def test_every_figure_says_what_the_rules_were_told(evaluation: Evaluation, october_evaluation: Evaluation):
    for each, told in ((evaluation, "; one-month forecast"), (october_evaluation, "; no forecast")):
        for name, figure in rules_figures(each).items():
            assert told in foot_of(figure).get_text(), name


def test_the_caveats_stand_on_every_figure(evaluation: Evaluation):
    for figure in rules_figures(evaluation).values():
        assert "Inflow made up for a test" in foot_of(figure).get_text()


def test_nothing_overlaps_the_foot(figures: dict[str, Figure]):
    for name, figure in figures.items():
        nothing_overlaps_the_foot(name, figure)


def test_axes_and_legends_do_not_overlap_and_stay_within_the_figure(figures: dict[str, Figure]):
    for name, figure in figures.items():
        axes_and_legends_lie_apart_within_the_figure(name, figure)


def test_tick_labels_do_not_run_into_each_other(figures: dict[str, Figure]):
    for name, figure in figures.items():
        tick_labels_lie_apart(name, figure)


def test_nothing_is_called_guaranteed_that_is_not(october_evaluation: Evaluation, texts):
    shown = rules_figures(only(october_evaluation, "guide-curve", "linear", "standard"))
    assert not [text for figure in shown.values() for text in texts(figure) if "guaranteed" in text]


def test_the_same_evaluation_gives_the_same_bytes(evaluation: Evaluation, tmp_path: Path):
    first = write_figures(rules_figures(evaluation), tmp_path / "first")
    second = write_figures(rules_figures(evaluation), tmp_path / "second")
    assert [path.name for path in first] == [f"{name}.{kind}" for name in NAMES for kind in ("png", "svg")]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_drawings_hold_no_pictures_of_pixels(evaluation: Evaluation, tmp_path: Path):
    for path in write_figures(rules_figures(evaluation), tmp_path):
        assert b"<image" not in path.read_bytes() or path.suffix == ".png", path.name
