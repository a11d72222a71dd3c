"""A self-contained HTML page: what it is made of, and how it becomes one file that opens offline."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as Tree

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from reservoir.errors import InputError, Mistake
from reservoir.io.plan_folder.tables import AGAIN
from reservoir.text.data_file import read_limited

#: Elements that matplotlib draws with. Anything else goes with all that it holds: scripts, forms, links, images, styles
#: that would hold for the whole page, and what the page says itself.
_ELEMENTS = {"svg", "defs", "g", "path", "use", "clipPath", "rect"}
_PLACES = {"x", "y", "width", "height", "viewBox", "transform", "d", "id", "href", "clip-path", "style"}
_STROKES = {f"stroke-{part}" for part in ("width", "linejoin", "linecap", "miterlimit", "dasharray", "dashoffset")}
_STYLES = {"fill", "stroke", "opacity", "fill-opacity", "stroke-opacity", "fill-rule", *_STROKES}
#: Numbers, colours and words: neither an address nor an escape.
_PLAIN = re.compile(r"[\w\s#.,%+-]*", re.ASCII)
_OTHERS = {
    "id": re.compile(r"[\w.-]+", re.ASCII),
    "href": re.compile(r"#[\w.-]+", re.ASCII),
    "clip-path": re.compile(r"url\(#[\w.-]+\)", re.ASCII),
    "transform": re.compile(r"([a-zA-Z]+\([\d\s.,e+-]*\)\s*)*", re.ASCII),
}
#: Bytes of a drawing, and how deep its elements lie in each other: many times what a plan of 3,000 years needs.
MOST_BYTES, _DEEPEST = 64_000_000, 40


class UncleanError(ValueError):
    """A file that is no drawing."""


def read_drawing(svg: bytes) -> Tree.Element:
    """Read a drawing, with only what can do nothing but be seen.

    Parameters
    ----------
    svg : bytes
        An SVG file.

    Raises
    ------
    UncleanError
        If it is none, is too large or too deep, or defines entities, which may grow without end.
    """
    if len(svg) > MOST_BYTES:
        raise UncleanError(f"is larger than {MOST_BYTES / 1e6:.0f} MB")
    try:
        text = svg.decode("utf-8")
        if "<!ENTITY" in text:
            raise UncleanError("defines XML entities, which a report does not accept")
        root = Tree.fromstring(text)
    except (UnicodeDecodeError, Tree.ParseError) as error:
        raise UncleanError("is not an SVG file") from error
    if local(root.tag) != "svg":
        raise UncleanError("is not an SVG file")
    _clean(root)
    _unlink(root)
    return root


def local(name: str) -> str:
    """A name without its namespace: HTML knows what belongs to SVG."""
    return name.rpartition("}")[2]


def _clean(root: Tree.Element) -> None:
    level = [root]
    for _ in range(_DEEPEST):
        for element in level:
            for child in [each for each in element if local(each.tag) not in _ELEMENTS]:
                element.remove(child)
            _clean_attributes(element)
            element.text = None
        level = [child for element in level for child in element]
        if not level:
            return
    raise UncleanError(f"nests elements more than {_DEEPEST} levels deep")


def _clean_attributes(element: Tree.Element) -> None:
    for key, value in list(element.attrib.items()):
        name = local(key)
        if name == "style":
            element.attrib[key] = _clean_style(value)
        elif name not in _PLACES or not _harmless(name, value):
            del element.attrib[key]


def _harmless(name: str, value: str) -> bool:
    return _OTHERS.get(name, _PLAIN).fullmatch(value) is not None


def _unlink(root: Tree.Element) -> None:
    """Let copies be of single paths alone: copies of copies of copies grow without end in whoever shows them."""
    paths = {f"#{element.get('id')}" for element in root.iter() if local(element.tag) == "path"}
    for element in root.iter():
        for key in [key for key, value in element.attrib.items() if local(key) == "href" and value not in paths]:
            del element.attrib[key]


def _clean_style(style: str) -> str:
    """Leave out all declarations but those of shapes' colours and lines."""
    return ";".join(each for each in style.split(";") if _known(*each.partition(":")))


def _known(name: str, _: str, value: str) -> bool:
    return name.strip() in _STYLES and _PLAIN.fullmatch(value) is not None


_POINTER = re.compile(r"url\(#([^)]*)\)")


def inline_svg(svg: bytes, prefix: str, label: str, described_by: str) -> Markup:
    """Turn an SVG file that `reservoir.report.figures.style.rendered` made into an element of an HTML page.

    Parameters
    ----------
    svg : bytes
        The file. It becomes markup that is trusted, after all is left out of it that this package does not draw with.
    prefix : str
        Put before every name in it, different for every drawing of a page.
    label : str
        What the drawing shows, for readers who cannot see it.
    described_by : str
        Name of the element that says how to read it.

    Raises
    ------
    UncleanError
        If it is no drawing, see `reservoir.report.html.page`.
    """
    root = read_drawing(svg)
    elements = list(root.iter())
    used = {name for element in elements for name in _pointed_at(element)}
    for element in elements:
        _rename(element, prefix, used)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-label": label, "aria-describedby": described_by}
    return Markup(Tree.tostring(root, encoding="unicode"))


def _pointed_at(element: Tree.Element) -> list[str]:
    """Names of the elements that this one uses."""
    found = [name for value in element.attrib.values() for name in _POINTER.findall(value)]
    return found + [value[1:] for key, value in element.attrib.items() if local(key) == "href"]


def _rename(element: Tree.Element, prefix: str, used: set[str]) -> None:
    """Prefix names and what points at them; names that nothing points at, and blanks between elements, go."""
    element.tag = local(element.tag)
    attributes = {local(key): " ".join(value.split()) for key, value in element.attrib.items()}
    name = attributes.pop("id", None)
    if name in used:
        attributes["id"] = f"{prefix}-{name}"
    if "href" in attributes:
        attributes["href"] = f"#{prefix}-{attributes['href'][1:]}"
    element.attrib.clear()
    element.attrib |= {key: _POINTER.sub(rf"url(#{prefix}-\1)", value) for key, value in attributes.items()}
    element.tail = None


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
