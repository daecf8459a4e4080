"""What does a very large import cost? `python -m benchmarks.large_import` uploads 5,000 nodes and 50,000 pods, over 150 MB of JSON, to a
server of its own, previews and applies them, as a browser does, and tells the time and the processor time and memory of all its processes.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

from benchmarks.browser.rig import descendants, processor_ms
from benchmarks.large_import.cluster import text
from benchmarks.probe import probe
from benchmarks.server import Client
from tests.browser.server import PlaygroundServer

NODES, PODS = 5_000, 50_000
LOOK = 0.02  # seconds between two looks at the memory


class Meter(threading.Thread):
    """Looks at a process and its descendants all the time: the most memory that they had together, in bytes."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.most = 0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(LOOK):
            self.most = max(self.most, sum(map(resident, self.processes())))

    def processes(self) -> list[int]:
        """The process and its descendants."""
        return list(descendants(self.process))


def resident(process: int) -> int:
    """The bytes of memory that a process has, what it shares included; 0 where it is gone."""
    try:
        return 4096 * int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="so much of the cluster (default: %(default)s)")
    share = parser.parse_args().share
    print(f"Machine: {probe()}\n")
    nodes, pods = round(NODES * share), round(PODS * share)
    data = text(nodes, pods).encode()
    print(f"{nodes:,} nodes and {pods:,} pods: {len(data) / 1e6:,.0f} MB of JSON\n")
    with tempfile.TemporaryDirectory() as folder:
        server = PlaygroundServer(Path(folder))
        server.manage("migrate")
        server.start()
        try:
            measure(server, data)
        finally:
            server.stop()


def measure(server: PlaygroundServer, data: bytes) -> None:
    """One import, as a table."""
    assert server.process is not None
    client, meter = Client(server), Meter(server.process.pid)
    meter.start()
    print("| what | s | s of CPU, all processes | peak memory so far, all processes, MiB |\n|---|---|---|---|")
    first = last = (time.perf_counter(), processor_ms(meter.process))

    def tell(what: str, since: tuple[float, float]) -> tuple[float, float]:
        now = time.perf_counter(), processor_ms(meter.process)
        seconds, cpu = now[0] - since[0], (now[1] - since[1]) / 1000
        print(f"| {what} | {seconds:.1f} | {cpu:.1f} | {meter.most / 2**20:,.0f} |", flush=True)
        return now

    page = client.post(f"/s/{client.key}/import", data)
    last = tell("upload", last)
    page = client.follow(page)
    last = tell("preview", last)
    token = urllib.parse.parse_qs(urllib.parse.urlsplit(page).query)["token"][0]
    page = client.follow(client.post(f"/s/{client.key}/import/apply", token=token))
    assert page.rstrip("/").endswith(client.key), page
    tell("apply, and the studio", last)
    tell("all", first)
    meter.over.set()


if __name__ == "__main__":
    main()
