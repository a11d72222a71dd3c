"""Many files for a reader, within limits of time and memory: ``python -m tests.fuzz READER --cases 100000``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from reservoir.text import data_file as limited_read
from tests.fuzz.case import Case, Reader, lay_out
from tests.fuzz.judge import MOST_HELD, Hang, Said, forget_most_held, limit_memory, most_held_since, outcome
from tests.fuzz.readers import NAMES, reader

#: Cases of one search: what hypothesis remembers of a search grows with it.
BATCH = 1_000


def main() -> int:
    """Run; the status is 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("reader", choices=NAMES)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzz-failures"), help="folder for the files of failing cases"
    )
    given_options = parser.parse_args()
    warnings.simplefilter("error")
    limited_read.PATIENCE_SECONDS = 0.05  # a silent pipe costs ten seconds otherwise
    run = Run(reader(given_options.reader), given_options.keep / given_options.reader)
    began = time.monotonic()
    limit_memory()
    for number in range(0, given_options.cases, BATCH):
        run.search(min(BATCH, given_options.cases - number), given_options.seed * 1_000_003 + number)
    print(
        f"{given_options.reader}: {sum(run.found.values()):,} cases in {time.monotonic() - began:,.0f} s: "
        f"{run.found['refused']:,} refused, {run.found['read']:,} read, {run.found['failed']:,} failed "
        f"({len(run.kinds)} kinds); slowest {run.slowest:.2f} s, largest +{run.largest / 1e6:,.0f} MB"
    )
    return 1 if run.kinds else 0


class Run:
    """Cases tried on a reader."""

    def __init__(self, tried: Reader, keep: Path) -> None:
        self.reader, self.keep = tried, keep
        self.found: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.slowest, self.largest = 0.0, 0
        self.said = Said()

    def search(self, cases: int, begin: int) -> None:
        """Try so many cases, the same ones for the same beginning."""
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:

            @seed(begin)
            @settings(
                max_examples=cases,
                phases=[Phase.generate],
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(self.reader.cases)
            def every(case: Case) -> None:
                self.attempt(case, Path(folder))

            every()

    def attempt(self, case: Case, folder: Path) -> None:
        """Try one; what fails is told and kept, the first of each kind."""
        began, held = time.perf_counter(), forget_most_held()
        try:
            said = outcome(self.reader, case, folder)
            self.said.require_silence()
            more = most_held_since() - held
            self.largest = max(self.largest, more)
            assert more <= MOST_HELD, f"{more / 1e6:,.0f} MB"
        except (Exception, Hang) as error:
            said = "failed"
            self._failed(error, case)
        self.slowest = max(self.slowest, time.perf_counter() - began)
        self.found[said] += 1

    def _failed(self, error: BaseException, case: Case) -> None:
        last = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
        self.kinds[kind] += 1
        if self.kinds[kind] == 1:
            kept = self.keep / f"{len(self.kinds)}"
            kept.mkdir(parents=True, exist_ok=True)
            lay_out(case, kept)
            print(f"{kind}: {str(error)[:300]}\n  kept in {kept}", file=sys.stderr)
            traceback.print_exception(error, limit=-4, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
