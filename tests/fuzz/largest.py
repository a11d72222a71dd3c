"""The files that cost a reader most memory or time for their bytes, as large as it takes them.

``python -m tests.fuzz.largest [NAME...]`` reads those named, or all, and ends with 1 if one takes more than 10 s of a
processor, or 1 GB more than is held before.
"""

from __future__ import annotations

import gc
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from reservoir.errors import InputError
from reservoir.io import rule_file
from reservoir.io.plan_folder import tables
from reservoir.io.plan_folder.files import MOST_PROVENANCE_BYTES, read_provenance
from reservoir.io.records import table
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_toml import draft as text
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.io.rule_file import read_rule
from reservoir.problems.bits import read_spin_glass
from reservoir.problems.tours import read_tour, tour_problem
from reservoir.text import data_file
from tests.fuzz.judge import SECONDS, Hang, limit_memory, most_held
from tests.io.small_reservoir import SMALL

_STANDARD = Path(__file__).parents[2] / "reports" / "xiaowan" / "rules" / "standard.json"
_CITIES = b"NAME : a\nDIMENSION : 10000\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
_LEVEL = SMALL.partition("storage_hm3 =")[0].encode() + b"storage_hm3 = ["
_SCHEDULE = b"year,month,inflow_m3s,release_m3s,storage_start_hm3,energy_gwh\n"


class Largest(NamedTuple):
    """A file: its name, how it is read, and what makes its bytes."""

    name: str
    read: Callable[[Path], object]
    make: Callable[[], bytes]


