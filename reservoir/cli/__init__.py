"""The command line. Only click is imported before a command runs, so that ``--help`` answers at once."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from reservoir import __version__, runtime
from reservoir.errors import ReservoirError
from reservoir.text.quantities import printable

#: Command -> what it does, in the order of use; each lives in the module of its name, but for what lists what is here.
COMMANDS = {
    "plan": "Find the best operation of every year of an inflow record.",
    "rules": "Fit monthly operation rules to a plan and test them on held-out years.",
    "simulate": "Simulate an inflow record with an operation rule.",
    "operate": "Recommend this month's release with an operation rule.",
    "synth": "Make synthetic inflow from a record, and check it against the record.",
    "check": "Read an inflow record, and say how it was understood.",
    "prove": "Check a finished plan anew, and prove how far from the best possible it is.",
    "tradeoff": "Find the front between two goals, such as energy and firm power.",
    "compare": "Compare plans with one of them, or solvers on the same years.",
    "page": "Change a limit in a browser, and see the plan.",
    "bench": "Run the papers' experiments on this machine.",
    "validate": "Check this installation: physics, device, solvers.",
    "solvers": "List the solvers, and the settings of one.",
    "devices": "List the OpenCL devices.",
    "new": "Write a commented reservoir file to start from.",
}

_INVENTORY = ("solvers", "devices")

DONE, CHECK_FAILED, WRONG_INPUT, BROKEN, INTERRUPTED = 0, 1, 2, 70, 130


class LazyGroup(click.Group):
    """A group that imports a command's module when the command runs, not when it is listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"reservoir.cli.{'inventory' if cmd_name in _INVENTORY else cmd_name}")
        command = getattr(module, cmd_name if cmd_name in _INVENTORY else "command")
        assert isinstance(command, click.Command)
        command.help = command.help or COMMANDS[cmd_name]  # with PYTHONOPTIMIZE=2 there are no docstrings
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="reservoir")
def cli() -> None:
    """Plan the operation of a hydropower reservoir.

    Give it an inflow record and a reservoir file; it returns every year's optimal operation. Without files, it
    plans the bundled case: try "reservoir plan".
    """


def main() -> None:
    """Run the command line: status 0 done, 1 a check failed, 2 the input or the call is wrong or output was lost."""
    prepare_streams()
    prepare_environment()
    arguments = sys.argv[1:]
    debug = "--debug" in arguments
    runtime.begin_run()
    try:
        try:
            words = [word for word in arguments if word != "--debug"]
            status: int | None = cli.main(words, "reservoir", standalone_mode=False)
        except Exception:
            if runtime.interrupted():  # code in between has made an error of its own of the interruption
                raise KeyboardInterrupt from None
            raise
    except click.ClickException as error:
        message = io.StringIO()
        error.show(message)
        text = message.getvalue().rstrip()
        if hint := _hint(error):
            text += f"{'' if text.endswith(('.', '?')) else '.'} {hint}"
        warn(text)
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        # click takes a file that ended too early for an interrupt, too.
        if runtime.interrupted() or not isinstance(error.__cause__ or error.__context__, EOFError):
            runtime.end_interrupted()
        if debug:
            raise
        status = _fault(EOFError("unexpected end of a file or stream"))
    except BrokenPipeError:  # the reader of a pipe has seen enough
        status = DONE
    except ReservoirError as error:
        if debug:
            raise
        warn("\n".join(f"Error: {line}" for line in str(error).split("\n")))
        status = WRONG_INPUT
    except (MemoryError, RecursionError, OSError) as error:
        if debug:
            raise
        warn(f"Error: {_limit(error)}.\nRun the command again with --debug to see where.")
        status = WRONG_INPUT
    except Exception as error:
        if debug:
            raise
        status = _fault(error)
    for note in runtime.notes:  # which caches and devices could not be used, if any was asked for
        warn(f"Note: {note}")
    if lost := lost_output():
        warn(f"Error: cannot write to standard output ({lost}); the files are complete.")
        status = status or WRONG_INPUT
    sys.stderr.flush()
    sys.exit(status or DONE)


#: What arguments of commands are, by their names.
_ARGUMENTS = {
    "plan_folder": 'It is a folder that "reservoir plan" wrote.',
    "plan": 'It is a folder that "reservoir plan" wrote, or a table with a release for each step.',
    "rule_file": 'It is a rule that "reservoir rules PLAN_DIR" wrote, such as PLAN_DIR/rules/linear.json.',
    "inflow_file": "It is a record of inflow: a table of dates, or years, and flows.",
    "name": 'It is a name for the reservoir, such as hill-lake; "reservoir new hill-lake" writes hill-lake.toml.',
}
_RESERVOIR_FILES = (".toml", ".xlsx", ".xlsm")


