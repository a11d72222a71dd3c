"""Committed results, each made again by its command.

``python -m tests.evidence make KIND [NAME ...]`` runs the commands of `ROWS` on a kind of device (``cpu`` or ``gpu``),
keeps smaller copies of what they write in ``reports/`` (or ``--into DIR``), and beside them `MADE`: the commands, the
version, the device, its driver and the date. ``python -m tests.evidence table`` lists all of it in
``reports/README.md``; a test holds the list to the folders.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from reservoir.runtime import processors
from reservoir.synthetic import METHODS

ROOT = Path(__file__).parents[1]
REPORTS = ROOT / "reports"
#: In each folder: how it was made.
MADE = "made.json"
#: Platforms of the kinds of devices, as ``--device`` takes them.
DEVICES = {"cpu": "pocl", "gpu": "nvidia"}
#: A figure is kept as SVG below this size, bytes, else as PNG of so many colours; larger tables are compressed.
MOST_SVG, COLOURS, MOST_TABLE = 150_000, 96, 145_000
_BEGIN, _END = "<!-- begin: python -m tests.evidence table -->", "<!-- end -->"


class Row(NamedTuple):
    """A folder of results, or one of each kind of device.

    Parameters
    ----------
    name : str
        The folder's name, and the kind of device behind it where there is more than one: ``bench-tsp-cpu``.
    commands : tuple of str
        What makes it, in order: of the program, of Python or of make. ``{out}`` stands for the folder, ``{device}`` for
        the device, ``{jobs}`` for the number of processors. What a command of the program or of Python prints is kept
        where it names no folder, in a file of the command's name, behind that of the row's earlier ones; and where it
        names a file in the folder, beside that.
    kinds : tuple of str
        Kinds of devices.
    note : str
        What a reader must know besides: why a check fails.
    left_out : tuple of str
        Patterns of files that are too large to keep, or say what others say.
    """

    name: str
    commands: tuple[str, ...]
    kinds: tuple[str, ...] = tuple(DEVICES)
    note: str = ""
    left_out: tuple[str, ...] = ()

    def folder(self, kind: str) -> str:
        """Name of the folder of a kind of device."""
        return f"{self.name}-{kind}" if len(self.kinds) > 1 else self.name


def _bench(experiment: str, *, name: str = "", options: str = "", **row: Any) -> Row:
    words = " ".join(["reservoir bench", experiment, options]).strip()
    return Row(name or f"bench-{experiment}", (words + " --device {device} --out {out}",), **row)


_OPENCL = "--solver clpso --solver lshade --solver dp-opencl --solver island-ga"
_PLAN = "reservoir plan --device {device} --no-figures --out {out}"
#: Files of a plan that its rules have scores beside.
_NO_SCORES = ("arrays/*", "rules/*", "*.html", "*.toml", "inflow.csv", "schedule.csv", "summary.csv")

ROWS = (
    Row(
        "two-dams",
        (
            "reservoir plan docs/own-reservoir/two-dams.csv --reservoir docs/own-reservoir/two-dams.toml --solver slp "
            "--prove --prove-seconds 400 --out {out}",
        ),
        kinds=("cpu",),
        left_out=("arrays/*", "*.html", "*.toml", "inflow.csv", "schedule.csv", "figures/*-by-month.*"),
    ),
    Row(
        "xiaowan",
        ("reservoir plan --device {device} --out {out}", "reservoir rules {out}"),
        kinds=("cpu",),
        left_out=("arrays/*", "rules.html"),
    ),
    Row(
        "rules-no-forecast",
        (_PLAN, "reservoir rules {out} --forecast none --no-figures"),
        kinds=("cpu",),
        left_out=_NO_SCORES,
    ),
    Row(
        "rules-drier",
        (
            _PLAN,
            "reservoir synth --mean -10% --years 620 --no-check --out {out}/drier.csv",
            "reservoir rules {out} --family guide-curve --family linear --family standard --test {out}/drier.csv "
            "--no-figures",
        ),
        kinds=("cpu",),
        left_out=(*_NO_SCORES, "drier.*"),
    ),
    Row(
        "acceptance",
        ("reservoir validate --runs 25 --device {device}", "reservoir compare --repeats 5 --device {device}"),
    ),
    _bench(
        "xiaowan",
        options="--peers",
        name="bench-xiaowan-cpu",
        kinds=("cpu",),
        note="on two cores one thread is faster than in earlier results",
    ),
    _bench("xiaowan", name="bench-xiaowan-gpu", kinds=("gpu",)),
    _bench(
        "clpso",
        note="f2: 25 runs against 25 of another program, p of 200 runs is 2 %; many swarms: 6.5 times by device time, "
        "and one thread is faster than in earlier results; f3 and f5 on the GPU: of 25 tests one or two fail by chance",
    ),
    _bench("functions", name="bench-functions-lshade", options="--solver lshade", kinds=("cpu",)),
    _bench("functions", name="bench-functions-clpso", options="--solver clpso", kinds=("cpu",)),
    _bench("ann", options="--runs 10"),
    _bench("tsp"),
    _bench("ring-pso", note="a single swarm is too small for a GPU"),
    _bench(
        "dsmga2",
        note="on a processor: the matrix takes less time than the launches of its kernels, and of 240 bits nine runs "
        "were slow, which another run of that day were not; on the GPU, four cores of a host at work; 746 times in 0.1",
    ),
    Row("bench-dsmga2-sweep", ("reservoir bench dsmga2 --sweep --out {out}",), kinds=("cpu",)),
    Row(
        "bench-dsmga2-sweep-large",
        ("reservoir bench dsmga2 --sweep --runs 3 --sizes 60,120,240,360,480,600 --problems mk,cyc,ftrap --out {out}",),
        kinds=("cpu",),
        note="the populations of `bench-dsmga2` (`data/bench/linkage.toml`) are its means; some ten minutes",
    ),
    Row(
        "linkage",
        ("reservoir plan --solver dsmga2 --no-reference --out {out}",),
        kinds=("cpu",),
        note="for its figure of linkage; some seconds",
        left_out=("arrays/*", "*.html", "*.toml", "*.csv", "figures/[!l]*", "figures/le*"),
    ),
    Row(
        "other-solvers",
        (
            "reservoir compare --repeats 5 --solver dsmga2 --solver island-ga --solver ring-pso --device {device}",
            "reservoir compare --repeats 5 --solver dsmga2 --set bits=6 --device {device}",
            "reservoir compare --repeats 5 --solver dsmga2 --set bits=12 --device {device}",
            "reservoir compare --repeats 5 --solver ring-pso --set particles=32 --set generations=10000 "
            "--device {device}",
        ),
    ),
    Row(
        "long-series",
        (
            "reservoir compare --repeats 2000 --solver clpso --solver lshade --device {device}",
            "reservoir compare --repeats 1000 --solver lshade --set evaluations=40000 --device {device}",
            "reservoir compare --repeats 400 --solver island-ga --device {device}",
        ),
        kinds=("cpu",),
    ),
    Row("baseline", ("python -m tests.baseline",), kinds=("cpu",)),
    Row(  # needs Intel's driver: pip install '.[intel]'
        "drivers",
        tuple(f"reservoir compare --repeats 5 {_OPENCL} --device {driver}" for driver in ("pocl", "intel")),
        kinds=("cpu",),
    ),
    _bench(
        "scale", options="--solvers lshade --years 1000,3000,10000,30000 --runs 1", name="scale-cpu", kinds=("cpu",)
    ),
    _bench(
        "scale",
        options="--runs 2",
        name="scale-gpu",
        kinds=("gpu",),
        note="four cores, others of the host at work; of an idle host 0.2.0 took 10.8 and 12 s",
    ),
    Row(
        "synth",
        tuple(
            f"reservoir synth --case xiaowan --method {method} --device {{device}} --out {{out}}/{method}.csv"
            for method in METHODS
        )
        + tuple(
            f"reservoir synth --case lancang --method {method} --device {{device}} --out {{out}}/lancang-{method}.csv"
            for method in ("kirsch", "thomas-fiering")
        ),
        kinds=("cpu",),
        left_out=("*.svg", *(f"{before}{method}.csv" for before in ("", "lancang-") for method in METHODS)),
    ),
    _bench("zoo", options="--jobs {jobs}", kinds=("gpu",), left_out=("years.csv",)),
    _bench(
        "proof",
        options="--years 2000 --jobs {jobs} --prove-seconds 0.5",
        kinds=("cpu",),
        left_out=("years.csv", "schedules.csv"),
    ),
    _bench(
        "proof",
        name="bench-proof-systems",
        options="--years 4 --systems 12 --committed 3 --jobs {jobs} --prove-seconds 20",
        kinds=("cpu",),
    ),
    _bench(
        "cascade",
        options="--sets linear,lancang,horizons,rules --peers --jobs {jobs}",
        kinds=("cpu",),
        note="seconds with compiling, and of a core that another instance and other work shared",
    ),
    _bench(
        "cascade",
        name="bench-cascade-random",
        options="--sets random --jobs {jobs}",
        kinds=("cpu",),
        note="three rivers, two of them in years whose limits no schedule keeps; the test part holds",
    ),
    Row("first-answer", ("python -m tests.walk --out {out}",), kinds=("cpu",)),
    Row(
        "suite",
        (
            "make test PYTEST_ADDOPTS=--junitxml={out}/suite.xml",
            "python -m tests.walk --suite {out}/suite.xml --out {out}",
        ),
        kinds=("cpu",),
        left_out=("suite.xml",),
    ),
)


def main() -> None:
    """Make results, or the list of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    task = parser.add_subparsers(required=True)
    making = task.add_parser("make", help="run commands, and keep smaller copies of what they write")
    making.add_argument("kind", choices=DEVICES)
    making.add_argument("names", nargs="*", metavar="NAME", help="rows to make; all of this kind if not given")
    making.add_argument("--into", type=Path, default=REPORTS, help="where the folders go")
    making.set_defaults(task=lambda given: make(given.kind, given.names, given.into))
    task.add_parser("table", help="list them in reports/README.md").set_defaults(task=lambda given: write_table())
    given = parser.parse_args()
    given.task(given)


