"""All figures of a plan, drawn without any global state, and their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from matplotlib.figure import Figure

from reservoir.planning.plan import Plan
from reservoir.planning.stopwatch import Timer, untimed
from reservoir.report.figures import annual_energy as energy
from reservoir.report.figures import convergence, storages, typical_years
from reservoir.report.figures import water_value_map as water
from reservoir.report.figures.style import rendered
from reservoir.runtime import made_in_a_copy

Made = TypeVar("Made")
Drawn = TypeVar("Drawn")
#: A figure, or what draws it, or None where it would be empty.
AnyFigure = Figure | Callable[[], Figure | None]
#: Kinds of files that are written of each figure.
KINDS = ("png", "svg")


def attempted(name: str, made: Callable[[], Made], left_out: dict[str, str] | None) -> Made | None:
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


def of_each(
    drawings: Mapping[str, Drawn],
    made: Callable[[Drawn], Made | None],
    left_out: dict[str, str] | None,
    watch: Timer = untimed,
) -> dict[str, Made]:
    """What is made of each drawing by its name, unless that is None; what fails may be left out, as in `attempted`."""
    kept = dict[str, Made]()
    for name in [name for name in drawings if name not in (left_out or ())]:
        with watch(f"figure {name}"):
            content = attempted(name, partial(made, drawings[name]), left_out)
        kept |= {} if content is None else {name: content}
    return kept


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
        Times each figure, as ``figure NAME``.
    left_out : dict, optional
        As of `attempted`.
    """
    return of_each(_drawings(plan, typical), lambda drawing: drawing[0](plan), left_out, watch)


def plan_captions(
    plan: Plan, *, typical: Mapping[str, str] | None = None, left_out: dict[str, str] | None = None
) -> dict[str, str]:
    """Say how to read each figure of `plan_figures`; as there, a figure whose caption fails may be left out."""
    return of_each(_drawings(plan, typical), lambda drawing: drawing[1](plan), left_out)


#: How a figure of a plan is drawn, and how it is read; None from both where it would be empty.
_Drawing = tuple[Callable[[Plan], Figure | None], Callable[[Plan], str | None]]


def _drawings(plan: Plan, typical: Mapping[str, str] | None) -> dict[str, _Drawing]:
    """The figures that a plan may have."""
    # Of years by themselves there is no trace, of an ensemble no sequence of years.
    ensemble, trace = plan.inflow.members is not None, not plan.horizon.is_year
    draw_typical = partial(typical_years.typical_years_figure, years=typical)
    read_typical = partial(typical_years.typical_years_caption, years=typical)
    linkage = convergence.mean_linkage(plan) is not None
    drawings: dict[str, tuple[_Drawing, bool]] = {
        "storage-fan": ((storages.storage_fan_figure, storages.storage_fan_caption), True),
        "typical-years": ((draw_typical, read_typical), True),
        "record-trace": ((storages.record_trace_figure, storages.record_trace_caption), trace and not ensemble),
        "convergence": ((convergence.convergence_figure, convergence.convergence_caption), True),
        "annual-energy": ((energy.annual_energy_figure, energy.annual_energy_caption), not ensemble),
        "members": ((energy.members_figure, energy.members_caption), ensemble),
        "water-values": ((water.water_value_figure, water.water_value_caption), water.has_water_values(plan)),
        "linkage": ((convergence.linkage_map_figure, convergence.linkage_caption), linkage),
    }
    return {name: drawing for name, (drawing, shown) in drawings.items() if shown}


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
    names = [name for name in _drawings(plan, typical) if name not in (left_out or ())]
    drawings = {name: partial(_drawings(plan, typical)[name][0], plan) for name in names}
    return write_figures(drawings, folder, progress, watch, left_out)


def write_figures(
    figures: Mapping[str, AnyFigure],
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
        with watch(f"figure {name}"):
            contents = next(made, None) if name in there else None
            contents = contents or attempted(name, partial(_contents, figures[name]), left_out) or {}
        for done, kind in enumerate(KINDS, place * len(KINDS) + 1):
            if kind in contents:
                files.append(folder / f"{name}.{kind}")
                files[-1].write_bytes(contents[kind])
            tell(done, total)
    return sorted(files, key=lambda file: (names.index(file.stem), file.suffix))


def _contents(figure: AnyFigure) -> dict[str, bytes]:
    """The files of a figure, by their kinds; none of one that would be empty."""
    drawn = figure() if callable(figure) else figure
    return {} if drawn is None else {kind: rendered(drawn, kind) for kind in KINDS}
