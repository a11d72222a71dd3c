"""Processes beside this one that end with it, and tasks shared among them."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def processes(count: int) -> Iterator[list[ProcessPoolExecutor]]:
    """So many processes, each to be given its own tasks.

    They end with this one, however it ends: each watches a pipe whose other end this process alone holds. An exception
    in the block ends them in the midst of their tasks.
    """
    context = multiprocessing.get_context("spawn")
    lifeline, own_end = context.Pipe(duplex=False)
    pools = [
        ProcessPoolExecutor(1, mp_context=context, initializer=_live_with, initargs=(lifeline,)) for _ in range(count)
    ]
    try:
        yield pools
    except BaseException:
        own_end.close()
        raise
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)
        own_end.close()
        lifeline.close()


def _live_with(lifeline: Connection) -> None:
    """End this process as soon as the other end of a pipe is closed."""

    def watch() -> None:
        with suppress(EOFError, OSError):
            lifeline.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def shared_among(count: int, task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
    """Do a task for each item in so many processes; items and results as they are done.

    A fault in a task is raised here, and ends the others. The task and the items must be picklable.
    """
    queue = iter(items)
    with processes(count) as pools:
        running: dict[Future[Result], tuple[ProcessPoolExecutor, Item]] = {}

        def start(pool: ProcessPoolExecutor) -> None:
            for item in queue:
                running[pool.submit(task, item)] = pool, item
                return

        for pool in pools:
            start(pool)
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                pool, item = running.pop(future)
                result = future.result()
                start(pool)
                yield item, result