def make(kind: str, names: list[str], into: Path) -> None:
    """Run the commands of rows, and keep smaller copies of what they write.

    Parameters
    ----------
    kind : str
        Of `DEVICES`.
    names : list of str
        Of `ROWS`; all that this kind makes if empty.
    into : Path
        Folders of earlier results there are replaced, each as soon as its own commands are through.

    Raises
    ------
    SystemExit
        If nothing has a name, or if a command fails: a check that is not kept is no failure.
    """
    rows = [row for row in ROWS if kind in row.kinds and (not names or row.name in names)]
    if unknown := set(names) - {row.name for row in rows}:
        raise SystemExit(f"no row of {kind} is called {', '.join(sorted(unknown))}")
    device = _device(kind)
    for row in rows:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / row.folder(kind)
            made = {"commands": [], **device, "date": time.strftime("%Y-%m-%d")}
            began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            for command in row.commands:
                _run(command, kind, folder)
                made["commands"].append(_filled(command, kind, f"reports/{folder.name}"))
            now = resource.getrusage(resource.RUSAGE_CHILDREN)
            made["seconds"] = round(time.monotonic() - began)
            made["processor_seconds"] = round(now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime)
            for path in [path for pattern in row.left_out for path in folder.glob(pattern)]:
                path.unlink()
            for path in [path for path in folder.rglob("*") if path.is_dir() and not any(path.iterdir())]:
                path.rmdir()
            shrink(folder)
            (folder / MADE).write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
            shutil.rmtree(into / folder.name, ignore_errors=True)
            shutil.copytree(folder, into / folder.name)


