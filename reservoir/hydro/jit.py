"""Compile scalar physics and solvers with numba, cached on disk under a hash of the sources that each function uses.

numba's own cache notices a change of the file that holds a function, but not of the files it calls into. Here the
folder of a function's code is named by a hash of every module that its own takes compiled code, types or constants
from: a change in one of them is a miss, a change anywhere else is none. Damaged code is compiled again; on a full disk
nothing is stored.
"""

from __future__ import annotations

import hashlib
import operator
import os
import pickle
import re
import shutil
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property, wraps
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro import benefit, conditions, conversion, elementwise, step
from reservoir.hydro.curves import forms
from reservoir.runtime import usable_folder


def _refuse(problem: str) -> InputError:
    given = [name for name in sorted(os.environ) if name.startswith("NUMBA_")]
    mend = f"unset {' and '.join(given)}" if given else "install numba again"
    return InputError(f"numba, the compiler of the solvers, does not work: {problem}", mend=mend)


_features = os.environ.get("NUMBA_CPU_FEATURES", "")
if not all(each[0] in "+-" for each in map(str.strip, _features.split(",")) if each):
    raise _refuse("NUMBA_CPU_FEATURES has features without + or -")
try:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Environment variable")
        import numba
        import numba.core.config as numba_config
        from numba import _dynfunc
        from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
        from numba.core.codegen import JITCodeLibrary
        from numba.core.compiler import CompilerBase, DefaultPassBuilder
        from numba.core.compiler_machinery import PassManager, register_pass
        from numba.core.dispatcher import Dispatcher
        from numba.core.event import Listener, register, unregister
        from numba.core.imputils import lower_builtin
        from numba.core.registry import CPUDispatcher
        from numba.core.typed_passes import NativeLowering
        from numba.core.typing.templates import AbstractTemplate, infer_global
        from numba.extending import overload as numba_overload
except ImportError:
    raise
except Exception as error:  # numba reads its settings when it is imported, and raises what each of them happens to
    raise _refuse(str(error).partition("\n")[0].rstrip(".")) from error

#: A function that is compiled: what Python and the type checker see of it stays as it is written.
Function = TypeVar("Function", bound=Callable[..., Any])

#: Reassociation and contraction allowed. Infinities and NaN keep their meaning: solvers use the first as "worse than
#: anything", and the second must never become a best.
FAST = frozenset({"nsz", "arcp", "contract", "reassoc"})


#: Functions of Python that compiled code calls in a form of their own.
_OVERLOADED: set[Any] = set()
#: Kinds of constants that are compiled into code.
_CONSTANTS = (int, float, complex, str, bytes, tuple, frozenset, np.generic, np.ndarray)
_PACKAGE = "reservoir"
_BEGAN = time.time()
#: Import statements of the package, a hundred times as fast as a parser finds them.
_IMPORTS = re.compile(rf"^\s*from ({_PACKAGE}[\w.]*) import (\([^)]*\)|[^(\n]*)", re.MULTILINE)
_NAMES = re.compile(r"\w+(?= as )|(?<! as )\b(?!as\b)\w+")


@cache
def _used_modules(module: str) -> frozenset[str]:
    """Modules of the package that a module takes compiled code, named tuples or constants from; itself among them."""
    left, used = {module}, set()
    while left:
        used |= left
        left = {name for each in left for name in _imported(each)} - used
    return frozenset(used)


@cache
def _imported(module: str) -> frozenset[str]:
    """The same, by its own import statements."""
    statements = _IMPORTS.findall(_source(module).decode())
    places = ((sys.modules.get(place), name) for place, names in statements for name in _NAMES.findall(names))
    values = ((place, getattr(place, name, None)) for place, name in places if place)
    return frozenset(
        value.__name__ if isinstance(value, ModuleType) else place.__name__
        for place, value in values
        if isinstance(value, ModuleType) or _is_compiled_into(value)
    )


