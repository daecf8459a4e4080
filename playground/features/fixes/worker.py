"""Trials on a copy of the world at a position: the search for fixes, in slices within a time limit, and a pod on a node."""

import re
import time
from collections.abc import Iterator
from typing import Any

from playground.features.fixes.query import Fixes, Problems
from playground.features.fixes.why_not import present_why_not
from playground.presenters.inspector.objects import WHOLE
from playground.presenters.names import names_of
from playground.presenters.scene import short
from playground.presenters.why import sentence
from playground.presenters.words import Message, in_english
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.looking import WhyNot
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers, in_slices
from scheduler_core.analysis.explain import Explanation, State, list_problems
from scheduler_core.analysis.fixes import Budget, Findings, Fix, search_fixes
from scheduler_core.analysis.inspection import why_not
from scheduler_core.world.readonly import WorldView

# Problems as rows: the object in an unwanted state, the reason in one line, and the number of equal pods.

MOST = 60  # rows; the search ends at this number
# Pods that only wait in the queue are no problem: the next steps place them.
_IN_TURN = (State.NOT_ATTEMPTED, State.ATTEMPTING, State.BACKOFF)
_NUMBER = re.compile(r"[-.]?\d+(?=$|[/ ])")


class Rows:
    """Explanations as rows; pods of a workload with equal reasons share a row. `fitting` is the number of pods that would fit."""

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
    named = found.pod.count("/") == 2 or found.pod.partition("/")[0] in WHOLE
    kind = "node" if found.pod.startswith("Node/") else "workload" if named else "pod"
    key = found.pod.removeprefix("Node/")
    return {"key": found.pod, "of": kind, "subject": key, "name": short(key), "said": said, "count": 0}


MOST_NODES = 500  # suggestions


def add_short_names(world: WorldView, answer: Data) -> Data:
    """Add the short names of an answer."""
    names = names_of(world)
    short = {text: form for text in _find_words(answer) if (form := names.fit(text)) != text}
    return {**answer, "short": short}


def _find_words(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield from [data] if " " not in data else []
    elif isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from _find_words(each)


@answers(Problems)
def problems(engine: Engine, request: Problems) -> Steps[Data]:
    """Return rows as JSON data. "late": the time limit ended the search."""
    world = yield from engine.at(request.position)
    deadline, rows = time.perf_counter() + request.seconds, Rows()
    for found in list_problems(world):
        rows.add(found)
        if time.perf_counter() > deadline or rows.full:
            return add_short_names(world, rows.to_json(late=True))
        if engine.slice.over():
            yield
    return add_short_names(world, rows.to_json(late=False))


@answers(Fixes)
def fixes(engine: Engine, request: Fixes) -> Steps[Data]:
    """Return findings as JSON data. "late": the time limit ended the search."""
    world = (yield from engine.at(request.position)).fork()
    deadline = time.perf_counter() + request.seconds
    late = False
    found: list[Fix] = []

    def should_stop() -> bool:
        nonlocal late
        late = late or time.perf_counter() > deadline
        return late or (request.first and bool(found))

    budget = Budget(fixes=request.most)
    if request.longer:
        budget = budget.lengthen()
    search = search_fixes(world, request.pod, budget, should_stop, found.append)
    findings: Findings = yield from in_slices(search, engine.slice)
    return add_short_names(world, {**findings.to_json(), "late": late})


@answers(WhyNot)
def why_not_there(engine: Engine, request: WhyNot) -> Steps[Data | None]:
    """Return the verdicts as JSON data, with nodes to choose from. The world does not change."""
    world = yield from engine.at(request.position)
    pod = world.store.pod_at(request.pod)
    if pod is None:
        return None
    names = [each["metadata"]["name"] for each in world.store.list("Node")]
    others = [name for name in names if name != pod.node_name]
    node = request.node or next(iter(others or names), "")
    found = why_not(world, request.pod, node) if node in names else None
    return {
        "pod": request.pod,
        "node": node,
        "nodes": names[:MOST_NODES],
        "known": node in names,
        "scheduler": pod.spec.scheduler_name,
        "bound": pod.node_name,
        "found": None if found is None else present_why_not(found),
    }
