"""The dry run as a list of events, so that a cursor can step through one step's records: candidate by candidate, victim by victim."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import amount
from playground.presenters.scene import short
from playground.presenters.stage.ladder import COLUMNS
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.view import Candidate, Evidence, NodeTable, Pod, Reprieve

Event = dict[str, Any]
NAMES = 6


def events_of(evidence: Evidence, pod: Pod) -> list[Event]:
    """All events: each candidate's dry run, each criterion, the choice. `mark` is yes, no or "" as a sign before the line."""
    out: list[Event] = []
    for index, candidate in enumerate(evidence.candidates):
        out += [{**event, "candidate": index} for event in _of_candidate(candidate, pod)]
    for number, criterion in enumerate(evidence.criteria):
        line = message(
            gettext_noop("%(best)s: %(k)s of %(n)s left"),
            best=COLUMNS[number][1],
            k=len(criterion.left),
            n=len(criterion.values),
        )
        out.append({"kind": "criterion", "mark": "", "line": line, "candidate": -1})
    if evidence.nominated:
        line = message(
            gettext_noop("%(node)s is picked at random among the tied candidates")
            if evidence.draw is not None
            else gettext_noop("%(node)s is chosen"),
            node=evidence.nominated,
        )
        out.append({"kind": "choice", "mark": "yes", "line": line, "candidate": -1})
    return out


def _of_candidate(candidate: Candidate, pod: Pod) -> list[Event]:
    names = [short(reprieve.pod) for reprieve in candidate.reprieves]
    listed = ", ".join(names[:NAMES]) + (f" +{len(names) - NAMES}" if len(names) > NAMES else "")
    removed = message(
        gettext_noop("remove all pods below priority %(priority)s: %(names)s"),
        priority=pod.priority,
        names=listed,
    )
    fits = message(gettext_noop("filter: %(pod)s fits"), pod=short(pod.key))
    reprieves = [_of_reprieve(reprieve) for reprieve in candidate.reprieves]
    return [
        {"kind": "remove", "mark": "yes", "line": removed},
        {"kind": "filter", "mark": "yes", "line": fits},
        *reprieves,
    ]


def _of_reprieve(reprieve: Reprieve) -> Event:
    values: dict[str, Any] = {"pod": short(reprieve.pod), "priority": reprieve.priority}
    if reprieve.kept:
        line: Message = message(gettext_noop("reprieve %(pod)s (%(priority)s): still fits → kept"), **values)
    else:
        reason = reprieve.refusal.message if reprieve.refusal is not None else ""
        line = message(
            gettext_noop("reprieve %(pod)s (%(priority)s): %(reason)s → victim"), **values, reason=reason
        )
    return {
        "kind": "kept" if reprieve.kept else "victim",
        "mark": "yes" if reprieve.kept else "no",
        "line": line,
        "by": reprieve.refusal.plugin if reprieve.refusal is not None else "",
        "budget": reprieve.violates_budget,
        "pod": reprieve.pod,
    }


def room(candidate: Candidate, pod: Pod, nodes: NodeTable) -> dict[str, Any] | None:
    """The node's tightest resource as a bar: what stays, the preemptor, the victims. None where the snapshot has no such row."""
    row = nodes.row(candidate.node)
    if row is None:
        return None
    resource = _tightest(candidate)
    column = nodes.resources.columns.get(resource)
    if column is None or column >= nodes.allocatable.shape[1]:
        return None
    has, used = int(nodes.allocatable[row, column]), int(nodes.requested[row, column])
    needs = pod.requests.get(resource)
    freed = sum(victim.requests.get(resource) for victim in candidate.victims)
    if has <= 0:
        return None
    parts = [("stays", used - freed, ""), ("pod", needs, short(pod.key))]
    parts += [("gone", victim.requests.get(resource), short(victim.key)) for victim in candidate.victims]
    scale = max(has, sum(size for _, size, _ in parts))
    segments, at = [], 0.0
    for kind, size, name in parts:
        width = round(100 * size / scale, 2)
        if width > 0:
            segments.append(
                {
                    "kind": kind,
                    "x": round(at, 2),
                    "width": width,
                    "name": name,
                    "text": amount(resource, size),
                }
            )
        at += width
    return {
        "resource": resource,
        "needs": amount(resource, needs),
        "has": amount(resource, has),
        "edge": round(100 * has / scale, 2),
        "segments": segments,
    }


def _tightest(candidate: Candidate) -> str:
    """The resource that made the first victim one; cpu where it was no resource."""
    for reprieve in candidate.reprieves:
        for reason in reprieve.refusal.reasons if reprieve.refusal is not None else ():
            if reason.startswith("Insufficient "):
                return reason.removeprefix("Insufficient ")
    return "cpu"
