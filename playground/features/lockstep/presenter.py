"""Two sessions at one moment: their current differences, their first difference, and the decisions of the attempts so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

from playground.features.comparison.presenter import ScoreTable, scores
from playground.features.lockstep.query import HeldMoment, StretchSteps, TakenStep
from playground.presenters.charts import align_sequences
from playground.presenters.scene import short
from playground.presenters.words import Message, clock, gettext_noop, message
from playground.sessions.protocol.comparing import Comparison, OutlinedAttempt

SCHEDULED = "scheduled"
DECIDED = 5  # attempts in the table of decisions


class Differences(TypedDict):
    """The differences of a moment. `differing`: the number of differing rows."""

    rows: list[MomentRow]
    refusals: list[RefusalDifference]
    scores: ScoreTable | None
    differing: int


def moment(sides: tuple[HeldMoment, HeldMoment]) -> Differences:
    """Return the differences of the present moment: positions, rejections by reason, and total scores."""
    compared = scores(*sides)
    refused = _refusals(sides)
    rows = [*_standing(sides), *_build_result_rows(sides)]
    totals = compared["rows"] if compared is not None else []
    differing = [row for part in (rows, refused, totals) for row in part if row["differs"]]
    return {"rows": rows, "refusals": refused, "scores": compared, "differing": len(differing)}


def _standing(sides: tuple[HeldMoment, HeldMoment]) -> list[MomentRow]:
    return [
        _row(gettext_noop("pod"), [short(side.pod) for side in sides]),
        _row(gettext_noop("extension point"), [side.point for side in sides]),
        _row(gettext_noop("plugin"), [side.plugin for side in sides]),
        _row(gettext_noop("virtual time"), [clock(side.now) for side in sides]),
    ]


def _build_result_rows(sides: tuple[HeldMoment, HeldMoment]) -> list[MomentRow]:
    return [
        _row(gettext_noop("examined nodes"), [_count(side.evaluated) for side in sides]),
        _row(gettext_noop("feasible nodes"), [_count(side.feasible) for side in sides]),
        _row(gettext_noop("chosen node"), [side.node for side in sides]),
    ]


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


class MomentRow(TypedDict):
    what: str
    sides: list[str]
    differs: bool


def _row(what: str, pair: list[str]) -> MomentRow:
    return {"what": what, "sides": pair, "differs": pair[0] != pair[1]}


class RefusalDifference(TypedDict):
    plugin: str
    text: str
    sides: list[int]
    differs: bool


def _refusals(sides: tuple[HeldMoment, HeldMoment]) -> list[RefusalDifference]:
    """Return the number of refused nodes for each reason, on both sides."""
    tables = [{(refusal.plugin, refusal.text): refusal.count for refusal in side.refusals} for side in sides]
    return [
        {"plugin": plugin, "text": text, "sides": counts, "differs": counts[0] != counts[1]}
        for plugin, text in dict.fromkeys([*tables[0], *tables[1]])
        for counts in [[table.get((plugin, text), 0) for table in tables]]
    ]


def describe_divergence(comparison: Comparison) -> Message:
    """Return a sentence about the point of divergence."""
    if comparison.first is None:
        return message("All attempts that both sides made have the same decision.")
    number = comparison.sides[0].first + comparison.first + 1
    ours, theirs = comparison.attempts
    if ours is None or theirs is None:
        one = ours or theirs
        pod = short(one.pod) if one is not None else ""
        if ours is None:
            text = gettext_noop("The sides differ from attempt %(number)s on: only B makes it, for %(pod)s.")
        else:
            text = gettext_noop("The sides differ from attempt %(number)s on: only A makes it, for %(pod)s.")
        return message(text, number=f"{number:,}", pod=pod)
    if ours.pod != theirs.pod:
        text = gettext_noop("The sides differ from attempt %(number)s on: A tries %(pod)s, B tries %(name)s.")
        return message(text, number=f"{number:,}", pod=short(ours.pod), name=short(theirs.pod))
    return message(_sentence(ours, theirs), number=f"{number:,}", **_collect_placement_values(ours, theirs))


def _collect_placement_values(ours: OutlinedAttempt, theirs: OutlinedAttempt) -> dict[str, str]:
    nodes = [attempt.node for attempt in (ours, theirs) if attempt.outcome == SCHEDULED]
    named = {"pod": short(ours.pod)}
    if nodes and ours.node != theirs.node:
        named["node"] = nodes[0]
    if len(nodes) == 2 and ours.node != theirs.node:
        named["name"] = nodes[1]
    return named


def _sentence(ours: OutlinedAttempt, theirs: OutlinedAttempt) -> str:
    placed = (ours.outcome == SCHEDULED, theirs.outcome == SCHEDULED)
    if placed == (True, False):
        return gettext_noop(
            "The sides differ from attempt %(number)s on: A schedules %(pod)s to %(node)s, B does not schedule it."
        )
    if placed == (False, True):
        return gettext_noop(
            "The sides differ from attempt %(number)s on: B schedules %(pod)s to %(node)s, A does not schedule it."
        )
    if ours.node != theirs.node:
        return gettext_noop(
            "The sides differ from attempt %(number)s on: A schedules %(pod)s to %(node)s, B to %(name)s."
        )
    return gettext_noop("Attempt %(number)s for %(pod)s has the same result on both sides, but some numbers differ.")


def differing(comparison: Comparison) -> list[int]:
    """Return the indices of attempts that were decided differently, or made by only one side, in order."""
    ours, theirs = (side.attempts for side in comparison.sides)
    first = comparison.sides[0].first
    both = enumerate(zip(ours, theirs, strict=False), first)
    found = [at for at, (one, other) in both if _outcome(one) != _outcome(other)]
    if comparison.first is not None and first + comparison.first not in found:
        found = sorted([*found, first + comparison.first])
    return found


def _outcome(attempt: OutlinedAttempt) -> tuple[object, ...]:
    return (attempt.pod, attempt.outcome, attempt.node, attempt.nominated, tuple(attempt.victims))


def end_of(comparison: Comparison, index: int) -> tuple[int, int]:
    """Return the positions at which an attempt ends in both sessions, or the head without it. Attempts before the divergence are equal."""
    ends = []
    for side, head in zip(comparison.sides, comparison.heads, strict=True):
        offset = index - side.first
        ends.append(side.attempts[offset].last_position if 0 <= offset < len(side.attempts) else head)
    return ends[0], ends[1]


class Decisions(TypedDict):
    rows: list[Decision]
    common: int
    differing: int
    all: list[int]


def decisions(comparison: Comparison, index: int) -> Decisions:
    """Return the last attempts up to an index with both decisions, and the number of differences up to there."""
    first = comparison.sides[0].first
    differs = differing(comparison)
    made = max(len(side.attempts) for side in comparison.sides)
    last = min(index - first, made - 1)
    rows = [_decision(comparison, first, i, differs) for i in range(max(0, last - DECIDED + 1), last + 1)]
    return {"rows": rows, "common": first, "differing": sum(i <= index for i in differs), "all": differs}


class EndedAttempt(TypedDict):
    """An attempt as one side decided it. `node` is "" if the pod got none."""

    name: str
    node: str
    outcome: str
    nominated: str


class Decision(TypedDict):
    number: int
    sides: list[EndedAttempt | None]
    at: tuple[int, int]
    differs: bool


def _decision(comparison: Comparison, first: int, offset: int, differs: Sequence[int]) -> Decision:
    attempts = [side.attempts[offset] if offset < len(side.attempts) else None for side in comparison.sides]
    return {
        "number": first + offset + 1,
        "sides": [_describe_end(attempt) for attempt in attempts],
        "at": end_of(comparison, first + offset),
        "differs": first + offset in differs,
    }


def _describe_end(attempt: OutlinedAttempt | None) -> EndedAttempt | None:
    if attempt is None:
        return None
    placed = attempt.outcome == SCHEDULED
    return {
        "name": short(attempt.pod),
        "node": attempt.node if placed else "",
        "outcome": attempt.outcome,
        "nominated": attempt.nominated,
    }


# Two histories side by side: common steps are aligned, and each row has the targets of a step.

GRAINS = ("plugin", "point", "pod", "event")


class Ways(TypedDict):
    """The targets of the transport, each an address or None. `grains`: the addresses of this place with each grain."""

    home: str | None
    back: str | None
    step: str | None
    end: str | None
    first: str | None
    earlier: str | None
    later: str | None
    grains: list[tuple[str, str]]


class Row(NamedTuple):
    """The positions after a step that both sessions make, or only one. `point` is the extension point that ran, or ""."""

    at: tuple[int, int]
    point: str


def align_rows(ours: StretchSteps, theirs: StretchSteps) -> list[Row]:
    """Align the steps of two stretches. A common step is a row; steps of only one side are paired with steps of only the other, if any."""
    pairs = align_sequences(
        [step.print.encode() for step in ours.steps], [step.print.encode() for step in theirs.steps]
    )
    out = [Row((ours.start, theirs.start), "")]
    i = j = 0
    for next_i, next_j in [*pairs, (len(ours.steps), len(theirs.steps))]:
        while i < next_i or j < next_j:
            mine, other = ours.steps[i:next_i][:1], theirs.steps[j:next_j][:1]
            out.append(_align_row(out[-1], mine, other))
            i, j = i + len(mine), j + len(other)
        if i < len(ours.steps) and j < len(theirs.steps):
            out.append(_align_row(out[-1], ours.steps[i : i + 1], theirs.steps[j : j + 1]))
            i, j = i + 1, j + 1
    return out


def _align_row(before: Row, mine: Sequence[TakenStep], other: Sequence[TakenStep]) -> Row:
    at = tuple(steps[0].position if steps else stayed for steps, stayed in zip((mine, other), before.at, strict=True))
    return Row((at[0], at[1]), (mine or other)[0].point)


def place_of(steps: Sequence[Row], at: tuple[int, int | None]) -> int:
    """Return the index of the last row at or before both positions. If the second position is None, only the first counts."""
    ours, theirs = at
    known = [i for i, row in enumerate(steps) if row.at[0] <= ours and (theirs is None or row.at[1] <= theirs)]
    return known[-1] if known else 0


def forward(steps: Sequence[Row], i: int, following: Sequence[Row], grain: str) -> tuple[int, int]:
    """Return the positions after one step of a grain from row `i`; `following` are the next attempt's rows."""
    left = [*steps[i + 1 :], *following[1:]]
    if not left:
        return steps[i].at
    if grain == "pod":
        return (steps if i + 1 < len(steps) else following)[-1].at
    if grain == "plugin":
        return left[0].at
    met = (row for before, row in zip([steps[i], *left], left, strict=False) if _begins(before, row, grain))
    return next(met, left[-1]).at


def back(steps: Sequence[Row], i: int, grain: str) -> tuple[int, int]:
    """Return the positions after one step back, at most to the end of the attempt before."""
    if grain == "plugin" or i < 2:
        return steps[max(0, i - 1)].at
    if grain == "pod":
        return steps[0].at
    met = (j for j in range(i - 1, 0, -1) if _begins(steps[j - 1], steps[j], grain))
    return steps[next(met, 0)].at


def _begins(before: Row, row: Row, grain: str) -> bool:
    """Return whether a step of this grain ends at a row: at another extension point, or, for events, at a step without a plugin."""
    return not row.point if grain == "event" else row.point not in ("", before.point)
