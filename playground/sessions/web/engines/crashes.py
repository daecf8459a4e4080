"""A session of whose requests processes keep dying has to wait: others live in the same processes."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.utils.translation import gettext as _

from playground.sessions.protocol.errors import EngineFailed
from playground.sessions.web.engines.worker import Process

# What crashed this often within the window, in seconds, has to wait.
MAX_CRASHES = 5
CRASH_WINDOW = 60.0


class KeepsCrashing(EngineFailed):
    """A session of whose requests processes have died too often has to wait."""

    status = 503

    def __init__(self, reading: bool, seconds: float) -> None:
        self.retry_after = max(1, round(seconds))
        what = {"times": MAX_CRASHES, "seconds": self.retry_after}
        if reading:
            text = _(
                "The engine stopped %(times)d times within a minute while this session was opened or looked at. "
                "Its log is whole; please try again in %(seconds)d s."
            )
        else:
            text = _(
                "The engine stopped %(times)d times within a minute on this session. It can be looked at, and its log is "
                "whole; changes are taken again in %(seconds)d s."
            )
        super().__init__(text % what)


@dataclass
class Crash:
    """A process died; `reading`: what it worked on would not have changed the session."""

    when: float
    reading: bool


class Crashes:
    """The processes that died lately of what a session asked them for: one crash each."""

    def __init__(self) -> None:
        self._crashes: dict[Process, Crash] = {}

    def count(self, process: Process, reading: bool) -> None:
        """A process died of a request."""
        crash = self._crashes.setdefault(process, Crash(time.monotonic(), reading))
        crash.reading = crash.reading and reading

    def require_calm(self, reading: bool) -> None:
        """Raises KeepsCrashing. Who only looks has to wait for what crashed while somebody looked, who changes for all."""
        since = time.monotonic() - CRASH_WINDOW
        self._crashes = {process: crash for process, crash in self._crashes.items() if crash.when > since}
        counted = [crash.when for crash in self._crashes.values() if crash.reading or not reading]
        if len(counted) >= MAX_CRASHES:
            raise KeepsCrashing(reading, counted[-MAX_CRASHES] - since)
