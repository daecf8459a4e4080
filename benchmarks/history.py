"""How quickly is a session's past at hand, and what does it take? `python -m benchmarks.history` measures it on a server of its own.

50 nodes are stepped 100,000 times, openb's 8,152 pods are scheduled; then both are left alone, jumped about in, and opened again after the
server was killed. Seconds of a page are from the request to its last byte; of a jump from the WebSocket's message to its delta.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.openb import openb_objects
from benchmarks.probe import probe
from benchmarks.server import OPENB, Client, Figures, is_delta, timed
from playground.sessions.protocol.wire import resident
from tests.browser.server import PlaygroundServer
from tests.faults.kills import children
from tests.playground.sessions.wire import Wire
from tests.playground.sessions.worlds import node, pod

SMALL = "50 nodes, 100,000 steps"
STEPS = 100_000
JUMPS = 40
REST = 4


def workers(server: PlaygroundServer) -> dict[int, float]:
    """Memory of the server's workers by process, MiB."""
    assert server.process is not None
    return {pid: resident(pid) / (1 << 20) for pid in children(server.process.pid)}


def run(wire: Wire) -> int:
    """Run to the end; the head."""
    wire.send({"type": "run"})
    wire.until(lambda message: is_delta(message) and message["running"], 60)
    return int(wire.until(lambda message: is_delta(message) and not message["running"], 600)["head"])


def page(server: PlaygroundServer, key: str) -> float:
    """Seconds until the studio's page is there, however often it says that it is being opened."""
    started = time.perf_counter()
    while True:
        try:
            urllib.request.urlopen(f"{server.url}/s/{key}/", timeout=60).read()
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(0.2)
        else:
            return time.perf_counter() - started


def spent(server: PlaygroundServer) -> float:
    """Seconds of processor time that the server and its workers have taken (Linux)."""
    assert server.process is not None
    threads = [task for pid in (server.process.pid, *workers(server)) for task in Path(f"/proc/{pid}/task").iterdir()]
    return sum(int((task / "schedstat").read_text().split()[0]) for task in threads) / 1e9


def jumps(server: PlaygroundServer, key: str, head: int) -> Figures:
    """To random positions, milliseconds; those of the processor tell more where others use the machine."""
    wire = Wire(server.url, key)
    wire.send({"type": "look", "look": {}, "seen": None})
    wire.receive()
    draw = random.Random(1)
    clock, processor = [], []
    for _ in range(JUMPS):
        before = spent(server)
        clock.append(timed(wire, {"type": "goto", "at": draw.randrange(head)})[0])
        processor.append((spent(server) - before) * 1e3)
    wire.close()
    return _summed("", clock) | _summed("cpu_", processor)


def _summed(name: str, times: list[float]) -> Figures:
    """Median, 95th percentile and the most, of milliseconds."""
    times.sort()
    return {
        f"{name}p50_ms": round(statistics.median(times)),
        f"{name}p95_ms": round(times[int(JUMPS * 0.95)]),
        f"{name}max_ms": round(times[-1]),
    }


def stored(server: PlaygroundServer, key: str) -> Figures:
    """What is in the database for a session."""
    asked = (
        "from playground.models import *; from django.db.models import Sum;"
        "from django.db.models.functions import Length;"
        f"s = Session.objects.get(edit_key={key!r});"
        "size = lambda rows: rows.aggregate(n=Sum(Length('data')))['n'] or 0;"
        "print(s.checkpoints.count(), size(s.checkpoints), size(s.checkpoint_parts), size(s.outcomes))"
    )
    count, worlds, parts, outcomes = map(int, server.manage("shell", "-v", "0", "-c", asked).split()[-4:])
    return {
        "checkpoints": count,
        "worlds_kib": worlds // 1024,
        "parts_kib": parts // 1024,
        "outcomes_kib": outcomes // 1024,
    }


def settle(server: PlaygroundServer, key: str) -> None:
    """Wait until nothing more is saved and the session has left its worker."""
    before: Figures = {}
    while (
        now := stored(server, key) | {"workers": {pid: round(took) for pid, took in workers(server).items()}}
    ) != before:
        before = now
        time.sleep(3 * REST)


def measure(server: PlaygroundServer, objects: list[Any]) -> Figures:
    """One session's figures."""
    client = Client(server)
    empty = workers(server)
    client.bring(objects)
    wire = client.watch()
    head = run(wire)
    peak = max(now - empty.get(pid, 0) for pid, now in workers(server).items())
    settle(server, client.key)
    found: Figures = {"head": head, "running_mib": round(peak), "stored": stored(server, client.key)}
    resting = workers(server)
    found["resting_mib"] = {str(pid): round(now, 1) for pid, now in resting.items()} | {"empty": empty}
    before = spent(server)
    found["page_after_rest_s"] = round(page(server, client.key), 2)
    found["page_after_rest_cpu_s"] = round(spent(server) - before, 2)
    found["jump_after_rest"] = jumps(server, client.key, head)
    wire.close()
    server.kill()
    server.start()
    before = spent(server)
    found["page_after_restart_s"] = round(page(server, client.key), 2)
    found["page_after_restart_cpu_s"] = round(spent(server) - before, 2)
    found["jump_after_restart"] = jumps(server, client.key, head)
    found["page_again_s"] = round(page(server, client.key), 2)
    return found


def main() -> None:
    """Start a server, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("small", "openb"), help="one of the two")
    only = parser.parse_args().only
    worlds: dict[str, Any] = {
        "small": lambda: [node(f"n{i}", "64") for i in range(50)] + [pod(f"p{i}") for i in range(3_400)],
        "openb": openb_objects,
    }
    found: Figures = {}
    for name, objects in worlds.items():
        if only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            server = PlaygroundServer(Path(folder), WEBSOCKET_RATE="1000", ENGINE_IDLE_SECONDS=str(REST))
            server.manage("migrate", "--verbosity", "0")
            server.start()
            try:
                found[SMALL if name == "small" else OPENB] = measure(server, objects())
            finally:
                server.stop()
                print(server.output())
    found["machine"] = probe() | {"load": os.getloadavg()[0]}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
