"""The commented reservoir file to start from."""

from __future__ import annotations

import re
from pathlib import Path

from reservoir import resources
from reservoir.errors import InputError, Mistake
from reservoir.hydro.ranges import LONGEST_NAME
from reservoir.io.output import write_new

#: A key with a number, or several, and a comment.
_NUMBERS = re.compile(r"(\w+) = (-?\d[\d.]*|\[[\d., -]+\])\s*(#.*)?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def write_template(name: str, target: Path, *, force: bool = False) -> Path:
    """Write ``data/template.toml`` under a reservoir's name; the whole file or none of it.

    Raises
    ------
    InputError
        If the name has other characters than a reservoir file allows.
    OutputError
        If the file exists and `force` is off, or cannot be written.
    """
    text = template_text(name)
    write_new(target, text, force=force, choose="choose another --out", replace="give --force to replace it")
    return target


def template_text(name: str) -> str:
    """``data/template.toml`` under a reservoir's name.

    Raises
    ------
    InputError
        If the name has other characters than a reservoir file allows.
    """
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        expected = f"letters, digits, - and _, at most {LONGEST_NAME} characters"
        raise InputError(Mistake("is not a valid reservoir name", expected, "choose another name", value=name))
    return _marked(resources.text("data", "template.toml").replace('"NAME"', f'"{name}"'))


def mark_of(value: str) -> str:
    """The comment that says that a number is invented, until the number is another (`invented_notes`)."""
    return f"# invented ({value}): replace it"


def _marked(text: str) -> str:
    """Mark the numbers of the template, but for levels that are only drawn, and the first month."""
    lines, section = text.splitlines(), ""
    for place, line in enumerate(lines):
        section = line if line.startswith("[") else section
        found = _NUMBERS.fullmatch(line)
        if found and section not in ("", "[marks]"):
            more = f"; {found[3].lstrip('# ')}" if found[3] else ""
            lines[place] = f"{found[1]} = {found[2]} {mark_of(found[2])}{more}"
    return "\n".join((*lines, ""))
