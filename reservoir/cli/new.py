"""``reservoir new``: write a commented reservoir file to start from."""

from __future__ import annotations

from pathlib import Path

import click

from reservoir.cli import options
from reservoir.cli.options import FilePath


@click.command("new")
@click.argument("name")
@click.option("--out", type=FilePath(), help="File to write.  [default: NAME.toml in the current folder]")
@click.option(
    "--from-csv",
    "table_file",
    metavar="LEVELS.csv",
    type=FilePath(),
    help="Table of level, storage and area, in any units that its header names; the file then has these curves.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@options.debug
def command(name: str, out: Path | None, table_file: Path | None, force: bool) -> None:
    """Write a commented reservoir file to start from.

    It describes an invented reservoir and works unchanged; replace its numbers with yours. Those that are invented are
    marked, and named by "plan" and "check" while they are there.
    """
    from reservoir.cli import say
    from reservoir.io.level_table import read_level_table
    from reservoir.io.reservoir_toml.writer import write_template

    target, table = out or Path(f"{name}.toml"), None if table_file is None else read_level_table(table_file)
    write_template(name, target, table, force=force)
    if table is not None:
        say(f"Read {table_file}: {len(table.level.values)} points")
        for column in (table.level, table.storage, table.area):
            if column is not None:
                say(f"  {column.told}")
        if table.area is None:
            say("  no area: the slope of storage over level stands in for it")
        for note in table.notes:
            say(f"  {note}")
    say(f"Written to {target}. Replace its numbers with those of your reservoir, then run:")
    say(f"  reservoir plan INFLOW.csv --reservoir {target}")
