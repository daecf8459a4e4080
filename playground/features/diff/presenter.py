"""The differences between two worlds of one history: objects, places of pods, contents of nodes, queues, and assumed pods.

Unchanged objects are identical in both worlds, or have the same resourceVersion, so only changed ones are compared in detail.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec
import numpy as np

from playground.features.diff.query import Difference, EndedAttempt, Line, ObjectRow, QueueRow
from playground.presenters.words import amount, clock, gettext_noop
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.readonly import Attempt, CacheView, QueueView, WorldView

LINES = 14  # of one object
TEXT = 160
NAMES = 12
ATTEMPTS = 12
HEAD = 8  # of the active queue, in order
# Fields that every write changes; differences in them are noise.
_IGNORED = frozenset({"resourceVersion", "generation", "managedFields", "observedGeneration"})
_KEYS = ("type", "name", "key", "uid")  # which identify the entries of a list
_ORDER = {"Pod": 0, "Node": 1}


def compare(before: WorldView, after: WorldView, kind: str = "", q: str = "") -> Difference:
    """Return the differences, pods first. `kind` and `q` (a part of the name) select rows."""
    rows = _rows(before, after)
    chosen = [row for row in rows if kind in ("", row["kind"]) and q in row["key"]]
    attempts = after.journal.attempts[len(before.journal.attempts) :]
    return {
        "since": before.position,
        "to": after.position,
        "since_t": clock(before.now),
        "to_t": clock(after.now),
        "rows": chosen,
        "total": len(chosen),
        "kinds": Counter(row["kind"] for row in rows),
        "queues": list(_queues(before, after)),
        "attempts": [_attempt(attempt) for attempt in attempts[-ATTEMPTS:]],
        "more_attempts": max(0, len(attempts) - ATTEMPTS),
        "settings": list(walk("", msgspec.structs.asdict(before.settings), msgspec.structs.asdict(after.settings))),
    }


def _attempt(attempt: Attempt) -> EndedAttempt:
    return {
        "number": attempt.number,
        "pod": attempt.pod,
        "outcome": attempt.outcome,
        "node": attempt.node,
        "at": attempt.last_position,
    }


def _rows(before: WorldView, after: WorldView) -> list[ObjectRow]:
    rows: dict[tuple[str, str], ObjectRow] = {}
    for kind in sorted({*before.store.kinds(), *after.store.kinds()}):
        for key, old, new in _objects(before, after, kind):
            lines = [] if old is None or new is None else list(walk("", old, new))
            what = "created" if old is None else "deleted" if new is None else "changed"
            if lines or what != "changed":
                rows[kind, key] = {"kind": kind, "key": key, "what": what, "lines": lines, "more": 0}
    for kind, key, line in (
        *_places(before, after),
        *_compare_assumed_pods(before, after),
        *_compare_requested_resources(before, after),
    ):
        row = rows.setdefault((kind, key), {"kind": kind, "key": key, "what": "changed", "lines": [], "more": 0})
        row["lines"].insert(0, line)
    for row in rows.values():
        row["more"] = max(0, len(row["lines"]) - LINES)
        row["lines"] = row["lines"][:LINES]
    return sorted(rows.values(), key=lambda row: (_ORDER.get(row["kind"], 2), row["kind"], row["key"]))


def _objects(before: WorldView, after: WorldView, kind: str) -> Iterator[tuple[str, Manifest | None, Manifest | None]]:
    """Yield the key and both states of each object of a kind that differs."""
    old, new = ({_key(manifest): manifest for manifest in world.store.list(kind)} for world in (before, after))
    for key, manifest in new.items():
        was = old.get(key)
        if was is None or not _same(was, manifest):
            yield key, was, manifest
    for key, manifest in old.items():
        if key not in new:
            yield key, manifest, None


def _key(manifest: Manifest) -> str:
    meta = manifest["metadata"]
    namespace = meta.get("namespace")
    return f"{namespace}/{meta['name']}" if namespace else str(meta["name"])


def _same(old: Manifest, new: Manifest) -> bool:
    if old is new:
        return True
    was, now = old["metadata"], new["metadata"]
    version = was.get("resourceVersion")
    return version is not None and version == now.get("resourceVersion") and was.get("uid") == now.get("uid")


def walk(path: str, old: object, new: object) -> Iterator[Line]:
    """Yield the fields whose values differ between two JSON values, with both values."""
    if old is new or old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in sorted({*old, *new}):
            if name not in _IGNORED:
                yield from walk(f"{path}.{name}" if path else name, old.get(name), new.get(name))
        return
    lists = _index_entries(old, new)
    if lists is None:
        yield _line(path, text(old), text(new))
        return
    olds, news = lists
    for name in dict.fromkeys([*olds, *news]):
        place = f"{path}[{name}]"
        if path.endswith("conditions"):
            if olds.get(name) != news.get(name):
                yield _line(place, _condition(olds.get(name)), _condition(news.get(name)))
        elif name in olds and name in news:
            yield from walk(place, olds[name], news[name])
        else:
            yield _line(place, text(olds.get(name)), text(news.get(name)))


def _index_entries(old: object, new: object) -> tuple[dict[str, Manifest], dict[str, Manifest]] | None:
    """Return the entries of two lists by their identifying field, or None if there is none with distinct values."""
    olds, news = _entries(old), _entries(new)
    if olds is None or news is None or not (olds or news):
        return None
    key = next((key for key in _KEYS if _distinct(olds, key) and _distinct(news, key)), None)
    if key is None:
        return None
    return {str(entry[key]): entry for entry in olds}, {str(entry[key]): entry for entry in news}


def _entries(value: object) -> list[Manifest] | None:
    """Return a list of mappings, [] without a value, or None for another type."""
    if value is None:
        return []
    if not isinstance(value, list | tuple) or not all(isinstance(entry, Mapping) for entry in value):
        return None
    return list(value)


def _distinct(entries: list[Manifest], by: str) -> bool:
    values = [str(entry.get(by) or "") for entry in entries]
    return "" not in values and len(set(values)) == len(values)


def _line(path: str, old: str, new: str) -> Line:
    return {"path": path, "before": old, "after": new}


def _condition(condition: Manifest | None) -> str:
    if condition is None:
        return ""
    words = (condition.get("status"), condition.get("reason"), condition.get("message"))
    return text(" ".join(str(word) for word in words if word))


def text(value: object) -> str:
    """Shorten a value; "" for None."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        words = "{" + ", ".join(f"{name}: {text(item)}" for name, item in value.items()) + "}"
    elif isinstance(value, list | tuple):
        words = "[" + ", ".join(text(item) for item in value) + "]"
    else:
        words = str(value).lower() if isinstance(value, bool) else str(value)
    return words if len(words) <= TEXT else words[: TEXT - 1] + "…"


