"""Digests of what commands write and print, through the command line alone."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.golden.lake import write_files
from tests.golden.tables import digest_of_json, digest_of_text, digests_of_files

EXPERIMENTS = ("case", "clpso", "ann", "ring-pso", "tsp", "dsmga2", "functions", "zoo", "proof")


def command_digests(device: str, folder: Path, only: str = "") -> Iterator[tuple[str, str]]:
    """A label and a digest for each table that commands write below a folder, and for what they print as JSON."""
    folder = folder.absolute()
    inputs = folder / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    write_files(inputs)
    for label, words in _calls(device, folder, inputs):
        if not re.search(only, label):
            continue
        call = [sys.executable, "-m", "reservoir", *words]
        ended = subprocess.run(call, check=False, capture_output=True, text=True, timeout=1800, cwd=folder)
        yield f"{label} status", str(ended.returncode)
        if ended.returncode == 2:
            yield f"{label} refusal", digest_of_text(ended.stderr)
        elif "--json" in words:
            yield f"{label} JSON", digest_of_json(ended.stdout)
        if "--out" in words:
            written = Path(words[words.index("--out") + 1])
            yield from digests_of_files(label, written if written.is_dir() else written.parent)


def _calls(device: str, folder: Path, inputs: Path) -> Iterator[tuple[str, list[str]]]:
    def out(label: str) -> list[str]:
        return ["--out", str(folder / label), "--force"]

    def lake(name: str, record: str = "record-10.csv") -> list[str]:
        return [str(inputs / record), "--reservoir", str(inputs / f"{name}.toml")]

    def quick(name: str, label: str, *further: str, record: str = "record-10.csv") -> tuple[str, list[str]]:
        return label, ["plan", *lake(name, record), "--device", device, "--no-figures", *further, *out(label)]

    on = ["--device", device]
    yield "plan", ["plan", *on, *out("plan")]
    yield "plan rules", ["rules", str(folder / "plan"), "--force", "--json"]
    yield "lshade", ["plan", "--solver", "lshade", *on, *out("lshade")]
    yield "observed", ["plan", "--case", "xiaowan-observed", "--solver", "dp", *out("observed")]
    yield quick("losses", "losses", "--solver", "lshade", "--prove", "1e-4")
    yield "losses rules", ["rules", str(folder / "losses"), "--no-figures", "--force", "--json"]
    for family in ("linear", "sdp", "standard", "replan"):
        rule = str(folder / "losses" / "rules" / f"{family}.json")
        situation = ["--month", "5", "--storage", "70", "--inflow", "40", "--inflow-before", "30"]
        yield f"operate {family}", ["operate", rule, *situation, "--json"]
        written = ["--out", str(folder / f"simulate-{family}"), "--json"]
        yield f"simulate-{family}", ["simulate", rule, str(inputs / "record-6.csv"), *written]
    yield quick("power", "demands", "--solver", "dp", "--horizon", "record", "--prove", "1e-3")
    yield "demands rules", ["rules", str(folder / "demands"), "--family", "linear", "--no-figures", "--force", "--json"]
    yield quick("firm-power", "firm", "--solver", "dp", "--horizon", "record")
    yield quick("revenue", "companions", "--solver", "dp", "--units", "us", record="companions.csv")
    yield quick("plain", "members", "--solver", "dp", "--format", "netcdf", record="members.csv")
    yield quick("plain", "arrays", "--solver", "dp", "--format", "zarr")
    yield quick("free", "start", "--solver", "dp", "--from", "2001-06", "--storage", "80")
    yield quick("plain", "weeks", "--solver", "dp", "--step", "week", record="days.csv")
    yield (
        "front",
        ["tradeoff", *lake("losses"), "--points", "5", "--no-figures", *on, "--out", str(folder / "front"), "--json"],
    )
    yield "prove", ["prove", str(folder / "observed"), "--device", "host", "--json"]
    given = [str(folder / "losses" / "schedule.csv"), "--reservoir", str(inputs / "losses.toml")]
    yield "prove given", ["prove", *given, "--inflow", str(inputs / "record-10.csv"), "--device", "host", "--json"]
    for method, ending in (("kirsch", "csv"), ("thomas-fiering", "csv"), ("knn", "nc")):
        made = folder / f"synth-{method}" / f"made.{ending}"
        made.parent.mkdir(exist_ok=True)
        of_method = ["--method", method, "--years", "100", "--mean", "-10%", *on]
        yield f"synth-{method}", ["synth", *lake("plain"), *of_method, "--out", str(made), "--force", "--json"]
    yield (
        "compare",
        ["compare", *lake("losses"), "--solver", "dp", "--solver", "lshade", "--solver", "clpso", *on, "--json"],
    )
    yield "check", ["check", str(inputs / "companions.csv"), "--reservoir", str(inputs / "losses.toml"), "--json"]
    yield "validate", ["validate", *lake("plain"), "--no-zoo", *on, "--json"]
    (folder / "new").mkdir(exist_ok=True)
    yield "new", ["new", "lake", "--out", str(folder / "new" / "lake.toml"), "--force"]
    for experiment in EXPERIMENTS:
        yield f"bench-{experiment}", ["bench", experiment, "--quick", *on, *out(f"bench-{experiment}")]
