"""Session: a history exported from the studio or by `Cluster.save`, at any of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from scheduler_core.formats.export import ReadLog, TraceError, check_lines, read_log
from scheduler_core.notebook.attempt import Attempt
from scheduler_core.notebook.cluster import Cluster, replay_trace
from scheduler_core.notebook.markup import card, chip, element, format_count, number, seconds, table

MOST_SHOWN = 50  # attempts


class Session:
    """A replayed trace. `end` is the cluster at its last step, `at(step)` at any other. `header` is the trace's first line
    (docs/trace.md).
    """

    def __init__(self, lines: list[Mapping[str, Any]]) -> None:
        self._lines = lines
        self._trace: ReadLog = read_log(lines)
        self.header = dict(lines[0])

    @classmethod
    def from_trace(cls, path: str | Path) -> Session:
        """Create a session from a file with JSON Lines; raise TraceError with the line that can't be read."""
        lines: list[Mapping[str, Any]] = []
        for i, line in enumerate(Path(path).read_bytes().splitlines(), 1):
            if not line.strip():
                continue
            try:
                lines.append(orjson.loads(line))
            except orjson.JSONDecodeError as error:
                raise TraceError(i, f"text that is not JSON ({error})", "an object") from None
        return cls(lines)

    @property
    def steps(self) -> int:
        """The number of the last step."""
        return self._trace.head

    def at(self, step: int) -> Cluster:
        """Return the cluster after `step` steps. It can continue independently. Raise ValueError if there is no such step."""
        if not 0 <= step <= self.steps:
            raise ValueError(f"received step {step}; expected one from 0 to {self.steps}")
        return replay_trace(self._trace, step)

    @cached_property
    def end(self) -> Cluster:
        return self.at(self.steps)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The attempts that have ended, oldest first."""
        return self.end.attempts

    def attempt(self, pod: str) -> Attempt:
        """Return a pod's last attempt. Raise LookupError if the pod has none."""
        return self.end.attempt(pod)

    def check(self) -> bool:
        """Return whether a replay reproduces every decision in the trace."""
        return check_lines(self._lines).difference is None

    def __repr__(self) -> str:
        return f"<Session of {self.steps} steps, {len(self.attempts)} attempts>"

    def _repr_html_(self) -> str:
        shown = self.attempts[-MOST_SHOWN:]
        made = f"Created by engine {self.header.get('engine')} as {self.header.get('kube')}"
        rows = [
            [
                attempt.number,
                attempt.pod,
                chip(attempt.outcome, sort="good" if attempt.node else "bad"),
                attempt.node or attempt.message,
                number(seconds(attempt.started)),
            ]
            for attempt in shown
        ]
        left = len(self.attempts) - len(shown)
        more = f" The newest {len(shown)} of {len(self.attempts):,} attempts are shown." if left else ""
        return card(
            f"Session: {format_count(self.steps, 'step')}, {format_count(len(self.attempts), 'attempt')}",
            element("p", f"{made}, seed {self._trace.seed}.{more}"),
            table(["Attempt", "Pod", "Outcome", "Node or message", "Began"], rows),
        )
