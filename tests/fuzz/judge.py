"""The property: whatever stands in a file, it is read as something sound, or refused with its name."""

from __future__ import annotations

import logging
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from reservoir.errors import InputError
from reservoir.text.quantities import first_unprintable
from tests.fuzz.case import Case, Reader, lay_out

#: Seconds that a case may take, bytes of memory and of addresses beyond what is held before, characters of a refusal.
SECONDS = 10
MOST_HELD = 500_000_000
MOST_BYTES = 1 << 30
LONGEST = 50_000


class Hang(BaseException):
    """A case took too long; no reader catches it."""


def outcome(reader: Reader, case: Case, folder: Path) -> str:
    """``read`` or ``refused``; anything else is an error."""
    lay_out(case, folder)
    with time_limit(SECONDS):
        try:
            reader.read(folder)
        except InputError as refused:
            judge_refusal(refused, folder)
            return "refused"
    return "read"


def judge_refusal(refused: InputError, folder: Path) -> None:
    """A refusal names the file of each mistake, can be shown and is no book."""
    said = str(refused)
    assert refused.mistakes, "refused without a mistake"
    for mistake in refused.mistakes:
        assert mistake.file.startswith(str(folder)), f"names no file: {mistake}"
        assert mistake.problem
    assert first_unprintable(said.replace("\n", " ")) is None
    assert len(said) < LONGEST, f"a refusal of {len(said):,} characters"
    assert said.encode()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise Hang when so much time has passed."""

    def give_up(signum: int, frame: FrameType | None) -> None:
        raise Hang(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def limit_memory() -> None:
    """From now on, this process may take `MOST_BYTES` more than it holds; what asks for more gets a MemoryError."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MOST_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


def most_held() -> int:
    """The most bytes of memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_most_held() -> int:
    """Count the most bytes anew from what is held now, which is returned."""
    Path("/proc/self/clear_refs").write_text("5")
    return _most_held_since()


def most_held_since() -> int:
    """The most bytes that this process held since then, or a process that it started ever."""
    return max(_most_held_since(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)


def _most_held_since() -> int:
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024


class Said:
    """What libraries say where nobody asked: errors in destructors, and of tasks that nobody waits for."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        sys.unraisablehook = lambda fault: self.texts.append(
            f"{fault.err_msg}: {fault.exc_value!r} in {fault.object!r}"
        )
        handler = logging.Handler(logging.WARNING)
        handler.emit = lambda record: self.texts.append(record.getMessage())  # type: ignore[method-assign]
        logging.getLogger().addHandler(handler)

    def require_silence(self) -> None:
        """Nothing may stand beside a message."""
        texts, self.texts = self.texts, []
        assert not texts, "; ".join(texts)
