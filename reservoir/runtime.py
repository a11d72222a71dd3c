"""What surrounds a run: files of the package, folders of compiled code, the processor, a copy of the process, signals.

Compiled code is kept in the user's cache, or in a temporary folder of this run if that is not writable. Of signals that
ask a run to end, this says what they raise, when they are deferred, and the message afterwards.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

#: In a checkout or an editable install ``kernels/`` and ``data/`` stand beside it; a wheel has them inside it.
_PACKAGE = Path(__file__).resolve().parent


def _broken_installation(sentence: str) -> Exception:
    from reservoir.errors import ReservoirError  # here: signals are listened to before any other module is read

    return ReservoirError(sentence)


def package_folder(name: str) -> Path:
    """Find one of the package's folders.

    Parameters
    ----------
    name : str
        ``"kernels"`` or ``"data"``.

    Raises
    ------
    ReservoirError
        If this installation lacks the folder.
    """
    # Inside first: beside an installed package stand the folders of other packages.
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise _broken_installation(f"The folder {name}/ is missing from this installation of reservoir; install it again.")


def package_path(folder_name: str, name: str) -> Path:
    """Find one file of a folder, e.g. ``package_path("data", "cases.toml")``.

    Raises
    ------
    ReservoirError
        If the folder or the file is missing.
    """
    place = package_folder(folder_name) / name
    if not place.is_file():
        raise _broken_installation(f"{folder_name}/ has no file {name}; looked for {place}.")
    return place


def package_text(folder_name: str, name: str) -> str:
    """Read one file of a folder, once in a process, e.g. ``package_text("kernels", "common/rng/philox.cl")``.

    Raises
    ------
    ReservoirError
        If the folder or the file is missing.
    """
    return _text(_PACKAGE, folder_name, name)


@cache
def _text(package: Path, folder_name: str, name: str) -> str:
    """As `package_text`, of a package that stands there: a short search would look for fourteen kernel files."""
    return package_path(folder_name, name).read_text(encoding="utf-8")


#: A file system with less room than this counts as full: compilers that run out of it end the process.
LEAST_FREE_BYTES = 32 << 20

#: What must be said about caches and devices that could not be used, in the order found.
notes: list[str] = []


def usable_folder(name: str, asked: str = "", variable: str = "XDG_CACHE_HOME") -> Path | None:
    """Make a folder that can be written: the one asked for, else one in the user's cache, else one of this run alone.

    Parameters
    ----------
    name : str
        Relative to ``reservoir`` in the user's cache.
    asked, variable : str
        A folder that the user named, and the environment variable that names it.

    Returns
    -------
    Path or None
        None where nothing can be written anywhere.
    """
    wanted = Path(asked) if asked else user_cache(name)
    problem = "no home folder" if wanted is None else why_unusable(wanted)
    if not problem:
        return wanted
    run = run_folder()
    place = (
        f"The cache folder {wanted} cannot be used ({problem})" if wanted else f"No cache of compiled code: {problem}"
    )
    kept = f"compiled code is stored in {run} until this run ends" if run else "compiled code is not stored"
    note(f"{place}; {kept}. Fix: set {variable} to a writable folder with free space.")
    if run is None:
        return None
    folder = run / name
    return None if why_unusable(folder) else folder


def write_at_once(file: Path, content: bytes) -> None:
    """Write a small file whole, which another process may be writing or reading too."""
    descriptor, draft = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
    os.replace(draft, file)


def user_cache(name: str) -> Path | None:
    """The folder of that name in the user's cache; None for users without a home. Made by nobody yet."""
    try:
        # A relative path would mean another folder in every place that the program is called from.
        asked = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base = asked if asked.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "reservoir" / name if base.is_absolute() else None


def why_unusable(folder: Path) -> str:
    """Make a folder, and say why nothing can be kept in it; empty if something can."""
    import shutil
    import tempfile  # light commands need neither

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        free = shutil.disk_usage(folder).free
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return "" if free >= LEAST_FREE_BYTES else f"less than {LEAST_FREE_BYTES >> 20} MB free"


@cache
def run_folder() -> Path | None:
    """A folder of this run, removed at its end; None where there is no place for one."""
    import tempfile

    try:
        folder = Path(tempfile.mkdtemp(prefix="reservoir-"))
    except OSError:
        return None
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    import shutil

    if os.getpid() == owner:  # and not in a process forked from it
        shutil.rmtree(folder, ignore_errors=True)


def note(sentence: str) -> None:
    """Keep a sentence that a command ends with."""
    if sentence not in notes:
        notes.append(sentence)


#: Says so, where several runs share a machine.
THREADS_VARIABLE = "RESERVOIR_THREADS"


