"""Tables on the screen that never cut numbers: text columns are folded first, then each cell gets a line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.box import HEAVY_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reservoir.cli.console import console

#: Words are not folded narrower than this.
_LEAST_WORDS = 16


@dataclass(frozen=True)
class Column:
    """A column: its title and side; those on the left hold words, which may be folded."""

    title: str
    side: Literal["left", "right", "center"] = "left"


def show_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    caption: str = "",
    lines_after: Collection[int] = (),
    screen: Console | None = None,
) -> None:
    """Print a table, as wide as it needs to be, or folded into the screen; on a very narrow one a line a cell.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of sequence of str
        Cells in rich's markup.
    title, caption : str
        Lines before and after it.
    lines_after : collection of int
        Rows behind which a line is drawn.
    screen : Console, optional
        Standard output if not given.
    """
    screen = screen or console()
    widths = _widths(columns, rows, screen.width)
    if title:
        screen.print(f"[bold]{title}[/]", soft_wrap=True)
    if widths is None:
        _show_stacked(screen, columns, rows)
    else:
        table = Table(box=HEAVY_HEAD)
        for column, width in zip(columns, widths, strict=True):
            table.add_column(column.title, width=width, justify=column.side, overflow="fold")
        for number, row in enumerate(rows):
            table.add_row(*row, end_section=number in lines_after)
        screen.print(table)
    if caption:
        screen.print(caption, soft_wrap=True)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], most: int) -> list[int] | None:
    """Width of each column in so many characters; None if numbers would be cut."""
    cells = [[cell_len(Text.from_markup(row[place]).plain) for row in rows] for place in range(len(columns))]
    wished = [max(cell_len(column.title), *lengths, 1) for column, lengths in zip(columns, cells, strict=True)]
    least = [_least(column, max(lengths, default=1)) for column, lengths in zip(columns, cells, strict=True)]
    room = most - 3 * len(columns) - 1
    if sum(least) > room:
        return None
    widths = [min(pair) for pair in zip(wished, least, strict=True)]
    while sum(widths) < min(room, sum(wished)):
        short = [wish - width for wish, width in zip(wished, widths, strict=True)]
        widths[short.index(max(short))] += 1
    return widths


def _least(column: Column, longest: int) -> int:
    heading = max(map(cell_len, column.title.split()), default=1)
    return max(heading, min(longest, _LEAST_WORDS) if column.side == "left" else longest)


def _show_stacked(screen: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    for row in rows:
        for column, cell in zip(columns, row, strict=True):
            if cell:
                screen.print(f"{column.title}: {cell}" if column.title else cell, soft_wrap=True)
        screen.print()
