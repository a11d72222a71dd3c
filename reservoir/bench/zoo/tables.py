"""The tables of the experiment."""

from __future__ import annotations

import pandas as pd

from reservoir.bench.result import ResultTable, result_table
from reservoir.bench.zoo.findings import GAPS, KIND_GAP, WORST, ZooFindings, beyond, short_gap
from reservoir.bench.zoo.runs import FIRST_RUN, FROM_REFERENCE, SECOND_RUN
from reservoir.planning.checks import YEAR_GAP
from reservoir.planning.solver_choice import HOST_REFERENCE

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
