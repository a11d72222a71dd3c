"""A self-contained HTML page: what it is made of, and how it becomes one file that opens offline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as Tree

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from reservoir.errors import InputError
from reservoir.io.plan_folder.files import AGAIN

#: Elements that show something. The rest of a drawing goes: metadata, and styles that would hold for the whole page.
_ELEMENTS = {"svg", "defs", "g", "path", "use", "clipPath", "rect"}
_POINTER = re.compile(r"url\(#([^)]*)\)")


def inline_svg(svg: bytes, prefix: str, label: str, described_by: str) -> Markup:
    """Turn an SVG file that `reservoir.report.figures.style.rendered` made into an element of an HTML page.

    Parameters
    ----------
    svg : bytes
        The file, as this program wrote it: it becomes markup that is trusted.
    prefix : str
        Put before every name in it, different for every drawing of a page.
    label : str
        What the drawing shows, for readers who cannot see it.
    described_by : str
        Name of the element that says how to read it.
    """
    root = Tree.fromstring(svg)
    for element in root.iter():
        for child in [child for child in element if _local(child.tag) not in _ELEMENTS]:
            element.remove(child)
        element.tag, element.text, element.tail = _local(element.tag), None, None
        attributes = {_local(name): " ".join(value.split()) for name, value in element.attrib.items()}
        attributes = {name: value for name, value in attributes.items() if not name.startswith("on")}  # nothing acts
        element.attrib.clear()
        element.attrib |= attributes
    pointed = {name for element in root.iter() for value in element.attrib.values() for name in _POINTER.findall(value)}
    pointed |= {element.attrib["href"][1:] for element in root.iter() if "href" in element.attrib}
    for element in root.iter():  # names that nothing points at go
        name = element.attrib.pop("id", None)
        element.attrib |= {"id": f"{prefix}-{name}"} if name in pointed else {}
        for key, value in element.attrib.items():
            element.attrib[key] = (
                f"#{prefix}-{value[1:]}" if key == "href" else _POINTER.sub(rf"url(#{prefix}-\1)", value)
            )
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-label": label, "aria-describedby": described_by}
    return Markup(Tree.tostring(root, encoding="unicode"))


def _local(name: str) -> str:
    """A name without its namespace: HTML knows what belongs to SVG."""
    return name.rpartition("}")[2]


_TEMPLATES = Path(__file__).resolve().parent / "templates"
_PHONE_COLUMNS = 4


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
    """The top of a page: title, description, caveats, key figures, and pages beside it by what they are of."""

    title: str
    description: str
    caveats: tuple[str, ...]
    figures: tuple[tuple[str, str], ...]
    pages: tuple[tuple[str, str], ...] = ()


def picture(name: str, title: str, caption: str, svg: bytes) -> Picture:
    """Make a drawing of this package part of a page."""
    return Picture(name, title, caption, inline_svg(svg, name, title, f"{name}-caption"))


def read_pictures(folder: Path, titles: Mapping[str, str], captions: Mapping[str, str]) -> list[Picture]:
    """Take the drawings that this program wrote to a folder as ``NAME.svg``, in the order of their captions.

    Raises
    ------
    InputError
        If one is no drawing of this program, although its hash is that of ``plan.json``.
    """
    pictures = []
    for name, caption in captions.items():
        path = folder / f"{name}.svg"
        try:
            pictures.append(picture(name, titles[name], caption, path.read_bytes()))
        except (OSError, KeyError, Tree.ParseError, RecursionError) as error:
            problem = f"is no drawing of this program ({type(error).__name__})"
            raise InputError(problem, mend=AGAIN, file=str(path)) from error
    return pictures


def render(heading: Heading, sections: Sequence[Section]) -> str:
    """Write a page; every text in it is escaped, only the drawings are taken as they are."""
    return _environment().get_template("report.html.j2").render(heading=heading, sections=sections)


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
