"""A real server: killed, restarted, and sent what a server should not take."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.browser.server import PlaygroundServer
from tests.playground.sessions.wire import TEXT, Closed, Wire
from tests.playground.sessions.worlds import node, pod

LIMIT = 600_000  # of what any page takes
MESSAGE = 16 << 10
PODS = [f"p{number:03}" for number in range(600)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """A server that takes uploads of 300 kB, traces of 600 kB and messages of 16 KiB."""
    limits = {
        "MAX_UPLOAD_BYTES": str(LIMIT // 2),
        "MAX_IMPORT_BYTES": str(LIMIT // 2),
        "MAX_TRACE_BYTES": str(LIMIT),
        "WEBSOCKET_MAX_MESSAGE": str(MESSAGE),
    }
    server = PlaygroundServer(tmp_path_factory.mktemp("server"), **limits)
    server.start()
    yield server
    server.stop()


def new_session(server: PlaygroundServer, *objects: dict[str, Any]) -> str:
    """Makes a session by the home page's form, and imports objects; its edit key."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    home = opener.open(server.url + "/").read().decode()
    found = re.search(r'csrfmiddlewaretoken" value="([^"]+)', home)
    assert found

    def post(path: str, **fields: str) -> str:
        form = urllib.parse.urlencode({"csrfmiddlewaretoken": found[1], **fields}).encode()
        return str(opener.open(urllib.request.Request(server.url + path, form, {"Origin": server.url})).url)

    key = post("/new", start="empty" if objects else "story:first-placement").rstrip("/").rsplit("/", 1)[1]
    if objects:
        preview = post(f"/s/{key}/import", text=json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}))
        token = urllib.parse.parse_qs(urllib.parse.urlsplit(preview).query)["token"][0]
        post(f"/s/{key}/import/apply", token=token)
    return key


def test_a_killed_server_serves_the_session_where_it_was(server: PlaygroundServer) -> None:
    key = new_session(server)
    wire = Wire(server.url, key)
    wire.send({"type": "look", "look": {}, "seen": None})
    wire.receive()
    for grain in ("plugin", "point", "pod"):
        wire.send({"type": "step", "grain": grain})
        shown = wire.shown()
    server.kill()
    server.start()
    again = Wire(server.url, key)
    again.send({"type": "look", "look": {}, "seen": shown["seq"]})
    delta = again.shown()
    assert (delta["seq"], delta["head"]) == (shown["seq"], shown["head"])
    again.send({"type": "step", "grain": "call"})
    assert again.shown()["seq"] == shown["seq"] + 1


def test_a_server_killed_in_a_run_serves_at_least_what_it_had_shown(server: PlaygroundServer) -> None:
    key = new_session(server)
    wire = Wire(server.url, key)
    wire.send({"type": "look", "look": {}, "seen": None})
    wire.receive()
    wire.send({"type": "play", "grain": "call", "rate": 20})
    shown = wire.until(lambda message: message["type"] == "delta" and message["seq"] >= 6)
    server.kill()
    server.start()
    again = Wire(server.url, key)
    again.send({"type": "look", "look": {}, "seen": shown["seq"]})
    delta = again.shown()
    assert delta["head"] >= shown["seq"]
    assert delta["running"] is None


def watching(server: PlaygroundServer, key: str) -> Wire:
    """A page that follows the head, and has been shown it."""
    wire = Wire(server.url, key)
    wire.send({"type": "look", "look": {}, "seen": None})
    wire.until(lambda message: message["type"] == "delta")
    return wire


def is_at_rest(message: dict[str, Any]) -> bool:
    return message["type"] == "delta" and not message["running"]


def test_a_run_killed_in_the_middle_goes_on_and_is_whole(server: PlaygroundServer) -> None:
    key = new_session(server, *(node(f"n{number}", "64") for number in range(8)), *map(pod, PODS))
    wire = watching(server, key)
    wire.send({"type": "run"})
    shown = wire.until(lambda message: message["type"] == "delta" and message["seq"] > 1)
    server.kill()
    server.start()
    wire = watching(server, key)
    wire.send({"type": "step"})
    more = wire.until(lambda message: message["type"] in ("delta", "idle"))
    if more["type"] == "delta":
        assert more["head"] > shown["seq"]
        wire.send({"type": "run"})
        wire.until(lambda message: is_at_rest(message) and message["head"] > more["head"], 60)
    trace = urllib.request.urlopen(
        f"{server.url}/s/{key}/export.jsonl", timeout=60
    ).read()  # computed from the log alone
    records = [json.loads(line) for line in trace.splitlines()]
    bound = [record["data"]["pod"] for record in records if record.get("kind") == "binding_ended"]
    assert sorted(bound) == [f"default/{name}" for name in PODS]


