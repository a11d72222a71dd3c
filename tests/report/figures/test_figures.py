"""All figures of a plan: which there are, that nothing overlaps, and that their files are the same every time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import reservoir as package
from reservoir.hydro.attributes import ReferenceLevels
from reservoir.planning.plan import Plan
from reservoir.report.figures.figures import plan_captions, plan_figures, save_figures
from tests.report.layout import (
    axes_and_legends_lie_apart_within_the_figure,
    foot_of,
    nothing_overlaps_the_foot,
    tick_labels_lie_apart,
)

pytestmark = pytest.mark.usefixtures("drawn_style")

NAMES = ("storage-fan", "typical-years", "convergence", "annual-energy")
PLANS = ("plan", "one_year", "june_plan")
#: What draws figures that a process draws itself, and has drawn by a copy of it.
DRAWS = {"storage-fan": "storages.draw_storage_fan", "annual-energy": "annual_energy.draw_annual_energy"}


@pytest.fixture(scope="module", params=PLANS)
def any_plan(request: pytest.FixtureRequest) -> Plan:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def figures(any_plan: Plan) -> dict[str, Figure]:
    return plan_figures(any_plan)


def test_every_figure_is_there(any_plan: Plan, figures: dict[str, Figure]):
    assert tuple(figures) == NAMES
    assert tuple(plan_captions(any_plan)) == NAMES


def test_a_solver_without_generations_has_no_convergence_figure(dp_plan: Plan, tmp_path: Path):
    assert "convergence" not in plan_figures(dp_plan)
    assert "convergence" not in plan_captions(dp_plan)
    assert not [path for path in save_figures(dp_plan, tmp_path) if "convergence" in path.name]


def test_captions_are_sentences(any_plan: Plan):
    for caption in plan_captions(any_plan).values():
        assert caption[0].isupper()
        assert caption.endswith(".")


def test_every_vertical_axis_has_a_unit(figures: dict[str, Figure]):
    for name, figure in figures.items():
        for ax in figure.get_axes():
            assert " ".join(ax.get_ylabel().split()).endswith(
                (" (hm³)", " (m)", " (m³/s)", " (MW)", " (GWh)", " (%)")
            ), name


def test_the_caveats_stand_on_every_figure(figures: dict[str, Figure]):
    for figure in figures.values():
        foot = foot_of(figure).get_text()
        assert "Inflow made up for a test" in foot
        assert "not measured" in foot


def test_nothing_overlaps_the_caveats(figures: dict[str, Figure]):
    for name, figure in figures.items():
        nothing_overlaps_the_foot(name, figure)


def test_axes_and_legends_do_not_overlap_and_stay_within_the_figure(figures: dict[str, Figure]):
    for name, figure in figures.items():
        axes_and_legends_lie_apart_within_the_figure(name, figure)


def test_tick_labels_do_not_run_into_each_other(figures: dict[str, Figure]):
    for name, figure in figures.items():
        tick_labels_lie_apart(name, figure)


def test_a_reservoir_without_marks_and_guaranteed_energy_has_its_figures(plan: Plan, tmp_path: Path):
    plain = replace(
        plan, reservoir=replace(plan.reservoir, marks=ReferenceLevels(), guaranteed_energy_gwh=None, caveat="")
    )
    assert len(save_figures(plain, tmp_path)) == 2 * len(NAMES)


def test_the_same_plan_gives_the_same_bytes(plan: Plan, tmp_path: Path):
    first = save_figures(plan, tmp_path / "first")
    second = save_figures(plan, tmp_path / "second")
    assert [path.name for path in first] == [f"{name}.{kind}" for name in NAMES for kind in ("png", "svg")]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_a_copy_of_the_process_draws_the_same(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    files = {}
    for processors in ("1", "2"):
        monkeypatch.setenv("RESERVOIR_THREADS", processors)
        files[processors] = [(path.name, path.read_bytes()) for path in save_figures(plan, tmp_path / processors)]
    assert files["1"] == files["2"]


def test_progress_counts_the_files(plan: Plan, tmp_path: Path):
    told = []
    files = save_figures(plan, tmp_path, lambda done, total: told.append((done, total)))
    assert told == [(done, len(files)) for done in range(len(files) + 1)]


@pytest.mark.parametrize("horizon", ["year", "record", "2"])
@pytest.mark.parametrize("case", ["xiaowan", "xiaowan-observed", "carryover"])
def test_every_figure_of_every_bundled_case_and_horizon_is_drawn(case: str, horizon: str):
    """Of three years, of one, with all kinds of families, with one, and with zones that are never entered."""
    from reservoir.report.figures.rules_figures import rules_figures
    from reservoir.rules.evaluation import evaluate
    from tests.report.conftest import with_dispatch_chart

    bundled = package.bundled_case(case)
    for years in (3, 1):
        plan = package.optimise(bundled.reservoir(), bundled.inflow().span(0, years), solver="dp", horizon=horizon)
        figures = set(plan_figures(plan))
        assert {"storage-fan", "typical-years", "annual-energy"} <= figures
        assert ("record-trace" in figures) == (horizon != "year")
        if years == 1:
            continue
        found = with_dispatch_chart(evaluate(plan, folds=2, families=("guide-curve", "standard")))
        *_, zones = found.families
        empty = zones.rule.model_copy(update={"curves_hm3": (zones.rule.curves_hm3[1],) * 3})
        alone = replace(found, families=(replace(zones, rule=empty),))
        assert {"rule-curves", "dispatch-chart", "regret", "level-trace"} <= set(rules_figures(found))
        assert "dispatch-chart" in rules_figures(alone)


@pytest.mark.parametrize("name", ["storage-fan", "annual-energy"])
def test_a_figure_that_fails_is_left_out_of_a_saved_plan(
    name: str, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from reservoir.io.plan_folder.saved_plan import read_plan

    def fail(*_: object, **__: object) -> None:
        raise ValueError("nothing to draw")

    monkeypatch.setenv("RESERVOIR_THREADS", "2")
    monkeypatch.setattr(f"reservoir.report.figures.{DRAWS[name]}", fail)
    with pytest.warns(UserWarning, match=f"figure {name} is left out, for it could not be drawn"):
        folder = plan.save(tmp_path / "plan")
    saved = read_plan(folder)
    assert saved.origin["figures_left_out"] == {name: "ValueError: nothing to draw"}
    assert sorted({path.stem for path in (folder / "figures").iterdir()}) == sorted(saved.origin["figures"])
    assert name not in saved.origin["figures"]
    with pytest.raises(ValueError, match="nothing to draw"):
        plan_figures(plan)
