"""``reservoir page``: change a limit in a browser and see the plan."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reservoir.cli import options

if TYPE_CHECKING:
    from reservoir.page.desk import OpenCase

_WORDS = click.argument("words", metavar="[PLAN_DIR | FILE.toml INFLOW.csv]", nargs=-1, type=options.FilePath())
#: What says which case is meant, on the command line and on the page.
_CASE = (_WORDS, options.inputs_beside_words, options.horizon, options.step, options.objective)


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
    case = None if planned else _opened(out, words, request, horizon, step, objective)
    workspace = Workspace(out or (planned.parent if planned else Path(f"page-{case.base.name}" if case else "")))
    desk = Desk(workspace, partial(read_case, workspace.folder), {"device": device})
    with progress_bars() as progress:
        if planned:
            open_plan(desk, planned, progress)
        elif case:
            desk.take(case, progress)
    say(f"{desk.opened.case.base.name} is open; what is saved goes to {workspace.folder}")

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
    folder: Path | None,
    words: Sequence[Path],
    request: options.Request,
    horizon: str | None,
    step: str | None,
    objective: str | None,
) -> OpenCase:
    """Read a case; its words name files as seen from a folder, if one is known by now."""
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
    file = request.reservoir_file or (bundled or bundled_case()).reservoir_file
    how = {"horizon": horizon} if horizon else {}
    return OpenCase(base, inflow, (*of_record, *_reading_words(request), *further), file, how)


def _of_plan(
    folder: Path, request: options.Request, horizon: str | None, step: str | None
) -> tuple[options.Request, str | None, str | None]:
    """A request for what a plan is of, with its horizon and its time step."""
    from reservoir.errors import InputError
    from reservoir.io.plan_folder.files import COPY, FILES, INFLOW, RESERVOIR, SYSTEM, read_provenance

    origin = read_provenance(folder)
    several = SYSTEM in origin[FILES]
    if INFLOW not in origin[FILES]:
        problem = "the folder has no copy of the record"
        raise InputError(problem, mend="give the reservoir file and the record", file=str(folder / INFLOW))
    request = replace(request, reservoir_file=folder / (SYSTEM if several else RESERVOIR), inflow_file=folder / INFLOW)
    if not several and COPY not in origin:  # the copy is the file that was read, to be read as it was
        request = replace(request, reading={**request.reading, **origin["inflow"].get("reading", {})})
    return request, horizon or str(origin["horizon"]), step or str(origin["calendar"]["step"])


def _seen_from(folder: Path | None, file: Path) -> str:
    """A path as it is typed in a folder: relative where the file is within it."""
    place = file.resolve()
    within = folder is not None and place.is_relative_to(folder.resolve())
    return str(place.relative_to(folder.resolve()) if folder and within else place)


def _reading_words(request: options.Request) -> list[str]:
    """Options by which the record is read as it was: those that are not as usual."""
    words = []
    for each in _case.params:
        value = request.reading.get(str(each.name))
        if value not in (None, (), each.default):
            some = value if isinstance(value, list | tuple) else (value,)
            words += [word for one in some for word in (each.opts[0], str(one))]
    return words
