"""All solvers on random reservoirs: how many years each leaves how far from dynamic programming, and on which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure, SubFigure

from reservoir.bench.data import bundled
from reservoir.bench.figures import log_axis, panels
from reservoir.bench.journal import Journal, sources_digest
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.run_budget import RunBudget
from reservoir.bench.zoo.findings import GAPS, KIND_GAP, WORST, ZooFindings, beyond, short_gap, zoo_checks
from reservoir.bench.zoo.runs import (
    FIRST_RUN,
    FROM_REFERENCE,
    HOST_RESERVOIRS,
    HOST_YEARS,
    QUICK_HOST_RESERVOIRS,
    QUICK_HOST_YEARS,
    QUICK_RESERVOIRS,
    QUICK_YEARS,
    RESERVOIRS,
    SECOND_RUN,
    YEARS,
    ZooSetup,
    usable_solvers,
    zoo_runs,
)
from reservoir.planning.checks import YEAR_GAP
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.planning.solving import HOST_REFERENCE
from reservoir.report.figures.style import (
    DRY,
    LIMITS,
    NORMAL,
    OUTSIDE,
    POWER,
    RELEASE,
    SPILL,
    STORAGE,
    WET,
    sheet_figure,
)
from reservoir.report.folder import run_provenance
from reservoir.zoo.zoo import Part

#: Colours of solvers; those on the host have that of the device's and are dotted.
_COLOURS = {
    "lshade": STORAGE,
    "clpso": RELEASE,
    "dp-opencl": LIMITS,
    "ann-pso": POWER,
    "island-ga": SPILL,
    "ring-pso": DRY,
    "dsmga2": WET,
}
_OTHER, _DOTTED = NORMAL, (0, (1, 1.2))
_HOST_NAMES = ("-sequential", "-parallel")
_LEAST_GAP, _LARGEST_GAP, _LEAST_SHARE = 1e-7, 1.0, 1e-4
_CELL = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
#: Shares above are as dark as the darkest, and below the number is black.
_DARKEST, _BLACK_BELOW = 0.5, 0.3


def zoo_figures(found: ZooFindings) -> dict[str, Figure]:
    """All of them; none if no solver solved a year."""
    if not found.solvers:
        return {}
    foot = [found.setup.foot("Invented reservoirs and inflows · ")]
    rows = len(found.by_kind())
    return {
        "gaps": sheet_figure(3.4, foot, lambda sheet: _gaps(sheet, found)),
        "kinds": sheet_figure(1.3 + 0.21 * rows, foot, lambda sheet: _kinds(sheet, found)),
    }


def _gaps(sheet: SubFigure, found: ZooFindings) -> Axes:
    """A panel for each part, and a line for each solver."""
    axes = panels(sheet, len(found.parts), len(found.parts), "Years (%)", sharex=True, sharey=True)
    for ax, part in zip(axes, found.parts, strict=True):
        for solver in found.solvers:
            _draw_gaps(ax, found.feasible(solver=solver, part=part)["gap"].to_numpy(float), solver)
        ax.axvline(KIND_GAP, color=LIMITS, lw=0.8)
        log_axis(ax, "x", subs=(1.0,), form=short_gap)
        log_axis(ax, "y", subs=(1.0,), form=lambda share: f"{100 * share:g}")
        ax.set_xlim(_LEAST_GAP, _LARGEST_GAP)
        ax.set_ylim(_LEAST_SHARE, 1.0)
        ax.set(xlabel="Gap to dp", title=f"Years beyond a gap, {part} part")
    return axes[0]


def _draw_gaps(ax: Axes, gaps: Any, solver: str) -> None:
    """Share of years with a larger gap, over the gap."""
    if not len(gaps):
        return
    ordered = np.sort(gaps.clip(_LEAST_GAP, _LARGEST_GAP))
    larger = 1.0 - np.arange(1, len(ordered) + 1) / len(ordered)
    base = next((solver.removesuffix(each) for each in _HOST_NAMES if solver.endswith(each)), solver)
    line: Any = _DOTTED if base != solver else "-"
    ends = np.concatenate([[_LEAST_GAP], ordered]), np.concatenate([[1.0], larger])
    ax.step(*ends, where="post", color=_COLOURS.get(base, _OTHER), ls=line, lw=1.3, label=solver)


def _kinds(sheet: SubFigure, found: ZooFindings) -> None:
    """A cell for each class of reservoirs and solver."""
    frame, solvers = found.by_kind(), found.solvers
    shares = frame[solvers].to_numpy(float)
    ax = sheet.add_subplot()
    row, column = np.nonzero(~np.isnan(shares))
    cells: Any = _CELL + np.stack([column, row], axis=1)[:, None]
    drawn = PolyCollection(cells, array=shares[row, column], cmap="Blues", edgecolor="white", lw=0.5)
    drawn.set_clim(0, _DARKEST)
    ax.add_collection(drawn)
    for place, name in zip(row, column, strict=True):
        share = shares[place, name]
        ax.text(
            *(name + 0.5, place + 0.5),
            f"{100 * share:.3g}",
            ha="center",
            va="center",
            fontsize=6.5,
            color="black" if share < _BLACK_BELOW else "white",
        )
    ax.set_xticks(np.arange(len(solvers)) + 0.5, solvers, rotation=35, ha="right", fontsize=7)
    ax.set_yticks(np.arange(len(frame)) + 0.5, _row_names(frame), fontsize=6.5)
    ax.set_xlim(0, len(solvers))
    ax.set_ylim(len(frame), 0)
    ax.grid(visible=False)
    ax.set_facecolor(OUTSIDE)
    ax.set_title(f"Years beyond {short_gap(KIND_GAP)} of dp, in % of the years of a kind")


def _row_names(frame: Any) -> list[str]:
    """A class's name behind that of its kind, which stands at the first of its classes."""
    names, before = [], ""
    for kind, name in zip(frame["kind"], frame["class"], strict=True):
        names.append(name if kind == before else f"{kind}:  {name}")
        before = kind
    return names