def _filled(command: str, kind: str, folder: Path | str) -> str:
    return command.format(out=folder, device=DEVICES[kind], jobs=processors())


def _run(command: str, kind: str, folder: Path) -> None:
    words = shlex.split(_filled(command, kind, folder))
    print(f"$ {shlex.join(words)}", flush=True)
    named = re.search(r"\{out\}(?:/([\w-]+))?", command)
    own = {"reservoir": 1, "python": 2}.get(words[0])
    kept = words[own].rpartition(".")[2] if own and named is None else None
    if words[0] == "reservoir" and named is not None:
        kept = named[1]
    done = subprocess.run(
        {"python": [sys.executable], "reservoir": [sys.executable, "-m", "reservoir"]}.get(words[0], words[:1])
        + words[1:],
        cwd=ROOT,
        stdout=subprocess.PIPE if kept else None,
        text=True,
        env={**os.environ, "COLUMNS": "140"},
        check=False,
    )
    # 1 is the status of a check that is not kept, too; then there are results.
    if done.returncode not in (0, 1) or not (done.stdout or folder.is_dir()):
        raise SystemExit(f"{command}: exit status {done.returncode}")
    if done.stdout:
        folder.mkdir(exist_ok=True)
        printed = done.stdout.replace(str(folder), f"reports/{folder.name}")
        with (folder / f"{kept}.txt").open("a", encoding="utf-8") as page:
            page.write(f"$ {_filled(command, kind, f'reports/{folder.name}')}\n{printed}")


