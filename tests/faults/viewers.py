"""Viewers look on while things are killed: soon after each kill all of them have to be shown where the session is."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence

from tests.faults.clients import FAILURES, LATER
from tests.playground.sessions.wire import Wire

LEVEL = 3.0  # seconds that viewers have, from when the servers answer again
HEARTBEAT = 1.0


class Viewer:
    """A thread that looks at a session through one server, and comes again when it is cut off, as a page does."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key
        self.shown = -1
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"viewer at {url}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(60)
        assert not self._thread.is_alive(), f"the viewer at {self.url} hangs"

    def _work(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(*FAILURES):
                self._look()
            time.sleep(LATER)

    def _look(self) -> None:
        with contextlib.closing(Wire(self.url, self.key)) as wire:
            wire.send({"type": "look", "look": {}, "seen": None})
            while not self._over.is_set():
                with contextlib.suppress(TimeoutError):
                    message = wire.receive(HEARTBEAT)
                    if message["type"] == "delta":
                        self.shown = message["seq"]


@contextlib.contextmanager
def looking(urls: Sequence[str], key: str) -> Iterator[list[Viewer]]:
    """A viewer of a session at each of some servers."""
    viewers = [Viewer(url, key) for url in urls]
    for viewer in viewers:
        viewer.start()
    try:
        yield viewers
    finally:
        for viewer in viewers:
            viewer.stop()


def count_behind(viewers: Sequence[Viewer], head: int, seconds: float = LEVEL) -> int:
    """How many have not been shown a position after so many seconds."""
    deadline = time.monotonic() + seconds
    while (late := sum(viewer.shown < head for viewer in viewers)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return late
