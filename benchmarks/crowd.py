"""How many people does one server bear? `python -m benchmarks.crowd` serves them on two cores, their browsers' ends included.

Three crowds, each on a server of its own: sessions that play while a neighbour steps, viewers of one session, people who step on
forks of their own. A time is from sending a message on the WebSocket to having its delta; pages are not drawn.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import json
import os
import re
import struct
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.probe import probe
from benchmarks.server import Client, Figures, summary
from tests.browser.server import PlaygroundServer
from tests.playground.sessions.worlds import node, pod

OBJECTS = [node(f"n{i}") for i in range(50)] + [pod(f"p{i}") for i in range(200)]
SECONDS = 20.0
GOALS = {"playing": 100, "watching": 100, "forks": 150}  # milliseconds, p95
_SEQ = re.compile(rb'^\{"type":"delta","seq":(\d+)')


class Page:
    """One open page: the handshake, its first delta, and then the position that each delta leads to."""

    def __init__(self, server: PlaygroundServer, key: str) -> None:
        self._server = server
        self._key = key
        self.deltas = 0
        self.seq = 0
        self.came = asyncio.Event()

    async def open(self) -> Page:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._server.port, limit=1 << 22)
        host = f"127.0.0.1:{self._server.port}"
        lines = [
            f"GET /ws/s/{self._key}/ HTTP/1.1",
            f"Host: {host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            f"Origin: http://{host}",
        ]
        self._writer.write("\r\n".join([*lines, "", ""]).encode())
        head = await self._reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101"), head
        self._reading = asyncio.create_task(self._read())
        await self.ask({"type": "look", "look": {}, "seen": None})
        return self

    def send(self, message: Any) -> None:
        data = json.dumps(message).encode()
        length = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xFE]) + struct.pack(">H", len(data))
        self._writer.write(b"\x81" + length + b"\0\0\0\0" + data)  # masked with zeros

    async def ask(self, message: Any) -> float:
        """Send a message; milliseconds until the next delta."""
        self.came.clear()
        started = time.perf_counter()
        self.send(message)
        await asyncio.wait_for(self.came.wait(), 60)
        return (time.perf_counter() - started) * 1000

    async def _read(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                _, size = await self._reader.readexactly(2)
                if size == 126:
                    (size,) = struct.unpack(">H", await self._reader.readexactly(2))
                elif size == 127:
                    (size,) = struct.unpack(">Q", await self._reader.readexactly(8))
                data = await self._reader.readexactly(size)
                if found := _SEQ.match(data[:60]):
                    self.seq, self.deltas = int(found[1]), self.deltas + 1
                    self.came.set()

    def close(self) -> None:
        self._reading.cancel()
        self._writer.close()


async def opened(server: PlaygroundServer, keys: list[str]) -> list[Page]:
    """A page for each key, some at a time."""
    pages: list[Page] = []
    for first in range(0, len(keys), 25):
        pages += await asyncio.gather(*(Page(server, key).open() for key in keys[first : first + 25]))
    return pages


async def playing(server: PlaygroundServer, count: int) -> Figures:
    """Sessions that play 5 steps a second each, all watched, and a neighbour who steps."""
    keys = [session(server) for _ in range(count + 1)]
    *pages, neighbour = await opened(server, keys)
    for page in pages:
        page.send({"type": "play", "grain": "call", "rate": 5})
    await asyncio.sleep(5)
    before, begun, times = [page.seq for page in pages], time.perf_counter(), []
    while time.perf_counter() - begun < SECONDS:
        times.append((await neighbour.ask({"type": "step", "grain": "call"}), 0))
        await asyncio.sleep(0.2)
    spent = time.perf_counter() - begun
    made = sum(page.seq for page in pages) - sum(before)
    return {**summary(times), "sessions": count, "steps_a_second_each": round(made / spent / count, 2)}


async def watching(server: PlaygroundServer, count: int) -> Figures:
    """One who steps, many who watch: until each of them has the step."""
    pages = await opened(server, [session(server)] * count)
    times: list[tuple[float, int]] = []
    for _ in range(30):
        for page in pages:
            page.came.clear()
        started = time.perf_counter()
        pages[0].send({"type": "step", "grain": "call"})
        for waiting in asyncio.as_completed([page.came.wait() for page in pages]):
            await waiting
            times.append(((time.perf_counter() - started) * 1000, 0))
        await asyncio.sleep(0.3)
    return {**summary(times), "viewers": count}


async def forks(server: PlaygroundServer, count: int) -> Figures:
    """People who each have a fork, and step once in five seconds."""
    client = Client(server)
    client.bring(OBJECTS)
    keys = [client.post(f"/s/{client.key}/fork").split("/s/")[1].split("/")[0] for _ in range(count)]
    pages = await opened(server, keys)
    times: list[tuple[float, int]] = []

    async def person(page: Page, number: int) -> None:
        await asyncio.sleep(5 * number / count)
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            spent = await page.ask({"type": "step", "grain": "call"})
            times.append((spent, 0))
            await asyncio.sleep(max(0.0, 5 - spent / 1000))

    await asyncio.gather(*(person(page, number) for number, page in enumerate(pages)))
    return {**summary(times), "people": count}


def session(server: PlaygroundServer) -> str:
    """A new session with 50 nodes and 200 pods; its key."""
    client = Client(server)
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS})
    client.post(f"/s/{client.key}/yaml", text=text, create="")
    return str(client.key)


def memory(server: PlaygroundServer) -> int:
    """MiB that the server's processes have, resident; what they share counts once."""
    assert server.process is not None
    kibibytes = 0
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError, ValueError):
            environment = (folder / "environ").read_bytes()
            if f"DATA_DIR={server.folder}".encode() in environment.split(b"\0"):
                shares = (folder / "smaps_rollup").read_text().splitlines()
                kibibytes += next(int(line.split()[1]) for line in shares if line.startswith("Pss:"))
    return kibibytes >> 10


