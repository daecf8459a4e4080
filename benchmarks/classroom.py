"""Does a classroom bear 300 students? `python -m benchmarks.classroom --students 300` serves one and brings them, their browsers' ends
included: each has a WebSocket that follows the session and one of the room.

A step's time is from the teacher's message to its delta at each student; a step back takes the longer way, by the room. A poll's is from
the first of all students' answers, sent at once, to the board that counts every one of them at the desk. Pages are not drawn.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.crowd import OBJECTS, memory
from benchmarks.probe import probe
from benchmarks.server import Client, Figures, summary
from tests.browser.server import PlaygroundServer

GOALS = {"step": 100, "back": 100, "poll": 1000}  # milliseconds, p95
MOST_MEMORY = 2048  # MiB
TOKEN = "0123456789abcdef" * 2
STEPS, POLLS = 40, 8
TEXT, PING, PONG = 1, 9, 10  # kinds of frames
SEQ = re.compile(rb'^\{"type":"delta","seq":(\d+)')


class Page:
    """A page's socket, of the room or of the session: the last message of each type, the position of the last delta."""

    def __init__(self, server: PlaygroundServer, path: str, cookie: str = "") -> None:
        self._server, self._path, self._cookie = server, path, cookie
        self.heard: dict[str, Any] = {}
        self.seq = 0
        self.came = asyncio.Event()
        self._waits: list[tuple[Callable[[dict[str, Any]], Any], asyncio.Future[None]]] = []

    async def open(self) -> Page:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._server.port, limit=1 << 22)
        host = f"127.0.0.1:{self._server.port}"
        lines = [
            f"GET {self._path} HTTP/1.1",
            f"Host: {host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            f"Origin: http://{host}",
            f"Cookie: {self._cookie}",
        ]
        self._writer.write("\r\n".join([*lines, "", ""]).encode())
        head = await self._reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101"), head
        self._reading = asyncio.create_task(self._read())
        return self

    def send(self, **message: Any) -> None:
        data = json.dumps(message).encode()
        length = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xFE]) + struct.pack(">H", len(data))
        self._writer.write(b"\x81" + length + b"\0\0\0\0" + data)  # masked with zeros

    async def look(self, at: int | None = None) -> None:
        """Look at a position, and wait for the delta."""
        self.came.clear()
        self.send(type="look", look={} if at is None else {"at": at}, seen=self.seq or None)
        await asyncio.wait_for(self.came.wait(), 60)

    async def until(self, wanted: Callable[[dict[str, Any]], Any]) -> None:
        """Wait for a message that is wanted; one that came already counts."""
        if any(wanted(message) for message in self.heard.values()):
            return
        came: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waits.append((wanted, came))
        await asyncio.wait_for(came, 60)

    async def _read(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                kind, size = await self._reader.readexactly(2)
                if size == 126:
                    (size,) = struct.unpack(">H", await self._reader.readexactly(2))
                elif size == 127:
                    (size,) = struct.unpack(">Q", await self._reader.readexactly(8))
                data = await self._reader.readexactly(size)
                if kind & 0xF == PING:
                    self._writer.write(bytes([0x80 | PONG, 0x80 | size]) + b"\0\0\0\0" + data)
                elif found := SEQ.match(data[:60]):
                    self.seq = int(found[1])
                    self.came.set()
                elif kind & 0xF == TEXT:
                    self._hear(json.loads(data))

    def _hear(self, message: dict[str, Any]) -> None:
        assert message["type"] not in ("error", "gone"), message
        self.heard[message["type"]] = message
        for wait in [wait for wait in self._waits if wait[0](message)]:
            self._waits.remove(wait)
            wait[1].set_result(None)

    def close(self) -> None:
        self._reading.cancel()
        self._writer.close()


async def post(server: PlaygroundServer, path: str, **fields: str) -> bytes:
    """Send a form; the head of the answer."""
    body = "&".join(f"{name}={value}" for name, value in {**fields, "csrfmiddlewaretoken": TOKEN}.items())
    host = f"127.0.0.1:{server.port}"
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {host}",
        f"Origin: http://{host}",
        f"Cookie: csrftoken={TOKEN}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    writer.write("\r\n".join([*lines, "", body]).encode())
    head = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    assert head.startswith(b"HTTP/1.1 302"), head
    return head


def header(head: bytes, name: bytes, part: bytes) -> str:
    """The value of a header that holds a part, up to its first semicolon."""
    values = [
        line.split(b":", 1)[1].strip() for line in head.split(b"\r\n") if line.lower().startswith(name) and part in line
    ]
    return values[0].split(b";")[0].decode()


async def join(server: PlaygroundServer, code: str, number: int) -> str:
    """A new student's cookie."""
    head = await post(server, f"/join/{code}/", name=f"student-{number}")
    return header(head, b"set-cookie:", b"student-")


async def lesson(server: PlaygroundServer, count: int) -> Figures:
    """A room of so many students, through steps, steps back and polls."""
    client = Client(server)
    client.bring(OBJECTS)
    desk_path = header(await post(server, f"/s/{client.key}/room"), b"location:", b"/room/")
    desk = await Page(server, f"/ws{desk_path}").open()
    page = await asyncio.to_thread(_text, server, desk_path)
    code = page.split('id="code">')[1].split("<")[0].strip()
    students: list[Page] = []
    for first in range(0, count, 20):
        numbers = range(first, min(first + 20, count))
        cookies = await asyncio.gather(*(join(server, code, number) for number in numbers))
        students += await asyncio.gather(*(Page(server, f"/ws/join/{code}/", cookie).open() for cookie in cookies))
    await asyncio.gather(*(each.until(lambda message: message["type"] == "room") for each in students))
    view = students[0].heard["room"]["session"]
    teacher = await watching(server, str(client.key))
    viewers: list[Page] = []
    for first in range(0, count, 20):
        viewers += await asyncio.gather(*(watching(server, view) for _ in range(first, min(first + 20, count))))
    await asyncio.sleep(2)
    found = {
        "step": await steps(teacher, viewers),
        "back": await back(desk, students, viewers),
        "poll": await polls(desk, students),
    }
    found["students"] = {"n": count}
    return found


async def watching(server: PlaygroundServer, key: str) -> Page:
    """A page that follows the session."""
    page = await Page(server, f"/ws/s/{key}/").open()
    await page.look()
    return page


def _text(server: PlaygroundServer, path: str) -> str:
    with urlopen(server.url + path, timeout=30) as answer:
        return str(answer.read().decode())


async def steps(teacher: Page, viewers: list[Page]) -> Figures:
    """The teacher steps; until each student has the step."""
    times: list[tuple[float, int]] = []
    for _ in range(STEPS):
        for page in viewers:
            page.came.clear()
        started = time.perf_counter()
        teacher.send(type="step", grain="call")
        for waiting in asyncio.as_completed([page.came.wait() for page in viewers]):
            await waiting
            times.append(((time.perf_counter() - started) * 1000, 0))
        await asyncio.sleep(0.3)
    return summary(times)


async def back(desk: Page, students: list[Page], viewers: list[Page]) -> Figures:
    """The teacher steps back: the room says so, and every student's page looks there."""
    times: list[tuple[float, int]] = []

    async def follow(student: Page, page: Page, at: int, started: float) -> None:
        await student.until(lambda message: message["type"] == "room" and message["standing"].get("at") == at)
        await page.look(at)
        times.append(((time.perf_counter() - started) * 1000, 0))

    for at in range(STEPS // 2, STEPS // 2 - 10, -1):
        started = time.perf_counter()
        desk.send(type="stand", look={"at": at})
        await asyncio.gather(
            *(follow(student, page, at, started) for student, page in zip(students, viewers, strict=True))
        )
        await asyncio.sleep(0.3)
    return summary(times)


async def polls(desk: Page, students: list[Page]) -> Figures:
    """All answer at once; until the desk has counted everybody."""
    return summary([(await poll(desk, students, number), 0) for number in range(1, POLLS + 1)])


async def poll(desk: Page, students: list[Page], number: int) -> float:
    """Milliseconds."""

    def asked(message: dict[str, Any]) -> bool:
        return message["type"] in ("room", "board") and (message["poll"] or {}).get("number") == number

    desk.send(type="ask", kind="free", ask="Which?", options=["a", "b", "c"])
    await asyncio.gather(*(each.until(asked) for each in students))
    await asyncio.sleep(0.5)
    started = time.perf_counter()
    for place, student in enumerate(students):
        student.send(type="answer", poll=number, given=["abc"[place % 3]])
    await desk.until(lambda message: asked(message) and message["poll"]["answered"] == len(students))
    return (time.perf_counter() - started) * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=300, help="(default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print every figure for machines")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        most = str(options.students + 10)
        server = PlaygroundServer(Path(folder), WEBSOCKET_RATE="1000", MAX_VIEWERS=most, MAX_STUDENTS=most)
        server.manage("migrate", "--verbosity", "0")
        server.start()
        try:
            found = asyncio.run(lesson(server, options.students))
            found["memory"] = {"mib": memory(server)}
        finally:
            server.stop()
    found["machine"] = probe()
    print(json.dumps(found, indent=2) if options.json else table(found))


def table(found: Figures) -> str:
    """The figures beside what they may be at most, as lines of Markdown."""
    lines = [f"Machine: {found['machine']}", "", "| what | p50 ms | p95 ms | most ms | goal |", "|---|---|---|---|---|"]
    for name, goal in GOALS.items():
        one = found[name]
        missed = " (missed)" if one["p95_ms"] > goal else ""
        lines.append(f"| {name} | {one['p50_ms']} | {one['p95_ms']} | {one['max_ms']} | {goal}{missed} |")
    mib = found["memory"]["mib"]
    lines += ["", f"{found['students']['n']} students; {mib:,} MiB of {MOST_MEMORY:,} in all server processes."]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
