"""Compile scalar physics and solvers with numba, cached on disk under a hash of the sources.

numba's own cache notices a change of the file that holds a function, but not of the files it calls into. Here the
cache folder is named by a hash of every module that holds compiled code, so that a change anywhere is a miss.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numba
import numba.core.config as numba_config

#: Reassociation and contraction allowed. Infinities and NaN keep their meaning: solvers use the first as "worse than
#: anything", and the second must never become a best.
FAST = frozenset({"nsz", "arcp", "contract", "reassoc"})


@cache
def cache_folder() -> str:
    """Folder of this version's compiled code; a temporary one where the home directory cannot be written."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(numba.__version__.encode())
    for sources in (
        "hydro/*.py",
        "solvers/*.py",
        "solvers/dsmga2/*.py",
        "rules/*_operation.py",
        "bench/functions/*.py",
        "bench/tours/problem.py",
        "bench/ring/*.py",
        "bench/linkage/*.py",
    ):
        for source in sorted(package.glob(sources)):
            digest.update(source.read_bytes())
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "reservoir" / "numba" / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return tempfile.mkdtemp(prefix="reservoir-numba-")
    return str(folder)


#: Options of all compiled code. Without numba's runtime nothing is reference-counted, which costs several times the
#: arithmetic of a step; compiled code therefore allocates nothing, its caller does.
OPTIONS: dict[str, Any] = {"fastmath": set(FAST), "_nrt": False, "error_model": "numpy"}
#: Options of functions that are compiled into their callers.
INLINED: dict[str, Any] = {**OPTIONS, "forceinline": True}


def compiled(function: Callable[..., Any]) -> Any:
    """Decorate `function` as numba code that Python calls: without the interpreter's lock, cached on disk."""
    before = numba_config.CACHE_DIR  # type: ignore[attr-defined]
    numba_config.CACHE_DIR = cache_folder()  # type: ignore[attr-defined]
    try:
        return numba.njit(nogil=True, cache=True, **OPTIONS)(function)
    finally:
        numba_config.CACHE_DIR = before  # type: ignore[attr-defined]


def compiled_for_any(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `compiled`, for code whose first argument is a named tuple that a program of its own may have made.

    The cache on disk holds types by name: one that other programs cannot import would break it for them. For such a
    tuple, or one within it, the code is compiled in the process alone.
    """
    kept = compiled(function)

    @cache
    def fresh() -> Any:
        return numba.njit(nogil=True, **OPTIONS)(function)

    @wraps(function)
    def call(named: Any, *arguments: Any) -> Any:
        return (kept if _of_this_package(named) else fresh())(named, *arguments)

    return call


def _of_this_package(value: Any) -> bool:
    """Whether all named tuples within a value are this package's."""
    if not isinstance(value, tuple):
        return True
    mine = type(value) is tuple or type(value).__module__.startswith("reservoir.")
    return mine and all(map(_of_this_package, value))


def inlined(function: Callable[..., Any]) -> Any:
    """Decorate a scalar function that is compiled into its callers."""
    return numba.njit(**INLINED)(function)


def compiled_part(function: Callable[..., Any]) -> Any:
    """Decorate a function that compiled code calls: on its own the compiler knows more of its arrays than inlined."""
    return numba.njit(**OPTIONS)(function)
