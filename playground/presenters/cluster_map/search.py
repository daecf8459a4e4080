"""The viewer's search for nodes, shared by the map and the Filter stage.

A text matches nodes with it in their name, in a label (`key=value`), in the name of a pod there, or in the reason that refused them.
`key=value` matches the nodes with exactly that label, if any. `is:feasible` and the other words of VERDICTS match the nodes with that
verdict.
"""

from collections.abc import Callable, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from playground.presenters.scene import FEASIBLE, UNSEEN, Refusals, refusals, scheduler_of, table_of
from scheduler_core.world.readonly import Code, NodeTable, Pod, WorldView

Mask = NDArray[np.bool_]

IS_FEASIBLE, IS_REFUSED, IS_UNRESOLVABLE, IS_UNSEEN = (
    "is:feasible",
    "is:refused",
    "is:unresolvable",
    "is:not-examined",
)
VERDICTS: dict[str, Callable[[Refusals], Mask]] = {
    IS_FEASIBLE: lambda refused: refused.group == FEASIBLE,
    IS_REFUSED: lambda refused: refused.group >= 0,
    IS_UNRESOLVABLE: lambda refused: _of_groups(
        refused, [status.code is Code.UNRESOLVABLE for status in refused.statuses]
    ),
    IS_UNSEEN: lambda refused: refused.group == UNSEEN,
}
_KNOWN = "playground.search"


def matching(table: NodeTable, refused: Refusals, q: str) -> Mask | None:
    """Return the mask of the rows that match the search, or None for an empty search."""
    text = q.strip().lower()
    if not text:
        return None
    if text in VERDICTS:
        return VERDICTS[text](refused)
    said = _of_groups(refused, [text in status.message.lower() for status in refused.statuses])
    # Match by name and label; memoized, because both stay until a Node object changes.
    known = table.memo.get(_KNOWN)
    if known is None or known[0] != text or len(known[1]) != len(table):
        known = table.memo[_KNOWN] = (text, _by_name_and_label(table, text))
    mask: Mask = known[1]
    return mask | said | _with_pod(table, text)


def matching_of(sim: WorldView, names: Sequence[str], q: str) -> Mask | None:
    """Return the mask of matching nodes for `names`, in their order. Uses the present state of the map."""
    table = table_of(scheduler_of(sim))
    mask = matching(table, refusals(sim, table.names), q)
    if mask is None or names is table.names or names == table.names:
        return mask
    rows = (table.row(name) for name in names)
    return np.fromiter((row is not None and bool(mask[row]) for row in rows), np.bool_, len(names))


def _of_groups(refused: Refusals, chosen: list[bool]) -> Mask:
    if not any(chosen):
        return np.zeros(len(refused.group), np.bool_)
    mask: Mask = np.isin(refused.group, np.flatnonzero(chosen))
    return mask


def _by_name_and_label(table: NodeTable, text: str) -> Mask:
    key, equals, value = (part.strip() for part in text.partition("="))
    if equals:
        exactly = _build_mask(
            table,
            lambda row: any(
                value == v.lower() and key in (k.lower(), k.lower().rpartition("/")[2])
                for k, v in table.nodes[row].labels.items()
            ),
        )
        if exactly.any():
            return exactly
    return _build_mask(table, lambda row: text in table.names[row].lower() or _in_label(table, row, text))


def _in_label(table: NodeTable, row: int, text: str) -> bool:
    return any(text in f"{key}={value}".lower() for key, value in table.nodes[row].labels.items())


def _with_pod(table: NodeTable, text: str) -> Mask:
    def has(pod: Pod) -> bool:
        return text in pod.name

    return _build_mask(table, lambda row: any(has(pod) for pod in table.pods[row]))


def _build_mask(table: NodeTable, means: Callable[[int], bool]) -> Mask:
    return np.fromiter((means(row) for row in range(len(table))), np.bool_, len(table))


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
    """Return the verdicts as chips. `over`: Filter has ended, so nodes that pass are feasible. Chips with equal texts share a search."""
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
    """Return count, text, plugin, and unresolvable of each reason, largest count first."""
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
    """Return a chip. Its link searches for its nodes, or clears the search if it is active."""
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
