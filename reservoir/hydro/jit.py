"""Compile scalar physics and solvers with numba, cached on disk under a hash of the sources.

numba's own cache notices a change of the file that holds a function, but not of the files it calls into. Here the
cache folder is named by a hash of every module that holds compiled code, so that a change anywhere is a miss.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from functools import cache, wraps
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numpy as np

from reservoir.caches import usable_folder
from reservoir.errors import InputError, Mistake
from reservoir.hydro import benefit, conditions, conversion, elementwise, step
from reservoir.hydro.curves import forms


def _refuse(problem: str) -> InputError:
    given = [name for name in sorted(os.environ) if name.startswith("NUMBA_")]
    mend = f"unset {' and '.join(given)}" if given else "install numba again"
    return InputError(Mistake(f"numba, the compiler of the solvers, does not work: {problem}", mend=mend))


_features = os.environ.get("NUMBA_CPU_FEATURES", "")
if not all(each[0] in "+-" for each in map(str.strip, _features.split(",")) if each):
    raise _refuse("NUMBA_CPU_FEATURES has features without + or -")
try:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Environment variable")
        import numba
        import numba.core.config as numba_config
        from numba.extending import overload as numba_overload

        from reservoir.hydro.jit_cache import KeptCode
except ImportError:
    raise
except Exception as error:  # numba reads its settings when it is imported, and raises what each of them happens to
    raise _refuse(str(error).partition("\n")[0].rstrip(".")) from error

#: A function that is compiled: what Python and the type checker see of it stays as it is written.
Function = TypeVar("Function", bound=Callable[..., Any])

#: Reassociation and contraction allowed. Infinities and NaN keep their meaning: solvers use the first as "worse than
#: anything", and the second must never become a best.
FAST = frozenset({"nsz", "arcp", "contract", "reassoc"})


@cache
def cache_folder(further: tuple[str, ...] = ()) -> str | None:
    """Folder of this version's compiled code, and of further sources; None where nothing can be written."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(numba.__version__.encode())
    for sources in ("hydro/**/*.py", "problems/**/*.py", "solvers/**/*.py", "rules/**/*operation.py", *further):
        for source in sorted(package.glob(sources)):
            digest.update(source.read_bytes())
    folder = usable_folder(f"numba/{digest.hexdigest()[:16]}")
    return None if folder is None else str(folder)


#: Options of all compiled code. Without numba's runtime nothing is reference-counted, which costs several times the
#: arithmetic of a step; compiled code therefore allocates nothing, its caller does.
OPTIONS: dict[str, Any] = {"fastmath": set(FAST), "_nrt": False, "error_model": "numpy"}
#: Options of functions that are compiled into their callers.
INLINED: dict[str, Any] = {**OPTIONS, "forceinline": True}


#: Options of code whose every operation rounds as IEEE 754 says, without which no bound of a rounding error holds.
ROUNDED_AS_WRITTEN: dict[str, Any] = {**OPTIONS, "fastmath": False}


def compiled(function: Function) -> Function:
    """Decorate `function` as numba code that Python calls: without the interpreter's lock, cached on disk."""
    return _compiled(function, OPTIONS)


def compiled_as_written(function: Function) -> Function:
    """As `compiled`, but every operation stays and rounds as it is written, so that its error can be bounded."""
    return _compiled(function, ROUNDED_AS_WRITTEN, ("certificate/**/*.py",))


def inlined_as_written(function: Function) -> Function:
    """As `inlined`, but every operation stays and rounds as it is written."""
    return cast(Function, numba.njit(**ROUNDED_AS_WRITTEN, forceinline=True)(function))


def part_as_written(function: Function) -> Function:
    """As `compiled_part`, but every operation stays and rounds as it is written."""
    return cast(Function, numba.njit(**ROUNDED_AS_WRITTEN)(function))


def _compiled(function: Function, options: dict[str, Any], further: tuple[str, ...] = ()) -> Function:
    dispatcher = numba.njit(nogil=True, **options)(function)
    if numba_config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise _refuse("compilation is disabled")
    folder = cache_folder(further)
    if folder is not None:
        before = numba_config.CACHE_DIR  # type: ignore[attr-defined]
        numba_config.CACHE_DIR = folder  # type: ignore[attr-defined]
        try:
            dispatcher._cache = KeptCode(function)
        finally:
            numba_config.CACHE_DIR = before  # type: ignore[attr-defined]
    return cast(Function, dispatcher)


