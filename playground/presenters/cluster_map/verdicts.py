"""Verdicts of the present cycle as chips: how many nodes pass, are refused and why, are not examined. A chip searches for its nodes."""

from collections.abc import Sequence
from typing import TypedDict

from playground.presenters.cluster_map.search import IS_FEASIBLE, IS_UNSEEN, Mask
from playground.presenters.refusals import FEASIBLE, UNSEEN, Refusals
from scheduler_core.world.readonly import Code

SHOWN = 8


class Counts(TypedDict):
    all: int
    ok: int
    no: int
    unseen: int


class VerdictChips(TypedDict):
    over: bool
    chips: "list[VerdictChip]"
    others: int
    found: Counts | None
    q: str
    skipped: list[str]


def chips(refused: Refusals, q: str, over: bool, mask: Mask | None, skipped: Sequence[str] = ()) -> VerdictChips:
    """`over`: Filter has decided, so that what passes is feasible. Chips with the same text stand for one search."""
    groups = _groups(refused)
    return {
        "over": over,
        "chips": [
            _chip("ok" if over else "passes", refused.feasible, "", IS_FEASIBLE, q),
            *(
                _chip("un" if unresolvable else "no", count, text, text, q, plugin)
                for count, text, plugin, unresolvable in groups[:SHOWN]
            ),
            *([_chip("unseen" if over else "waits", refused.unseen, "", IS_UNSEEN, q)] if refused.unseen else []),
        ],
        "others": sum(count for count, *_ in groups[SHOWN:]),
        "found": None if mask is None else _count_verdicts(refused, mask),
        "q": q,
        "skipped": list(skipped),
    }


def _groups(refused: Refusals) -> list[tuple[int, str, str, bool]]:
    """The largest first."""
    groups = [
        (count, status.message, status.plugin, status.code is Code.UNRESOLVABLE)
        for status, count in zip(refused.statuses, refused.counts, strict=True)
        if count
    ]
    return sorted(groups, key=lambda group: (-group[0], group[1]))


class VerdictChip(TypedDict):
    kind: str
    count: int
    text: str
    short: str
    search: str
    on: bool
    plugin: str


def _chip(kind: str, count: int, text: str, search: str, q: str, plugin: str = "") -> VerdictChip:
    """Its link searches for its nodes, or for nothing where it does that already."""
    on = q.strip().lower() == search.lower()
    return {
        "kind": kind,
        "count": count,
        "text": text,
        "short": text.removeprefix("node(s) "),
        "search": "" if on else search,
        "on": on,
        "plugin": plugin,
    }


def _count_verdicts(refused: Refusals, mask: Mask) -> Counts:
    group = refused.group[: len(mask)]
    return {
        "all": int(mask.sum()),
        "ok": int((mask & (group == FEASIBLE)).sum()),
        "no": int((mask & (group >= 0)).sum()),
        "unseen": int((mask & (group == UNSEEN)).sum()),
    }
