"""How fast is the API of a session? `python -m benchmarks.watches` times GETs over HTTP, and 1,000 watches while ConfigMaps are written.

Ten watches look at each of 100 namespaces, so each write reaches ten. The age of an event is from the write's request to the client's
reading of the event. Writes come from a pool of clients, as many a second as --rate says or the server can take: look at what it reached.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import threading
import time
from typing import Any

from benchmarks.probe import probe
from benchmarks.server import Client, serve, steps, summary
from tests.browser.server import PlaygroundServer
from tests.playground.sessions.worlds import node, pod

EACH, WRITERS = 10, 2


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


async def watch(port: int, path: str, ages: list[float], begun: asyncio.Semaphore) -> None:
    """Note how old each event is that a watch sees."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    writer.write(f"GET {path}?watch=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    begun.release()
    while line := await reader.readline():
        if line.startswith(b'{"type":"ADDED"'):
            ages.append(time.time() - float(json.loads(line)["object"]["data"]["sent"]))


def write(port: int, base: str, number: int, spaces: int, until: float, pause: float) -> None:
    """Create ConfigMaps in all namespaces, in turns."""
    connection, made, begun = http.client.HTTPConnection("127.0.0.1", port, timeout=60), 0, time.time()
    while time.time() < until:
        made += 1
        body = {"metadata": {"name": f"c-{number}-{made}"}, "data": {"sent": str(time.time())}}
        ask(connection, "POST", f"{base}/namespaces/n{made % spaces}/configmaps", body)
        time.sleep(max(0.0, begun + made * pause - time.time()))


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
    watches = [asyncio.create_task(watch(server.port, path, ages, begun_all)) for path in paths]
    for _ in watches:
        await begun_all.acquire()
    print(f"{asked.watches} watches are open", flush=True)
    until, pause = time.time() + asked.seconds, WRITERS / asked.rate
    writers = [
        threading.Thread(target=write, args=(server.port, base, i, spaces, until, pause)) for i in range(WRITERS)
    ]
    for each in writers:
        each.start()
    print("steps beside:", summary(await asyncio.to_thread(steps, wire, 100)))
    while time.time() < until + 2:
        await asyncio.sleep(0.1)
    print(
        f"{asked.watches} watches, {len(ages) / EACH / asked.seconds:.0f} events a second, each seen by {EACH}: "
        f"{tell(ages)}"
    )
    for task in watches:
        task.cancel()


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
