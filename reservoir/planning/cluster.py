"""Search parts on a cluster of Dask (Rocklin 2015): each part is one task, and the bytes are those of one process."""

from __future__ import annotations

import logging
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from reservoir.errors import DeviceError, InputError, Mistake
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.planning.parts import Part, PartResult, searched
from reservoir.planning.search import Method
from reservoir.planning.solving import StageProgress, silent_stage
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.runtime import deferred, processors

#: A distributed.Client.
Client: TypeAlias = Any

INSTALL = "pip install 'reservoir[dask]'"
LOCAL = "local:"
#: Tasks that are given to each thread of the cluster at once: one to work at, one to go on with.
_AHEAD = 2
#: How often processes on this machine are started before that is given up.
_STARTS = 3
#: How often a failed task is tried again.
_RETRIES = 2
#: How long a scheduler may take to answer, also after the connection was lost; and how often is looked at parts.
_CONNECT_SECONDS, _LOOK_SECONDS = 15.0, 1.0
#: States of a client that has lost its scheduler for good.
_ENDED = ("closing", "closed")
#: Resource of workers, which a part takes one of where any worker has it.
_RESOURCE = "GPU"


@contextmanager
def cluster_workers(address: str) -> Iterator[ClusterWorkers]:
    """Workers of a cluster that is there, or of one on this machine that ends with the block.

    Parameters
    ----------
    address : str
        Of a scheduler, ``tcp://HOST:PORT``; or ``local:N`` for N processes on this machine, of one thread each.

    Raises
    ------
    InputError
        If it is neither, or Dask is not installed.
    DeviceError
        If no scheduler answers there.
    """
    try:
        import distributed
    except ModuleNotFoundError as error:
        if error.name not in ("distributed", "dask"):
            raise
        raise InputError("a cluster needs Dask, which is not installed", mend=INSTALL) from None
    not_an_address = Mistake("is no cluster", "tcp://HOST:PORT or local:N", column="cluster", value=address)
    if address.startswith(LOCAL):
        number = address.removeprefix(LOCAL)
        if not (number.isdecimal() and len(number) <= 4 and int(number)):
            raise InputError(not_an_address)
        with ExitStack() as begun:
            try:
                yield ClusterWorkers(_begun(address, int(number), begun), address)
            except KeyboardInterrupt:
                logging.disable(logging.ERROR)  # what is cut off now says so at length
                raise
        return
    if "://" not in address:
        raise InputError(not_an_address)
    try:
        client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except ValueError as error:
        raise InputError(not_an_address) from error
    except OSError as error:
        mend = "start it with `dask scheduler`, and workers with `dask worker ADDRESS`"
        raise DeviceError("no scheduler answers", mend=mend, value=address) from error
    with client:
        yield ClusterWorkers(client, address)


def _begun(address: str, count: int, begun: ExitStack) -> Client:
    """A client of new processes, all of which end with `begun`; begun again if one is lost before all are there."""
    import distributed

    threads = str(max(processors() // count, 1))
    limits = ("RESERVOIR_THREADS", "NUMBA_NUM_THREADS", "POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT")
    for left in reversed(range(_STARTS)):
        try:
            with deferred(), ExitStack() as stack:  # half begun, they end in faults of their own
                cluster = distributed.LocalCluster(
                    count, threads_per_worker=1, dashboard_address=None, env=dict.fromkeys(limits, threads)
                )
                client = stack.enter_context(distributed.Client(stack.enter_context(cluster), set_as_default=False))
                client.register_worker_callbacks(_log_nothing)
                begun.enter_context(stack.pop_all())
            return client
        except (RuntimeError, OSError) as error:
            if not left:
                problem = f"processes of the cluster {address} are lost whenever they are started ({error})"
                mend = "free memory, ask for fewer processes, or leave out --cluster"
                raise DeviceError(problem, mend=mend) from error
    raise AssertionError("the last start returns or raises")


def _log_nothing() -> None:
    """Of a worker on this machine: what fails in a part comes back with it, the rest is the end of the cluster."""
    logging.disable(logging.ERROR)
    for number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
        with suppress(ValueError):  # not in the main thread
            signal.signal(number, signal.SIG_IGN)  # a terminal sends them to all processes; the command ends its own


class ClusterWorkers:
    """Workers of a Dask cluster, whose address is for messages."""

    place = "cluster"

    def __init__(self, client: Client, address: str) -> None:
        self._client, self._address = client, address

    def search(
        self, problems: RecordProblems, parts: list[Part], method: Method, progress: StageProgress
    ) -> Iterator[PartResult]:
        """Give parts to workers that are free; the part of a worker that is lost is done by another.

        Only parts that are done are counted by `progress`.
        """
        import distributed

        pending, flying = deque(parts), dict[Any, Part]()
        years, done = sum(part.years for part in parts), 0
        progress(method.solver, done, years)
        while pending or flying:
            if self._client.status in _ENDED:
                raise self._lost()
            workers = self._client.scheduler_info(n_workers=-1).get("workers", {})  # none while the connection is lost
            threads = sum(worker["nthreads"] for worker in workers.values())
            resource = any(_RESOURCE in worker.get("resources", {}) for worker in workers.values())
            asked = {"resources": {_RESOURCE: 1}} if resource else {}
            while pending and len(flying) < max(_AHEAD * threads, 1):
                part = pending.popleft()
                task = searched, _without_files(problems.span(part.first, part.stop)), part, method, silent_stage
                flying[self._client.submit(*task, pure=False, retries=_RETRIES, **asked)] = part
            with self._client.as_current(), suppress(TimeoutError, CancelledError):  # the second: a lost scheduler
                distributed.wait(list(flying), timeout=_LOOK_SECONDS, return_when="FIRST_COMPLETED")
            for future in [future for future in flying if future.done()]:
                part = flying.pop(future)
                yield self._result_of(future)
                done += part.years
                progress(method.solver, done, years)

    def _result_of(self, future: Any) -> PartResult:
        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        try:
            result: PartResult = future.result(timeout=_CONNECT_SECONDS)
        except KilledWorker as error:
            problem = f"workers of the cluster at {self._address} are lost again and again"
            raise DeviceError(problem, mend="see the workers' logs: memory, for example") from error
        except (CancelledError, CommClosedError, TimeoutError) as error:
            raise self._lost() from error
        except (ImportError, RuntimeError) as error:
            if not isinstance(error, ImportError) and "deserialization" not in str(error):
                raise
            problem = f"the cluster at {self._address} cannot load this program ({str(error).splitlines()[0]})"
            mend = "install the same version of reservoir where its scheduler and its workers run"
            raise DeviceError(problem, mend=mend) from error
        return result

    def _lost(self) -> DeviceError:
        mend = "start it again; the same call goes on with the parts that are kept"
        return DeviceError(f"the scheduler of the cluster at {self._address} is lost", mend=mend)


def _without_files(problems: RecordProblems) -> RecordProblems:
    """The same without the bytes of its record's files."""
    inflow: Any = problems.inflow
    bare: Any = partial(replace, content=b"")
    without: Any = inflow.each(bare) if isinstance(inflow, SiteInflows) else bare(inflow)
    return replace(problems, inflow=without)