def processors() -> int:
    """As many as `THREADS_VARIABLE` says; else those that this process may run on; at least one."""
    asked = os.environ.get(THREADS_VARIABLE, "").strip()
    if asked.isdecimal() and len(asked) <= 4 and int(asked):
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor_flags() -> frozenset[str]:
    """The instructions that the processor has, in the system's words; empty where it has no file of them."""
    lines = dict(line.partition(":")[::2] for line in processor().splitlines())
    return frozenset(next((words for name, words in lines.items() if name.strip() == "flags"), "").split())


@cache
def processor() -> str:
    """What instructions the processor has, in whatever words the system has for them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        import platform

        return platform.processor()
    return "\n".join([line for line in lines if line.startswith(("model name", "flags", "Features"))][:2])


#: A copy of the process that has not ended after so many seconds is given up.
_COPY_SECONDS = 30


def made_in_a_copy(make: Callable[[], Iterable[T]]) -> Iterator[T]:
    """What a copy of this process makes, beside it and from now on, of all that is in memory; nothing if it fails.

    Of the threads the copy has the caller's alone: what it makes may need no other, no device and no lock. Where there
    is one processor, or no Linux, nothing is made.
    """
    import pickle  # light commands need none

    if not sys.platform.startswith("linux") or processors() == 1:
        return iter(())
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that other threads may hold locks
        copy = os.fork()
    if not copy:
        try:
            os.close(reader)  # whose other end may be closed before this one writes
            gc.disable()  # what this process releases of a driver is the other's
            signal.alarm(_COPY_SECONDS)
            with open(writer, "wb") as pipe:
                pickle.dump(list(make()), pipe)  # at the end: a pipe that nobody reads yet would hold it up
        finally:
            os._exit(0)
    os.close(writer)

    def received() -> Iterator[Any]:
        try:
            yield None
            with open(reader, "rb") as pipe, suppress(EOFError, pickle.UnpicklingError):
                yield from pickle.load(pipe)
        finally:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(copy, signal.SIGKILL)
                os.waitpid(copy, 0)

    made = received()
    next(made)  # begun, it ends the copy when it is dropped, such as by an interruption
    return made


#: Ctrl-C, the request to end, and the terminal that is gone.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
#: Signals that came, and what this run has written.
_received: list[int] = []
_written: list[str] = []
#: What else is to be said after an interruption, in words.
_remembered: list[str] = []


class Interrupted(KeyboardInterrupt):
    """A signal asks the run to end."""


def listen_to_signals() -> None:
    """Let every signal that asks the run to end raise `Interrupted`; one that is ignored (nohup) stays ignored."""
    process = os.getpid()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if os.getpid() != process:  # a worker that was forked ends as it would have without us
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        _received.append(number)
        raise Interrupted

    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)


def leave_signals() -> None:
    """Nothing is left to be done: a signal ends the process at once, and without a word."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def begin_run() -> None:
    """Forget what an earlier run in this process received and wrote."""
    _received.clear()
    _written.clear()
    _remembered.clear()


def wrote(place: object) -> None:
    """Remember what stands in its place now, for `last_words`."""
    _written.append(str(place))


def removed(place: object) -> None:
    """Forget what no longer stands in its place."""
    _written[:] = [each for each in _written if each != str(place)]


def remember(words: str) -> None:
    """Remember what an interruption leaves behind, for `last_words`, in place of what was remembered before."""
    _remembered[:] = [words] if words else []


def interrupted() -> bool:
    """Whether a signal came; code in between may have turned what it raised into an error of its own."""
    return bool(_received)


def last_words() -> str:
    """What is true of the files after an interruption."""
    files = f"written to {', '.join(_written)}" if _written else "nothing was written"
    return f"Interrupted; {'; '.join([files, *_remembered])}."


def end_interrupted() -> None:
    """Say so, and end the process, where no command line is there yet, or any more, to do it."""
    from reservoir.text.quantities import printable

    with suppress(OSError, ValueError):  # the terminal may be gone
        print(printable(last_words()), file=sys.stderr, flush=True)
    sys.exit(128 + (_received[0] if _received else signal.SIGINT))  # as shells have it


@contextmanager
def deferred() -> Iterator[None]:
    """Let signals wait until the end of what must not be left half done."""
    if threading.current_thread() is not threading.main_thread():  # the others never receive any
        yield
        return
    waiting: list[int] = []
    before: dict[int, Any] = {}
    try:
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if handler not in (None, signal.SIG_IGN):
                before[number] = handler
                signal.signal(number, lambda number, frame: waiting.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if waiting:
            signal.raise_signal(waiting[0])