def _device(kind: str) -> dict[str, Any]:
    """The program, the machine and the device that the commands will choose."""
    found = json.loads(_printed("devices", "--json", RESERVOIR_DEVICE=DEVICES[kind]))["devices"]
    chosen = next(each for each in found if each["chosen"])
    return {
        "program": _printed("--version").strip(),
        "device": chosen["name"],
        "platform": chosen["platform"],
        "driver": chosen["driver"],
        "processors": processors(),
    }


def _printed(*words: str, **environment: str) -> str:
    command, environment = [sys.executable, "-m", "reservoir", *words], {**os.environ, **environment}
    return subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=True, text=True).stdout


def shrink(folder: Path) -> None:
    """Keep one format of each figure, fewer digits in drawings, and large tables compressed.

    Pages that show a figure, and the list of files in ``bench.json``, follow.
    """
    renamed: dict[str, str] = {}
    for path in sorted(folder.rglob("*.svg")):
        path.write_text(_rounded(path.read_text(encoding="utf-8")), encoding="utf-8")
        picture = path.with_suffix(".png")
        if picture.exists():
            kept, gone = (path, picture) if path.stat().st_size < MOST_SVG else (picture, path)
            gone.unlink()
            renamed[gone.name] = kept.name
    for path in sorted(folder.rglob("*.png")):
        _fewer_colours(path)
    for path in sorted(folder.rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        page = re.sub(r"<svg.*?</svg>", lambda drawing: _rounded(drawing[0]), page, flags=re.DOTALL)
        path.write_text(page, encoding="utf-8")
    for path in sorted(folder.rglob("*.csv")):
        if path.stat().st_size > MOST_TABLE:
            path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()
            renamed[path.name] = path.name + ".gz"
    for path in sorted(folder.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        page = re.sub(r"\]\((.+?)\)", lambda link: f"]({renamed.get(link[1], link[1])})", page)
        path.write_text(page, encoding="utf-8")
    if (path := folder / "bench.json").exists():
        result = json.loads(path.read_text(encoding="utf-8"))
        result["files"] = sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file())
        path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _rounded(drawing: str) -> str:
    """A drawing with coordinates to 0.01 pt; scales keep their digits, by which letters have their size."""
    number = r"scale\([^)]*\)|(?<=[\s\"(,])(-?\d+\.\d{3,})(?=[\s\"),])"
    return re.sub(number, lambda match: f"{float(match[1]):.2f}" if match[1] else match[0], drawing)


def _fewer_colours(path: Path) -> None:
    with Image.open(path) as picture:
        smaller = io.BytesIO()
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(smaller, "PNG", optimize=True)
    if len(smaller.getvalue()) < path.stat().st_size:
        path.write_bytes(smaller.getvalue())


def table() -> str:
    """The list of committed results, in Markdown: one row a folder, its commands, device, date, failed checks."""
    lines = ["| folder | command | version, device, driver, date | checks that fail |", "|---|---|---|---|"]
    for row in ROWS:
        for kind in row.kinds:
            folder = REPORTS / row.folder(kind)
            if not (folder / MADE).exists():
                continue
            made = json.loads((folder / MADE).read_text(encoding="utf-8"))
            where = f"{made['program']}; {made['device']}, {made['driver']}, {made['processors']} cores; {made['date']}"
            failed = ""
            if (result := folder / "bench.json").exists():
                checks = json.loads(result.read_text(encoding="utf-8"))["checks"]
                failed = "; ".join(check["check"] for check in checks if not check["pass"])
            failed = " - ".join(part for part in (failed, row.note if failed else "") if part)
            commands = "<br>".join(f"`{command}`" for command in made["commands"])
            lines.append(f"| [`{folder.name}/`]({folder.name}) | {commands} | {where} | {failed} |")
    return "\n".join(lines)


def write_table() -> None:
    """Write the list into ``reports/README.md``."""
    page = REPORTS / "README.md"
    before, begin, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    page.write_text(f"{before}{begin}\n\n{table()}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
