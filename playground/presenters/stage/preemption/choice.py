"""The texts of a preemption's dry run, the choice among candidates as a ladder, and the events until the pod is bound."""

from __future__ import annotations

from typing import Any, NamedTuple, NotRequired, TypedDict

from playground.presenters.acting import grace_ends
from playground.presenters.cluster_map.node_cards import Step
from playground.presenters.scene import PodRef, pod_ref, short
from playground.presenters.words import SECOND, Message, clock, duration, gettext_noop, message
from scheduler_core.world import readonly

_FEWEST, _LOWEST, _LATEST = gettext_noop("fewest wins"), gettext_noop("lowest wins"), gettext_noop("latest wins")
# kube's five criteria in their order: a short heading, the term, the winning value, and its description.
CRITERIA = (
    (gettext_noop("PDB violations"), "fewest violations", _FEWEST, gettext_noop("fewest PodDisruptionBudgets violated")),
    (
        gettext_noop("Highest priority"), "highest priority", _LOWEST,
        gettext_noop("lowest priority of the most important victim"),
    ),
    (
        gettext_noop("Sum of priorities"), "sum of priorities", _LOWEST,
        gettext_noop("smallest sum of the victims' priorities"),
    ),
    (gettext_noop("Number of victims"), "fewest victims", _FEWEST, gettext_noop("fewest victims")),
    (gettext_noop("Start time"), "latest start", _LATEST, gettext_noop("latest start of the most important victims")),
)  # fmt: skip

SUMMED = 4  # numbers of a sum shown


class Criterion(TypedDict):
    name: str
    best: str
    term: str


def columns() -> list[Criterion]:
    """Return the criteria as headings of a table."""
    return [{"name": name, "best": best, "term": term} for name, term, _, best in CRITERIA]


def falls(evidence: readonly.Evidence) -> dict[str, int]:
    """Return by node the criterion at which its candidate drops out; -1 if an extender removed it. Nodes that never drop out are absent."""
    left = {candidate.node for candidate in evidence.remaining}
    out = {candidate.node: -1 for candidate in evidence.candidates if candidate.node not in left}
    for number, criterion in enumerate(evidence.criteria):
        best = {candidate.node for candidate in criterion.best}
        out.update((c.node, number) for c in criterion.compared if c.node not in best)
    return out


def ladder(
    evidence: readonly.Evidence, candidates: list[readonly.Candidate], rungs: int, epoch: int
) -> list[LadderRow]:
    """Return a row for each candidate after `rungs` criteria, the last remaining candidates first."""
    fell = falls(evidence)
    rows = [_row(evidence, c, fell.get(c.node, len(CRITERIA)), rungs, epoch) for c in candidates]
    return sorted(rows, key=lambda row: (not row["best"], -row["came"], row["node"]))


class LadderCell(TypedDict):
    """`state` is "kept", "lost" (the value that lost), or "" (not compared)."""

    state: str
    text: str


class LadderRow(TypedDict):
    node: str
    cells: list[LadderCell]
    best: bool
    came: int
    out: bool


def _row(evidence: readonly.Evidence, candidate: readonly.Candidate, fell: int, rungs: int, epoch: int) -> LadderRow:
    seen = min(rungs, len(evidence.criteria))
    best = rungs >= len(evidence.criteria) and candidate.node == evidence.nominated
    cells: list[LadderCell] = []
    for i, text in enumerate(texts(candidate, epoch)):
        if i >= seen or i > fell:
            cells.append({"state": "kept" if best else "", "text": text if best else ""})
        else:
            cells.append({"state": "lost" if i == fell else "kept", "text": text})
    out = fell < seen
    return {"node": candidate.node, "cells": cells, "best": best, "came": min(fell, seen), "out": out}


def texts(candidate: readonly.Candidate, epoch: int) -> list[str]:
    """Return a candidate's value for each criterion. The sum of priorities has no offset, unlike kube's."""
    victims = candidate.victims
    return [
        str(candidate.violations),
        str(victims[0].priority),
        str(sum(pod.priority for pod in victims)),
        str(len(victims)),
        format_start_time(readonly.earliest_start(victims), epoch),
    ]


class ValueSource(TypedDict, total=False):
    """The source of a value: `pod` with its `field`, or the numbers of a sum."""

    pod: str
    field: str
    sum: str


