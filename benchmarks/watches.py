"""How fast is the API of a session? `python -m benchmarks.watches` times GETs over HTTP, and 1,000 watches while ConfigMaps are written.

Ten watches look at each of 100 namespaces, so each write reaches ten. The age of an event is from the write's request to the client's
reading of the event. Writes come from a process of its own with WRITERS connections, as many a second as --rate says or the server can
take: look at what it reached.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import re
import time
from typing import Any

from benchmarks.probe import probe
from benchmarks.server import Client, serve, steps, summary
from tests.browser.server import PlaygroundServer
from tests.playground.sessions.worlds import node, pod

EACH, WRITERS = 10, 16
SENT = re.compile(rb'"type":"ADDED".*?"sent":"([0-9.]+)"')


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


class Watch(asyncio.Protocol):
    """Notes how old each event is that a watch sees."""

    def __init__(self, path: str, ages: list[float], begun: asyncio.Semaphore) -> None:
        self._path, self._ages, self._begun = path, ages, begun
        self._rest, self._is_open = b"", False

    def connection_made(self, transport: Any) -> None:
        transport.write(f"GET {self._path}?watch=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())

    def data_received(self, data: bytes) -> None:
        if not self._is_open:
            self._is_open = True
            self._begun.release()
        lines, _, self._rest = (self._rest + data).rpartition(b"\n")
        now = time.time()
        self._ages.extend(now - float(sent) for sent in SENT.findall(lines))


async def write(port: int, base: str, number: int, spaces: int, until: float, pause: float) -> None:
    """Create ConfigMaps in all namespaces, in turns, over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    made, begun = 0, time.time()
    while time.time() < until:
        made += 1
        body = json.dumps({"metadata": {"name": f"c-{number}-{made}"}, "data": {"sent": str(time.time())}}).encode()
        path = f"{base}/namespaces/n{(made * WRITERS + number) % spaces}/configmaps"
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert b" 201 " in answer[:20], answer
        while int(size := await reader.readline(), 16):
            await reader.readexactly(int(size, 16) + 2)
        await reader.readline()
        await asyncio.sleep(max(0.0, begun + made * pause - time.time()))


def write_all(port: int, base: str, spaces: int, until: float, pause: float) -> None:
    """All writers."""

    async def work() -> None:
        await asyncio.gather(*(write(port, base, number, spaces, until, pause) for number in range(WRITERS)))

    asyncio.run(work())


async def measure(server: PlaygroundServer, asked: argparse.Namespace) -> None:
    client = Client(server)
    client.bring([node(f"n{i}") for i in range(50)] + [pod(f"p{i}") for i in range(200)])
    base, spaces = f"/s/{client.key}/k8s/api/v1", asked.watches // EACH
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    times = []
    for _ in range(500):
        begun = time.perf_counter()
        ask(connection, "GET", f"{base}/nodes/n1")
        times.append(time.perf_counter() - begun)
    print(f"GET: {tell(times)}")
    for i in range(spaces):
        ask(connection, "POST", f"{base}/namespaces", {"metadata": {"name": f"n{i}"}})
    wire = client.watch()
    print("steps alone:", summary(await asyncio.to_thread(steps, wire, 100)))
    ages: list[float] = []
    begun_all = asyncio.Semaphore(0)
    paths = [f"{base}/namespaces/n{i % spaces}/configmaps" for i in range(asked.watches)]
    loop = asyncio.get_running_loop()
    watches = []
    for path in paths:
        made = await loop.create_connection(lambda path=path: Watch(path, ages, begun_all), "127.0.0.1", server.port)
        watches.append(made[0])
    for _ in watches:
        await begun_all.acquire()
    print(f"{asked.watches} watches are open", flush=True)
    until, pause = time.time() + asked.seconds, WRITERS / asked.rate
    writers = multiprocessing.Process(target=write_all, args=(server.port, base, spaces, until, pause))
    writers.start()
    print("steps beside:", summary(await asyncio.to_thread(steps, wire, 100)))
    while time.time() < until + 2:
        await asyncio.sleep(0.1)
    print(
        f"{asked.watches} watches, {len(ages) / EACH / asked.seconds:.0f} events a second, each seen by {EACH}: "
        f"{tell(ages)}"
    )
    writers.join()
    for transport in watches:
        transport.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--watches", type=int, default=1000, help="how many watches (1000)")
    parser.add_argument("--rate", type=int, default=1000, help="writes a second, at most (1000)")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long there are writes (20)")
    asked = parser.parse_args()
    with serve(MAX_OBJECTS="100000") as server:
        asyncio.run(measure(server, asked))
    print("probe:", probe())


if __name__ == "__main__":
    main()
