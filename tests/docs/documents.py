"""Pages of the documentation, and the blocks of code in them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])

#: A line before a block whose commands take longer than a test may.
LONG = "<!-- long:"
_BLOCK = re.compile(
    r"(?P<before>[^\n]*)\n```(?P<language>[\w{}-]*)[^\n]*\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


class Block(NamedTuple):
    """A fenced block: its language, its text, and whether it is marked as long."""

    language: str
    text: str
    long: bool


def blocks(page: Path) -> Iterator[Block]:
    """Blocks of a page, in their order."""
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield Block(found["language"], found["text"], found["before"].startswith(LONG))


def commands(block: Block) -> list[str]:
    """Commands of a console block: what stands behind its prompts."""
    return [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]


def name_of(page: Path) -> str:
    """A page as a test's name tells it."""
    return str(page.relative_to(ROOT))
