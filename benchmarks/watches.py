"""How fast is the API of a session? `python -m benchmarks.watches` times GETs over HTTP, and 1,000 watches while ConfigMaps are written.

Ten watches look at each of 100 namespaces, so each write reaches ten. The age of an event is from the write's request to the client's
reading of the event. Writes come from a process of its own with WRITERS connections, as many a second as --rate says or the server can
take: look at what it reached. Another process reads the watches. Both look at bytes alone, since they share the machine with the server.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import selectors
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.history import workers
from benchmarks.probe import probe
from benchmarks.server import Client, Figures, is_delta, serve, summary
from tests.browser.server import PlaygroundServer
from tests.playground.sessions.wire import Wire
from tests.playground.sessions.worlds import node, pod

EACH, WRITERS = 10, 32
APART = 0.08  # seconds between two steps
ADDED, SENT = b'"type":"ADDED"', b'"sent":"'
OPENED, MADE, LAST = b"HTTP/1.1 200", b"HTTP/1.1 201", b"\r\n0\r\n\r\n"


def tell(times: list[float]) -> str:
    """The percentiles of seconds, in milliseconds."""
    found = summary([(each * 1000, 0) for each in times or [0.0]])
    return f"p50 {found['p50_ms']} ms, p95 {found['p95_ms']} ms"


def ask(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> None:
    """One request that has to succeed."""
    sent = None if body is None else json.dumps(body)
    connection.request(method, path, sent, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    data = answer.read()
    assert answer.status < 300, data


def gets(connection: http.client.HTTPConnection, path: str, count: int) -> str:
    """The times of GETs, one after the other."""
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        ask(connection, "GET", path)
        times.append(time.perf_counter() - begun)
    return tell(times)


def steps(client: Client, wire: Wire, count: int) -> Figures:
    """The times from the message of a step to the delta that shows what it came to; the log says where that is."""
    sent: list[float] = []
    seen: list[tuple[float, int]] = []
    last, ends = stepped(client, 0)[-1:], []

    def send() -> None:
        for _ in range(count):
            time.sleep(APART)
            sent.append(time.perf_counter())
            wire.send({"type": "step", "grain": "call"})

    sender = threading.Thread(target=send)
    sender.start()
    while len(ends) < count or seen[-1][1] < ends[-1]:
        message = wire.receive()
        if is_delta(message):
            seen.append((time.perf_counter(), message["seq"]))
        if len(sent) == count:
            ends = stepped(client, *last)
    sender.join()
    shown = (next(when for when, position in seen if position >= end) for end in ends)
    return summary([((when - begun) * 1000, 0) for begun, when in zip(sent, shown, strict=True)])


def stepped(client: Client, after: int = 0) -> list[int]:
    """Return the end positions of the steps in a session's log beyond a position."""
    with contextlib.closing(sqlite3.connect(client.server.folder / "playground.sqlite3")) as database:
        rows = database.execute(
            """SELECT "to" FROM playground_logentry JOIN playground_session ON playground_session.id = session_id
            WHERE edit_key = ? AND kind = 'step' AND "to" > ? ORDER BY seq""",
            [client.key, after],
        )
        return [row[0] for row in rows]


def connect(port: int) -> socket.socket:
    """A connection that sends at once."""
    made = socket.create_connection(("127.0.0.1", port))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def ready(connections: list[socket.socket]) -> Callable[[float], Iterator[tuple[socket.socket, bytes]]]:
    """Return a function that yields the data that arrives on the connections."""
    selector = selectors.DefaultSelector()
    for each in connections:
        selector.register(each, selectors.EVENT_READ)

    def wait(seconds: float) -> Iterator[tuple[socket.socket, bytes]]:
        for key, _ in selector.select(seconds):
            assert isinstance(key.fileobj, socket.socket)
            data = key.fileobj.recv(1 << 14)
            assert data, "the server closed a connection"
            yield key.fileobj, data

    return wait


