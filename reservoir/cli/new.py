"""``reservoir new``: write a commented reservoir file to start from."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options
from reservoir.cli.options import FilePath

if TYPE_CHECKING:
    from reservoir.io.reservoir_draft import RecordScale, ReservoirDraft


@click.command("new")
@click.argument("name")
@click.option("--out", type=FilePath(), help="File to write.  [default: NAME.toml in the current folder]")
@click.option(
    "--from",
    "--from-csv",
    "table_file",
    metavar="TABLE",
    type=FilePath(),
    help="Table of level, storage and area, in any units that its header names: CSV, or a workbook, which may have "
    "sheets of limits by month, numbers of the plant and further curves too. The file then has what these give.",
)
@click.option(
    "--inflow",
    "inflow_file",
    metavar="INFLOW",
    type=FilePath(),
    help="Inflow record: the first month of its years, the largest release and the size of the turbines are taken from "
    "it.  [default: the sheet of the workbook that holds one]",
)
@click.option("--system", "of_system", is_flag=True, help="Write the file of a system of several reservoirs.")
@click.option(
    "--reservoir",
    "reservoirs",
    metavar="FILE|NAME",
    multiple=True,
    help="With --system: a reservoir file, or the name of a reservoir whose file is written too; repeatable, from "
    "upstream to downstream.",
)
@options.reading
@click.option("--force", is_flag=True, help="Replace an existing file.")
@options.debug
def command(
    name: str,
    out: Path | None,
    table_file: Path | None,
    inflow_file: Path | None,
    of_system: bool,
    reservoirs: tuple[str, ...],
    reading: dict[str, Any],
    force: bool,
) -> None:
    """Write a commented reservoir file to start from.

    It describes an invented reservoir and works unchanged; replace its numbers with yours. Those that are invented are
    marked, and named by "plan" and "check" while they are there.
    """
    from reservoir.cli import say
    from reservoir.io.reservoir_toml.writer import write_draft

    target = out or Path(f"{name}.toml")
    if of_system or reservoirs:
        _new_system(name, target, table_file, inflow_file, reservoirs, reading, of_system=of_system, force=force)
        return
    files = options.CaseFiles.of(table_file, inflow_file, reading)
    if files.reservoir is None and files.inflow is None:
        mend = "give the workbook by --from or --inflow, or leave it out"
        options.refuse_given("names a sheet of no file", lambda option: option != "sheet", mend)
    draft, record = _draft(name, files, reading)
    write_draft(draft, target, force=force)
    if table_file is not None:
        say(f"Read {table_file}")
        for sentence in draft.read:
            say(f"  {sentence}")
    if record is not None:
        say(f"Record {files.inflow}: {record.years} years from {record.first_month_name}, unit {record.unit}")
        mean, largest = (f"{flow:.4g} m³/s" for flow in (record.mean_m3s, record.largest_m3s))
        say(f"  mean flow {mean}; largest {largest}, which must find a way out")
    say(f"{len(draft.guesses)} numbers are guesses, to be replaced where they matter:")
    for guess in draft.guesses:
        say(f"  {guess}")
    again = _again({**reading, "sheet": files.reading["sheet"] if record is not None else ()})
    say(f"Written to {target}. Replace its numbers with those of your reservoir, then run:")
    say(" ".join([f"  reservoir plan {_typed(files.inflow or 'INFLOW.csv')} --reservoir {_typed(target)}", *again]))


def _new_system(
    name: str,
    target: Path,
    table_file: Path | None,
    inflow_file: Path | None,
    reservoirs: tuple[str, ...],
    reading: dict[str, Any],
    *,
    of_system: bool,
    force: bool,
) -> None:
    """Write the file of a system, and of those reservoirs that have none."""
    from reservoir.cli import say
    from reservoir.errors import InputError
    from reservoir.io.system_draft import system_draft

    if not of_system:
        raise InputError("is of a system", "--system beside it", "add --system", column="--reservoir")
    if table_file is not None:
        mend = "make that file first (reservoir new NAME --from TABLE), and give it by --reservoir NAME.toml"
        raise InputError("gives the levels of one reservoir", "no --system", mend, column="--from")
    if len(reservoirs) < 2:
        mend = "give --reservoir FILE.toml, or --reservoir NAME, for each, from upstream to downstream"
        raise InputError("a system has several reservoirs", "two or more", mend, column="--reservoir")
    with options.named_as_reading():
        content = system_draft(name, reservoirs, target, inflow_file, reading)
    *files, _ = content.write(target, force=force)
    for file, (reservoir, draft) in zip(files, content.new.items(), strict=True):
        say(f"Written to {file}: {len(draft.guesses)} numbers of {reservoir} are guesses, to be replaced:")
        for guess in draft.guesses:
            say(f"  {guess}")
    say(f"Written to {target}: {' -> '.join(content.system.names)}; the times of travel are guesses. Then run:")
    again = _again(reading)
    for command in ("check", "plan"):
        inputs = f"{_typed(inflow_file or 'INFLOW.csv')} --reservoir {_typed(target)}"
        say(" ".join([f"  reservoir {command} {inputs}", *again]))


def _again(reading: Mapping[str, Any]) -> list[str]:
    """Options by which a record is read again, as they are typed."""
    words = list[str]()
    for key, value in reading.items():
        some = value if isinstance(value, list | tuple) else [value] if value else []
        words += [f"--{key.replace('_', '-')} {_typed(each)}" for each in some]
    return words


def _typed(word: object) -> str:
    """A word as it is typed: between quotation marks, of any shell where they do, if it has to be."""
    text = str(word)
    quoted = shlex.quote(text)
    return quoted if quoted == text or set(text) & set('"$`!\\') else f'"{text}"'


def _draft(name: str, files: options.CaseFiles, reading: dict[str, Any]) -> tuple[ReservoirDraft, RecordScale | None]:
    """The file to write, and what it takes from the record."""
    from reservoir.io.level_table import read_level_table
    from reservoir.io.reservoir_draft import RecordScale, draft, draft_of_workbook
    from reservoir.io.reservoir_toml.template import require_name
    from reservoir.io.workbook import is_workbook

    require_name(name)
    scale: RecordScale | None = None

    def scale_of(first_month: int | None) -> RecordScale | None:
        nonlocal scale
        if files.inflow is not None:
            scale = RecordScale.of(files.inflow, files.reading, first_month)
        return scale

    with options.named_as_reading():
        table_file = files.reservoir
        sheets = options.sheets_for(table_file, files.inflow, reading["sheet"])
        if table_file is not None and is_workbook(table_file):
            return draft_of_workbook(table_file, sheets, name, scale_of), scale
        table = None if table_file is None else read_level_table(table_file, sheets)
        return draft(name, table, record=scale_of(None)), scale