def _hint(error: click.ClickException) -> str:
    """What to do about a call that cannot be understood; empty where the refusal says it."""
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return ""
    if isinstance(error, click.MissingParameter):
        return _ARGUMENTS.get(getattr(error.param, "name", None) or "", "")
    command = error.ctx.command
    if isinstance(command, click.Group) and (unknown := re.search(r"No such command '(.*)'", error.message)):
        known = command.list_commands(error.ctx)
        near = get_close_matches(unknown[1], known, 1, 0.6)
        return f"Did you mean {near[0]}?" if near else f"Commands are {', '.join(known)}."
    if extra := re.search(r"unexpected extra arguments? \((.*)\)", error.message):
        file = next((word for word in extra[1].split() if word.casefold().endswith(_RESERVOIR_FILES)), None)
        if file and any(parameter.name == "reservoir_file" for parameter in command.params):
            return f"The reservoir is given by an option: --reservoir {file}"
        return "A value with blanks stands in quotation marks; names in a list have commas and no blanks between them."
    return ""


def prepare_environment() -> None:
    """Leave out what the environment would have other programs draw like: figures look alike everywhere.

    And plugins of pydantic, for which it would look through all that is installed before the first rule is read.
    """
    os.environ.pop("MPLBACKEND", None)
    os.environ["MATPLOTLIBRC"] = os.devnull
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def _limit(error: BaseException) -> str:
    """What of this machine, not of this program, did not suffice."""
    if isinstance(error, MemoryError):
        return "not enough memory; reduce the size of the problem, or use a machine with more memory"
    if isinstance(error, RecursionError):
        return "the input has too many nested levels"
    place = getattr(error, "filename", None)
    return f"{place}: {getattr(error, 'strerror', None) or error}" if place else str(error)


def _fault(error: Exception) -> int:
    warn(f"Error in the program, not in your input: {type(error).__name__}: {error}")
    warn("Run the command again with --debug and report what it prints.")
    return BROKEN


#: What stands for characters that an encoding does not know; an escape for all others.
_PLAIN = {"≤": "<=", "≥": ">=", "…": "...", "–": "-", "—": "-", "×": "x", "·": ".", "²": "2", "³": "3", "°": " deg"}
_ERRORS = "reservoir.plain"


class PatientRaw(io.RawIOBase):
    """A stream that takes everything: once it cannot be written, the rest is lost and the error remembered."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.error: OSError | None = None

    def writable(self) -> bool:
        """Always."""
        return True

    def isatty(self) -> bool:
        """Whether a person looks on."""
        return bool(self.raw.isatty())

    def fileno(self) -> int:
        """Number of the stream underneath."""
        return int(self.raw.fileno())

    def write(self, data: Any) -> int:
        """Write, or lose."""
        if self.error is None:
            try:
                return int(self.raw.write(data) or 0)
            except OSError as error:
                self.error = error
        return memoryview(data).nbytes


def prepare_streams() -> None:
    """Take the place of both standard streams; those that were closed lead to nowhere."""
    codecs.register_error(_ERRORS, _plain)
    for number in range(3):  # else the next file opened would be taken for a closed one
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        buffer = getattr(stream, "buffer", None)
        raw = getattr(buffer, "raw", buffer)  # without a buffer where Python was told to write at once
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(raw, io.RawIOBase) and not isinstance(raw, PatientRaw):
            stream.flush()
            at_once = stream is sys.stderr or raw.isatty()
            buffer = io.BufferedWriter(PatientRaw(raw))
            text = io.TextIOWrapper(buffer, encoding=stream.encoding, errors=_ERRORS, line_buffering=at_once)
            setattr(sys, name, text)


def lost_output() -> str:
    """Say why standard output could not be written as a whole; empty if it was, or if its reader left."""
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    error = raw.error if isinstance(raw, PatientRaw) else None
    return "" if error is None or error.errno in (errno.EPIPE, errno.EINVAL) else str(error.strerror or error)


def say(text: str) -> None:
    """Write a line with nothing in it that a terminal would obey."""
    sys.stdout.write(printable(text) + "\n")


def warn(text: str) -> None:
    """Write a line on standard error, as `say` does."""
    sys.stderr.write(printable(text) + "\n")


def _plain(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    characters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(each) or ascii(each)[1:-1] for each in characters), error.end
