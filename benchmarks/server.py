"""How quick is the server? `python -m benchmarks.server` starts one of its own and times what a page waits for.

Times are from sending a message on the WebSocket to having its delta, so they hold the database's write and the HTML, not the browser.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import json
import re
import statistics
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.openb import openb_objects
from benchmarks.probe import probe
from tests.browser.server import PlaygroundServer
from tests.playground.sessions.wire import Wire
from tests.playground.sessions.worlds import node, pod

Figures = dict[str, Any]

OPENB = "1,523 nodes, 8,152 pods"


@contextmanager
def serve(**environment: str) -> Iterator[PlaygroundServer]:
    """A server with an empty database of its own, until the benchmark is over."""
    with tempfile.TemporaryDirectory() as folder:
        server = PlaygroundServer(Path(folder), WEBSOCKET_RATE="1000", **environment)
        server.manage("migrate", "--verbosity", "0")
        server.start()
        try:
            yield server
        finally:
            server.stop()


class Client:
    """A browser's cookies and one session."""

    def __init__(self, server: PlaygroundServer) -> None:
        self.server = server
        jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        page = self._opener.open(server.url + "/").read().decode()
        found = re.search(r'csrfmiddlewaretoken" value="([^"]+)', page)
        assert found
        self._token = found[1]
        self.key = self.post("/new", start="empty").rstrip("/").rsplit("/", 1)[1]

    def post(self, path: str, upload: bytes = b"", /, **fields: str) -> str:
        """Send a form, follow it; the URL it led to."""
        fields["csrfmiddlewaretoken"] = self._token
        headers = {"Origin": self.server.url}
        if upload:
            data, headers["Content-Type"] = _multipart(fields, upload)
        else:
            data = urllib.parse.urlencode(fields).encode()
        request = urllib.request.Request(self.server.url + path, data, headers)
        return str(self._opener.open(request, timeout=120).url)

    def bring(self, objects: list[Any]) -> Figures:
        """Import objects as a person would: upload, preview, apply. Seconds of each."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()
        started = time.perf_counter()
        preview = self.follow(self.post(f"/s/{self.key}/import", text))
        previewed = time.perf_counter()
        token = urllib.parse.parse_qs(urllib.parse.urlsplit(preview).query)["token"][0]
        self.follow(self.post(f"/s/{self.key}/import/apply", token=token))
        applied = time.perf_counter()
        return {
            "preview_s": round(previewed - started, 2),
            "apply_s": round(applied - previewed, 2),
            "total_s": round(applied - started, 2),
        }

    def follow(self, url: str) -> str:
        """Where the page of a large import leads to in the end."""
        while "/importing/" in url:
            url = str(self._opener.open(url, timeout=120).url)
        return url

    def watch(self) -> Wire:
        """An open page that follows the head."""
        wire = Wire(self.server.url, self.key)
        wire.send({"type": "look", "look": {}, "seen": None})
        wire.receive()
        return wire


def _multipart(fields: dict[str, str], file: bytes) -> tuple[bytes, str]:
    mark = uuid.uuid4().hex
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="cluster.json"\r\n\r\n'
    return b"".join([*parts, head.encode(), file, f"\r\n--{mark}--\r\n".encode()]), (
        f"multipart/form-data; boundary={mark}"
    )


def is_delta(message: dict[str, Any]) -> bool:
    return message["type"] == "delta"


def timed(wire: Wire, message: dict[str, Any], wanted: Callable[[Any], Any] = is_delta) -> tuple[float, int]:
    """Milliseconds until the answer, and the bytes of its HTML."""
    started = time.perf_counter()
    wire.send(message)
    answer = wire.until(lambda one: wanted(one) or one["type"] in ("error", "idle"), 60)
    assert wanted(answer), answer
    return (time.perf_counter() - started) * 1000, len(answer.get("html", ""))


def summary(samples: list[tuple[float, int]]) -> Figures:
    times = sorted(sample[0] for sample in samples)
    return {
        "n": len(times),
        "p50_ms": round(statistics.median(times), 1),
        "p95_ms": round(times[min(len(times) - 1, int(len(times) * 0.95))], 1),
        "max_ms": round(times[-1], 1),
        "largest_delta_bytes": max(sample[1] for sample in samples),
    }


def steps(wire: Wire, count: int, grain: str = "call") -> list[tuple[float, int]]:
    return [timed(wire, {"type": "step", "grain": grain}) for _ in range(count)]


def small(server: PlaygroundServer) -> Figures:
    """50 nodes and 200 pods: steps, and steps back after 100 attempts."""
    client = Client(server)
    client.bring([node(f"n{i}") for i in range(50)] + [pod(f"p{i}") for i in range(200)])
    wire = client.watch()
    forward = steps(wire, 150)
    steps(wire, 80, "pod")
    back = [timed(wire, {"type": "back", "grain": "call"}) for _ in range(60)]
    return {"step": summary(forward), "back": summary(back)}


def large(server: PlaygroundServer, objects: list[Any]) -> Figures:
    """The openb cluster: import, steps, the run to the end with a small session stepped beside, steps back."""
    client = Client(server)
    found: Figures = {"import": client.bring(objects)}
    wire = client.watch()
    found["step"] = summary(steps(wire, 100))
    found["idle_neighbour_step"] = summary(neighbour(server, lambda count: count < 40))
    beside: list[tuple[float, int]] = []
    running = threading.Event()
    running.set()
    thread = threading.Thread(target=lambda: beside.extend(neighbour(server, lambda _: running.is_set())))
    thread.start()
    found["run"] = run_to_the_end(wire)
    running.clear()
    thread.join()
    found["neighbour_step_during_run"] = summary(beside)
    idle = found["idle_neighbour_step"]["p50_ms"]
    found["neighbour_delay"] = {"p95_ms": round(found["neighbour_step_during_run"]["p95_ms"] - idle, 1)}
    found["back"] = summary([timed(wire, {"type": "back", "grain": "call"}) for _ in range(20)])
    head = found["run"]["positions"]
    jumps = [head * i // 12 for i in range(11, 0, -1)]
    found["jump_then_back"] = summary(
        [
            timed(wire, message)
            for at in jumps
            for message in ({"type": "goto", "at": at}, {"type": "back", "grain": "call"})
        ]
    )
    return found


def neighbour(server: PlaygroundServer, go_on: Callable[[int], bool]) -> list[tuple[float, int]]:
    """Steps of a session with 50 nodes, one every 50 ms."""
    client = Client(server)
    client.bring([node(f"n{i}") for i in range(50)] + [pod(f"p{i}") for i in range(500)])
    wire, samples = client.watch(), []
    while go_on(len(samples)):
        samples.append(timed(wire, {"type": "step", "grain": "call"}))
        time.sleep(0.05)
    return samples


def run_to_the_end(wire: Wire) -> Figures:
    """Seconds of the run, with a pause and a restart on the way."""
    started = time.perf_counter()
    wire.send({"type": "run"})
    wire.until(lambda message: is_delta(message) and message["running"] and message["running"]["done"] > 1000, 60)
    asked = time.perf_counter()
    wire.send({"type": "pause"})
    wire.until(lambda message: is_delta(message) and not message["running"])
    paused = time.perf_counter() - asked
    wire.send({"type": "run"})
    wire.until(lambda message: is_delta(message) and message["running"])
    last = wire.until(lambda message: is_delta(message) and not message["running"], 600)
    return {
        "seconds": round(time.perf_counter() - started, 1),
        "pause_ms": round(paused * 1000, 1),
        "positions": last["head"],
    }


GOALS = (  # what is told, and the most that it may be (None: told only)
    ("50 nodes", "step", "p95_ms", None),
    ("50 nodes", "back", "p95_ms", 100),
    (OPENB, "import", "preview_s", None),
    (OPENB, "import", "apply_s", None),
    (OPENB, "import", "total_s", 5),
    (OPENB, "step", "p95_ms", None),
    (OPENB, "step", "largest_delta_bytes", 50_000),
    (OPENB, "run", "seconds", 20),
    (OPENB, "run", "pause_ms", 100),
    (OPENB, "idle_neighbour_step", "p95_ms", None),
    (OPENB, "neighbour_step_during_run", "p95_ms", None),
    (OPENB, "neighbour_step_during_run", "max_ms", None),
    (OPENB, "neighbour_delay", "p95_ms", 100),
    (OPENB, "back", "p95_ms", 1000),
    (OPENB, "jump_then_back", "p95_ms", None),
)


def main() -> None:
    """Start a server, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print every figure for machines")
    as_json = parser.parse_args().json
    with serve() as server:
        found = {"50 nodes": small(server), OPENB: large(server, openb_objects())}
    found["machine"] = probe()
    print(json.dumps(found, indent=2) if as_json else table(found))


def table(found: Figures) -> str:
    """The figures beside what they may be at most, as lines of Markdown."""
    lines = [f"Machine: {found['machine']}", "", "| where | what | figure | at most |", "|---|---|---|---|"]
    for where, what, unit, most in GOALS:
        value = found[where][what][unit]
        told = "" if most is None else f"{most:,}{'' if value <= most else ' (missed)'}"
        lines.append(f"| {where} | {what.replace('_', ' ')}, {unit.replace('_', ' ')} | {value:,} | {told} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
