"""Write the digests of this tree, or hold them against those of another: ``python -m tests.golden``.

    python -m tests.golden write BEFORE.json            (then change the code)
    python -m tests.golden check BEFORE.json

They hold on one machine and one device; a refactoring keeps every one.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import click

from reservoir.solvers import RESERVOIR_SOLVERS
from tests.golden.commands import command_digests
from tests.golden.plans import SETTINGS, plan_digests


@click.command()
@click.argument("task", type=click.Choice(["write", "check"]))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--device", default="pocl", help="As in plan.")
@click.option("--plans", "alone", is_flag=True, help="Plans by every engine alone, not the commands.")
@click.option("--only", default="", help="Calls alone whose label matches this expression; what they read included.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keeps here what the commands write.")
def main(task: str, file: Path, device: str, alone: bool, only: str, keep: Path | None) -> None:
    """Write digests to FILE, or check them against FILE."""
    before = json.loads(file.read_text("utf-8")) if task == "check" else {}
    found: dict[str, str] = {f"no call names {name}": "" for name in sorted(set(RESERVOIR_SOLVERS) - set(SETTINGS))}
    with tempfile.TemporaryDirectory() as scratch:
        digests = [plan_digests(device, only)]
        digests += [] if alone else [command_digests(device, keep or Path(scratch), only)]
        for each in digests:
            for label, digest in each:
                found[label] = digest
                differs = task == "check" and before.get(label) != digest
                print(f"{digest:<24}  {label}{'   WAS ' + str(before.get(label)) if differs else ''}", flush=True)
    if task == "write":
        file.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        return
    gone = [label for label in before if label not in found and not (alone or only)]
    wrong = [label for label in found if before.get(label) != found[label]]
    print(f"{len(found) - len(wrong)} equal, {len(wrong)} differ or are new, {len(gone)} missing: {', '.join(gone)}")
    sys.exit(bool(wrong or gone))


main()