def filled(most: int, begin: bytes, unit: bytes, end: bytes = b"") -> bytes:
    """A unit between a beginning and an end, as often as so many bytes hold it."""
    return begin + unit * ((most - len(begin) - len(end)) // len(unit)) + end


def _rule_of(value: bytes) -> bytes:
    """A rule with a list of one value."""
    content = json.loads(_STANDARD.read_text())
    content["rule"]["storage_hm3"] = "HERE"
    begin, end = json.dumps(content).encode().split(b'"HERE"')
    return filled(rule_file.MOST_BYTES, begin + b"[" + value, b"," + value, b"]" + end)


def _counted(line: bytes, most: int) -> bytes:
    return b"".join(line % (number, number * 7919 % 10_007, number * 104_729 % 10_009) for number in range(1, most + 1))


def _couplings(most: int) -> bytes:
    return b"65536\n0\n" + b"".join(b"%d %d 1\n" % (at % 65_000 + 1, 65_536 - at // 65_000) for at in range(most))


_inflow = partial(Largest, "inflow.csv", read_inflow)
_reservoir = partial(Largest, "reservoir.toml", read_reservoir)
_rule = partial(Largest, "rule.json", read_rule)
_provenance = partial(Largest, "plan.json", lambda path: read_provenance(path.parent))
_schedule = partial(Largest, "schedule.csv", lambda path: tables.read_schedule(path.parent))
_tsplib = partial(Largest, "some.tsp", tour_problem)
_tour = partial(Largest, "some.tour", lambda path: read_tour(path, data_file.MOST_BYTES))
_spin = partial(Largest, "glass", read_spin_glass)

_toml = partial(filled, text.MOST_BYTES)
_json = partial(filled, MOST_PROVENANCE_BYTES)
_table = partial(filled, tables.MOST_BYTES)
_data = partial(filled, data_file.MOST_BYTES)

FILES: Mapping[str, Largest] = {
    "months of one": _inflow(lambda: filled(10 * table.MOST_LINES, b"date,inflow\n", b"1953-01,5\n")),
    "wrong months": _inflow(lambda: filled(4 * table.MOST_LINES, b"date,inflow\n", b"x,y\n")),
    "wide cells": _inflow(lambda: filled(5_000_000, b"date" + b",a" * 60 + b"\n", b"\xf0\x9f\x98\x80," * 61 + b"\n")),
    "comments": _inflow(lambda: filled(8_000_000, b"date,inflow\n", b"#" + b" m3 in," * 1250 + b"\n")),
    "most comments": _inflow(lambda: filled(table.MOST_COMMENTED, b"date,inflow\n", b"#" + b" m3 in," * 1250 + b"\n")),
    "keys": _reservoir(lambda: _counted(b"k%d_%d_%d = 1\n", 40_000)),
    "a list": _reservoir(lambda: _toml(_LEVEL, b"1,", b"]\n")),
    "a list of lists": _reservoir(lambda: _toml(_LEVEL, b"[],", b"]\n")),
    "sections": _reservoir(lambda: _toml(b"", b"[[a]]\n")),
    "long sections": _reservoir(lambda: _toml(b"", b"[[" + b".".join([b"a"] * 30) + b"]]\n")),
    "a key of points": _reservoir(lambda: _toml(b"", b"a.")),
    "escapes": _reservoir(lambda: _toml(b'a = "', b"\\u0041", b'"\n')),
    "brackets": _reservoir(lambda: _toml(b"a = ", b"[")),
    "quotes": _reservoir(lambda: _toml(b"", b'"')),
    "long numbers": _reservoir(lambda: _toml(b"a = [", b"9" * 400 + b",", b"]")),
    "a rule of nulls": _rule(lambda: _rule_of(b"null")),
    "a rule of one number": _rule(lambda: _rule_of(b"1")),
    "a rule of lists": _rule(lambda: _rule_of(b"[]")),
    "a rule of keys": _rule(lambda: b'{"format":1,"rule":{"family":"zones"' + _counted(b',"%d%d%d":0', 50_000) + b"}}"),
    "a plan of numbers": _provenance(lambda: _json(b"[0", b",0", b"]")),
    "a plan of lists": _provenance(lambda: _json(b"[[]", b",[]", b"]")),
    "a plan of objects": _provenance(lambda: _json(b'[{"":0}', b',{"":0}', b"]")),
    "rows of nothing": _schedule(lambda: _table(_SCHEDULE, b"x,,,,,\n")),
    "wrong rows": _schedule(lambda: _SCHEDULE + b"x,,,,,\n" * 96_000),
    "a heading": _schedule(lambda: _table(b"year", b",a")),
    "empty columns": _schedule(lambda: _table(b"year" + b"," * 220 + b"\n", b"," * 220 + b"\n")),
    "cities": _tsplib(lambda: _CITIES + _counted(b"%d %d %d\n", 10_000)),
    "short lines of cities": _tsplib(lambda: _data(_CITIES, b"12\n")),
    "one line of cities": _tsplib(lambda: _data(_CITIES, b"12 ")),
    "keywords": _tsplib(lambda: _counted(b"%d%d%d:1\n", 200_000)),
    "a tour of lines": _tour(lambda: _data(b"TOUR_SECTION\n", b"12\n")),
    "a tour of one line": _tour(lambda: _data(b"TOUR_SECTION\n", b"12 ")),
    "couplings": _spin(lambda: _couplings(270_000)),
    "short lines of couplings": _spin(lambda: _data(b"65536\n0\n", b"1\n")),
    "one line of couplings": _spin(lambda: _data(b"65536\n0\n", b"12 ")),
}
#: What took minutes or gigabytes once, and is quick to try.
QUICK = (
    *("comments", "a key of points", "a rule of one number", "a plan of numbers", "rows of nothing", "a heading"),
    *("short lines of cities", "short lines of couplings"),
)


def read_within_limits(file: Largest) -> str:
    """Read one; what becomes of it, with its time and memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file.name
        path.write_bytes(file.make())
        size = path.stat().st_size
        gc.collect()
        limit_memory()
        held, began = most_held(), time.process_time()
        signal.signal(signal.SIGPROF, _give_up)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            file.read(path)
            said = "read"
        except InputError as refused:
            said = f"refused: {str(refused).replace(folder, '')[:80]}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    seconds, more = time.process_time() - began, (most_held() - held) / 1e6
    return f"{size / 1e6:.1f} MB, {seconds:.2f} s, memory +{more:.0f} MB, {said}"


def _give_up(*_: object) -> None:
    raise Hang(f"more than {SECONDS} s")


def main() -> int:
    """Read the files named, or all; the status is 1 if one goes beyond the limits."""
    status = 0
    for name in sys.argv[1:] or FILES:
        try:
            print(f"{name}: {read_within_limits(FILES[name])}", flush=True)
        except (Exception, Hang) as error:
            print(f"{name}: FAILED: {type(error).__name__}: {error}", flush=True)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