def leads(candidate: readonly.Candidate) -> list[ValueSource]:
    """Return the source of each value; {} for values that only count."""
    victims = candidate.victims
    violating = next((each.pod for each in candidate.reprieves if each.violates_budget and not each.kept), "")
    earliest = readonly.earliest_start(victims)
    first = next((pod for pod in victims if readonly.earliest_start([pod]) == earliest), victims[0])
    summed = " + ".join(str(pod.priority) for pod in victims[:SUMMED])
    return [
        {"pod": violating, "field": "metadata.labels"} if violating else {},
        {"pod": victims[0].key, "field": "spec.priority"},
        {"sum": summed + (" + …" if len(victims) > SUMMED else "")} if len(victims) > 1 else {},
        {},
        {"pod": first.key, "field": "status.startTime"} if earliest != readonly.NEVER else {},
    ]


def format_start_time(at: int, epoch: int) -> str:
    """Return a start on the world's clock, its date if it precedes the world, or a dash if the pod has not started."""
    if at == readonly.NEVER:
        return "-"
    return clock(at - epoch)[:8] if at >= epoch else readonly.format_time(at)[:10]


NAMES = 6


class StepLine(TypedDict):
    """A step as a sentence. `mark` before the line is yes, no, or ""."""

    mark: str
    line: Message
    candidate: int
    by: NotRequired[str]
    budget: NotRequired[bool]


def describe_step(step: Step, evidence: readonly.Evidence, pod: readonly.Pod) -> StepLine:
    if step.kind == "criterion":
        criterion = evidence.criteria[step.number]
        line = message(
            "%(best)s: %(k)s of %(n)s left",
            best=CRITERIA[step.number][3],
            k=len(criterion.best),
            n=len(criterion.compared),
        )
        return {"mark": "", "line": line, "candidate": -1}
    if step.kind == "choice":
        text = (
            gettext_noop("%(node)s is chosen")
            if evidence.draw is None
            else gettext_noop("the scheduler picks %(node)s at random from the tied candidates")
        )
        return {"mark": "yes", "line": message(text, node=evidence.nominated), "candidate": -1}
    candidate = evidence.candidates[step.candidate]
    if step.kind == "reprieve":
        return _of_reprieve(candidate.reprieves[step.number], step.candidate)
    line = _describe_removal(candidate, pod) if step.kind == "remove" else message(_FITS, pod=short(pod.key))
    return {"mark": "yes", "line": line, "candidate": step.candidate}


_FITS = gettext_noop("filter: %(pod)s fits")


def _describe_removal(candidate: readonly.Candidate, pod: readonly.Pod) -> Message:
    names = [short(reprieve.pod) for reprieve in candidate.reprieves]
    listed = ", ".join(names[:NAMES]) + (f" +{len(names) - NAMES}" if len(names) > NAMES else "")
    return message("remove all pods below priority %(priority)s: %(names)s", priority=pod.priority, names=listed)


def _of_reprieve(reprieve: readonly.Reprieve, candidate: int) -> StepLine:
    values: dict[str, Any] = {"pod": short(reprieve.pod), "priority": reprieve.priority}
    if reprieve.kept:
        line: Message = message("reprieve %(pod)s (%(priority)s): still fits → kept", **values)
    else:
        reason = reprieve.refusal.message if reprieve.refusal is not None else ""
        line = message("reprieve %(pod)s (%(priority)s): %(reason)s → victim", **values, reason=reason)
    return {
        "mark": "yes" if reprieve.kept else "no",
        "line": line,
        "candidate": candidate,
        "by": reprieve.refusal.plugin if reprieve.refusal is not None else "",
        "budget": reprieve.violates_budget,
    }


SHOWN = 6
_QUEUED = (readonly.Place.ACTIVE, readonly.Place.BACKOFF)


class Choice(NamedTuple):
    """A preemption's decision: the victims, and the nominated node. `position` is the position of its PostFilter step."""

    pod: str
    node: str
    victims: tuple[str, ...]
    t: int
    position: int
    number: int


def of_attempt(attempt: readonly.Attempt) -> Choice:
    """Return a finished attempt's decision."""
    node, victims = attempt.nominated, attempt.victims
    return Choice(attempt.pod, node, victims, attempt.ended, attempt.last_position, attempt.number)


def of_step(pod: str, step: readonly.PluginStep, number: int) -> Choice | None:
    """Return the present cycle's decision, or None if it chose no node."""
    evidence: readonly.Evidence = step.evidence
    best = next((c for c in evidence.remaining if c.node == evidence.nominated), None)
    if best is None:
        return None
    return Choice(pod, best.node, tuple(v.key for v in best.victims), step.t, step.position, number)


