"""Consoles on standard output and error that escape control characters and cut no line in a pipe."""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from reservoir.text.quantities import printable

#: Width where output goes into a pipe or a file: more than anything needs.
_PIPE_WIDTH = 100_000
_USUAL_WIDTH = 80
#: Nothing here is as high; without both numbers rich reads COLUMNS and LINES, and ends with one of 5,000 digits.
_HEIGHT = 24


class PrintableConsole(Console):
    """A console that escapes what a terminal would obey: texts come from files that others wrote."""

    def render_str(self, text: str, **style: Any) -> Text:  # type: ignore[override]
        """Make what is printed of a string; rich asks for every one."""
        return super().render_str(printable(text), **style)


def console(stderr: bool = False) -> Console:
    """A console on standard output (or error) that does not cut lines in pipes."""
    stream = sys.stderr if stderr else sys.stdout
    width = _terminal_width(stream) if stream.isatty() else _PIPE_WIDTH
    return PrintableConsole(file=stream, width=width, height=_HEIGHT, highlight=False, soft_wrap=False)


def _terminal_width(stream: TextIO) -> int:
    """Columns of a terminal, as COLUMNS or else the terminal itself tells; some tell 0."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and len(told) < 5 and int(told):
        return int(told)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH
