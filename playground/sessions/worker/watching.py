"""Watches of a session's API server: the last changes of its objects, and the watches that get them."""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import chain, takewhile
from typing import Any, NamedTuple

from playground.sessions.worker.world import Simulation, WatchEvent
from scheduler_core.apiserver.door import Call, Watcher

MOST = 20_000  # changes that are kept for clients that reconnect


class Change(NamedTuple):
    """One change, with its number and the resourceVersion that it set."""

    number: int
    version: int
    event: WatchEvent


class Watches:
    """The changes at a head, and the watches that get them."""

    def __init__(self) -> None:
        self.oldest = 0
        self._changes: deque[Change] = deque(maxlen=MOST)
        self._watchers: dict[int, tuple[Watcher, int]] = {}  # by number, each with the last change before it began
        self._by_place: dict[tuple[str, str], dict[int, None]] = {}  # numbers by kind and namespace
        self._last = self._seen = 0  # numbers of changes: the last one, and the last one sent to watches
        self._number = 0
        self._world: Simulation | None = None
        self._events = 0

    def follow(self, world: Simulation) -> None:
        """Follow a world that is the head now; discard later changes of the previous head."""
        if world is self._world:
            return
        self._world, version = world, world.store.resource_version
        while self._changes and self._changes[-1].version > version:
            self._changes.pop()
        if not self._changes:
            self.oldest = version
        self._events = min(self._events, len(world.store.events)) if self._watchers else len(world.store.events)
        world.store.subscribe(self._hear(world))

    def _hear(self, world: Simulation) -> Callable[[WatchEvent], None]:
        def hear(event: WatchEvent) -> None:
            if world is self._world:
                self._note(world.store.resource_version, event)

        return hear

    def _note(self, version: int, event: WatchEvent) -> None:
        if len(self._changes) == MOST:
            self.oldest = self._changes[0].version
        self._last += 1
        self._changes.append(Change(self._last, version, event))

    def begin(self, world: Simulation, call: Call) -> tuple[int, Watcher, Iterable[bytes]]:
        """Begin a watch; return its number (0: it is over), its watcher, and its first events. Raise Failure if it is refused."""
        self._note_events(world)
        watcher, since = Watcher.begin(world, call, self.oldest)
        if since == Watcher.OVER:
            return 0, watcher, watcher.first
        missed = [] if since is None else [each for each in self._changes if each.version > since]
        first = chain(watcher.first, (watcher.show(each.event, each.version) for each in missed))
        if not self._watchers:
            self._seen = self._last
        self._number += 1
        self._watchers[self._number] = (watcher, self._last)
        self._by_place.setdefault(_place(watcher), {})[self._number] = None
        return self._number, watcher, first

    def next(self, world: Simulation) -> tuple[list[tuple[list[int], bytes]], list[int]]:
        """Return the new events of watches, once for those with the same content, and the numbers of all watches.

        Watches of kinds and namespaces without changes cost nothing.
        """
        self._note_events(world)
        fresh = list(takewhile(lambda each: each.number > self._seen, reversed(self._changes)))[::-1]
        by_place: dict[tuple[str, str], list[Change]] = {}
        for each in fresh:
            for namespace in {"", each.event.namespace}:
                by_place.setdefault((each.event.kind, namespace), []).append(each)
        shown: dict[Any, bytes] = {}
        parts: dict[Any, tuple[list[int], bytes]] = {}
        for place, changes in by_place.items():
            for number in self._by_place.get(place, ()):
                watcher, since = self._watchers[number]
                since = max(since, self._seen)
                key = (watcher.asked, since, number if watcher.form == "table" else 0)
                if key not in parts:
                    mine = (c for c in changes if c.number > since)
                    parts[key] = ([], b"".join(watcher.show(each.event, each.version, shown) for each in mine))
                parts[key][0].append(number)
        self._seen = self._last
        return [part for part in parts.values() if part[1]], list(self._watchers)

    def end(self, number: int) -> None:
        if number in self._watchers:
            place = _place(self._watchers.pop(number)[0])
            del self._by_place[place][number]
            if not self._by_place[place]:
                del self._by_place[place]

    def _note_events(self, world: Simulation) -> None:
        """Add the Events that components have recorded since, which are not objects of the store."""
        store = world.store
        if self._events == len(store.events):
            return
        for event in Watcher.list_new_events(store, self._events):
            self._note(store.resource_version, event)
        self._events = len(store.events)


def _place(watcher: Watcher) -> tuple[str, str]:
    return watcher.resource.key, watcher.target.namespace