def last_choice(sim: readonly.WorldView, key: str) -> Choice | None:
    """Return the pod's last preemption, or None. A later attempt that waits for its victims makes none."""
    attempts = (a for a in reversed(sim.journal.attempts_of(key)) if a.nominated and a.victims)
    attempt = next(attempts, None)
    return None if attempt is None else of_attempt(attempt)


class Landing(TypedDict):
    pod: str
    key: str
    node: str
    number: int
    at: int
    victims: list[VictimRow]
    more: int
    count: int
    evicted: Milestone
    ended: Milestone
    queued: Milestone
    bound: Milestone
    on: str
    nominated: bool
    deleted: bool


def landing(sim: readonly.WorldView, choice: Choice) -> Landing:
    """Return the progress: the victims with their remaining grace periods, the pod's moves, and the nomination."""
    ends = grace_ends(sim, choice.victims)
    victims = [_victim(sim, choice, key, ends) for key in choice.victims]
    ordered = all(victim["state"] != "waits" for victim in victims)
    gone = all(victim["state"] == "gone" for victim in victims)
    last = max((victim["until"] for victim in victims), default=choice.t)
    moves = [move for move in sim.journal.lane(choice.pod) if move.position > choice.position]
    queued = next((move for move in moves if move.place in _QUEUED), None)
    bound = next((move for move in moves if move.place == readonly.Place.BOUND), None)
    landed = sim.store.pod_at(choice.pod)
    return {
        "pod": short(choice.pod),
        "key": choice.pod,
        "node": choice.node,
        "number": choice.number,
        "at": choice.position,
        "victims": victims[:SHOWN],
        "more": max(len(victims) - SHOWN, 0),
        "count": len(victims),
        "evicted": {"t": _clock(choice.t), "state": _state(ordered, True)},
        "ended": {"t": _clock(last), "state": _state(gone, ordered)},
        "queued": _present_milestone(queued, gone),
        "bound": _present_milestone(bound, queued is not None),
        "on": landed.node_name if landed is not None and landed.node_name else "",
        "nominated": _is_nominated(sim, choice),
        "deleted": landed is None,
    }


def _clock(ns: int) -> str:
    """Format virtual time, without the hours if they are 0."""
    return clock(ns).removeprefix("00:")


def _state(done: bool, begun: bool) -> str:
    return "done" if done else "now" if begun else "ahead"


class Milestone(TypedDict):
    t: str
    state: str


def _present_milestone(move: readonly.Move | None, begun: bool) -> Milestone:
    return {"t": _clock(move.t) if move is not None else "", "state": _state(move is not None, begun)}


def _is_nominated(sim: readonly.WorldView, choice: Choice) -> bool:
    queues = (scheduler.queue for scheduler in sim.schedulers)
    return any(pod.key == choice.pod for queue in queues for pod in queue.nominator.on(choice.node))


class VictimRow(PodRef):
    """`state`: waits (for eviction), ends (its grace period runs), or gone. `ring` is the rest of the grace period, in percent."""

    state: str
    until: int
    t: str
    grace: str
    left: str
    ring: int


def _victim(sim: readonly.WorldView, choice: Choice, key: str, ends: dict[str, int]) -> VictimRow:
    index = sim.journal.last_move.get(key)
    move = None if index is None else sim.journal.moves[index]
    pod = sim.store.pod_at(key)
    grace = _grace(pod)
    row: VictimRow = {
        **pod_ref(key),
        "state": "waits",
        "until": max(sim.now, choice.t) + grace,
        "t": "",
        "grace": duration(grace),
        "left": "",
        "ring": 0,
    }
    if move is not None and move.place == readonly.Place.DELETED and move.position > choice.position:
        return {**row, "state": "gone", "t": _clock(move.t), "until": move.t}
    if pod is None or not pod.deleting or key not in ends:
        return row
    left = max(ends[key] - sim.now, 0)
    ring = round(100 * min(left / max(grace, 1), 1))
    return {**row, "state": "ends", "left": duration(left), "ring": ring, "until": ends[key]}


def _grace(pod: readonly.Pod | None) -> int:
    """Return a pod's grace period (ns), from its deletion, else from its spec."""
    if pod is None:
        return 0
    deletion = pod.manifest["metadata"].get("deletionGracePeriodSeconds")
    asked = pod.spec.manifest.get("terminationGracePeriodSeconds", 30) if deletion is None else deletion
    return int(asked) * SECOND
