"""The answers as data: one for each pod, in the shape that docs/explain.md promises."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from django.utils.translation import gettext

from playground.presenters.fixes import describe_findings
from playground.presenters.fixes import sentence as sentence_of
from playground.presenters.why import sentence
from playground.presenters.words import Message
from playground.presenters.words import format_message as in_words
from scheduler_core.analysis.explain import Explanation, Past, State, explain, explain_uncreated
from scheduler_core.analysis.fixes import Budget, Findings, Fix, search_fixes
from scheduler_core.world.simulation import Simulation

Answer = dict[str, Any]
Report = Callable[[str], None]
SECONDS = 3.0  # of computing that the search for a pod's fixes may take
_FINE = (State.SCHEDULED.value,)
_ENDED = (State.REFUSED.value, State.FAILED.value)
_WITHHELD = (State.PAUSED.value, State.SUSPENDED.value, State.MANAGED_ELSEWHERE.value)


def answer(world: Simulation, key: str, past: Past | None = None) -> Answer | None:
    """About one pod, without fixes yet; None where there is none. `past`: see explain."""
    explanation = explain(world, key, past)
    return None if explanation is None else _build_answer(explanation)


def missing_pods(world: Simulation) -> list[Answer]:
    """About pods that their controllers were not let create."""
    return [_build_answer(explanation) for explanation in explain_uncreated(world)]


def with_fixes(
    world: Simulation, answered: Answer, seconds: float, report: Report = lambda text: None
) -> Answer:
    """The same with what would help. `report` hears of each fix as it is proven; "late": the time was over before the search was."""
    if answered["state"] in (*_FINE, *_ENDED, *_WITHHELD):
        return answered
    deadline, late = time.process_time() + seconds, False

    def should_stop() -> bool:
        nonlocal late
        late = late or time.process_time() > deadline
        return late

    def found(fix: Fix) -> None:
        report("; ".join(plain(sentence_of(change.to_json())) for change in fix.changes))

    search = search_fixes(world, answered["pod"], Budget(), should_stop, found)
    while True:
        try:
            next(search)
        except StopIteration as end:
            findings: Findings = end.value
            return {**answered, "fixes": _fixes(findings), "late": late}


def _build_answer(explanation: Explanation) -> Answer:
    state = State.SCHEDULED if explanation.state is State.BINDING else explanation.state
    said = plain(sentence(explanation))
    first = {"pod": explanation.pod, "state": state.value, "sentence": said}
    return first | explanation.to_json() | first | {"fixes": [], "late": False}


def _fixes(findings: Findings) -> list[Answer]:
    return [
        {
            "kind": fix.kind,
            "text": "; ".join(plain(line) for line in said["lines"]),
            "proven": fix.proven,
            "command": fix.kubectl,
            "effects": [plain(effect) for effect in said["effects"]],
            "node": fix.node,
            "harm": fix.harm,
            "heldBack": fix.held_back,
        }
        for fix, said in zip(findings.fixes, describe_findings(findings.to_json())["fixes"], strict=True)
    ]


def plain(said: Message) -> str:
    """A message as text."""
    return in_words(said, gettext)


def is_pending(answered: Answer) -> bool:
    return answered["state"] not in (*_FINE, *_ENDED)


def has_ended(answered: Answer) -> bool:
    """Return True if a pod was refused by its kubelet, or failed."""
    return answered["state"] in _ENDED


def last_of_owners(answers: Iterable[Answer]) -> set[str]:
    """Return the last pod of each owner that ended for the same reason; a pod without an owner counts by itself."""
    last: dict[tuple[str, str, str], Answer] = {}
    for each in filter(has_ended, answers):
        evidence = each["reasons"][0]["evidence"] if each["reasons"] else {}
        namespace, _, name = str(each["pod"]).partition("/")
        key = (namespace, str(evidence.get("owner") or name), str(each["reason"]))
        if key not in last or last[key]["predecessors"] <= each["predecessors"]:
            last[key] = each
    return {each["pod"] for each in last.values()}