CROWDS: dict[str, tuple[Callable[[PlaygroundServer, int], Awaitable[Figures]], int]] = {
    "playing": (playing, 100),
    "watching": (watching, 1000),
    "forks": (forks, 300),
}


def main() -> None:
    """Measure the crowds that are named, or all, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crowd", nargs="*", choices=[[], *CROWDS], help="one or more (default: all)")
    parser.add_argument("--share", type=float, default=1.0, help="so much of each crowd (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print every figure for machines")
    options = parser.parse_args()
    found: dict[str, Any] = {"machine": probe()}
    for name in options.crowd or CROWDS:
        crowd, count = CROWDS[name]
        with tempfile.TemporaryDirectory() as folder:
            server = PlaygroundServer(
                Path(folder), WEBSOCKET_RATE="1000", MAX_VIEWERS="2000", MAX_SESSIONS_PER_CLIENT="2000"
            )
            server.manage("migrate", "--verbosity", "0")
            server.start()
            try:
                found[name] = asyncio.run(crowd(server, max(1, round(count * options.share))))
                found[name]["memory_mib"] = memory(server)
            finally:
                server.stop()
    print(json.dumps(found, indent=2) if options.json else table(found))


def table(found: Figures) -> str:
    """The figures beside what they may be at most, as lines of Markdown."""
    lines = [
        f"Machine: {found['machine']}",
        "",
        "| crowd | how many | p50 ms | p95 ms | p95 at most | steps/s each | MiB |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, goal in GOALS.items():
        if one := found.get(name):
            many = one.get("sessions") or one.get("viewers") or one.get("people")
            missed = " (missed)" if one["p95_ms"] > goal else ""
            figures = [
                many,
                one["p50_ms"],
                one["p95_ms"],
                f"{goal}{missed}",
                one.get("steps_a_second_each", ""),
                one["memory_mib"],
            ]
            lines.append(f"| {name} | {' | '.join(map(str, figures))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
