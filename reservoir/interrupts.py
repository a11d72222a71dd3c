"""Signals that ask a run to end: what they raise, when they are deferred, and the message afterwards."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

#: Ctrl-C, the request to end, and the terminal that is gone.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
#: Signals that came, and what this run has written.
_received: list[int] = []
_written: list[str] = []
#: What else is to be said after an interruption, in words.
_remembered: list[str] = []


class Interrupted(KeyboardInterrupt):
    """A signal asks the run to end."""


def listen() -> None:
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


def leave() -> None:
    """Nothing is left to be done: a signal ends the process at once, and without a word."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def begin() -> None:
    """Forget what an earlier run in this process received and wrote."""
    _received.clear()
    _written.clear()
    _remembered.clear()


def wrote(place: object) -> None:
    """Remember what stands in its place now, for `last_words`."""
    _written.append(str(place))


def remember(words: str) -> None:
    """Remember what an interruption leaves behind, for `last_words`, in place of what was remembered before."""
    _remembered[:] = [words] if words else []


def received() -> bool:
    """Whether a signal came; code in between may have turned what it raised into an error of its own."""
    return bool(_received)


def status() -> int:
    """Exit status after an interruption: 128 and the number of the signal, as shells have it."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def last_words() -> str:
    """What is true of the files after an interruption."""
    told = f"written to {', '.join(_written)}" if _written else "nothing was written"
    return f"Interrupted; {'; '.join([told, *_remembered])}."


def end_interrupted() -> None:
    """Say so, and end the process, where no command line is there yet, or any more, to do it."""
    from reservoir.text.quantities import printable

    with suppress(OSError, ValueError):  # the terminal may be gone
        print(printable(last_words()), file=sys.stderr, flush=True)
    sys.exit(status())


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
