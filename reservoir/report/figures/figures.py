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

Made = TypeVar("Made")
Drawn = TypeVar("Drawn")
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
    figures = plan_figures(plan, typical=typical, watch=watch, left_out=left_out)
    return write_figures(figures, folder, progress, watch, left_out)


def write_figures(
    figures: Mapping[str, Figure],
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
    watch: Timer = untimed,
    left_out: dict[str, str] | None = None,
) -> list[Path]:
    """Write figures as PNG and SVG under their names, as `save_figures` does."""
    files, total = list[Path](), len(figures) * len(KINDS)
    folder.mkdir(parents=True, exist_ok=True)
    for place, (name, figure) in enumerate(figures.items()):
        drawn = dict[str, bytes | None]()
        for done, kind in enumerate(KINDS, place * len(KINDS)):
            if progress is not None:
                progress(done, total)
            with watch(f"figure {name}"):
                drawn[kind] = attempted(name, partial(rendered, figure, kind), left_out)
        for kind, content in drawn.items():
            if content is not None and name not in (left_out or ()):
                files.append(folder / f"{name}.{kind}")
                files[-1].write_bytes(content)
    if progress is not None:
        progress(total, total)
    return files