_BEYOND = {beyond(gap): ".2%" for gap in GAPS}
#: Traits of the table of the worst reservoirs, and their format.
_TRAITS = {
    "regime": "",
    "year_end": "",
    "start": "",
    "storage_ratio": ".2f",
    "head_share": ".0%",
    "capacity_ratio": ".1f",
    "least_release_share": ".0%",
    "flood_share": ".0%",
    "evaporation_mm": ".0f",
}


def result_tables(found: ZooFindings) -> list[ResultTable]:
    """All of them."""
    tables = [_by_solver(found), _plans(found), _by_kind(found), _worst(found), _refused(found)]
    return [table for table in tables if len(table.frame)]


def _by_solver(found: ZooFindings) -> ResultTable:
    notes = [
        f"Default settings. Shares are of the years that can keep their limits; gaps are parts of the fitness of "
        f"{HOST_REFERENCE} on the host. Solvers were tuned on the tuning part, if at all; the test part has other "
        "reservoirs.",
        "*Its range*: the largest gap on random reservoirs that the solver's registry entry states.",
        f"*Better than dp*: the largest part by which a year exceeds {HOST_REFERENCE}: the error of the reference "
        "is at least as large. *Years that violate*: limits that dp keeps. *Of them worse*: infeasible years with a "
        "larger violation than dp's.",
        "*Seconds a year*: median of the reservoirs, on the device, or of the call for solvers on the host. *Seconds "
        "to compile*: median seconds of a call that are not on the device; a program that a driver stored is not "
        "compiled again.",
    ]
    forms = _BEYOND | {
        "worst gap": ".1e",
        "its range": "g",
        "better than dp": ".1e",
        "seconds a year": ".3g",
        "seconds to compile": ".2f",
    }
    return result_table("By solver", found.by_solver(), *notes, **forms)


def _plans(found: ZooFindings) -> ResultTable:
    note = (
        f"What `reservoir plan` holds. A year beyond {YEAR_GAP:g} of dp, or that violates limits that dp keeps, is "
        "solved again by the solver with more effort, and holds the schedule of dp if that is not enough. Shares of "
        "the years by the source of their schedule; infeasible years included."
    )
    forms = dict.fromkeys((FIRST_RUN, SECOND_RUN, FROM_REFERENCE), ".2%") | {"worst gap": ".1e"}
    return result_table("Plans", found.plans(), note, **forms)


def _by_kind(found: ZooFindings) -> ResultTable:
    note = f"Share of years beyond {short_gap(KIND_GAP)}, of all parts. A dash: the solver solved no such reservoir."
    return result_table("By kind of reservoir", found.by_kind(), note, **dict.fromkeys(found.solvers, ".2%"))