def _places(before: WorldView, after: WorldView) -> Iterator[tuple[str, str, Line]]:
    """Yield the pods that changed their place in between."""
    moved = dict.fromkeys(move.pod for move in after.journal.moves[len(before.journal.moves) :])
    for pod in moved:
        old, new = before.journal.place(pod), after.journal.place(pod)
        if old != new:
            yield "Pod", pod, _line("place", old, new)


def _compare_assumed_pods(before: WorldView, after: WorldView) -> Iterator[tuple[str, str, Line]]:
    olds, news = _all_assumed(before), _all_assumed(after)
    for pod in dict.fromkeys([*olds, *news]):
        if olds.get(pod) != news.get(pod):
            yield "Pod", pod, _line("assumed on", olds.get(pod, ""), news.get(pod, ""))


def _all_assumed(world: WorldView) -> dict[str, str]:
    return {pod: node for scheduler in world.schedulers for pod, node in scheduler.cache.assumed.items()}


def _compare_requested_resources(before: WorldView, after: WorldView) -> Iterator[tuple[str, str, Line]]:
    """Yield the nodes whose requested resources differ, by the first scheduler's cache."""
    if not before.schedulers or not after.schedulers:
        return
    old, new = before.schedulers[0].cache, after.schedulers[0].cache
    names = new.resources.names
    for node in _candidates(old, new):
        was, now = _get_requested(old, node), _get_requested(new, node)
        columns = range(max(len(was), len(now)))
        lines = [line for column in columns if (line := _amounts(column, was, now, names)) is not None]
        pods = (_pods(old, node), _pods(new, node))
        if pods[0] != pods[1]:
            lines.append(_line("pods", str(pods[0]), str(pods[1])))
        for line in reversed(lines):
            yield "Node", node, line


