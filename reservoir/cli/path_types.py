"""Files, folders and numbers as a user types them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click


class FilePath(click.Path):
    """A file or folder to read, or a file to write; its reader says what is wrong with one that cannot be used."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Read a path; click asks the system for it, which raises ValueError for what no file can be called."""
        try:
            return Path(super().convert(value, param, ctx))  # type: ignore[arg-type] # text, not bytes: see path_type
        except ValueError:
            return Path(value)


class FolderPath(click.ParamType):  # type: ignore[type-arg] # generic in click 8.4 and later alone
    """A folder to write; ``~`` at its beginning is the home folder, which shells leave as it is after ``--out=``."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Read a path, and refuse an empty one, which would be the present folder."""
        path = Path(value)
        if not str(value).strip():
            self.fail("the path is empty; for the current folder, give .", param, ctx)
        try:
            return path.expanduser() if path.parts[:1] == ("~",) else path
        except RuntimeError:
            self.fail(f"the home folder is unknown; for a folder of this name, give ./{path}", param, ctx)


class _Finite(click.types.FloatParamType):
    """Refuses what is no number, which no comparison with the ends of a range does, and what is infinite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class FiniteNumber(_Finite):
    """A number that is finite."""


class FiniteRange(_Finite, click.FloatRange):
    """A finite number of a range."""