def _worst(found: ZooFindings) -> ResultTable:
    frame = found.worst()
    shown = ["solver", "part", "number", "beyond", "worst gap", *_TRAITS]
    frame = frame[shown] if len(frame) else pd.DataFrame(columns=shown)
    frame = frame.rename(columns={"beyond": beyond(KIND_GAP)})
    note = (
        f"The {WORST} reservoirs with the largest gap of each solver, if it is above {YEAR_GAP:g}, and the share "
        f"of their years beyond {short_gap(KIND_GAP)}. `reservoir.zoo.zoo.zoo_case` makes a "
        "reservoir again."
    )
    forms = {name: form for name, form in _TRAITS.items() if form} | {beyond(KIND_GAP): ".0%", "worst gap": ".1e"}
    return result_table("Worst reservoirs", frame, note, **forms)


def _refused(found: ZooFindings) -> ResultTable:
    calls = found.runs.calls
    refused = calls[calls["refused"] != ""]
    return result_table("Refused", refused[["solver", "part", "number", "refused"]])


BOTH = "both"
_CAVEAT = "Invented reservoirs and inflows: shares of years depend on how they are drawn."
_SHARED = "Seconds: {} reservoirs at a time shared the device and the processors."


def run(
    *,
    budget: RunBudget,
    journal: Journal,
    part: str = BOTH,
    solvers: str | None = None,
    reservoirs: int | None = None,
    years: int | None = None,
    host_reservoirs: int | None = None,
    host_years: int | None = None,
    jobs: int = 1,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment.

    Parameters
    ----------
    journal : Journal
        Reservoirs that it has are not solved again.
    part : str
        ``tuning``, ``test`` or ``both``.
    solvers : str, optional
        Names with commas between them; all that can run here if not given.
    reservoirs, years : int, optional
        Reservoirs of each part, and years of each record.
    host_reservoirs, host_years : int, optional
        Of them, for solvers that run on the host.
    jobs : int
        Reservoirs at a time, each in a process of its own.
    """
    setup = ZooSetup.of(
        budget,
        progress,
        parts=tuple(Part) if part == BOTH else (Part[part.upper()],),
        solvers=usable_solvers(solvers),
        reservoirs=reservoirs or budget.usual(RESERVOIRS, QUICK_RESERVOIRS),
        years=years or budget.usual(YEARS, QUICK_YEARS),
        host_reservoirs=host_reservoirs or budget.usual(HOST_RESERVOIRS, QUICK_HOST_RESERVOIRS),
        host_years=host_years or budget.usual(HOST_YEARS, QUICK_HOST_YEARS),
        jobs=jobs,
    )
    about = {"packages": run_provenance()["program"]["packages"], "sources": sources_digest()}
    journal.begin(setup.origin() | _origin(setup) | about)
    return zoo_result(ZooFindings(setup, zoo_runs(setup, journal)))


def _origin(setup: ZooSetup) -> dict[str, Any]:
    names = ("reservoirs", "years", "host_reservoirs", "host_years")
    sizes = {name: getattr(setup, name) for name in names}
    return {"parts": [part.name.lower() for part in setup.parts], "solvers": list(setup.solvers)} | sizes


def zoo_result(found: ZooFindings) -> ExperimentResult:
    """What the runs come to."""
    runs = found.runs
    return found.setup.result(
        f"Random reservoirs, on {found.setup.device.name}",
        caveats=(_CAVEAT, _SHARED.format(found.setup.jobs))[: 1 + (found.setup.jobs > 1)],
        headlines=_headlines(found),
        checks=zoo_checks(found),
        tables=result_tables(found),
        data={"reservoirs": runs.reservoirs, "calls": runs.calls, "years": runs.years, "kinds": found.by_kind()},
        figures=zoo_figures(found),
        captions=bundled("zoo")["captions"],
        **_origin(found.setup),
        jobs=found.setup.jobs,
    )


def _headlines(found: ZooFindings) -> dict[str, str]:
    """A line for each solver, of the last part that ran."""
    last = found.parts[-1]
    return {
        row["solver"]: f"{row[beyond(KIND_GAP)]:.2%} of {row['years']:,} years of the {last} part beyond "
        f"{short_gap(KIND_GAP)} of dp, worst {row['worst gap']:.1e}"
        for row in found.by_solver().to_dict("records")
        if row["part"] == last and row["years"]
    }
