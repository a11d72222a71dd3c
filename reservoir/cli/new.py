"""``reservoir new``: write a commented reservoir file to start from."""

from __future__ import annotations

from pathlib import Path

import click

from reservoir.cli import options


@click.command("new")
@click.argument("name")
@click.option("--out", type=options.FilePath(), help="File to write.  [default: NAME.toml in the current folder]")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@options.debug
def command(name: str, out: Path | None, force: bool) -> None:
    """Write a commented reservoir file to start from.

    It describes an invented reservoir and works unchanged; replace its numbers with yours.
    """
    from reservoir.cli.streams import say
    from reservoir.io.reservoir_toml.template import write_template

    target = write_template(name, out or Path(f"{name}.toml"), force=force)
    say(f"Written to {target}. Replace its numbers with those of your reservoir, then run:")
    say(f"  reservoir plan INFLOW.csv --reservoir {target}")
