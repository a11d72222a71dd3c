"""``reservoir page``: change a limit in a browser and see the plan."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from reservoir.cli import options

if TYPE_CHECKING:
    from reservoir.page.desk import OpenCase

_WORDS = click.argument("words", metavar="[PLAN_DIR | FILE.toml INFLOW.csv]", nargs=-1, type=options.FilePath())
#: What says which case is meant, on the command line and on the page.
_CASE = (_WORDS, options.inputs_beside_words, options.horizon, options.step, options.objective)
#: Files of a reservoir, or a system, in the folder of a plan.
_PLANNED = ("system.toml", "reservoir.toml")


@click.command("page")
@options.taking(_CASE)
@options.device
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of this machine.  [default: a free one]")
@click.option("--browser/--no-browser", default=True, help="Open the address in a browser.")
@click.option("--stop-when-closed", is_flag=True, help="End ten minutes after the last window of the page was closed.")
@click.option(
    "--out",
    type=options.FolderPath(),
    help="Folder in which uploads and plans are kept.  [default: that of PLAN_DIR, else ./page-NAME]",
)
@options.debug
def command(
    request: options.Request,
    words: tuple[Path, ...],
    horizon: str | None,
    step: str | None,
    objective: str | None,
    device: str,
    port: int,
    browser: bool,
    stop_when_closed: bool,
    out: Path | None,
) -> None:
    """Change a limit in a browser, and see the plan.

    Opens a plan's folder, a reservoir and its record, or the bundled case, and prints an address that only this machine
    reaches. What is saved there is written by the commands that the page shows.
    """
    from reservoir.cli import say
    from reservoir.cli.screen import progress_bars
    from reservoir.errors import InputError

    try:
        from reservoir.page.server import serve
    except ModuleNotFoundError as error:
        mend = "pip install 'reservoir[page]'"
        raise InputError(f"the page needs {error.name}, which is not installed", mend=mend) from None
    from reservoir.page.desk import Desk, open_plan
    from reservoir.page.workspace import Workspace

    planned = words[0].resolve() if len(words) == 1 and words[0].is_dir() else None
    first = None if planned else _opened(Path.cwd(), words, request, horizon, step, objective)
    folder = out or (planned.parent if planned else Path(f"page-{first.base.name}" if first else ""))
    workspace = Workspace(folder)
    desk = Desk(workspace, partial(read_case, workspace.folder), {"device": device})
    with progress_bars() as progress:
        if planned:
            open_plan(desk, planned, progress)
        else:
            typed = _typed(click.get_current_context(), ("request", "horizon", "step", "objective"))
            desk.open([*typed, *(os.path.abspath(word) for word in words)], progress)
    say(f"{desk.require_case().base.name} is open; what is saved goes to {workspace.folder}")

    def told(address: str) -> None:
        say(f"The page is at {address}")
        say("Ctrl+C ends it.")
        sys.stdout.flush()  # a pipe waits for more
        if browser:
            click.launch(address)

    serve(desk, port, told, stop_when_closed=stop_when_closed)


@click.command("case", add_help_option=False)
@options.taking(_CASE)
@click.pass_context
def _case(context: click.Context, /, words: tuple[Path, ...], **case: Any) -> OpenCase:
    return _opened(context.obj, words, **case)


def read_case(folder: Path, words: Sequence[str]) -> OpenCase:
    """Read the case that words of a command name, whose files are as seen from a folder.

    Raises
    ------
    InputError
        As the command would.
    """
    from reservoir.errors import InputError

    found = [str(folder / word) if not word.startswith("-") and (folder / word).exists() else word for word in words]
    try:
        with _case.make_context("page", found, obj=folder) as context:
            case: OpenCase = _case.invoke(context)
            return case
    except click.ClickException as error:
        raise InputError(error.format_message()) from None


def _opened(
    folder: Path,
    words: Sequence[Path],
    request: options.Request,
    horizon: str | None,
    step: str | None,
    objective: str | None,
) -> OpenCase:
    """Read a case; its words name files as seen from a folder."""
    from reservoir.cases import bundled_case
    from reservoir.page.desk import OpenCase

    for word in words:
        if word.is_dir():
            request, horizon, step = _of_plan(word, request, horizon, step)
        elif word.suffix == ".toml":
            request = replace(request, reservoir_file=word)
        else:
            request = replace(request, inflow_file=word)
    bundled = (
        bundled_case(request.case) if request.case or not (request.reservoir_file or request.inflow_file) else None
    )
    base: Any
    inflow: Any
    record = request.inflow_file
    if request.names_system:
        record = record or (bundled.inflow_file if bundled and not request.reservoir_file else None)
        base, inflow = request.read_system(step, objective)
    else:
        inputs = request.read(step).optimised_for(objective)
        base, inflow = inputs.reservoir, inputs.inflow
    of_record = [_seen_from(folder, record)] if record else ["--case", bundled.name] if bundled else []
    asked = {"--horizon": horizon, "--step": step, "--objective": objective}
    further = [word for name, value in asked.items() if value is not None for word in (name, str(value))]
    reading = _typed(click.get_current_context(), tuple(request.reading))
    file = request.reservoir_file or (bundled or bundled_case()).reservoir_file
    how = {"horizon": horizon} if horizon else {}
    return OpenCase(base, inflow, (*of_record, *reading, *further), file, how)


def _of_plan(
    folder: Path, request: options.Request, horizon: str | None, step: str | None
) -> tuple[options.Request, str | None, str | None]:
    """A request for what a plan is of, with its horizon and its time step."""
    from reservoir.errors import InputError
    from reservoir.io.plan_folder.files import PROVENANCE
    from reservoir.text.strict_json import read_json

    file = next((folder / name for name in _PLANNED if (folder / name).is_file()), None)
    try:
        origin = read_json(folder / PROVENANCE, 100_000_000)
    except (OSError, ValueError):
        origin = None
    if file is None or origin is None:
        raise InputError("is not the folder of a plan", 'one that "reservoir plan" wrote', file=str(folder))
    records = sorted(folder.glob("inflow*.csv"))
    request = replace(request, reservoir_file=file, inflow_file=records[0] if records else None)
    return request, horizon or str(origin["horizon"]), step or str(origin["calendar"]["step"])


def _seen_from(folder: Path, file: Path) -> str:
    """A path as it is typed in a folder: relative where the file is within it."""
    place = file.resolve()
    return str(place.relative_to(folder.resolve()) if place.is_relative_to(folder.resolve()) else place)


def _typed(context: click.Context, names: Sequence[str]) -> list[str]:
    """Options of these names as they were typed; ``request`` stands for those that it is made of."""
    made = (
        "reservoir_file",
        "case",
        "unit",
        "column",
        "water_year",
        "missing_days",
        "negative",
        "dates",
        "first_year",
        "sheet",
    )
    wanted = {*names, *(made if "request" in names else ())}
    words = []
    for each in context.command.params:
        name = str(each.name)
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if isinstance(each, click.Option) and name in wanted and given:
            values = context.params[name]
            for value in values if isinstance(values, tuple) else (values,):
                words += [each.opts[0], os.path.abspath(value) if isinstance(value, Path) else str(value)]
    return words
