"""A stranger's way through the program, with the seconds of each step.

``python -m tests.walk --out DIR`` clones this repository into an empty folder, installs it by ``make plan`` with empty
caches, and types what the tutorial, *Your own reservoir* and *Two dams* say, as they say it; then it opens the page
until its first answer. With ``--suite FILE`` it writes the seconds of the tests instead, from what
``pytest --junitxml=FILE`` left. Ends with 1 if a step failed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from tests.docs.documents import DOCS, ROOT, blocks, commands
from tests.from_wheel import FIRST_ANSWER, stranger, used

PAGES = ("tutorial.md", "own-reservoir.md", "two-dams.md")


class Step(NamedTuple):
    """What was typed; how long it took and what it used, seconds; and whether it did what it should."""

    typed: str
    seconds: float
    processor_seconds: float
    done: bool


def main() -> int:
    """Walk, and write what was found; the number of steps that failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.walk", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--suite", type=Path, help="what `pytest --junitxml` wrote")
    asked = parser.parse_args()
    failed = 0
    if asked.suite:
        told = [suite(asked.suite)]
    else:
        with tempfile.TemporaryDirectory() as empty:
            chapters = walked(Path(empty))
        told = ["# A stranger's way\n", *(table(title, steps) for title, steps in chapters)]
        failed = sum(not step.done for _, steps in chapters for step in steps)
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "tables.md").write_text("\n".join(told), encoding="utf-8")
    return failed


def walked(empty: Path) -> list[tuple[str, list[Step]]]:
    """Steps by chapter, in a folder that has nothing.

    Parameters
    ----------
    empty : Path
        The clone, its environment, all caches and all results go into it.
    """
    clone, own = empty / "reservoir", empty / "own"
    environment = {**stranger(empty), "PATH": os.pathsep.join([str(clone / ".venv" / "bin"), os.environ["PATH"]])}

    def step(words: list[str] | str, folder: Path, typed: str = "") -> Step:
        print(f"$ {typed or words}", flush=True)
        began = time.monotonic()
        done, processor_seconds = used(words, cwd=folder, env=environment, capture_output=True, text=True)
        return Step(typed or str(words), time.monotonic() - began, processor_seconds, done.returncode == 0)

    install = [
        step(["git", "clone", "--quiet", str(ROOT), str(clone)], empty, "git clone"),
        step("make plan", clone),
        step("reservoir plan --out second", empty),
        step("pip install '.[excel,page]'", clone),
    ]
    chapters = [("Install, and plan the bundled case", install)]
    shutil.copytree(DOCS / "own-reservoir", own)
    for page in PAGES:
        lines = [line for block in blocks(DOCS / page) if block.language == "console" for line in commands(block)]
        heading = (DOCS / page).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        chapters.append((heading, [step(line, own) for line in lines]))
    answer = step([str(clone / ".venv/bin/python"), "-c", FIRST_ANSWER], own, "reservoir page")
    return [*chapters, ("The page, until its first answer", [answer])]


def table(title: str, steps: list[Step]) -> str:
    """A chapter in Markdown, with its sum."""
    lines = [f"## {title}\n", "| typed | seconds | processor seconds |", "|---|---|---|"]
    for step in steps:
        failed = "" if step.done else " **failed**"
        lines.append(f"| `{step.typed}`{failed} | {step.seconds:.1f} | {step.processor_seconds:.1f} |")
    if len(steps) > 1:
        sums = [sum(step[place] for step in steps) for place in (1, 2)]
        lines.append(f"| all | {sums[0]:.1f} | {sums[1]:.1f} |")
    return "\n".join(lines) + "\n"


def suite(written: Path) -> str:
    """Seconds of the tests by folder, in Markdown: those of the workers, one after another.

    Parameters
    ----------
    written : Path
        By ``pytest --junitxml``.
    """
    root = ElementTree.parse(written).getroot()
    whole = root if root.tag == "testsuite" else root[0]
    seconds: dict[str, list[float]] = defaultdict(list)
    for case in whole.iter("testcase"):
        parts = case.get("classname", "").split(".")
        seconds[parts[1] if len(parts) > 2 else "tests"].append(float(case.get("time", 0)))
    lines = ["# The tests\n", "| folder | tests | seconds of workers | slowest, s |", "|---|---|---|---|"]
    for folder, each in sorted(seconds.items(), key=lambda item: -sum(item[1])):
        lines.append(f"| {folder} | {len(each):,} | {sum(each):,.0f} | {max(each):.0f} |")
    everything = [second for each in seconds.values() for second in each]
    lines.append(f"| all | {len(everything):,} | {sum(everything):,.0f} | {max(everything):.0f} |")
    took = float(whole.get("time", 0))
    return "\n".join(lines) + f"\n\nFrom the first to the last: {took:,.0f} s, {whole.get('failures')} failed.\n"


if __name__ == "__main__":
    sys.exit(min(main(), 1))
