"""What a stranger does first, with the installed package alone.

``python -m tests.from_wheel PYTHON [PYTHON ...]``: each Python of an environment into which the wheel was installed
runs the main job and its like in an empty folder, with nothing compiled yet. Told are the version, and for each command
its processor seconds; what fails is printed. ``--strict`` makes every warning an error but those of others
(``FOREIGN_WARNINGS``). Ends with 1 if anything failed. ``docs/releasing.md`` says when.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
#: Each runs in the folder that those before it left.
COMMANDS = (
    "--version",
    "plan --out first",
    "rules first --family linear",
    "operate first/rules/linear.json --month 6 --level 1215 --inflow 1400 --inflow-before 900",
    "plan few.csv --unit m3/s --case xiaowan --prove --out proved",
    "plan --case lancang-2 --no-figures --out two-dams",
    "validate --runs 3 --no-zoo",
)
#: Warnings of other packages in what they do themselves, as ``PYTHONWARNINGS`` names them, each for its reason.
FOREIGN_WARNINGS: tuple[str, ...] = ()
_PLACE = "import pathlib, reservoir; print(pathlib.Path(reservoir.__file__).parent)"
_FEW_YEARS = "print(*[row for row in open('first/inflow.csv', encoding='utf-8') if row[0] != '#'][:5], sep='', end='')"
#: A browser's way to an answer: the printed address gives a cookie, the cookie the page and its socket.
FIRST_ANSWER = """
import json, subprocess, sys, urllib.request
from http.cookiejar import CookieJar
from websockets.sync.client import connect
page = subprocess.Popen([sys.executable, "-m", "reservoir", "page", "--no-browser"], stdout=subprocess.PIPE, text=True)
try:
    address = next(line for line in page.stdout if "http://" in line).split()[-1]
    jar = CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    text = browser.open(address).read().decode()
    own = address.split("/?")[0]
    assert "uPlot" in browser.open(own + "/static/vendor/uPlot.iife.min.js").read().decode()
    (cookie,) = jar
    headers = {"Cookie": f"{cookie.name}={cookie.value}"}
    with connect(own.replace("http", "ws", 1) + "/socket", origin=own, additional_headers=headers) as socket:
        socket.send(json.dumps({"id": 1, "kind": "full", "changes": {"storage.upper_hm3": None}}))
        told = json.loads(socket.recv(timeout=300))
        while told.get("id") != 1 or "stage" in told:
            told = json.loads(socket.recv(timeout=300))
    print(str(told)[:300])
    assert "answer" in told, told
finally:
    page.terminate()
    page.wait(60)
"""


def jobs_of(python: Path) -> list[tuple[str, list[str], str]]:
    """What a Python runs: a name, a command, and the file that takes what it prints."""
    commands = [(f"reservoir {line}", [str(python), "-m", "reservoir", *line.split()], "") for line in COMMANDS]
    plan = next(place for place, (name, *_) in enumerate(commands) if " plan " in name)
    commands.insert(plan + 1, ("four years of its record", [str(python), "-c", _FEW_YEARS], "few.csv"))
    return [*commands, ("reservoir page", [str(python), "-c", FIRST_ANSWER], "")]


def main() -> int:
    """Run what is asked for; the number of Pythons in which something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.from_wheel", description=__doc__)
    parser.add_argument("python", nargs="+", type=lambda text: Path(text).absolute())
    parser.add_argument("--strict", action="store_true")
    asked = parser.parse_args()
    return sum(not tried(python, strict=asked.strict) for python in asked.python)


def stranger(empty: Path) -> dict[str, str]:
    """The environment of somebody who has run nothing yet: caches are in an empty folder."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "RESERVOIR_"))}
    return {**inherited, "XDG_CACHE_HOME": str(empty / "cache")}


def used(command: list[str] | str, **ask: Any) -> tuple[subprocess.CompletedProcess[str], float]:
    """A command that has ended, and its processor seconds; what it said is printed if it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, shell=isinstance(command, str), **ask)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n", flush=True)
    return done, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def tried(python: Path, *, strict: bool) -> bool:
    """Whether a Python did everything."""
    with tempfile.TemporaryDirectory() as empty:
        environment = stranger(Path(empty))
        if strict:
            environment["PYTHONWARNINGS"] = ",".join(("error", *FOREIGN_WARNINGS))
        folder = Path(empty) / "folder"
        folder.mkdir()
        ask = {"cwd": folder, "env": environment, "capture_output": True, "text": True}
        version = subprocess.run([python, "--version"], **ask).stdout.strip()
        place = subprocess.run([python, "-c", _PLACE], **ask)
        print(f"{version}, {place.stdout.strip() or place.stderr}", flush=True)
        well = place.returncode == 0 and not Path(place.stdout.strip()).is_relative_to(CHECKOUT)
        for name, command, into in jobs_of(python):
            done, seconds = used(command, **ask)
            print(f"  {'done' if done.returncode == 0 else 'FAILED':6} {seconds:6.1f} s  {name}", flush=True)
            if into:
                (folder / into).write_text(done.stdout)
            well &= done.returncode == 0
    return well


if __name__ == "__main__":
    sys.exit(min(main(), 1))