def watch_all(port: int, paths: list[str], report: Connection) -> None:
    """Open watches; report when all are open, and in the end how old each event was, and the time of the processor."""
    connections = []
    for path in paths:
        connections.append(connect(port))
        connections[-1].sendall(f"GET {path}?watch=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert (begun := connections[-1].recv(1 << 12)).startswith(OPENED), begun
    wait, rest, ages = ready(connections), dict.fromkeys(connections, b""), list[float]()
    report.send(None)
    until, before = report.recv(), time.process_time()
    while time.time() < until:
        for each, data in wait(0.1):
            now, whole = time.time(), rest[each] + data
            *lines, rest[each] = whole.split(b"\n{")
            if whole.endswith(b"\n\r\n"):
                lines, rest[each] = [*lines, rest[each]], b""
            ages += (now - float(line.partition(SENT)[2].partition(b'"')[0]) for line in lines if ADDED in line)
    report.send((ages, time.process_time() - before))


def write_all(port: int, base: str, spaces: int, until: float, rate: float, report: Connection) -> None:
    """Create ConfigMaps in all namespaces, in turns; report how many, and the time of the processor."""
    free, rest, made, begun, before = (
        [connect(port) for _ in range(WRITERS)],
        dict[socket.socket, bytes](),
        0,
        time.time(),
        time.process_time(),
    )
    wait = ready(free)
    while (now := time.time()) < until:
        while free and made < (now - begun) * rate:
            made += 1
            body = b'{"metadata":{"name":"c-%d"},"data":{"sent":"%.6f"}}' % (made, time.time())
            head = (
                f"POST {base}/namespaces/n{made % spaces}/configmaps HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            rest[each := free.pop()] = b""
            each.sendall(head.encode() + body)
        for each, data in wait(0.001 if free else 0.1):
            rest[each] += data
            if rest[each].endswith(LAST):
                assert rest[each].startswith(MADE), rest[each]
                free.append(each)
    report.send((made, time.process_time() - before))


def spent(server: PlaygroundServer) -> list[float]:
    """Seconds of processor time that the server and its busiest worker have taken."""
    assert server.process is not None
    ticks = os.sysconf("SC_CLK_TCK")

    def of(pid: int) -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / ticks

    return [of(server.process.pid), max(map(of, workers(server)))]


def begin(work: Callable[[Connection], None]) -> Connection:
    """Begin work in a process of its own; the end of a pipe to it."""
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.Process(target=work, args=(theirs,), daemon=True).start()
    return ours


def measure(server: PlaygroundServer, asked: argparse.Namespace) -> None:
    client, other = Client(server), Client(server)
    for each in (client, other):
        each.bring([node(f"n{i}") for i in range(50)] + [pod(f"p{i}") for i in range(200)])
    base, spaces = f"/s/{client.key}/k8s/api/v1", asked.watches // EACH
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    print("GET:", gets(connection, f"{base}/nodes/n1", 500))
    for i in range(spaces):
        ask(connection, "POST", f"{base}/namespaces", {"metadata": {"name": f"n{i}"}})
    wire, beside = client.watch(), other.watch()
    print("steps alone:", steps(client, wire, 100))
    print("of another session:", steps(other, beside, 50))
    paths = [f"{base}/namespaces/n{i % spaces}/configmaps" for i in range(asked.watches)]
    watched = begin(partial(watch_all, server.port, paths))
    watched.recv()
    print(f"{asked.watches} watches are open", flush=True)
    before, until = spent(server), time.time() + asked.seconds
    watched.send(until + 2)
    written = begin(partial(write_all, server.port, base, spaces, until, asked.rate))
    print("steps beside:", steps(client, wire, 100))
    print("of another session:", steps(other, beside, 50))
    print("GET:", gets(connection, f"{base}/nodes/n1", 200), flush=True)
    made, of_writers = written.recv()
    ages, of_readers = watched.recv()
    print(
        f"{asked.watches} watches, {made / asked.seconds:.0f} events a second, each seen by {len(ages) / made:.2f}: {tell(ages)}"
    )
    took = [after - so_far for after, so_far in zip(spent(server), before, strict=True)]
    parts = zip(("server", "worker", "writers", "readers"), [*took, of_writers, of_readers], strict=True)
    print("ms of the processor for an event:", {name: round(1000 * each / made, 3) for name, each in parts})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--watches", type=int, default=1000, help="how many watches (1000)")
    parser.add_argument("--rate", type=int, default=1000, help="writes a second, at most (1000)")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long there are writes (20)")
    asked = parser.parse_args()
    with serve(MAX_OBJECTS="100000") as server:
        measure(server, asked)
    print("probe:", probe())


if __name__ == "__main__":
    main()