def compiled_for_any(function: Function) -> Function:
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

    return cast(Function, call)


def _of_this_package(value: Any) -> bool:
    """Whether all named tuples within a value are this package's."""
    if not isinstance(value, tuple):
        return True
    mine = type(value) is tuple or type(value).__module__.startswith("reservoir.")
    return mine and all(map(_of_this_package, value))


def inlined(function: Function) -> Function:
    """Decorate a scalar function that is compiled into its callers."""
    return cast(Function, numba.njit(**INLINED)(function))


def compiled_part(function: Function) -> Function:
    """Decorate a function that compiled code calls: on its own the compiler knows more of its arrays than inlined."""
    return cast(Function, numba.njit(**OPTIONS)(function))


def overload(function: Callable[..., Any], options: dict[str, Any] = INLINED) -> Callable[[Function], Function]:
    """Decorate what chooses the compiled form of a function of Python by the types of its arguments.

    ``strict`` is off: its comparison of signatures includes the annotations, which differ.
    """
    return cast(Callable[[Function], Function], numba_overload(function, jit_options=options, strict=False))


def _let_compiled_code_call(function: Callable[..., Any], form: Callable[..., Any]) -> None:
    """Compile `form` into compiled code wherever that calls a function of Python."""

    @overload(function)
    def _(*_: Any) -> Callable[..., Any]:
        return form


#: What the operations on arrays are for numbers. float32 holds a half, and raises no other precision.
_FOR_NUMBERS: dict[Callable[..., Any], Callable[..., Any]] = {
    elementwise.lesser: lambda a, b: min(a, b),
    elementwise.greater: lambda a, b: max(a, b),
    elementwise.choose: lambda condition, yes, no: yes if condition else no,
    elementwise.every: lambda condition: condition,
    elementwise.whole: lambda x: int(x),
    elementwise.mean: lambda a, b: np.float32(0.5) * (a + b),
}


def _let_part_be_none(function: Callable[..., Any]) -> None:
    """Compile one of two forms of a function of an `optional` part, by the type of its first argument."""

    @overload(function)
    def _(part: Any, *_: Any) -> Callable[..., Any]:
        none = part == numba.types.Tuple(())
        return function.without_part if none else function.__wrapped__  # type: ignore[attr-defined,no-any-return]


@overload(elementwise.rounding)
def _rounding(x: Any) -> Callable[..., Any]:
    relative = np.finfo(str(x)).eps
    return lambda x: abs(x) * relative


#: Functions whose compiled form depends on the types of their arguments, each overloaded by itself.
_CHOSEN_BY_TYPE = (elementwise.curve_value, elementwise.rounding, forms.horner)
#: Coefficients of a polynomial whose loop the compiler unrolls; a longer one takes five times as long.
_MOST_UNROLLED = 15


@overload(forms.horner)
def _horner(x: Any, coefficients: Any) -> Callable[..., Any]:
    if coefficients.count <= _MOST_UNROLLED:
        return forms.horner

    def by_parts(x: Any, coefficients: tuple[Any, ...]) -> Any:
        value = forms.horner(x, coefficients[:-8])
        for coefficient in coefficients[-8:]:
            value = value * x + coefficient
        return value

    return by_parts


def let_compiled_code_call(module: ModuleType) -> None:
    """Compile functions of a module of Python, written in the operations of `elementwise`, where they are called."""
    for function in filter(isfunction, vars(module).values()):
        if function.__module__ != module.__name__ or function in _CHOSEN_BY_TYPE:
            continue
        if hasattr(function, "without_part"):
            _let_part_be_none(function)
        else:
            _let_compiled_code_call(function, _FOR_NUMBERS.get(function, function))


for _module in (elementwise, step, benefit, forms, conversion, conditions):
    let_compiled_code_call(_module)


#: How a curve of a class is evaluated.
_EVALUATIONS = {**forms.EVALUATIONS, conversion.Conversion: conversion.conversion_value}


@overload(elementwise.curve_value)
def _curve_value(curve: Any, _: Any) -> Callable[..., Any] | None:
    return _EVALUATIONS.get(getattr(curve, "instance_class", type(None)))
