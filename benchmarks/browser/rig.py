"""A server, a Chromium, and sessions open in it; figures with their goals."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page

from benchmarks.growth import node, pod
from benchmarks.server import Client
from tests.browser.server import PlaygroundServer

WINDOW = {"width": 1280, "height": 720}
# Room for 5,000 nodes and 50,000 pods, and for whoever steps without a pause.
SETTINGS = {"WEBSOCKET_RATE": "100000", "MAX_OBJECTS": "60000", "MAX_UPLOAD_BYTES": str(64 * 2**20)}

# Notes each task over 50 ms from the page's first moment on, as window.tasks.
NOTE_TASKS = """
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => entry.duration)))
    .observe({ type: "longtask", buffered: true });
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; `most` is its goal (None: told only), `runs` are the values that it is the median of."""

    name: str
    unit: str
    value: float
    most: float | None = None
    runs: tuple[float, ...] = ()
    note: str = ""

    @property
    def ok(self) -> bool | None:
        return None if self.most is None else self.value <= self.most

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "ok": self.ok}


def figure(name: str, unit: str, runs: Sequence[float], most: float | None = None, note: str = "") -> Figure:
    """The median of the runs."""
    return Figure(name, unit, round(statistics.median(runs), 1), most, tuple(round(x, 1) for x in runs), note)


def at_percent(times: Sequence[float], percent: int) -> float:
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]


@dataclass(slots=True)
class Rig:
    """`quick`: as little as shows that everything works."""

    server: PlaygroundServer
    browser: Browser
    quick: bool = False
    runs: int = 3

    def session(self, nodes: int, pods: int) -> Client:
        client = Client(self.server)
        client.bring([*map(node, range(nodes)), *map(pod, range(pods))])
        return client

    @contextmanager
    def page(self) -> Iterator[Page]:
        """A new window with nothing in its cache."""
        context = self.browser.new_context(viewport=WINDOW)
        context.add_init_script(NOTE_TASKS)
        page = context.new_page()
        try:
            yield page
        finally:
            context.close()

    @contextmanager
    def studio(self, client: Client, query: str = "") -> Iterator[Page]:
        """The session's studio, connected."""
        with self.page() as page:
            self.open(page, client, query)
            yield page

    def open(self, page: Page, client: Client, query: str = "") -> None:
        page.goto(f"{self.server.url}/s/{client.key}/{query}")
        page.locator("body[data-connected='1']").wait_for(timeout=120_000)


def longest_task(page: Page) -> float:
    """Of all tasks so far over 50 ms; 0: there was none."""
    page.evaluate("() => new Promise((done) => setTimeout(done, 100))")
    return float(page.evaluate("() => Math.max(0, ...window.tasks)"))


def spent(devtools: CDPSession) -> float:
    """Milliseconds that the page's main thread has worked so far, by the processor's time."""
    named = {each["name"]: each["value"] for each in devtools.send("Performance.getMetrics")["metrics"]}
    return 1000 * float(named["TaskDuration"])


def processor_ms(group: int) -> float:
    """Milliseconds of processor time that a process and its descendants have used so far (Linux)."""
    return 10.0 * sum(descendants(group).values())


def descendants(group: int) -> dict[int, int]:
    """A process and its descendants, each with the hundredths of a second that it has used so far (Linux)."""
    ticks, parents = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        parents[int(folder.name)], ticks[int(folder.name)] = int(text[1]), int(text[11]) + int(text[12])
    return {pid: ticks[pid] for pid in ticks if _descends(pid, group, parents)}


def _descends(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        if pid == ancestor:
            return True
        pid = parents[pid]
    return False
