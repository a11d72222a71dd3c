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

    planned = plan.resolve() if (plan := _plan_alone(words)) else None
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

    if plan := _plan_alone(words):
        request, horizon, step = _of_plan(plan, request)
    else:
        request = _with_files(request, words)
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
    file = (request.reservoir_file or (bundled or bundled_case()).reservoir_file).resolve()  # commands run elsewhere
    how = {"horizon": horizon} if horizon else {}
    return OpenCase(base, inflow, (*of_record, *_reading_words(request), *further), file, how)


def _plan_alone(words: Sequence[Path]) -> Path | None:
    """The folder of a plan, if words of a call name one, which says all of the case: nothing else may be given."""
    from reservoir.errors import InputError

    folder = next((word for word in words if word.is_dir()), None)
    if folder is None:
        return None
    if len(words) > 1:
        problem = "is given beside the folder of a plan"
        others = (word for word in words if word != folder)
        raise InputError(problem, "PLAN_DIR alone", "leave it out", file=str(next(others, folder)))
    of_case = {str(each.name) for each in _case.params}
    options.refuse_given("is given beside the folder of a plan, which says it", lambda name: name not in of_case)
    return folder


def _with_files(request: options.Request, words: Sequence[Path]) -> options.Request:
    """A request with the reservoir and the record that words name, one of each."""
    from reservoir.errors import InputError

    for word in words:
        which = "reservoir_file" if word.suffix == ".toml" else "inflow_file"
        if (earlier := getattr(request, which)) is not None:
            what = "reservoir" if word.suffix == ".toml" else "record"
            mend = f"give one {what}, or the file of a system" if word.suffix == ".toml" else f"give one {what}"
            raise InputError(f"is a second {what}, beside {earlier}", "FILE.toml INFLOW.csv", mend, str(word))
        given: dict[str, Any] = {which: word}
        request = replace(request, **given)
    return request


def _of_plan(folder: Path, request: options.Request) -> tuple[options.Request, str, str]:
    """A request for what a plan is of, with its horizon and its time step."""
    from reservoir.errors import InputError
    from reservoir.io.plan_folder.files import FILES, INFLOW, PROVENANCE, RESERVOIR, SYSTEM, read_provenance
    from reservoir.io.plan_folder.saved_plan import reading_of_copy

    origin = read_provenance(folder)
    several, mend = SYSTEM in origin[FILES], "give the reservoir file and the record"
    if INFLOW not in origin[FILES]:
        raise InputError("the folder has no copy of the record", mend=mend, file=str(folder / INFLOW))
    if origin["start"]:
        problem = "the plan begins in a month (--from), and a page plans whole years"
        raise InputError(problem, mend=mend, file=str(folder / PROVENANCE))
    request = replace(request, reservoir_file=folder / (SYSTEM if several else RESERVOIR), inflow_file=folder / INFLOW)
    of_copy = {name: value for name, value in reading_of_copy(origin).items() if name in options.READING_OPTIONS}
    reading = {**request.reading, **of_copy}
    return replace(request, reading=reading), str(origin["horizon"]), str(origin["calendar"]["step"])


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
