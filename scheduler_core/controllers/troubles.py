"""Controllers that fight each other, and controllers that make no progress: detected as they work, and reported with the reason.

| trouble | sign |
|---|---|
| fight | a field of an object is repeatedly restored to its value before another controller's write |
| churn | the objects that an owner's controller creates are repeatedly ended by another controller within half a minute |
| failing | a key's reconciliation fails repeatedly |
| repeating | a key's reconciliation does the same thing repeatedly |
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects import controller_of, optional_time
from scheduler_core.apiserver.watch import ADDED, WatchEvent
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.controllers.memory.nodes import EarlyEnds, FieldWrite, Troubles
from scheduler_core.controllers.surroundings import Surroundings

WITHIN = 60 * SECOND  # older signs are ignored
EARLY = 30 * SECOND
FIGHT, CHURN, FAILING, REPEATING = 3, 5, 3, 5  # occurrences before a trouble is reported
MOST = 500
_OF_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_VOLATILE = ("timeAdded", "lastTransitionTime", "lastHeartbeatTime", "lastProbeTime")


@dataclass(frozen=True, slots=True)
class Trouble:
    """One trouble: its sign, the controllers, the object, its start (ns), the number of occurrences, and a description."""

    sign: str
    controllers: tuple[str, ...]
    about: str
    since: int
    count: int
    text: str


def note(troubles: Troubles, controller: str, key: str, changes: Iterable[WatchEvent], now: int, epoch: int) -> None:
    """Record the changes of a reconciliation. `epoch`: ns since 1970 at virtual time 0."""
    for event in changes:
        if event.old is None or event.type == ADDED:
            continue
        if _ends(event):
            _note_end(troubles, controller, key, event, now, epoch)
        elif event.new is not None:
            old = event.old
            new = event.new
            meta = new["metadata"]
            name = f"{new.get('kind')} {meta.get('namespace') or ''}/{meta['name']}".replace(" /", " ")
            for path, before, after in _changes(old, new):
                place = f"{name}: {path}"
                last = troubles.fields.pop(place, None)
                undoes = (
                    last is not None
                    and (last.controller, last.key) != (controller, key)
                    and now - last.t <= WITHIN
                    and last.before == _digest(after)
                )
                swings, since, against = 0, now, ("", "")
                if last is not None and undoes:
                    swings, since, against = last.swings + 1, last.since, (last.controller, last.key)
                troubles.fields[place] = FieldWrite(controller, key, against, now, _digest(before), swings, since)
            _trim(troubles.fields)


def troubles_of(surroundings: Surroundings, now: int) -> tuple[Trouble, ...]:
    """Return the current troubles, by sign."""
    return (*_fights(surroundings.troubles, now), *_churn(surroundings.troubles, now), *_of_queues(surroundings, now))


# detection


def _note_end(troubles: Troubles, controller: str, key: str, event: WatchEvent, now: int, epoch: int) -> None:
    meta = (event.old or {})["metadata"]
    owner = controller_of(event.old)
    created = optional_time(meta.get("creationTimestamp"))
    if owner is None or created is None or now + epoch - created > EARLY:
        return
    name = f"{owner.get('name')}"
    if key.endswith(f"{meta.get('namespace') or ''}/{name}"):
        return  # the owner's own controller has scaled down
    uid = str(owner.get("uid"))
    seen = troubles.early.pop(uid, None)
    times = tuple(t for t in seen.times if now - t <= WITHIN) if seen is not None else ()
    about = f"{owner.get('kind')} {meta.get('namespace') or ''}/{name}"
    troubles.early[uid] = EarlyEnds(about, event.kind, controller, (*times, now)[-MOST:])
    _trim(troubles.early)


def _ends(event: WatchEvent) -> bool:
    old, new = event.old or {}, event.new
    if old["metadata"].get("deletionTimestamp"):
        return False
    if new is None or new["metadata"].get("deletionTimestamp"):
        return True
    was, is_ = ((each.get("status") or {}).get("phase") for each in (old, new))
    return event.kind == "Pod" and is_ == "Failed" != was


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the changed fields of the spec and of the metadata that users own: path, before, after."""
    if old.get("spec") is not new.get("spec"):
        yield from _leaves(old.get("spec"), new.get("spec"), "spec")
    before, after = old["metadata"], new["metadata"]
    for name in _OF_METADATA:
        if before.get(name) is not after.get(name):
            yield from _leaves(before.get(name), after.get(name), f"metadata.{name}")


def _leaves(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            yield from _leaves(old.get(name), new.get(name), f"{path}.{name}")
    else:
        yield path, old, new


def _digest(value: Any) -> str:
    text = json.dumps(_steady(value), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _steady(value: Any) -> Any:
    """Return a value without its times."""
    if isinstance(value, Mapping):
        return {name: _steady(inner) for name, inner in value.items() if name not in _VOLATILE}
    return [_steady(inner) for inner in value] if isinstance(value, list | tuple) else value


def _trim(kept: dict[str, Any]) -> None:
    while len(kept) > MOST:
        del kept[next(iter(kept))]


# report


def _fights(troubles: Troubles, now: int) -> Iterator[Trouble]:
    for place, last in troubles.fields.items():
        if last.swings >= FIGHT and now - last.t <= WITHIN:
            about, _, path = place.partition(": ")
            (mine, key), (other, its) = sorted(((last.controller, last.key), last.against))
            both = (mine, other) if mine != other else (f"{mine} for {key}", f"{other} for {its}")
            text = f"{' and '.join(both)} revert {path} of {about} in turn, {last.swings} times so far"
            yield Trouble("fight", both, about, last.since, last.swings, text)


def _churn(troubles: Troubles, now: int) -> Iterator[Trouble]:
    for seen in troubles.early.values():
        times = [t for t in seen.times if now - t <= WITHIN]
        if len(times) >= CHURN:
            text = (
                f"{seen.owner} creates objects of kind {seen.kind} that {seen.by} ends immediately: {len(times)} within a minute, "
                "none older than half a minute"
            )
            yield Trouble("churn", (seen.by,), seen.owner, times[0], len(times), text)


def _of_queues(surroundings: Surroundings, now: int) -> Iterator[Trouble]:
    for controller, queue in surroundings.queues.items():
        for key, count in queue.failures.items():
            if count >= FAILING:
                last = next((done for done in reversed(queue.done) if done.key == key), None)
                why = "" if last is None else last.text
                since = now if last is None else last.t
                text = f"{controller} has failed {count} times to reconcile {key}: {why}"
                yield Trouble("failing", (controller,), key, since, count, text)
        for key in dict.fromkeys(done.key for done in queue.done if done.key not in queue.failures):
            mine = [done for done in queue.done if done.key == key]
            count = next((i for i, done in enumerate(reversed(mine)) if done.text != mine[-1].text), len(mine))
            if count >= REPEATING and key in queue.due:
                text = f"{controller} makes no progress with {key}: {mine[-1].text}"
                yield Trouble("repeating", (controller,), key, mine[-count].t, count, text)
