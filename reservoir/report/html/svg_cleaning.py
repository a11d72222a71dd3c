"""What a drawing may be made of: shapes and nothing that acts, whoever has changed the file since it was drawn."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Tree

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
