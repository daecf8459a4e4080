"""Watches: the changes that a client gets, and their events.

kube: apiserver/pkg/endpoints/handlers/watch.go, apiserver/pkg/storage/cacher @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import msgspec

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.access import require
from scheduler_core.apiserver.door.answers import Failure, no_resource, not_allowed
from scheduler_core.apiserver.door.events import convert, event_manifest, group_events, is_gone
from scheduler_core.apiserver.door.reading import (
    Form,
    all_of,
    check_options,
    is_on,
    make_table,
    pick,
    present,
    read_version,
    show,
)
from scheduler_core.apiserver.door.requests import Call, ServedWorld
from scheduler_core.apiserver.door.resources import EVENTS, Resource, Target, find_resource, parse_path
from scheduler_core.apiserver.door.selectors import Test, check_selectors, make_test
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.watch import ADDED, DELETED, MODIFIED, WatchEvent

_END = {"k8s.io/initial-events-end": "true"}


@dataclass
class Watcher:
    """One watch. `first`: its initial events; `asked`: equal for watches that get the same events."""

    OVER: ClassVar[int] = -1  # the version of a watch that ends after its initial events

    world: ServedWorld
    resource: Resource
    target: Target
    test: Test | None
    form: Form
    include: str
    first: Iterable[bytes] = ()
    asked: tuple[Any, ...] = ()
    described: bool = False

    @classmethod
    def begin(cls, world: ServedWorld, call: Call, oldest: int) -> tuple[Watcher, int | None]:
        """Return a watch, and the resourceVersion after which it gets changes, None (begins with all objects), or OVER. Raise Failure."""
        target = parse_path(call.path)
        if target is None:
            raise no_resource()
        require(world.store, {**call.query, "watch": "1"}, "GET", call.path, target)
        resource = find_resource(world.store, target.group, target.version, target.plural)
        if resource is None:
            raise no_resource()
        if "watch" not in resource.verbs or target.subresource:
            raise not_allowed()
        query, current = call.query, world.store.resource_version
        check_selectors(query)
        check_options(query, watch=True)
        test, version = make_test(resource, query), read_version(query, current, watch=True)
        watcher = cls(world, resource, target, test, call.form, query.get("includeObject", ""))
        watcher.asked = (target, query.get("labelSelector"), query.get("fieldSelector"), call.form)
        initial = is_on(query, "sendInitialEvents")
        if initial or (initial is None and version in (None, 0)):
            watcher.first = watcher._list(bool(initial and is_on(query, "allowWatchBookmarks")))
            return watcher, None
        if version is not None and 0 < version < oldest:
            said = f"too old resource version: {version} ({oldest})"
            watcher.first = [_line("ERROR", Failure(410, "Expired", said).reply.body)]
            return watcher, cls.OVER
        return watcher, version or current

    def _list(self, bookmark: bool) -> Iterable[bytes]:
        """Return the events of all present objects, each encoded when it is read."""
        store = self.world.store
        found = pick(all_of(store, self.resource), self.target.namespace, self._passes, "", 0)
        version = str(store.resource_version)
        return chain((self._line(ADDED, each) for each in found), (self.mark(version, _END) for _ in range(bookmark)))

    def mark(self, version: str, annotations: Mapping[str, str] | None = None) -> bytes:
        """Return the bookmark of a version."""
        empty: Manifest = {"metadata": {"name": "", "resourceVersion": version, "annotations": annotations}}
        described, line = self.described, self._line("BOOKMARK", empty)
        self.described = described or annotations is not None
        return line

    def _passes(self, manifest: Manifest) -> bool:
        meta = manifest["metadata"]
        if self.target.namespace and meta.get("namespace") != self.target.namespace:
            return False
        if self.target.name and meta["name"] != self.target.name:
            return False
        return self.test is None or self.test(manifest)

    def show(self, event: WatchEvent, version: int, shown: dict[Any, bytes] | None = None) -> bytes:
        """Return the event of a change in this watch, or b"". `shown`: events of other watches."""
        if event.kind != self.resource.key:
            return b""
        before = event.old is not None and event.type != ADDED and self._passes(event.old)
        after = event.new is not None and self._passes(event.new)
        if not before and not after:
            return b""
        type_ = MODIFIED if before and after else ADDED if after else DELETED
        if event.kind == EVENTS and event.new is not None and is_gone(event.new):
            type_ = DELETED
        manifest = event.new if after else event.old
        assert manifest is not None
        if type_ == DELETED:
            manifest = {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": str(version)}}
        if self.form == "table" or shown is None:
            return self._line(type_, manifest)
        key = (id(event), type_, self.form, self.resource.api_version)
        if key not in shown:
            shown[key] = self._line(type_, manifest)
        return shown[key]

    def _line(self, type_: str, manifest: Manifest) -> bytes:
        if self.resource.key == EVENTS and self.resource.group and "regarding" not in manifest:
            manifest = convert(manifest)
        now = self.world.store.epoch + self.world.now
        if self.form == "table":
            table = make_table(self.resource, [manifest], now, self.include, not self.described)
            table["metadata"] = {"resourceVersion": manifest["metadata"].get("resourceVersion", "")}
            self.described = True
            return _line(type_, table)
        if self.form == "metadata":
            return _line(type_, show(self.resource, manifest, self.form, now))
        return _line(type_, present(self.resource, manifest))

    @staticmethod
    def list_new_events(store: Store, seen: int) -> Iterator[WatchEvent]:
        """Return the Events that components recorded after the first `seen`, as changes."""
        counts: dict[tuple[str, ...], list[Any]] = {}
        for number, (key, each) in enumerate(group_events(store.events)):
            known = counts.setdefault(key, [each, 0, number])
            known[1] += each.count
            if number >= seen:
                manifest = event_manifest(store, known[0], each, known[1], known[2])
                yield WatchEvent(ADDED if known[1] == each.count else MODIFIED, EVENTS, manifest, manifest)


def _line(type_: str, body: Any) -> bytes:
    return msgspec.json.encode({"type": type_, "object": body}) + b"\n"
