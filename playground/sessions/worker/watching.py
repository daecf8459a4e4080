"""Watches of a session's API server: the last changes of its objects, and who sees which."""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from playground.sessions.worker.world import Simulation, WatchEvent
from scheduler_core.apiserver.door import Call, Watcher

MOST = 20_000  # changes that are kept for those who come back


class Change(NamedTuple):
    """One change, with its number and the resourceVersion that it made."""

    number: int
    version: int
    event: WatchEvent


class Watches:
    """The changes that a head went through, and the watches that hear of them."""

    def __init__(self) -> None:
        self.oldest = 0
        self._changes: deque[Change] = deque(maxlen=MOST)
        self._watchers: dict[int, tuple[Watcher, int]] = {}
        self._last = 0
        self._number = 0
        self._world: Simulation | None = None
        self._events = 0

    def follow(self, world: Simulation) -> None:
        """Hears of a world that is the head now; what another head went through after that is forgotten."""
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

    def begin(self, world: Simulation, call: Call) -> tuple[int, Watcher, bytes]:
        """A new watch: its number, and what it sees first. Failure where it cannot begin."""
        self._note_events(world)
        watcher, since = Watcher.begin(world, call, self.oldest)
        first = [watcher.first] if watcher.first else []
        if since is not None:
            first += [watcher.show(each.event, each.version) for each in self._changes if each.version > since]
        self._number += 1
        self._watchers[self._number] = (watcher, self._last)
        return self._number, watcher, b"".join(first)

    def next(self, world: Simulation) -> tuple[list[tuple[int, bytes]], list[int]]:
        """Return the new events of each watch."""
        self._note_events(world)
        seen, parts = min((at for _, at in self._watchers.values()), default=self._last), []
        fresh = [each for each in reversed(self._changes) if each.number > seen][::-1]
        by_place: dict[tuple[str, str], list[Change]] = {}
        for each in fresh:
            for place in {"", each.event.namespace}:
                by_place.setdefault((each.event.kind, place), []).append(each)
        shown: dict[Any, bytes] = {}
        same: dict[Any, bytes] = {}  # of watches that ask for the same
        for number, (watcher, at) in self._watchers.items():
            key = (watcher.asked, at)
            part = None if watcher.form == "table" else same.get(key)
            if part is None:
                mine = [c for c in by_place.get((watcher.resource.key, watcher.target.namespace), ()) if c.number > at]
                part = same[key] = b"".join(watcher.show(each.event, each.version, shown) for each in mine)
            if part:
                parts.append((number, part))
            self._watchers[number] = (watcher, self._last)
        return parts, list(self._watchers)

    def end(self, number: int) -> None:
        """Forget a watch."""
        self._watchers.pop(number, None)

    def _note_events(self, world: Simulation) -> None:
        """The Events that components recorded since: they are no objects of the store."""
        store = world.store
        for event in Watcher.list_new_events(store, self._events):
            self._note(store.resource_version, event)
        self._events = len(store.events)
