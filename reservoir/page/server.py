"""The page's server: this machine alone, one socket for questions, uploads and files of the workspace."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import math
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from reservoir.errors import InputError, ReservoirError
from reservoir.page.desk import Desk
from reservoir.page.workspace import ASKER, UPLOAD_BYTES, CancelledError

STATIC = Path(__file__).parent / "static"
ADDRESS = "127.0.0.1"
#: Limits of a socket: bytes of a message, messages a second, sockets, questions that wait at once.
MESSAGE_BYTES, MESSAGES_A_SECOND, MOST_SOCKETS, _MOST_WAITING = 20_000, 20, 3, 8
#: Progress is told at most so often, in seconds; seconds after the last socket closed, if the program is to end then.
_TOLD_SECONDS, IDLE_SECONDS = 0.2, 600.0
#: Of these the newest alone is answered, one at a time, in so many seconds at most.
_PLANNED, PLAN_SECONDS = ("preview", "full"), 60.0
#: These are answered where plans are made, too, one after the other.
_MADE_BY_PLANNER = ("open", "values", "prepare")
#: Files of the workspace that a browser is shown.
_SHOWN = (".html", ".png", ".svg", ".csv", ".toml", ".json")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://{host}; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: A report is a page of its own, without rights on this one.
_OF_FILES = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: "
    "'self'"
)
_LOG = logging.getLogger(__name__)


class Page:
    """The application: who may ask, and how questions reach the desk.

    Parameters
    ----------
    desk : Desk
    port : int
    """

    def __init__(self, desk: Desk, port: int) -> None:
        self.desk = desk
        self.token = secrets.token_urlsafe(24)
        self.address = f"http://{ADDRESS}:{port}"
        self.sockets = 0
        self.last_closed = time.monotonic()
        self._hosts = {f"{ADDRESS}:{port}", f"localhost:{port}"}
        self._cookie = f"reservoir-{port}"
        self._planner, self._others = ThreadPoolExecutor(1), ThreadPoolExecutor(4)
        routes = [
            Route("/", self._index),
            Route("/upload", self._upload, methods=["POST"]),
            Route("/files/{path:path}", self._file),
            WebSocketRoute("/socket", self._socket),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        self.application: ASGIApp = self._guarded(Starlette(routes=routes))

    def end(self) -> None:
        """End the command that runs, and the threads that answer."""
        self.desk.workspace.cancel()
        for each in (self._planner, self._others):
            each.shutdown(wait=False, cancel_futures=True)

    def _guarded(self, application: ASGIApp) -> ASGIApp:
        """Refuse whoever came by another name of this machine, and give every answer the headers that bind it."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] not in ("http", "websocket"):
                return
            host = HTTPConnection(scope).headers.get("host", "")
            if host not in self._hosts:
                refused = PlainTextResponse("This page answers to 127.0.0.1 and localhost alone.", 421)
                await refused(scope, receive, send)
                return

            async def with_headers(message: Any) -> None:
                if message["type"] == "http.response.start":
                    given = {name.lower() for name, _ in message["headers"]}
                    of_all = {
                        "content-security-policy": _POLICY.format(host=host),
                        "referrer-policy": "no-referrer",
                        "x-content-type-options": "nosniff",
                        "cross-origin-resource-policy": "same-origin",
                        "cache-control": "no-store",
                    }
                    further = ((name.encode(), value.encode()) for name, value in of_all.items())
                    message["headers"] = [*message["headers"], *(each for each in further if each[0] not in given)]
                await send(message)

            await application(scope, receive, with_headers)

        return guarded

    def _known(self, asker: HTTPConnection) -> bool:
        return hmac.compare_digest(asker.cookies.get(self._cookie, "").encode(), self.token.encode())

    def _own(self, asker: HTTPConnection) -> bool:
        """Whether a page of this program asks: what changes something is not asked for by others."""
        return asker.headers.get("origin", "").removeprefix("http://") in self._hosts and self._known(asker)

    async def _index(self, request: Request) -> Response:
        if given := request.query_params.get("token"):
            ours = hmac.compare_digest(given.encode(), self.token.encode())
            _require(ours, "This address is of another run: open the one that the program printed.")
            answer: Response = RedirectResponse("/", 303)  # the address bar forgets the token
            answer.set_cookie(self._cookie, self.token, httponly=True, samesite="strict")
            return answer
        _require(self._known(request), "The address lacks its token: open the one that the program printed.")
        return FileResponse(STATIC / "index.html")

    async def _file(self, request: Request) -> Response:
        _require(self._known(request), "Open this from the page.")
        try:
            path = self.desk.workspace.file(request.path_params["path"])
        except ReservoirError as fault:
            raise HTTPException(404, str(fault)) from None
        _require(path.suffix in _SHOWN, "Such files are not shown.", 404)
        return FileResponse(path, headers={"content-security-policy": _OF_FILES})

    async def _upload(self, request: Request) -> Response:
        _require(self._own(request), "Drop files on the page.")
        content = bytearray()
        async for part in request.stream():
            content += part
            if len(content) > UPLOAD_BYTES:
                break  # what is too large is refused below
        try:
            put = partial(self.desk.workspace.upload, request.query_params.get("name", ""), bytes(content))
            return JSONResponse({"file": await asyncio.get_running_loop().run_in_executor(self._others, put)})
        except ReservoirError as fault:
            return JSONResponse({"fault": faults(fault)}, 400)

    async def _socket(self, browser: WebSocket) -> None:
        if not self._own(browser) or self.sockets >= MOST_SOCKETS:
            await browser.close(4403)
            return
        await browser.accept()
        self.sockets += 1
        try:
            await Conversation(self.desk, browser, self._planner, self._others).hold()
        finally:
            self.sockets -= 1
            self.last_closed = time.monotonic()


