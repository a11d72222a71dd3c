"""Who may ask the page, and how questions reach the desk: a client without a browser."""

from __future__ import annotations

import http.client
import json
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import pytest

client = pytest.importorskip(
    "websockets.sync.client", reason="the page (pip install 'reservoir[page]') is not installed"
)
MESSAGE_BYTES, MOST_SOCKETS = 20_000, 3
UPPER = "storage.upper_hm3"


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes


class Asker:
    """Somebody who asks the page, by default with its cookie and as its own script does."""

    def __init__(self, served) -> None:
        self.address, _, self.token = served.address.removeprefix("http://").partition("/?token=")
        self.port = int(self.address.partition(":")[2])
        self.cookie = {"cookie": f"reservoir-{self.port}={self.token}"}
        self.origin = {"origin": f"http://{self.address}"}

    def get(self, path: str, body: bytes | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with closing(connection):
            connection.request("GET" if body is None else "POST", path, body, headers)
            got = connection.getresponse()
            return Answer(got.status, {name.lower(): value for name, value in got.getheaders()}, got.read())

    def socket(self, headers: dict[str, str] | None = None) -> Any:
        headers = self.cookie | self.origin if headers is None else headers
        return client.connect(f"ws://{self.address}/socket", additional_headers=headers, open_timeout=30)


@pytest.fixture
def asker(served) -> Asker:
    return Asker(served)


def test_the_token_is_taken_once_and_kept_in_a_cookie(asker):
    assert asker.get("/").status == 403
    assert asker.get("/?token=other").status == 403
    answer = asker.get(f"/?token={asker.token}")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert b"<main" in asker.get("/", **asker.cookie).body


def test_another_name_of_this_machine_is_refused(asker):
    for host in ("example.org", f"127.0.0.1:{asker.port + 1}", f"example.org:{asker.port}"):
        assert asker.get("/", **asker.cookie, host=host).status == 421
    assert asker.get("/", **asker.cookie, host=f"localhost:{asker.port}").status == 200


def test_every_answer_is_bound_by_headers(asker):
    for path in ("/", "/static/plan.js", "/files/none"):
        headers = asker.get(path, **asker.cookie).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe-eval" not in headers["content-security-policy"]
        assert (headers["referrer-policy"], headers["x-content-type-options"]) == ("no-referrer", "nosniff")


@pytest.mark.parametrize("path", ["../pyproject.toml", "%2e%2e/pyproject.toml", "/etc/passwd", "link/passwd"])
def test_no_file_outside_of_the_folder_is_shown(served, asker, path):
    folder = served.desk.workspace.folder
    if not (folder / "link").exists():
        (folder / "link").symlink_to("/etc")
    assert asker.get(f"/files/{path}", **asker.cookie).status == 404


def test_uploads_are_bounded_and_named(served, asker):
    own = asker.cookie | asker.origin
    put = asker.get("/upload?name=inflow.csv", b"a,b", **own)
    assert json.loads(put.body) == {"file": "uploads/inflow.csv"}
    assert (served.desk.workspace.folder / "uploads/inflow.csv").read_bytes() == b"a,b"
    assert json.loads(asker.get("/upload?name=inflow.csv", b"other", **own).body)["file"] == "uploads/inflow-1.csv"
    assert asker.get("/upload?name=../x.csv", b"a", **own).status == 400
    assert b"16 MB" in asker.get("/upload?name=big.csv", b"a" * 16_000_001, **own).body
    assert asker.get("/upload?name=a.csv", b"a", **asker.cookie).status == 403
    assert asker.get("/upload?name=a.csv", b"a", **asker.origin).status == 403
    assert asker.get("/upload?name=a.csv", b"a", **asker.cookie, origin="http://example.org").status == 403


@pytest.mark.parametrize("origin", [{}, {"origin": "http://example.org"}, {"origin": "null"}])
def test_a_socket_of_others_is_refused(asker, origin):
    with pytest.raises(Exception, match="403"), asker.socket(asker.cookie | origin):
        pass


def test_a_socket_without_the_token_is_refused(asker):
    with pytest.raises(Exception, match="403"), asker.socket(asker.origin):
        pass


def asked(socket: Any, kind: str, number: int = 1, **body: Any) -> dict[str, Any]:
    socket.send(json.dumps({"id": number, "kind": kind, **body}))
    while "stage" in (told := json.loads(socket.recv(60))):
        pass
    return told


def test_a_question_is_answered_or_refused_in_words(asker):
    with asker.socket() as socket:
        info = asked(socket, "info")["answer"]
        assert info["info"]["name"] == "xiaowan"
        upper = info["info"]["sites"]["xiaowan"]["limits"]["upper"]["values"]
        lower = [*upper[:4], upper[4] - 1000, *upper[5:]]
        told = asked(socket, "preview", 7, wish={UPPER: lower})
        assert told["id"] == 7
        (row,) = told["answer"]["rows"]
        assert row["energy_change_gwh"] < 0
        assert row["failing_years"] == 0
        assert "checks" not in told["answer"]
        checked = asked(socket, "full", 8, wish={UPPER: lower})["answer"]
        assert checked["accepted"]
        (same,) = checked["rows"]
        assert same["energy_gwh"] == pytest.approx(row["energy_gwh"], rel=1e-6)
        wrong = asked(socket, "preview", 9, wish={"plant.installed_capacity_mw": "much"})
        assert wrong["fault"][0]["key"] == "plant.installed_capacity_mw"
        assert asked(socket, "preview", 10, wish=[1])["fault"]
        assert "no question" in asked(socket, "nonsense", 11)["fault"][0]["text"]
        away = asked(socket, "open", 13, words=["/etc/passwd", "--reservoir", "/etc/hosts"])
        assert "outside" in away["fault"][0]["text"]
        socket.send("no json")
        assert asked(socket, "info", 12)["id"] == 12


def test_limits_that_no_year_can_keep_are_named_first(asker):
    with asker.socket() as socket:
        told = asked(socket, "full", wish={"release.lower_m3s": 450})["answer"]
    (row,) = told["rows"]
    assert row["failing_years"] == told["kept"].count(False) > 0
    assert f"{row['failing_years']} of 62 years violate their limits" in told["sentences"][0]
    assert row["compared_years"] == told["kept"].count(True)


def test_a_plan_that_takes_too_long_or_is_cancelled_is_told_in_words(asker, monkeypatch):
    with asker.socket() as socket:
        monkeypatch.setattr("reservoir.page.server.PLAN_SECONDS", 0.0)
        late = asked(socket, "full", 1, wish={"plant.installed_capacity_mw": 3900})
        assert "not planned after 0 s, the most on a page. Fix: save it" in late["fault"][0]["text"]
        monkeypatch.undo()
        socket.send(json.dumps({"kind": "cancel", "of": 3}))
        assert asked(socket, "full", 3, wish={})["cancelled"] == "cancelled: nothing was written"
        assert asked(socket, "full", 2, wish={})["answer"]["accepted"]


def test_the_end_of_a_question_ends_no_command_of_another(asker):
    batch = {"keys": [{"key": "plant.installed_capacity_mw", "first": 4000, "last": 4100, "count": 2}]}

    def cancelled(socket: Any, number: int, *ends: tuple[Any, int]) -> dict[str, Any]:
        socket.send(json.dumps({"id": number, "kind": "varied", "name": f"batch{number}", **batch}))
        while "starting" in (told := json.loads(socket.recv(60))).get("stage", "starting"):
            pass
        for window, of in ends:
            window.send(json.dumps({"kind": "cancel", "of": of}))
        while "stage" in (told := json.loads(socket.recv(60))):
            pass
        return told

    with asker.socket() as socket, asker.socket() as other:
        assert len(cancelled(socket, 1, (socket, 2), (other, 1))["answer"]["plans"]) == 3
        assert "cancelled" in cancelled(socket, 3, (socket, 3))


def test_the_newest_wish_wins(asker):
    with asker.socket() as socket:
        for number in range(1, 6):
            wish = {"plant.installed_capacity_mw": 4000 + number}
            socket.send(json.dumps({"id": number, "kind": "preview", "wish": wish}))
        answered = [json.loads(socket.recv(60))["id"]]
        while answered[-1] != 5:
            answered.append(json.loads(socket.recv(60))["id"])
    assert answered == sorted(answered)
    assert len(answered) < 5


def test_long_messages_and_many_windows_are_refused(asker):
    with asker.socket() as socket:
        socket.send("x" * (MESSAGE_BYTES + 1))
        with pytest.raises(Exception, match=r"1009|too big"):
            socket.recv(30)
    with ExitStack() as windows:
        for _ in range(MOST_SOCKETS):
            windows.enter_context(asker.socket())
        with pytest.raises(Exception, match="403"), asker.socket():
            pass
