"""Problems as rows: what is not as its owner wants it, why in one line, and how many pods are alike."""

from __future__ import annotations

import re
from typing import Any

from playground.presenters.scene import short
from playground.presenters.why import sentence
from playground.presenters.words import Message, in_english
from scheduler_core.analysis.explain import Explanation, State

MOST = 60  # rows that are looked for
# What only waits for its turn is no problem: Step shows where it goes.
_IN_TURN = (State.NOT_ATTEMPTED, State.ATTEMPTING, State.BACKOFF)
_NUMBER = re.compile(r"[-.]?\d+(?=$|[/ ])")


class Rows:
    """Explanations as they come; pods with one workload's name and one reason are one row. `fitting` counts pods that would fit."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}
        self.fitting = 0

    @property
    def full(self) -> bool:
        return len(self._rows) >= MOST

    def add(self, found: Explanation) -> None:
        if found.fits and found.state in _IN_TURN:
            self.fitting += 1
            return
        said = sentence(found)
        names = (short(found.pod), found.pod, found.pod.rpartition("/")[2])
        reason = in_english(said)
        for name in names:
            reason = reason.replace(name, "*")
        family = _NUMBER.sub("", found.pod)
        row = self._rows.setdefault((family, reason), _row(found, said))
        row["count"] += 1

    def to_json(self, *, late: bool) -> dict[str, Any]:
        return {"rows": list(self._rows.values()), "fitting": self.fitting, "late": late}


def _row(found: Explanation, said: Message) -> dict[str, Any]:
    kind = "node" if found.pod.startswith("Node/") else "workload" if found.pod.count("/") == 2 else "pod"
    key = found.pod.removeprefix("Node/")
    return {"key": found.pod, "of": kind, "subject": key, "name": short(key), "said": said, "count": 0}
