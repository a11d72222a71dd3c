"""The largest files of each kind that are looked into: what costs most memory or time for its bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from reservoir.io import rule_file
from reservoir.io.inflow_csv import lines
from reservoir.io.plan_folder import tables
from reservoir.io.reservoir_toml import text
from reservoir.text import data_file
from tests.io.small_reservoir import SMALL

_RULES = Path(__file__).parents[2] / "reports" / "xiaowan" / "rules"


def filled(begin: bytes, unit: bytes, most: int, end: bytes = b"") -> bytes:
    """As many times a unit between a beginning and an end as a file may hold."""
    return begin + unit * ((most - len(begin) - len(end)) // len(unit)) + end


def rule_with(value: str) -> bytes:
    content = json.loads((_RULES / "standard.json").read_text())
    content["rule"]["storage_hm3"] = "HERE"
    begin, end = json.dumps(content).split('"HERE"')
    return filled(f"{begin}[{value}".encode(), f",{value}".encode(), rule_file.MOST_BYTES, f"]{end}".encode())


def plan_with(value: str) -> bytes:
    return filled(f'{{"notes":[{value}'.encode(), f",{value}".encode(), tables.MOST_PROVENANCE_BYTES, b"]}")


HEAD = b"NAME : a\nDIMENSION : 10000\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
D = data_file.MOST_BYTES
FILES: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "csv lines": (
        "inflow",
        lambda: filled(b"date,inflow\n", b"1953-01,5\n", min(lines.MOST_BYTES, 10 * lines.MOST_LINES)),
    ),
    "csv cells": (
        "inflow",
        lambda: filled(b"date" + b",a" * 60 + b"\n", b"\xf0\x9f\x98\x80," * 61 + b"\n", 61 * 5 * 16000),
    ),
    "csv bad dates": ("inflow", lambda: filled(b"date,inflow\n", b"x,y\n", 4 * lines.MOST_LINES)),
    "csv wide": ("inflow", lambda: filled(b"year,Jan\n", b"x,y\n", 4 * lines.MOST_LINES)),
    "csv comments": (
        "inflow",
        lambda: filled(b"date,inflow\n" + b"#" + b" in" * 3000 + b"\n", b"#" + b" m3 in," * 1250 + b"\n", 900 * 8000),
    ),
    "toml keys": ("reservoir", lambda: filled(SMALL.encode(), b"a=1\n", text.MOST_BYTES)),
    "toml many keys": ("reservoir", lambda: SMALL.encode() + b"".join(b"k%d=1\n" % i for i in range(80_000))),
    "toml list": (
        "reservoir",
        lambda: filled(
            SMALL.encode().split(b"storage_hm3 =")[0] + b"storage_hm3 = [",
            b"1,",
            text.MOST_BYTES - 800,
            b"]\n[curves.tailrace]\nkind='power'\n",
        ),
    ),
    "toml list of lists": (
        "reservoir",
        lambda: filled(
            SMALL.encode().split(b"storage_hm3 =")[0] + b"storage_hm3 = [", b"[],", text.MOST_BYTES - 800, b"]\n"
        ),
    ),
    "toml tables": ("reservoir", lambda: filled(b"", b"[[a]]\n", text.MOST_BYTES)),
    "toml dotted": ("reservoir", lambda: b"".join(b".".join([b"a"] * 30) + b".k%d=1\n" % i for i in range(13_000))),
    "toml deep tables": (
        "reservoir",
        lambda: b"".join(b"[[" + b".".join([b"a"] * 30) + b"]]\n" for i in range(14_000)),
    ),
    "toml quotes": ("reservoir", lambda: filled(b'a = "', b"\\u0041", text.MOST_BYTES, b'"\n')),
    "toml brackets": ("reservoir", lambda: filled(b"a = ", b"[", text.MOST_BYTES)),
    "toml digits": ("reservoir", lambda: filled(b"a = [", b"9" * 400 + b",", text.MOST_BYTES, b"]")),
    "toml bad quotes": ("reservoir", lambda: filled(b"", b'"', text.MOST_BYTES)),
    "toml dots": ("reservoir", lambda: filled(b"", b"a.", text.MOST_BYTES)),
    "toml curve": (
        "reservoir",
        lambda: (
            SMALL.replace(
                "storage_hm3 = [10, 20, 40, 60, 80, 100, 120, 130]",
                "storage_hm3 = [" + ",".join(str(10 + i / 500) for i in range(60_000)) + "]",
            )
            .replace(
                "level_m = [405, 412, 422, 429, 435, 440.2, 445, 447.2]",
                "level_m = [" + ",".join(str(405 + i / 1000) for i in range(60_000)) + "]",
            )
            .encode()
        ),
    ),
    "rule nulls": ("rule", lambda: rule_with("null")),
    "rule numbers": ("rule", lambda: rule_with("1")),
    "rule falling": (
        "rule",
        lambda: filled(
            rule_with("1")[:0]
            + json.dumps({"format": 1}).encode()[:-1]
            + b',"rule":{"family":"standard","storage_hm3":[',
            b"2,1,",
            rule_file.MOST_BYTES,
            b"1]}}",
        ),
    ),
    "rule lists": ("rule", lambda: rule_with("[]")),
    "rule objects": ("rule", lambda: rule_with("{}")),
    "rule objects of one": ("rule", lambda: rule_with('{"":0}')),
    "rule keys": (
        "rule",
        lambda: b'{"format":1,"rule":{"family":"standard",' + b",".join(b'"%x":0' % i for i in range(85_000)) + b"}}",
    ),
    "plan nulls": ("plan.json", lambda: plan_with("0")),
    "plan lists": ("plan.json", lambda: plan_with("[]")),
    "plan objects": ("plan.json", lambda: plan_with("{}")),
    "plan bad numbers": ("plan.json", lambda: plan_with("1e31")),
    "schedule rows": (
        "schedule.csv",
        lambda: filled(
            b"year,month,inflow_m3s,release_m3s,storage_start_hm3,energy_gwh\n", b"x,,,,,\n", tables.MOST_BYTES
        ),
    ),
    "schedule sound rows": (
        "schedule.csv",
        lambda: filled(
            b"year,month,inflow_m3s,release_m3s,storage_start_hm3,energy_gwh\n", b"1953,1,1,1,1,1\n", tables.MOST_BYTES
        ),
    ),
    "schedule columns": ("schedule.csv", lambda: filled(b"year", b",a", tables.MOST_BYTES)),
    "schedule cells": (
        "schedule.csv",
        lambda: filled(b"year" + b",a" * 100 + b"\n", b"," * 100 + b"\n", tables.MOST_BYTES),
    ),
    "tsp lines": ("tsplib", lambda: filled(HEAD, b"1 1 1\n", D)),
    "tsp short lines": ("tsplib", lambda: filled(HEAD, b"12\n", D)),
    "tsp words": ("tsplib", lambda: filled(HEAD, b"12 ", D)),
    "tsp keywords": ("tsplib", lambda: b"".join(b"%x:1\n" % i for i in range(900_000))),
    "tsp cities": (
        "tsplib",
        lambda: HEAD + b"".join(b"%d %d %d\n" % (i, i * 7919 % 10007, i * 104729 % 10009) for i in range(1, 10_001)),
    ),
    "tsp far": (
        "tsplib",
        lambda: (
            HEAD
            + b"".join(b"%d %d %d\n" % (i, i * 7919 % 10007 * 100000, i * 104729 % 10009) for i in range(1, 10_001))
        ),
    ),
    "tour words": ("tour", lambda: filled(b"TOUR_SECTION\n", b"12 ", D)),
    "tour lines": ("tour", lambda: filled(b"TOUR_SECTION\n", b"12\n", D)),
    "spin couplings": (
        "spin",
        lambda: b"65536\n-0.0\n" + b"".join(b"%d %d 1\n" % (i % 65535 + 1, 65536 - i // 65535) for i in range(560_000)),
    ),
    "spin lines": ("spin", lambda: filled(b"65536\n0\n", b"1\n", D)),
    "spin words": ("spin", lambda: filled(b"65536\n0\n", b"12 ", D)),
}
