"""A run to the end with somebody who watches it in a browser, against the same run unwatched."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from benchmarks.browser.rig import Figure, Rig, figure, processor_ms
from benchmarks.growth import node, pod
from benchmarks.openb import openb_objects
from benchmarks.server import Client

MOST_RATIO = 1.5
LONGEST = 600  # seconds


def measure(rig: Rig) -> list[Figure]:
    objects = [*map(node, range(5)), *map(pod, range(20))] if rig.quick else openb_objects()
    where = f"{len(objects):,} objects" if rig.quick else "openb"
    watched, unwatched = [], []
    for _ in range(rig.runs):
        end, *seconds = _watched(rig, objects)
        watched.append(seconds)
        unwatched.append(_unwatched(rig, objects, end))
    ratios = [w[0] / u[0] for w, u in zip(watched, unwatched, strict=True)]
    busy = [w[1] / u[1] for w, u in zip(watched, unwatched, strict=True)]
    return [
        figure(f"run with a viewer; {where}", "s", [seconds[0] for seconds in watched]),
        figure(f"run without; {where}", "s", [seconds[0] for seconds in unwatched]),
        figure(f"with a viewer / without; {where}", "x", ratios, None if rig.quick else MOST_RATIO),
        figure(f"the same, processor of server and worker; {where}", "x", busy),
    ]


def _session(rig: Rig, objects: list[Any]) -> Client:
    client = Client(rig.server)
    client.bring(objects)
    return client


def _watched(rig: Rig, objects: list[Any]) -> tuple[int, float, float]:
    """Where the run ended; seconds on the clock, and seconds of the processor."""
    client = _session(rig, objects)
    assert rig.server.process is not None
    with rig.studio(client) as page:
        used, started = processor_ms(rig.server.process.pid), time.perf_counter()
        page.keyboard.press("r")
        page.wait_for_function(
            """() => document.querySelector("#panel-transport").dataset.idle === "1"
              && document.querySelector("#job").checkVisibility() === false""",
            timeout=LONGEST * 1000,
        )
        seconds = time.perf_counter() - started
        used = processor_ms(rig.server.process.pid) - used
        end = int(page.locator("#panel-transport").get_attribute("data-position") or 0)
    return end, seconds, used / 1000


def _unwatched(rig: Rig, objects: list[Any], end: int) -> tuple[float, float]:
    """Nobody looks at the session; its head in the database says when it has come to the end."""
    client = _session(rig, objects)
    assert rig.server.process is not None
    used, started = processor_ms(rig.server.process.pid), time.perf_counter()
    client.post(f"/s/{client.key}/run")
    while _head(rig, client) < end:
        assert time.perf_counter() - started < LONGEST, "the run did not come to its end"
        time.sleep(0.02)
    seconds = time.perf_counter() - started
    return seconds, (processor_ms(rig.server.process.pid) - used) / 1000


def _head(rig: Rig, client: Client) -> int:
    with sqlite3.connect(rig.server.folder / "playground.sqlite3", timeout=30) as database:
        query = "select head from playground_session where edit_key = ?"
        return int(database.execute(query, [client.key]).fetchone()[0])