def _require(allowed: bool, words: str, status: int = 403) -> None:
    """Refuse a request, in words."""
    if not allowed:
        raise HTTPException(status, words)


class Conversation:
    """The questions of one browser, and their answers."""

    def __init__(self, desk: Desk, browser: WebSocket, planner: ThreadPoolExecutor, others: ThreadPoolExecutor) -> None:
        self._desk, self._browser, self._planner, self._others = desk, browser, planner, others
        self._loop = asyncio.get_running_loop()
        self._newest: Mapping[str, Any] | None = None
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._told: set[asyncio.Task[None]] = set()
        self._cancelled: set[Any] = set()

    async def hold(self) -> None:
        """Take questions until the browser goes."""
        planner = asyncio.create_task(self._plan())
        allowed = 0.0
        try:
            while True:
                text = await self._browser.receive_text()
                allowed = max(allowed, time.monotonic() - 1.0) + 1.0 / MESSAGES_A_SECOND
                await asyncio.sleep(max(allowed - time.monotonic(), 0.0))  # faster ones wait
                self._take(text)
        except WebSocketDisconnect:
            pass
        finally:
            planner.cancel()  # what runs is ended: a window that is opened again finds it saved

    def _take(self, text: str) -> None:
        try:
            ask = json.loads(text)
        except ValueError:
            return
        if not isinstance(ask, dict):
            return
        if ask.get("kind") == "cancel":
            self._cancelled.add(ask.get("of"))
            self._desk.workspace.cancel((self, ask.get("of")))
        elif ask.get("kind") in _PLANNED:
            self._newest = ask
            self._wake.set()
        elif len(self._tasks) >= _MOST_WAITING:
            text = "Other questions of this window wait for their answers."
            self._soon(self._send({"id": ask.get("id"), "fault": [{"text": text, "key": ""}]}), self._told)
        else:
            pool = self._planner if ask.get("kind") in _MADE_BY_PLANNER else self._others
            self._soon(self._reply(ask, pool), self._tasks)

    def _soon(self, work: Coroutine[Any, Any, None], among: set[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        among.add(task)
        task.add_done_callback(among.discard)

    async def _plan(self) -> None:
        """Plan the newest wish; those that it overtakes are not planned."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            ask, self._newest = self._newest, None
            if ask is not None:
                await self._reply(ask, self._planner)

    async def _reply(self, ask: Mapping[str, Any], pool: ThreadPoolExecutor) -> None:
        number, told_at, told_stage = ask.get("id"), 0.0, ""

        def tell(stage: str, done: float, total: int | None) -> None:
            if number in self._cancelled:
                raise CancelledError
            nonlocal told_at, told_stage
            now = time.monotonic()
            if ask.get("kind") in _PLANNED and now - began > PLAN_SECONDS:
                mend = "save it, and the command takes as long as it needs"
                raise InputError(f"is not planned after {PLAN_SECONDS:g} s, the most on a page", mend=mend)
            if now - told_at >= _TOLD_SECONDS or stage != told_stage:
                told_at, told_stage = now, stage
                progress = {"id": number, "stage": stage, "done": done if math.isfinite(done) else 0, "total": total}
                with suppress(RuntimeError):  # the page ended
                    self._loop.call_soon_threadsafe(self._tell, progress)

        def answered() -> dict[str, Any]:
            ASKER.set((self, number))
            return self._desk.answer(ask, tell)

        began = time.monotonic()
        try:
            answer = await self._loop.run_in_executor(pool, answered)
            answer = {"id": number, "answer": answer, "seconds": round(time.monotonic() - began, 3)}
        except Exception as error:
            answer = {"id": number, **_refusal(error, ask.get("kind"))}
        await self._send(answer)

    def _tell(self, progress: Mapping[str, Any]) -> None:
        self._soon(self._send(progress), self._told)

    async def _send(self, content: Mapping[str, Any]) -> None:
        with suppress(RuntimeError, WebSocketDisconnect):  # the browser went
            await self._browser.send_text(json.dumps(content, allow_nan=False, separators=(",", ":")))


def _refusal(error: Exception, kind: Any) -> dict[str, Any]:
    """What a browser is told in place of an answer."""
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, ReservoirError):
        error = error.__cause__  # what ended a plan from within (`reservoir.solvers.engine.callers_own`)
    if isinstance(error, CancelledError):
        return {"cancelled": str(error)}
    if isinstance(error, ReservoirError):
        return {"fault": faults(error)}
    _LOG.error("a question of the page: %s", kind, exc_info=error)
    text = f"Error in the program, not in your input: {type(error).__name__}: {error}"
    return {"fault": [{"text": text, "key": ""}]}


def faults(error: ReservoirError) -> list[dict[str, str]]:
    """What a browser is told of an error: a text for each mistake, and the key that it is about."""
    if isinstance(error, InputError):
        return [{"text": str(each), "key": each.column} for each in error.mistakes]
    return [{"text": str(error), "key": ""}]


class _Server(uvicorn.Server):
    """Ends at an interruption, and is not interrupted."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals of an end for as long as it serves."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def serve(
    desk: Desk,
    port: int,
    opened: Callable[[str], None],
    *,
    stop_when_closed: bool = False,
    started: Callable[[uvicorn.Server], None] | None = None,
) -> None:
    """Serve a page until it is interrupted.

    Parameters
    ----------
    desk : Desk
    port : int
        0 for any that is free.
    opened : callable
        Called with the address once it is answered.
    stop_when_closed : bool
        Whether to end some minutes after the last browser went.
    started : callable, optional
        Called with the server, whose ``should_exit`` ends it.

    Raises
    ------
    InputError
        If the port is taken.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((ADDRESS, port))
        except OSError as error:
            mend = "choose another, or leave --port out"
            raise InputError(
                f"cannot be used: {error.strerror}", "a free port", mend, column="--port", value=port
            ) from None
        page = Page(desk, listener.getsockname()[1])
        how: dict[str, Any] = {"log_level": "warning", "lifespan": "off", "server_header": False, "access_log": False}
        server = _Server(uvicorn.Config(page.application, ws_max_size=MESSAGE_BYTES, **how))

        if started is not None:
            started(server)

        async def run() -> None:
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            while not server.started and not serving.done():
                await asyncio.sleep(0.01)
            opened(f"{page.address}/?token={page.token}")
            while not serving.done():
                await asyncio.wait([serving], timeout=1.0)
                idle = time.monotonic() - page.last_closed
                if stop_when_closed and not page.sockets and idle > IDLE_SECONDS:
                    server.should_exit = True
            await serving

        asyncio.run(run())
        page.end()
