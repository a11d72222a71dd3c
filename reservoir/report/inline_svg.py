"""Drawings inside an HTML page: one document, so no name may occur twice and nothing may point outside."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Tree

from markupsafe import Markup

#: Left out: what the page says itself, and a style that would hold for the whole page (it is in the page's own).
_DROPPED = {"metadata", "style", "title"}
_POINTER = re.compile(r"url\(#([^)]*)\)")


def inline_svg(svg: bytes, prefix: str, label: str, described_by: str) -> Markup:
    """Turn an SVG file that `reservoir.report.style.rendered` made into an element of an HTML page.

    Parameters
    ----------
    svg : bytes
        The file; it becomes trusted markup, so only one that this package drew.
    prefix : str
        Put before every name in it, different for every drawing of a page.
    label : str
        What the drawing shows, for readers who cannot see it.
    described_by : str
        Name of the element that says how to read it.
    """
    root = Tree.fromstring(svg)
    _drop(root)
    elements = list(root.iter())
    used = {name for element in elements for name in _pointed_at(element)}
    for element in elements:
        _rename(element, prefix, used)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-label": label, "aria-describedby": described_by}
    return Markup(Tree.tostring(root, encoding="unicode"))  # matplotlib escaped the texts in it


def _local(name: str) -> str:
    """A name without its namespace: HTML knows what belongs to SVG."""
    return name.rpartition("}")[2]


def _drop(element: Tree.Element) -> None:
    for child in list(element):
        if _local(child.tag) in _DROPPED:
            element.remove(child)
        else:
            _drop(child)


def _pointed_at(element: Tree.Element) -> list[str]:
    """Names of the elements that this one uses."""
    found = [name for value in element.attrib.values() for name in _POINTER.findall(value)]
    return found + [value[1:] for key, value in element.attrib.items() if _local(key) == "href"]


def _rename(element: Tree.Element, prefix: str, used: set[str]) -> None:
    """Prefix names and what points at them; names that nothing points at, and blanks between elements, go."""
    element.tag = _local(element.tag)
    attributes = {_local(key): " ".join(value.split()) for key, value in element.attrib.items()}
    name = attributes.pop("id", None)
    if name in used:
        attributes["id"] = f"{prefix}-{name}"
    if "href" in attributes:
        attributes["href"] = f"#{prefix}-{attributes['href'][1:]}"
    element.attrib.clear()
    element.attrib |= {key: _POINTER.sub(rf"url(#{prefix}-\1)", value) for key, value in attributes.items()}
    element.text = (element.text or "").strip() or None
    element.tail = None
