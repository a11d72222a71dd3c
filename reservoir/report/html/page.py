"""A self-contained HTML page: what it is made of, and how it becomes one file that opens offline."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from reservoir.errors import InputError, Mistake
from reservoir.io.plan_folder.tables import AGAIN
from reservoir.report.html.inline_svg import inline_svg
from reservoir.report.html.svg_cleaning import MOST_BYTES, UncleanError
from reservoir.text.limited_read import read_limited

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_PHONE_COLUMNS = 4
#: Parts of a page as the template writes them.
_SECTION = re.compile(r'<section id="([^"]+)".*?</section>\n', re.DOTALL)
_KEY = re.compile(r'(?<=<dl class="key">\n).*?(?=</dl>)', re.DOTALL)
_FIGURE = re.compile(r"<div><dt>(.*?)</dt>.*?</div>\n", re.DOTALL)


@dataclass(frozen=True)
class Column:
    """Head of a column; `text` is set to the left, numbers to the right."""

    title: str
    unit: str = ""
    text: bool = False


@dataclass(frozen=True)
class HtmlTable:
    """A table of written cells; the first column names the rows, and rows in `marked` need attention."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: frozenset[int] = frozenset()

    @property
    def wide(self) -> bool:
        """Whether a phone shows some of it only when it is moved sideways; the row names of others are wrapped."""
        return len(self.columns) > _PHONE_COLUMNS

    def cells(self, row: tuple[str, ...]) -> Markup:
        """A row behind its name, in HTML: of thousands of years, where a loop of the template takes longest."""
        marks = (' class="text"' if column.text else "" for column in self.columns[1:])
        return Markup("".join(f"<td{mark}>{escape(cell)}</td>" for mark, cell in zip(marks, row[1:], strict=True)))


@dataclass(frozen=True)
class Picture:
    """A drawing and how to read it."""

    name: str
    title: str
    caption: str
    svg: Markup


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading of its own; whatever is empty is left out.

    Parameters
    ----------
    name : str
        Where links point; different for every section of a page.
    title : str
    text : tuple of str
        Paragraphs.
    items : tuple of str
        A list.
    facts : tuple of (str, str)
        Short names and what they are.
    tables : tuple of HtmlTable
    pictures : tuple of Picture
    warning : bool
        Whether it reports a problem.
    """

    name: str
    title: str
    text: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[HtmlTable, ...] = ()
    pictures: tuple[Picture, ...] = ()
    warning: bool = False

    @property
    def wide(self) -> bool:
        """Whether a phone shows some of it only when it is moved sideways."""
        return bool(self.pictures) or any(table.wide for table in self.tables)


@dataclass(frozen=True)
class Heading:
    """The top of a page: title, description, caveats and key figures."""

    title: str
    description: str
    caveats: tuple[str, ...]
    figures: tuple[tuple[str, str], ...]


def picture(name: str, title: str, caption: str, svg: bytes) -> Picture:
    """Make a drawing of this package part of a page."""
    return Picture(name, title, caption, inline_svg(svg, name, title, f"{name}-caption"))


def read_pictures(folder: Path, titles: Mapping[str, str], captions: Mapping[str, str]) -> list[Picture]:
    """Take the drawings that were written to a folder as ``NAME.svg``, in the order of their captions.

    Raises
    ------
    InputError
        With every one that is unknown, missing, a link, or no drawing any more.
    """
    pictures, mistakes = [], []
    for name, caption in captions.items():
        path = folder / f"{name}.svg"
        try:
            pictures.append(picture(name, titles[name], caption, _own_bytes(path)))
        except KeyError:
            mistakes.append(Mistake("is not a figure of this version", mend=AGAIN, file=str(path)))
        except (OSError, UncleanError) as error:
            problem = str(error) if isinstance(error, UncleanError) else f"cannot be read ({error.strerror})"
            mistakes.append(Mistake(problem, mend=AGAIN, file=str(path)))
    if mistakes:
        raise InputError(mistakes)
    return pictures


def _own_bytes(path: Path) -> bytes:
    """Content of a file of a folder, and of no other: links are not followed."""
    if path.parent.is_symlink() or not stat.S_ISREG(path.lstat().st_mode):
        raise UncleanError("is a link or a special file, not a regular file")
    return read_limited(path, MOST_BYTES)


def render(heading: Heading, sections: Sequence[Section]) -> str:
    """Write a page; every text in it is escaped, only the drawings are taken as they are."""
    return _environment().get_template("report.html.j2").render(heading=heading, sections=sections)


def renewed(page: str, other: str) -> str:
    """A page with the key figures and sections of another in the place of its own of these names; all else stays."""
    sections = {found[1]: found[0] for found in _SECTION.finditer(other)}
    figures = [
        {found[1]: found[0] for key in _KEY.finditer(text) for found in _FIGURE.finditer(key[0])}
        for text in (other, page)
    ]
    key = "".join((figures[0] | {name: each for name, each in figures[1].items() if name not in figures[0]}).values())
    page = _KEY.sub(lambda found: key, page, count=1)
    return _SECTION.sub(lambda found: sections.get(found[1], found[0]), page)


@cache
def _environment() -> Environment:
    """The templates, which are compiled once: it takes longer than to write the page of a few years."""
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