def _candidates(old: CacheView, new: CacheView) -> list[str]:
    """Return the nodes whose row differs, or all nodes of both if the rows are not comparable."""
    if old.slots == new.slots and old.requested.shape == new.requested.shape:
        rows = {int(row) for row in np.flatnonzero((old.requested != new.requested).any(axis=1))}
        return [name for name, slot in new.slots.items() if slot in rows]
    return list(dict.fromkeys([*old.slots, *new.slots]))


def _get_requested(cache: CacheView, node: str) -> list[int]:
    slot = cache.slots.get(node)
    return [] if slot is None else [int(value) for value in cache.requested[slot]]


def _pods(cache: CacheView, node: str) -> int:
    slot = cache.slots.get(node)
    return 0 if slot is None else len(cache.pods[slot])


def _amounts(column: int, was: list[int], now: list[int], names: list[str]) -> Line | None:
    old = was[column] if column < len(was) else 0
    new = now[column] if column < len(now) else 0
    if old == new:
        return None
    name = names[column]
    return _line(f"requested {name}", amount(name, old), amount(name, new))


def _queues(before: WorldView, after: WorldView) -> Iterator[QueueRow]:
    """Yield, by scheduler and place, the pods that arrived and left, and the order of the active queue if it changed."""
    olds = {scheduler.name: scheduler.queue for scheduler in before.schedulers}
    for scheduler in after.schedulers:
        old, new = olds.get(scheduler.name), scheduler.queue
        for place, was, now in zip(_PLACES, _members(old), _members(new), strict=True):
            came, left = [pod for pod in now if pod not in was], [pod for pod in was if pod not in now]
            order = _order(old, new) if place == "active" else None
            if came or left or order:
                yield {
                    "scheduler": scheduler.name,
                    "place": place,
                    "was": len(was),
                    "now": len(now),
                    "came": came[:NAMES],
                    "more_came": max(0, len(came) - NAMES),
                    "left": left[:NAMES],
                    "more_left": max(0, len(left) - NAMES),
                    "order": order,
                }


gettext_noop("waiting on permit")  # a place of pods that no queue is named after
_PLACES = ("active", "backoff", "unschedulable", "gated", "in flight")


def _members(queue: QueueView | None) -> list[Mapping[str, object]]:
    if queue is None:
        return [{} for _ in _PLACES]
    flight = {pod.key: pod for pod in queue.in_flight}
    backoff = {**queue.backoff_pods, **queue.error_backoff_pods}
    return [queue.active_pods, backoff, queue.unschedulable_pods, queue.gated_pods, flight]


def _order(old: QueueView | None, new: QueueView) -> Line | None:
    """Return the heads of the active queue before and now, if the pods in both are in another order; else None."""
    was = [] if old is None else [entry.key for entry in old.active(HEAD)]
    now = [entry.key for entry in new.active(HEAD)]
    both = set(was) & set(now)
    if [pod for pod in was if pod in both] == [pod for pod in now if pod in both]:
        return None
    return _line("order", ", ".join(was), ", ".join(now))
