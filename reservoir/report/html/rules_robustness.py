"""Table of how rules do over the members of an ensemble."""

from __future__ import annotations

import pandas as pd

from reservoir.hydro.objectives import Objective
from reservoir.hydro.unit_system import SI
from reservoir.report.html.page import Column, HtmlTable
from reservoir.report.html.rules_scores import BENEFIT, ScoreColumn
from reservoir.rules.evaluation.scores import benefit_suffix

COLUMNS = (
    ScoreColumn("best", "Best", BENEFIT),
    ScoreColumn("median", "Median", BENEFIT),
    ScoreColumn("worst_decile", "Worst decile", BENEFIT),
    ScoreColumn("worst", "Worst", BENEFIT),
    ScoreColumn("firm_median_mw", "Firm power, median", "MW"),
    ScoreColumn("firm_worst_decile_mw", "Worst decile", "MW"),
    ScoreColumn("regret_mean", "Regret, mean", BENEFIT),
    ScoreColumn("regret_median", "Median", BENEFIT),
    ScoreColumn("regret_worst_decile", "Worst decile", BENEFIT),
    ScoreColumn("regret_largest", "Largest", BENEFIT),
    ScoreColumn("violating_members", "Violating", "members, %", "{:.1f}", 100),
)


def robustness_rows(table: pd.DataFrame, objective: Objective) -> HtmlTable:
    """The table of `robustness.robustness_table` for reading; families that violate limits in any member are marked."""
    rows = table.to_dict("records")
    names = [(str(row["family"]).replace("foresight", "perfect foresight"), str(row["sample"])) for row in rows]
    suffix = benefit_suffix(objective)
    keys = [f"{each.name}_{suffix}" if each.unit == BENEFIT else each.name for each in COLUMNS]
    cells = [tuple(each.written(float(row[key]), SI) for each, key in zip(COLUMNS, keys, strict=True)) for row in rows]
    counts = "; ".join(f"{sample}: {count:,} members" for sample, count in _members(table).items())
    return HtmlTable(
        name="robustness",
        caption=f"{counts}.".capitalize(),
        columns=(
            Column("Family", text=True),
            Column("Members", text=True),
            *(Column(each.title, objective.unit if each.unit == BENEFIT else each.unit) for each in COLUMNS),
        ),
        rows=tuple((*name, *row) for name, row in zip(names, cells, strict=True)),
        marked=frozenset(place for place, row in enumerate(rows) if row["violating_members"] > 0),
    )


def _members(table: pd.DataFrame) -> dict[str, int]:
    """Number of members of each sample."""
    return {str(row["sample"]): int(row["members"]) for row in table.to_dict("records")}
