"""What the house measures: ``make measure``.

Lines, statements and modules by folder; modules and functions of the package that ``plan``, ``rules`` and ``operate``
enter, threads included; files that name one attribute; own frames from the command to the engine; processor seconds of
a first ``plan``. Code that Numba compiles is entered without Python seeing it: it is not counted.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import runpy
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "reservoir"
#: The attribute whose places are counted: minimum power.
ATTRIBUTE = "power_lower"
#: Numba, PoCL and the package itself keep what they compile below it. What Python compiles stands beside the sources
#: since they were installed.
CACHES = ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "POCL_CACHE_DIR")


def main() -> None:
    """Measure, and print what was found."""
    _print_sizes()
    files = [path for folder in ("reservoir", "kernels") for path in (ROOT / folder).rglob("*") if path.is_file()]
    texts = [path.read_text("utf-8") for path in files if path.suffix in {".py", ".cl", ".h"}]
    naming = [text.casefold().count(ATTRIBUTE) for text in texts if ATTRIBUTE in text.casefold()]
    print(f"\n{ATTRIBUTE}: named {sum(naming)} times in {len(naming)} files of the package and its kernels")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        plan, rule = str(folder / "plan"), str(folder / "plan" / "rules" / "linear.json")
        first = _processor_seconds(["plan", "--out", str(folder / "first")], folder / "caches")
        second = _processor_seconds(["plan", "--out", str(folder / "second")], folder / "caches")
        print(f"\nplan: {first:.1f} processor seconds with empty caches, {second:.1f} with kept ones")
        situation = ["--month", "5", "--storage", "11000", "--inflow", "900", "--inflow-before", "700"]
        calls = {
            "plan": ["plan", "--out", plan],
            "rules": ["rules", plan],
            "operate": ["operate", rule, *situation],
        }
        print()
        for name, words in calls.items():
            entered = _entered(words, folder / f"{name}.json")
            functions = Counter({code: count for code, count in entered["functions"].items() if "<" not in code})
            modules = {code.partition(":")[0] for code in entered["functions"]}
            once = sum(count == 1 for count in functions.values())
            frames = f"; {entered['frames']} own frames to the engine" if entered["frames"] else ""
            print(
                f"{name:<8} enters {len(modules)} modules, {len(functions):,} functions, {once:,} of them once{frames}"
            )


def _print_sizes() -> None:
    sizes: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        statements = sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text)))
        parts = path.relative_to(PACKAGE).parts
        for name in {
            "all",
            parts[0] if len(parts) > 1 else "(top)",
            *(["/".join(parts[:2])] if len(parts) > 2 else []),
        }:
            for at, size in enumerate((1, len(text.splitlines()), statements)):
                sizes[name][at] += size
    print(f"{'folder':<32}{'modules':>9}{'lines':>9}{'statements':>12}")
    for name in sorted(sizes, key=lambda name: (name != "all", name)):
        modules, lines, statements = sizes[name]
        print(f"{name:<32}{modules:>9,}{lines:>9,}{statements:>12,}")


def _processor_seconds(words: list[str], caches: Path) -> float:
    """Of a command and all its processes, which keep what they compile in a folder."""
    caches.mkdir(exist_ok=True)
    where = os.environ | {name: str(caches / name.lower()) for name in CACHES}
    where.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "reservoir", *words], env=where, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _entered(words: list[str], file: Path) -> dict[str, Any]:
    call = [sys.executable, "-m", "tests.measure", str(file), *words]
    subprocess.run(call, check=True, capture_output=True, cwd=ROOT)
    entered: dict[str, Any] = json.loads(file.read_text())
    return entered


def _watch(file: Path, words: list[str]) -> None:
    """Run a command, and write which functions of the package it calls, how often, and how deep its engine is."""
    functions: Counter[str] = Counter()
    frames = 0
    package = f"{PACKAGE}{os.sep}"

    def on_call(frame: FrameType, event: str, _: object) -> None:
        nonlocal frames
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(package):
            return
        where = code.co_filename.removeprefix(package)
        functions[f"{where}:{code.co_qualname}:{code.co_firstlineno}"] += 1
        if not frames and code.co_name == "run" and where.startswith("solvers/") and where.endswith("engine.py"):
            frames = _depth(frame, package)

    threading.setprofile(on_call)
    sys.setprofile(on_call)
    sys.argv = ["reservoir", *words]
    try:
        runpy.run_module("reservoir", run_name="__main__")
    except SystemExit as ended:
        sys.setprofile(None)
        if ended.code:
            raise
    file.write_text(json.dumps({"functions": functions, "frames": frames}))


def _depth(frame: FrameType | None, package: str) -> int:
    """Own frames above a command's own, up to this one."""
    depth = 0
    while frame is not None and f"{package}cli" not in frame.f_code.co_filename:
        depth += frame.f_code.co_filename.startswith(package)
        frame = frame.f_back
    return depth


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _watch(Path(sys.argv[1]), sys.argv[2:])
    else:
        main()
