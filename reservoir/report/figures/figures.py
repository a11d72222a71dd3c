"""All figures of a plan, drawn without any global state, and their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from matplotlib.figure import Figure

from reservoir.planning.plan import Plan
from reservoir.planning.stopwatch import Timer, untimed
from reservoir.report.figures import annual_energy as energy
from reservoir.report.figures import convergence, storages, typical_years
from reservoir.report.figures import water_value_map as water
from reservoir.report.figures.style import rendered
from reservoir.runtime import made_in_a_copy

_Made = TypeVar("_Made")
#: A figure, or what draws it, or None where it would be empty.
Drawn = Figure | Callable[[], Figure | None]
#: Kinds of files that are written of each figure.
KINDS = ("png", "svg")


def attempted(name: str, made: Callable[[], _Made], left_out: dict[str, str] | None) -> _Made | None:
    """What is made for a figure, or None if that fails: no figure ends a command that has results.

    Parameters
    ----------
    name : str
    made : callable
    left_out : dict of str to str, or None
        Where the error is noted, by the name; without it, errors are raised.
    """
    if left_out is None:
        return made()
    try:
        return made()
    except Exception as error:
        left_out[name] = f"{type(error).__name__}: {error}"
        return None


def left_out_sentences(left_out: Mapping[str, str]) -> list[str]:
    """A line for each figure that failed."""
    why = "is left out, for it could not be drawn"
    return [f"The figure {name} {why} ({problem}); all else is complete" for name, problem in left_out.items()]


def plan_figures(
    plan: Plan,
    *,
    typical: Mapping[str, str] | None = None,
    watch: Timer = untimed,
    left_out: dict[str, str] | None = None,
) -> dict[str, Figure]:
    """Draw the figures of a plan, by the name of their files; a figure that would be empty is left out.

    Parameters
    ----------
    plan : Plan
    typical : mapping of str to str, optional
        Labels of the ``wet``, ``normal`` and ``dry`` year, see `typical_years.typical_years`.
    watch : callable
        Times each figure, see `stage_of`.
    left_out : dict, optional
        As of `attempted`.
    """
    figures = dict[str, Figure | None]()
    for name, drawing in _drawings(plan, typical).items():
        with watch(stage_of(name)):
            figures[name] = attempted(name, partial(drawing.figure, plan), left_out)
    return {name: figure for name, figure in figures.items() if figure is not None}


def stage_of(name: str) -> str:
    """What a figure is called in a profile."""
    return f"figure {name}"


def plan_captions(
    plan: Plan, *, typical: Mapping[str, str] | None = None, left_out: dict[str, str] | None = None
) -> dict[str, str]:
    """Say how to read each figure of `plan_figures`; as there, a figure whose caption fails may be left out."""
    shown = [(name, drawing) for name, drawing in _drawings(plan, typical).items() if name not in (left_out or ())]
    captions = {name: attempted(name, partial(drawing.caption, plan), left_out) for name, drawing in shown}
    return {name: caption for name, caption in captions.items() if caption is not None}


class _Drawing(NamedTuple):
    """How a figure is drawn, how it is read, and whether a plan has it; None from either where it would be empty."""

    figure: Callable[[Plan], Figure | None]
    caption: Callable[[Plan], str | None]
    shown: bool = True


def _drawings(plan: Plan, typical: Mapping[str, str] | None) -> dict[str, _Drawing]:
    """The figures that a plan has."""
    # Of years by themselves there is no trace, of an ensemble no sequence of years.
    ensemble, trace = plan.inflow.members is not None, not plan.horizon.is_year
    linkage = convergence.mean_linkage(plan) is not None
    draw_typical = partial(typical_years.typical_years_figure, years=typical)
    read_typical = partial(typical_years.typical_years_caption, years=typical)
    drawings = {
        "storage-fan": _Drawing(storages.storage_fan_figure, storages.storage_fan_caption),
        "typical-years": _Drawing(draw_typical, read_typical),
        "record-trace": _Drawing(storages.record_trace_figure, storages.record_trace_caption, trace and not ensemble),
        "convergence": _Drawing(convergence.convergence_figure, convergence.convergence_caption),
        "annual-energy": _Drawing(energy.annual_energy_figure, energy.annual_energy_caption, not ensemble),
        "members": _Drawing(energy.members_figure, energy.members_caption, ensemble),
        "water-values": _Drawing(water.water_value_figure, water.water_value_caption, water.has_water_values(plan)),
        "linkage": _Drawing(convergence.linkage_map_figure, convergence.linkage_caption, linkage),
    }
    return {name: drawing for name, drawing in drawings.items() if drawing.shown}


def save_figures(
    plan: Plan,
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
    *,
    typical: Mapping[str, str] | None = None,
    watch: Timer = untimed,
    left_out: dict[str, str] | None = None,
) -> list[Path]:
    """Write every figure of a plan as PNG and SVG; the same plan gives the same bytes.

    Parameters
    ----------
    plan : Plan
    folder : Path
        Made if it is not there.
    progress : callable, optional
        Told how many files are written and how many there are.
    typical, watch, left_out
        As of `plan_figures`.
    """
    drawings = {name: partial(drawing.figure, plan) for name, drawing in _drawings(plan, typical).items()}
    return write_figures(drawings, folder, progress, watch, left_out)


def write_figures(
    figures: Mapping[str, Drawn],
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
    watch: Timer = untimed,
    left_out: dict[str, str] | None = None,
) -> list[Path]:
    """Write figures as PNG and SVG under their names, as `save_figures` does.

    A copy of this process draws every other one meanwhile; what it fails to draw is drawn here.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names, total, files = list(figures), len(figures) * len(KINDS), list[Path]()
    here, there = names[::2], names[1::2]
    made = made_in_a_copy(lambda: (attempted(name, partial(_contents, figures[name]), {}) for name in there))
    tell = progress or (lambda done, total: None)
    tell(0, total)
    for place, name in enumerate((*here, *there)):
        with watch(stage_of(name)):
            contents = next(made, None) if name in there else None
            contents = contents or attempted(name, partial(_contents, figures[name]), left_out) or {}
        for done, kind in enumerate(KINDS, place * len(KINDS) + 1):
            if kind in contents:
                files.append(folder / f"{name}.{kind}")
                files[-1].write_bytes(contents[kind])
            tell(done, total)
    return sorted(files, key=lambda file: (names.index(file.stem), file.suffix))


def _contents(figure: Drawn) -> dict[str, bytes]:
    """The files of a figure, by their kinds; none of one that would be empty."""
    drawn = figure() if callable(figure) else figure
    return {} if drawn is None else {kind: rendered(drawn, kind) for kind in KINDS}