def _is_compiled_into(value: Any) -> bool:
    """Whether compiled code that reads a name of a module depends on its value."""
    named_tuple = isinstance(value, type) and hasattr(value, "_fields")
    return named_tuple or isinstance(value, (Dispatcher, *_CONSTANTS)) or (isfunction(value) and value in _OVERLOADED)


@cache
def _source(module: str) -> bytes:
    path = getattr(sys.modules.get(module), "__file__", None)
    return Path(path).read_bytes() if path else b""


def _of_package(module: str) -> bool:
    return module.partition(".")[0] == _PACKAGE


@cache
def source_digest(modules: frozenset[str]) -> str:
    """Hash of the compiler's version and of the sources that compiled code of some modules uses.

    Empty if one of them was changed after this process began, which may have loaded it as it was.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for module in sorted(frozenset().union(*map(_used_modules, modules | {__name__}))):
        path = getattr(sys.modules.get(module), "__file__", None)
        if path and Path(path).stat().st_mtime > _BEGAN:
            return ""
        digest.update(_source(module))
    return digest.hexdigest()[:16]


def _modules_of_types(types: Iterable[Any]) -> Iterator[str]:
    """Modules of the package whose named tuples are among some types of compiled code, or within one."""
    for each in types:
        kind = getattr(each, "instance_class", None)
        if kind is not None and _of_package(kind.__module__):
            yield kind.__module__
        if isinstance(each, numba.types.BaseTuple):
            yield from _modules_of_types(each)


class KeptCode(NullCache):  # type: ignore[misc]
    """A function's compiled code on disk; its folder is made when it is first called, with all modules imported."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _files(self) -> _FunctionFiles | None:
        digest = source_digest(frozenset([self._function.__module__]))
        folder = usable_folder(f"numba/{digest}") if digest else None
        if folder is None:
            return None
        before = numba_config.CACHE_DIR  # type: ignore[attr-defined]
        numba_config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
        try:
            return _FunctionFiles(self._function)
        finally:
            numba_config.CACHE_DIR = before  # type: ignore[attr-defined]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Read what is kept for a signature; None if nothing is, or if it is damaged."""
        if self._files is None or not self._files.digest(sig):
            return None
        try:
            return self._files.load_overload(sig, target_context)
        except Exception:  # a damaged pickle raises whatever its bytes happen to mean
            self._files.remove()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if it can be kept."""
        if self._files is not None and self._files.digest(sig):
            with suppress(Exception):
                self._files.save_overload(sig, data)


class _FunctionFiles(FunctionCache):  # type: ignore[misc]
    """The files of a function's compiled code."""

    _cache_file: IndexDataCacheFile

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        given = self._cache_file
        self._cache_file = _SummedFile(self._cache_path, self._impl.filename_base, given._source_stamp)

    def digest(self, sig: Any) -> str:
        """Hash of the sources of the classes of arguments, which choose what is called (`problems.fitness`)."""
        types = sig if isinstance(sig, tuple) else sig.args
        return source_digest(frozenset(_modules_of_types(types)))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """As numba does, without its rules for all of numpy, a third of a second: only a compiler reads them."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return *super()._index_key(sig, codegen), self.digest(sig)

    def remove(self) -> None:
        """Remove all files of the function."""
        for path in Path(self._cache_path).glob(f"{self._impl.filename_base}.*"):
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


class _SummedFile(IndexDataCacheFile):  # type: ignore[misc]
    """A function's files with a check sum at the end of each: machine code with one wrong byte ends the process.

    Each has the signature that it is of, and a name by it. numba numbers them as it finds them: of two processes that
    compile for different arguments at once, each would give its own the same name, and one reads the other's code.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep code, then say where; what another process says at the same time may be lost, and is compiled again."""
        name = f"{self._index_name.removesuffix('.nbi')}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
        self._save_data(name, (key, data))
        self._save_index({**self._load_index(), key: name})

    def load(self, key: Any) -> Any:
        """Read the code of a signature; None if there is none."""
        of, data = super().load(key) or (None, None)
        return data if of == key else None

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return data + _sum(data)  # readers of pickles stop where the pickle ends

    def _load_data(self, name: str) -> Any:
        try:
            content = Path(self._data_path(name)).read_bytes()
        except IsADirectoryError as error:  # numba takes any error of the system for a file that is not there
            raise ValueError(f"{name} is no file") from error
        data, checked = content[:-_SUM_BYTES], content[-_SUM_BYTES:]
        if _sum(data) != checked:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(data)


