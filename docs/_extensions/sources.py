"""Names of the code in a page's text become links to the source; see `names`.

One that is not there is a warning, which ends the build; ``tests/docs/test_names.py`` finds it sooner.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from names import ROOT, names_in, source_of
from sphinx.application import Sphinx
from sphinx.util import logging

#: Where the pages with sources stand among the others.
PAGES = "_code"


def link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make the names of a page links."""
    if app.builder.format != "html":
        return
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        if names_in(text) != [text] or isinstance(literal.parent, nodes.reference):
            continue
        try:
            file, inner = source_of(text)
        except LookupError as wrong:
            logging.getLogger(__name__).warning("%s", wrong, location=literal)
            continue
        address = app.builder.get_relative_uri(docname, f"{PAGES}/{file.as_posix()}")
        target = address + (f"#{inner}" if inner else "")
        reference = nodes.reference("", "", internal=True, refuri=target)
        literal.replace_self(reference)
        reference += _breakable(literal)


def _breakable(literal: nodes.literal) -> nodes.literal:
    """The name with places to break it behind its dots and strokes: else a long one makes a column too wide."""
    parts = re.split(r"(?<=[./])", literal.astext())
    literal.clear()
    literal += nodes.Text(parts[0])
    for part in parts[1:]:
        literal += [nodes.raw("", "<wbr>", format="html"), nodes.Text(part)]
    return literal


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for every file that some page names."""
    for file in sorted(_named_files(Path(app.srcdir))):
        source = (ROOT / file).read_text()
        language = {".py": "python", ".cl": "c"}.get(file.suffix, "text")
        lines = app.builder.highlighter.highlight_block(source, language).split("\n")
        for inner, line in _places(source) if file.suffix == ".py" else ():
            lines[line - 1] = f'<span id="{inner}"></span>{lines[line - 1]}'
        body = f"<h1>{file.as_posix()}</h1>\n" + "\n".join(lines)
        yield f"{PAGES}/{file.as_posix()}", {"title": file.as_posix(), "body": body, "parents": []}, "page.html"


def _named_files(folder: Path) -> set[Path]:
    found = set()
    for page in folder.glob("**/*.md"):
        for name in names_in(page.read_text()):
            try:
                found.add(source_of(name)[0])
            except LookupError:
                continue  # `link` says so
    return found


def _places(source: str) -> Iterator[tuple[str, int]]:
    """Functions, classes and constants of a module, with their lines."""
    waiting: list[tuple[str, ast.AST]] = [("", ast.parse(source))]
    while waiting:
        before, node = waiting.pop()
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.FunctionDef | ast.ClassDef):
                yield before + each.name, each.lineno
                if isinstance(each, ast.ClassDef):
                    waiting.append((f"{before}{each.name}.", each))
            elif isinstance(each, ast.Assign | ast.AnnAssign):
                targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                for target in (inner for one in targets for inner in ast.walk(one)):
                    if isinstance(target, ast.Name):
                        yield before + target.id, each.lineno


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect both steps."""
    app.connect("doctree-resolved", link)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
