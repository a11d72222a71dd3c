"""All figures of a plan, drawn without any global state, and their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.figure import Figure

from reservoir.plan import Plan
from reservoir.report import annual_energy, convergence, storage_fan, typical_years
from reservoir.report.style import rendered

#: Kinds of files that are written of each figure.
KINDS = ("png", "svg")


def plan_figures(plan: Plan, *, typical: Mapping[str, str] | None = None) -> dict[str, Figure]:
    """Draw the figures of a plan, by the name of their files; a figure that would be empty is left out.

    Parameters
    ----------
    plan : Plan
    typical : mapping of str to str, optional
        Labels of the ``wet``, ``normal`` and ``dry`` year, see `typical_years.typical_years`.
    """
    figures = {
        "storage-fan": storage_fan.storage_fan_figure(plan),
        "typical-years": typical_years.typical_years_figure(plan, typical),
        "convergence": convergence.convergence_figure(plan),
        "annual-energy": annual_energy.annual_energy_figure(plan),
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def plan_captions(plan: Plan, *, typical: Mapping[str, str] | None = None) -> dict[str, str]:
    """Say how to read each figure of `plan_figures`."""
    captions = {
        "storage-fan": storage_fan.caption(plan),
        "typical-years": typical_years.caption(plan, typical),
        "convergence": convergence.caption(plan) if convergence.has_trace(plan) else None,
        "annual-energy": annual_energy.caption(plan),
    }
    return {name: caption for name, caption in captions.items() if caption is not None}


def save_figures(
    plan: Plan,
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
    *,
    typical: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write every figure of a plan as PNG and SVG; the same plan gives the same bytes.

    Parameters
    ----------
    plan : Plan
    folder : Path
        Made if it is not there.
    progress : callable, optional
        Told how many files are written and how many there are.
    typical : mapping of str to str, optional
        As of `plan_figures`.
    """
    return write_figures(plan_figures(plan, typical=typical), folder, progress)


def write_figures(
    figures: Mapping[str, Figure], folder: Path, progress: Callable[[int, int], None] | None = None
) -> list[Path]:
    """Write figures as PNG and SVG under their names, as `save_figures` does."""
    files = [(figure, kind, folder / f"{name}.{kind}") for name, figure in figures.items() for kind in KINDS]
    folder.mkdir(parents=True, exist_ok=True)
    for done, (figure, kind, path) in enumerate(files):
        if progress is not None:
            progress(done, len(files))
        path.write_bytes(rendered(figure, kind))
    if progress is not None:
        progress(len(files), len(files))
    return [path for _, _, path in files]