_SUM_BYTES = 4


def _sum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_SUM_BYTES, "big")


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that other code calls: it is optimised, and made machine code, with its callers alone.

    numba does both for each function by itself, then again for each caller: half of what compiling takes.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Nothing more is added."""
        self._finalized = True

    def own_module(self) -> Any:
        """The code itself, without what it calls."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        module = self.own_module().clone()  # callers that are not compiled here take what they call and no more
        _link(module, self._linking_libraries)
        return module


class _EntryLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that Python calls, with all that it calls."""

    _linking_libraries: list[Any]

    def finalize(self) -> None:
        """Make machine code."""
        _link(self._final_module, self._linking_libraries)
        if hasattr(self, "_reload_init"):  # numba 0.60 has none
            for library in self._linking_libraries:
                self._reload_init.update(library._reload_init)
        self._linking_libraries = []
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Once; numba does it twice, for counts of references to stand side by side, of which there are none here."""
        made = self._codegen._module_pass_manager()
        passes, *builder = made if isinstance(made, tuple) else (made,)  # numba 0.60 has no builder
        passes.run(self._final_module, *builder)


def _link(module: Any, libraries: Iterable[Any]) -> None:
    """Link libraries and what they call, each once, behind all that call it: no other code is linked in by LLVM."""
    callees_first: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if library not in callees_first:
            library._ensure_finalized()
            for called in library._linking_libraries if isinstance(library, _PartLibrary) else ():
                visit(called)
            callees_first[library] = None

    for library in libraries:
        visit(library)
    for library in reversed(callees_first):
        part = isinstance(library, _PartLibrary)
        module.link_in(library.own_module() if part else library._get_module_for_linking(), preserve=True)


