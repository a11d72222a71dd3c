"""Runs in a process of their own, which can be killed."""

import os
import subprocess
import sys

_SCRIPT = """
import os, signal, sys, time
from pathlib import Path
from reservoir.io import workplace as moves
from reservoir.io.workplace import contents, leaves
from reservoir.io.output import claimed, drafted

rename, made = os.rename, 0

def step(number):
    # Another step: the process dies at the one that is asked for.
    if number == int(os.environ.get("DIES_AT", -1)):
        os.kill(os.getpid(), signal.SIGKILL)

def counted(origin, target):
    global made
    step(2 * made)
    rename(origin, target)
    made += 1
    step(2 * made - 1)

os.rename = counted
target, content = Path(sys.argv[1]), sys.argv[2]
with claimed(target, lambda place: None, lambda place: list(leaves(place, contents(place)))) as claim:
    print("claimed", flush=True)
    if "WAITS" in os.environ:
        sys.stdin.readline()
    with drafted(claim, None):
        for name in ("a.txt", "b.txt", "inner/c.txt"):
            (claim.draft / name).parent.mkdir(exist_ok=True)
            (claim.draft / name).write_text(content)
print(claim.written, flush=True)
"""


def begin(target, content, **environment):
    """Start a run that writes a folder of three files."""
    return subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, str(target), content],
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(target, content, **environment):
    """Let such a run end; its status, output and errors."""
    process = begin(target, content, **environment)
    output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors
