"""Drawings inside an HTML page: one document, so no name may occur twice and nothing may point outside."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Tree

from markupsafe import Markup

from reservoir.report.html.svg_cleaning import local, read_drawing

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
        If it is no drawing, see `reservoir.report.html.svg_cleaning`.
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