def workers_of(pid: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    rows = [(int(row[0]), int(row[1])) for line in listed[1:] if "sessions.worker" in (row := line.split(None, 2))[2]]
    nursery = [child for child, parent in rows if parent == pid]
    return nursery + [child for child, parent in rows if parent in nursery]


def test_workers_do_not_outlive_a_killed_server(server: PlaygroundServer) -> None:
    key = new_session(server)
    Wire(server.url, key).close()
    assert server.process
    workers = workers_of(server.process.pid)
    assert len(workers) > 1
    server.kill()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    server.start()


def test_workers_do_not_outlive_a_server_killed_in_a_run(server: PlaygroundServer) -> None:
    key = new_session(server)
    wire = Wire(server.url, key)
    wire.send({"type": "look", "look": {}, "seen": None})
    wire.receive()
    wire.send({"type": "play", "grain": "call", "rate": 20})
    wire.until(lambda message: message["type"] == "delta" and message["running"])
    assert server.process
    workers = workers_of(server.process.pid)
    server.kill()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    server.start()


def raw(server: PlaygroundServer, head: list[str]) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    connection.sendall("\r\n".join([*head, "", ""]).encode())
    return connection


def answer(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(4096)
    length = re.search(rb"(?i)content-length: (\d+)", data)
    while length and len(data) < data.index(b"\r\n\r\n") + 4 + int(length[1]):
        data += connection.recv(4096)
    return data


def test_an_upload_that_says_it_is_too_large_is_refused_before_it_is_sent(server: PlaygroundServer) -> None:
    head = ["POST /new HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Content-Length: 50000000"]
    said = answer(raw(server, head))
    assert said.startswith(b"HTTP/1.1 413 ")
    assert b"300,000 bytes" in said


def test_an_upload_that_does_not_say_its_size_is_refused_while_it_arrives(server: PlaygroundServer) -> None:
    head = ["POST /new HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Transfer-Encoding: chunked"]
    connection = raw(server, head)
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    for _ in range(16):
        connection.sendall(chunk)
    said = answer(connection)
    assert said.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(("path", "size"), [("/new", LIMIT // 2), ("/import-trace", LIMIT)])
def test_an_upload_within_the_limit_is_taken(server: PlaygroundServer, path: str, size: int) -> None:
    head = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", f"Content-Length: {size}"]
    connection = raw(server, head)
    connection.sendall(b"x" * size)
    assert answer(connection).startswith(b"HTTP/1.1 403 ")  # no CSRF token: it came as far as Django


def test_an_upload_over_the_limit_of_its_page_is_refused_with_that_limit(server: PlaygroundServer) -> None:
    head = ["POST /new HTTP/1.1", f"Host: 127.0.0.1:{server.port}", f"Content-Length: {LIMIT}"]
    connection = raw(server, head)
    connection.sendall(b"x" * LIMIT)
    said = answer(connection)
    assert said.startswith(b"HTTP/1.1 413 ")
    assert b"300,000 bytes" in said


def test_a_form_that_is_broken_is_answered_in_words(server: PlaygroundServer) -> None:
    for body in (
        b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x",
        b"--x\r\nx\r\n--x--\r\n",
        b"nothing",
    ):
        request = urllib.request.Request(
            server.url + "/new", body, {"Content-Type": "multipart/form-data; boundary=x; charset=utf-16"}
        )
        with pytest.raises(HTTPError) as refused:
            urllib.request.urlopen(request)
        assert refused.value.code == 415
        assert b"must be UTF-8 text" in refused.value.read()


def test_the_server_serves_others_after_a_refused_upload(server: PlaygroundServer) -> None:
    head = ["POST /new HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Content-Length: 50000000"]
    connections = [raw(server, head) for _ in range(5)]
    assert json.load(urllib.request.urlopen(server.url + "/healthz")) == {"ok": True}
    for connection in connections:
        connection.close()


def test_a_message_over_the_limit_closes_the_connection_only(server: PlaygroundServer) -> None:
    key = new_session(server)
    other = Wire(server.url, key)
    other.send({"type": "look", "look": {}, "seen": None})
    other.receive()
    wire = Wire(server.url, key)
    wire.send_frame(TEXT, b'"' + b"x" * 100_000 + b'"')
    with pytest.raises(Closed) as closed:
        wire.receive()
    assert closed.value.code in (1009, 1006)
    other.send({"type": "step"})
    other.shown()


def test_a_message_to_the_browser_may_be_longer_than_what_is_taken_from_it(server: PlaygroundServer) -> None:
    wire = Wire(server.url, new_session(server))
    wire.send({"type": "look", "look": {}, "seen": None})
    assert len(json.dumps(wire.receive())) > MESSAGE


def test_text_that_is_not_utf8_closes_the_connection_only(server: PlaygroundServer) -> None:
    key = new_session(server)
    wire = Wire(server.url, key)
    wire.send_frame(TEXT, b"\xff\xfe")
    with pytest.raises(Closed):
        wire.receive()
    again = Wire(server.url, key)
    again.send({"type": "look", "look": {}, "seen": None})
    again.shown()


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null", None])
def test_a_page_of_another_origin_opens_no_socket(server: PlaygroundServer, origin: str | None) -> None:
    assert Wire(server.url, new_session(server), origin=origin).status == 403


def test_a_host_that_is_not_ours_gets_no_page(server: PlaygroundServer) -> None:
    request = urllib.request.Request(server.url + "/", headers={"Host": "evil.example"})
    before = server.log.read_text().splitlines()
    with pytest.raises(HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == 400
    (line,) = server.log.read_text().splitlines()[len(before) :]
    assert "The host evil.example is not in ALLOWED_HOSTS" in line


def test_a_port_that_is_taken_is_a_clear_failure(server: PlaygroundServer) -> None:
    with pytest.raises(AssertionError, match=f"port {server.port} .* cannot be listened on"):
        server.manage("serve", "--port", str(server.port))


def test_a_killed_worker_is_replaced(server: PlaygroundServer) -> None:
    wire = Wire(server.url, new_session(server))
    wire.send({"type": "look", "look": {}, "seen": None})
    wire.receive()
    assert server.process
    for pid in workers_of(server.process.pid):
        os.kill(pid, 9)
    wire.send({"type": "step", "grain": "call"})
    message = wire.receive()
    if message["type"] == "error":  # the step was on its way: it did not happen
        wire.send({"type": "step", "grain": "call"})
        message = wire.until(lambda one: one["type"] in ("delta", "error"))
    assert message.get("seq") == 2, message