class _Lowering(NativeLowering):  # type: ignore[misc]
    """What makes LLVM's language of numba's, in a library of a class."""

    library_class: type[Any]

    def run_pass(self, state: Any) -> bool:
        """Make the library, enabled to be kept, and fill it."""
        state.library = self.library_class(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(_Lowering):
    """Of code that Python calls."""

    _name, library_class = "reservoir_entry_lowering", _EntryLibrary


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(_Lowering):
    """Of code that other code calls; Python has nothing of it but a name."""

    _name, library_class = "reservoir_part_lowering", _PartLibrary

    def run_pass(self, state: Any) -> bool:
        """Lower it without a function of Python."""
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        super().run_pass(state)
        lowered = state["cr"]
        module, name = lowered.fndesc.lookup_module(), state.func_id.func_name
        never_called = _dynfunc.make_function(module, name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(never_called, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=never_called)
        return True


class _EntryCompiler(CompilerBase):  # type: ignore[misc]
    """The compiler of what Python calls."""

    lowering: type[_Lowering] = _EntryLowering

    def define_pipelines(self) -> list[PassManager]:
        """Numba's own passes, but for the last."""
        usual, passes = DefaultPassBuilder.define_nopython_pipeline(self.state), PassManager("nopython")
        for kind, words in usual.passes:
            passes.add_pass(self.lowering if kind is NativeLowering else kind, words)
        passes.finalize()
        return [passes]


class _PartCompiler(_EntryCompiler):
    """The compiler of what other code calls."""

    lowering = _PartLowering


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
    return _compiled(function, ROUNDED_AS_WRITTEN)


def inlined(function: Function) -> Function:
    """Decorate a scalar function that is compiled into its callers."""
    return _part(function, INLINED)


def inlined_as_written(function: Function) -> Function:
    """As `inlined`, but every operation stays and rounds as it is written."""
    return _part(function, {**ROUNDED_AS_WRITTEN, "forceinline": True})


def compiled_part(function: Function) -> Function:
    """Decorate a function that compiled code calls: on its own the compiler knows more of its arrays than inlined."""
    return _part(function, OPTIONS)


def part_as_written(function: Function) -> Function:
    """As `compiled_part`, but every operation stays and rounds as it is written."""
    return _part(function, ROUNDED_AS_WRITTEN)


def _compiled(function: Function, options: dict[str, Any]) -> Function:
    dispatcher = numba.njit(nogil=True, no_cfunc_wrapper=True, pipeline_class=_EntryCompiler, **options)(function)
    if numba_config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise _refuse("compilation is disabled")
    dispatcher._cache = KeptCode(function)
    return cast(Function, dispatcher)


def _part(function: Function, options: dict[str, Any]) -> Function:
    options = {**options, "nopython": True}
    return cast(Function, _Part(py_func=function, targetoptions=options, pipeline_class=_PartCompiler))


class _Part(CPUDispatcher):  # type: ignore[misc]
    """A function that compiled code calls; for Python, which seldom does, it is compiled once more, and kept."""

    @cached_property
    def _for_python(self) -> Callable[..., Any]:
        options = {name: value for name, value in self.targetoptions.items() if name != "nopython"}
        return cast(Callable[..., Any], _compiled(self.py_func, options))

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)


#: Told what is compiled, of how many parts it is so far, and whether it is ready.
Tell = Callable[[str, int, bool], None]


@contextmanager
def compiling_told(tell: Tell) -> Iterator[None]:
    """Tell what is compiled during a block, by the names of functions that Python calls; nothing of what is kept."""
    listener = _Compiling(tell)
    register("numba:compile", listener)
    try:
        yield
    finally:
        unregister("numba:compile", listener)


class _Compiling(Listener):  # type: ignore[misc]
    """Hears of each function whose compiling begins or ends: one at a time, parts within what calls them."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self._open, self._parts = tell, list[str](), 0

    def on_start(self, event: Any) -> None:
        """A function."""
        self._parts = self._parts if self._open else 0
        self._open.append(event.data["dispatcher"].py_func.__name__)
        self._tell(self._open[0].replace("_", " ").strip(), self._parts, False)

    def on_end(self, event: Any) -> None:
        """It is ready, or failed."""
        self._parts += 1
        name = self._open[0]
        self._open.pop()
        self._tell(name.replace("_", " ").strip(), self._parts, not self._open)


def compiled_for_any(function: Function) -> Function:
    """As `compiled`, for code whose first argument is a named tuple that a program of its own may have made.

    The cache on disk holds types by name: one that other programs cannot import would break it for them. For such a
    tuple, or one within it, the code is compiled in the process alone.
    """
    kept = compiled(function)

    @cache
    def fresh() -> Any:
        return numba.njit(nogil=True, no_cfunc_wrapper=True, pipeline_class=_EntryCompiler, **OPTIONS)(function)

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


def overload(function: Callable[..., Any], options: dict[str, Any] = INLINED) -> Callable[[Function], Function]:
    """Decorate what chooses the compiled form of a function of Python by the types of its arguments.

    ``strict`` is off: its comparison of signatures includes the annotations, which differ.
    """
    _OVERLOADED.add(function)
    options = {**options, "pipeline_class": _PartCompiler}
    return cast(Callable[[Function], Function], numba_overload(function, jit_options=options, strict=False))


def _let_compiled_code_call(function: Callable[..., Any], form: Callable[..., Any]) -> None:
    """Compile `form` into compiled code wherever that calls a function of Python."""

    @overload(function)
    def _(*_: Any) -> Callable[..., Any]:
        return form


def _build_in(function: Callable[..., Any], typed: Callable[..., Any], built: Callable[..., Any]) -> None:
    """Let the compiler write down itself what a function of Python is, in place of compiling one for its callers.

    `typed` has the type of the result by those of the arguments, or None where it is not for them; `built` makes the
    result, as of numba's `lower_builtin`.
    """

    class Template(AbstractTemplate):  # type: ignore[misc]
        key = function

        def generic(self, arguments: Any, _: Any) -> Any:
            result = typed(self.context, *arguments)
            return None if result is None else result(*arguments)

    _OVERLOADED.add(function)
    infer_global(function, numba.types.Function(Template))
    lower_builtin(function, numba.types.VarArg(numba.types.Any))(built)


def _build_in_choice(function: Callable[..., Any], beyond: Callable[..., Any] | None = None) -> None:
    """Build in a choice between the last two arguments: by the one before them, or the later if beyond the earlier."""

    def built(context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
        kind, given = signature.return_type, zip(values[-2:], signature.args[-2:], strict=True)
        earlier, later = (context.cast(builder, *each, kind) for each in given)
        if beyond is None:
            return builder.select(values[0], earlier, later)
        condition = context.get_function(beyond, numba.types.boolean(kind, kind))(builder, (later, earlier))
        return builder.select(condition, later, earlier)

    _build_in(function, lambda context, *kinds: context.unify_types(*kinds[-2:]), built)


#: Operations on arrays that choose between two numbers, and when the second is chosen.
_CHOICES: dict[Any, Callable[..., Any] | None]
_CHOICES = {elementwise.lesser: operator.lt, elementwise.greater: operator.gt, elementwise.choose: None}
#: What other operations on arrays are for numbers. float32 holds a half, and raises no other precision.
_FOR_NUMBERS: dict[Callable[..., Any], Callable[..., Any]] = {
    elementwise.every: lambda condition: condition,
    elementwise.whole: lambda x: int(x),
    elementwise.mean: lambda a, b: np.float32(0.5) * (a + b),
}


def _let_part_be_none(function: Any) -> None:
    """Compile one of two forms of a function of an optional part, by the type of its first argument.

    Of the form without the part nothing is compiled if it is one of the arguments or a constant.
    """
    nothing, without = numba.types.Tuple(()), function.without_part
    arguments = [object() for _ in range(without.__code__.co_argcount)]
    try:
        known = without(*arguments)
    except TypeError:  # it reckons with them
        known = None

    def is_there(part: Any) -> bool:
        fields = dict(zip(getattr(part, "fields", ()), getattr(part, "types", ()), strict=False))
        return nothing not in (part, fields.get(function.field))

    def typed(_: Any, part: Any, *others: Any) -> Any:
        if is_there(part) or known is None:
            return None
        return [part, *others][arguments.index(known)] if known in arguments else numba.typeof(known)

    def built(context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
        if known in arguments:
            return values[arguments.index(known)]
        return context.get_constant_generic(builder, signature.return_type, known)

    @overload(function)
    def _(part: Any, *_: Any) -> Callable[..., Any] | None:
        if is_there(part):
            return function.__wrapped__  # type: ignore[no-any-return]
        return without if known is None else None  # type: ignore[no-any-return]

    _build_in(function, typed, built)


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
        elif function in _CHOICES:
            _build_in_choice(function, _CHOICES[function])
        else:
            _let_compiled_code_call(function, _FOR_NUMBERS.get(function, function))


for _module in (elementwise, step, benefit, forms, conversion, conditions):
    let_compiled_code_call(_module)


#: How a curve of a class is evaluated.
_EVALUATIONS = {**forms.EVALUATIONS, conversion.Conversion: conversion.conversion_value}


@overload(elementwise.curve_value)
def _curve_value(curve: Any, _: Any) -> Callable[..., Any] | None:
    return _EVALUATIONS.get(getattr(curve, "instance_class", type(None)))
