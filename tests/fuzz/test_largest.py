"""The largest files that a reader takes cost it no more than 10 s of a processor and 1 GB."""

import subprocess
import sys

from tests.fuzz.largest import QUICK


def test_the_largest_files_are_read_or_refused_within_limits():
    command = [sys.executable, "-m", "tests.fuzz.largest", *QUICK]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout.count(": ") >= 2 * len(QUICK)
