"""All figures of a plan, drawn without any global state, and their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from reservoir.planning.plan import Plan
from reservoir.planning.stopwatch import Timer, untimed
from reservoir.report.figures import (
    annual_energy,
    convergence,
    linkage_map,
    members,
    record_trace,
    storage_fan,
    typical_years,
    water_value_map,
)
from reservoir.report.figures.style import rendered

#: Kinds of files that are written of each figure.
KINDS = ("png", "svg")


def plan_figures(plan: Plan, *, typical: Mapping[str, str] | None = None, watch: Timer = untimed) -> dict[str, Figure]:
    """Draw the figures of a plan, by the name of their files; a figure that would be empty is left out.

    Parameters
    ----------
    plan : Plan
    typical : mapping of str to str, optional
        Labels of the ``wet``, ``normal`` and ``dry`` year, see `typical_years.typical_years`.
    watch : callable
        Times each figure, see `stage_of`.
    """
    drawings: dict[str, Callable[[Plan], Figure | None]] = {
        "storage-fan": storage_fan.storage_fan_figure,
        "typical-years": partial(typical_years.typical_years_figure, years=typical),
        "record-trace": record_trace.record_trace_figure,
        "convergence": convergence.convergence_figure,
        "annual-energy": annual_energy.annual_energy_figure,
        "members": members.members_figure,
    }
    if water_value_map.has_water_values(plan):
        drawings["water-values"] = water_value_map.water_value_figure
    if linkage_map.mean_linkage(plan) is not None:
        drawings["linkage"] = linkage_map.linkage_map_figure
    figures = {}
    for name in _left_out(plan):
        del drawings[name]
    for name, draw in drawings.items():
        with watch(stage_of(name)):
            figure = draw(plan)
        if figure is not None:
            figures[name] = figure
    return figures


def stage_of(name: str) -> str:
    """What a figure is called in a profile."""
    return f"figure {name}"


def plan_captions(plan: Plan, *, typical: Mapping[str, str] | None = None) -> dict[str, str]:
    """Say how to read each figure of `plan_figures`."""
    captions = {
        "storage-fan": storage_fan.caption(plan),
        "typical-years": typical_years.caption(plan, typical),
        "record-trace": record_trace.caption(plan),
        "convergence": convergence.caption(plan) if convergence.has_trace(plan) else None,
        "annual-energy": annual_energy.caption(plan),
        "members": members.caption(plan),
        "water-values": water_value_map.caption(plan),
        "linkage": linkage_map.caption(plan),
    }
    left_out = _left_out(plan)
    return {name: caption for name, caption in captions.items() if caption is not None and name not in left_out}


def _left_out(plan: Plan) -> set[str]:
    """Figures that say nothing of a plan: of years by themselves no trace, of an ensemble no sequence of years."""
    return ({"record-trace"} if plan.horizon.is_year else set()) | (
        {"members"} if plan.inflow.members is None else {"record-trace", "annual-energy"}
    )


def save_figures(
    plan: Plan,
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
    *,
    typical: Mapping[str, str] | None = None,
    watch: Timer = untimed,
) -> list[Path]:
    """Write every figure of a plan as PNG and SVG; the same plan gives the same bytes.

    Parameters
    ----------
    plan : Plan
    folder : Path
        Made if it is not there.
    progress : callable, optional
        Told how many files are written and how many there are.
    typical, watch
        As of `plan_figures`.
    """
    return write_figures(plan_figures(plan, typical=typical, watch=watch), folder, progress, watch)


def write_figures(
    figures: Mapping[str, Figure],
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
    watch: Timer = untimed,
) -> list[Path]:
    """Write figures as PNG and SVG under their names, as `save_figures` does."""
    files = [(name, kind, folder / f"{name}.{kind}") for name in figures for kind in KINDS]
    folder.mkdir(parents=True, exist_ok=True)
    for done, (name, kind, path) in enumerate(files):
        if progress is not None:
            progress(done, len(files))
        with watch(stage_of(name)):
            path.write_bytes(rendered(figures[name], kind))
    if progress is not None:
        progress(len(files), len(files))
    return [path for _, _, path in files]
