"""Table of how rules do over the members of an ensemble."""

from __future__ import annotations

import pandas as pd

from reservoir.hydro.unit_system import SI
from reservoir.report.html.page import Column, HtmlTable
from reservoir.report.html.rules_scores import ScoreColumn

COLUMNS = (
    ScoreColumn("best_gwh", "Energy, best", "GWh"),
    ScoreColumn("median_gwh", "Median", "GWh"),
    ScoreColumn("worst_decile_gwh", "Worst decile", "GWh"),
    ScoreColumn("worst_gwh", "Worst", "GWh"),
    ScoreColumn("firm_median_mw", "Firm power, median", "MW"),
    ScoreColumn("firm_worst_decile_mw", "Worst decile", "MW"),
    ScoreColumn("regret_mean_gwh", "Regret, mean", "GWh"),
    ScoreColumn("regret_median_gwh", "Median", "GWh"),
    ScoreColumn("regret_worst_decile_gwh", "Worst decile", "GWh"),
    ScoreColumn("regret_largest_gwh", "Largest", "GWh"),
    ScoreColumn("violating_members", "Violating", "members, %", "{:.1f}", 100),
)


def robustness_rows(table: pd.DataFrame) -> HtmlTable:
    """The table of `robustness.robustness_table` for reading; families that violate limits in any member are marked."""
    rows = table.to_dict("records")
    names = [(str(row["family"]).replace("foresight", "perfect foresight"), str(row["sample"])) for row in rows]
    cells = [tuple(each.written(float(row[each.name]), SI) for each in COLUMNS) for row in rows]
    counts = "; ".join(f"{sample}: {count:,} members" for sample, count in _members(table).items())
    return HtmlTable(
        name="robustness",
        caption=f"{counts}.".capitalize(),
        columns=(
            Column("Family", text=True),
            Column("Members", text=True),
            *(Column(each.title, each.unit) for each in COLUMNS),
        ),
        rows=tuple((*name, *row) for name, row in zip(names, cells, strict=True)),
        marked=frozenset(place for place, row in enumerate(rows) if row["violating_members"] > 0),
    )


def _members(table: pd.DataFrame) -> dict[str, int]:
    """Number of members of each sample."""
    return {str(row["sample"]): int(row["members"]) for row in table.to_dict("records")}
