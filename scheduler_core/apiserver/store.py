"""The store of the simulated API server: immutable manifests by kind, namespace, and name.

Each write gets the next resourceVersion and notifies the subscribers before it returns. The store does not check its input: validation
and admission (server.py) and the handling of DELETE (deletion.py) precede it. A namespace need not exist.

kube: pkg/registry/core/pod/storage, apiserver/pkg/registry/generic/registry/store.go @ v1.34.1
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Node
from scheduler_core.apimachinery.objects.pod import Pod, Reading
from scheduler_core.apimachinery.objects.spec import canonical
from scheduler_core.apimachinery.objects.times import format_time, parse_time
from scheduler_core.apiserver.kinds import get_kind_by_key
from scheduler_core.apiserver.kube_events import KubeEvent
from scheduler_core.apiserver.rewriting import ControllerIndex, with_condition, with_section
from scheduler_core.apiserver.status import DONE, Answer, Refused, already_exists, conflict, not_found
from scheduler_core.apiserver.watch import ADDED, DELETED, MODIFIED, Subscriber, WatchEvent
from scheduler_core.base.state import Copied, Derived, Growing, Shared, State

Manifests = list[Manifest]
Key = tuple[str, str]
Keys = list[Key]
Pods = list[Pod]
Nodes = list[Node]
Names = list[str]
Subscribers = list[Subscriber]
Written = Sequence[Manifest]
EPOCH = parse_time("2026-01-01T00:00:00Z")
_STANDING = ("Namespace", "PriorityClass")
_NOTHING: Manifest = {"written": ()}
_MOST_RECORDS = 4096
_NO_OBJECTS: dict[Key, Manifest] = {}
_OWNED = ("uid", "creationTimestamp", "generation", "resourceVersion", "deletionTimestamp")


class Store(State):
    """All objects of a world. `epoch` (ns since 1970) is the wall time at virtual time 0; `reading` controls the parsing of pods."""

    epoch: int
    live: bool  # virtual time follows the wall clock
    calendar: bool  # virtual time 0 is a calendar time, and uids look like kube's
    reading: Reading
    resource_version: int
    events: Growing[KubeEvent]
    _objects: Copied[dict[str, dict[Key, Manifest]]]
    _pods: Copied[dict[Key, Pod]]
    _nodes: Copied[dict[str, Node]]
    _uids: Copied[dict[str, tuple[str, Key]]]
    _created: int
    _written: Copied[dict[str, Manifest]]  # by uid, if defaulting or admission wrote fields
    _records: Derived[dict[str, Manifest]]  # the same by content, so that equal records share one object
    _sorted: Derived[Copied[dict[str, Shared[Keys]]]]
    _owned: Derived[dict[str, ControllerIndex]]  # by kind, built at first use
    _assigned: Derived[dict[str, dict[Key, None]]]  # pods by node, built at first use
    _subscribers: Derived[Subscribers]

    def __init__(self, epoch: int = EPOCH) -> None:
        self.epoch = epoch
        self.live = False
        self.calendar = False
        self.reading = Reading.ALL
        self.resource_version = 0
        self.events = []
        self._objects = {}
        self._pods = {}
        self._nodes = {}
        self._uids = {}
        self._created = 0
        self._written = {}
        self._records = {}
        self._sorted = {}
        self._owned = {}
        self._assigned = {}
        self._subscribers = []

    # reading

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        return self._objects.get(kind, _NO_OBJECTS).get((namespace, name))

    def list(self, kind: str) -> Manifests:
        """Return all objects of a kind, sorted by namespace and name."""
        objects = self._objects.get(kind)
        return [objects[key] for key in self._order(kind)] if objects else []

    def in_creation_order(self, kind: str) -> Manifests:
        """Return all objects of a kind, the oldest first."""
        return [*self._objects.get(kind, _NO_OBJECTS).values()]

    def by_uid(self, uid: str) -> tuple[str, str, str] | None:
        """Return kind, namespace, and name of the object with a uid, or None."""
        found = self._uids.get(uid)
        return None if found is None else (found[0], *found[1])

    def named(self) -> Iterator[tuple[str, Key]]:
        """Yield kind and key of each object with a uid."""
        return iter(self._uids.values())

    def tables(self) -> tuple[Mapping[Any, Any], ...]:
        """Return the tables of objects; each has one entry per object, of one kind or of all kinds."""
        return (*self._objects.values(), self._pods, self._uids)

    def keys(self, kind: str) -> Keys:
        """Return namespaces and names of a kind's objects, sorted. The list stays the same until an object is created or deleted."""
        return self._order(kind)

    def count(self, kind: str) -> int:
        return len(self._objects.get(kind, _NO_OBJECTS))

    def kinds(self) -> Names:
        """Return the keys of kinds that have objects, sorted."""
        return sorted(kind for kind, objects in self._objects.items() if objects)

    def pod(self, namespace: str, name: str) -> Pod | None:
        return self._pods.get((namespace, name))

    def pod_at(self, key: str) -> Pod | None:
        """Return the pod of a key "namespace/name", or None."""
        namespace, _, name = key.partition("/")
        return self._pods.get((namespace, name))

    def pods(self) -> Pods:
        """Return all pods, sorted by namespace and name."""
        return [self._pods[key] for key in self._order("Pod")]

    def pods_on(self, node: str) -> Pods:
        """Return the pods that are bound to a node, sorted by namespace and name."""
        if not self._assigned:
            # _assign() treats an empty index as unused, so the index needs one entry first.
            self._assigned[""] = {}
            for key, pod in self._pods.items():
                self._assign(key, None, pod)
        return [self._pods[key] for key in sorted(self._assigned.get(node, ()))]

    def node(self, name: str) -> Node | None:
        return self._nodes.get(name)

    def nodes(self) -> Nodes:
        """Return all nodes, sorted by name."""
        return [self._nodes[key[1]] for key in self._order("Node")]

    def controlled(self, kind: str, uid: str) -> Keys:
        """Return namespaces and names of a kind's objects that the controller of this uid manages, sorted."""
        return self._ownership(kind).of(uid)

    def uncontrolled(self, kind: str, namespace: str) -> Keys:
        """Return the keys of the objects in a namespace that no controller manages."""
        return self._ownership(kind).without(namespace)

    def list_written(self, uid: str) -> Written:
        """Return the fields that defaulting and admission wrote into the object of a uid: `by`, `path` and `value` of each. A field may
        have changed since.
        """
        found: Written = self._written.get(uid, _NOTHING)["written"]
        return found

    def note_written(self, uid: str, written: Written) -> None:
        """Record the fields that defaulting and admission wrote into an object. A later record of a field replaces an earlier one."""
        if not written:
            return
        fields = {each["path"]: each for each in (*self.list_written(uid), *written)}
        key = canonical(list(fields.values()))
        if len(self._records) >= _MOST_RECORDS:
            self._records.clear()
        self._written[uid] = self._records.setdefault(key, {"written": list(fields.values())})

    @property
    def created(self) -> int:
        """The number of objects ever created."""
        return self._created

    def count_from(self, created: int) -> None:
        """Continue the count of objects from another world's number, never backward, so that uids stay unique."""
        self._created = max(self._created, created)

    def next_uid(self, namespace: str, name: str) -> str:
        """Return the uid that the next object gets if it has this name and no uid."""
        uid = "-".join(part for part in (namespace, name, str(self._created + 1)) if part)
        if not self.calendar:
            return uid
        digest = hashlib.sha256(f"{self.epoch}/{uid}".encode()).hexdigest()
        return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"

    @property
    def is_new(self) -> bool:
        """True if the store contains only kinds that are in each new cluster."""
        return set(self.kinds()) <= set(_STANDING)

    @property
    def is_dated(self) -> bool:
        """True if the world has calendar time: that of a live world, or of an imported cluster."""
        return self.epoch != EPOCH

    def begin_at(self, epoch: int, live: bool) -> None:
        """Set the wall time of virtual time 0 (ns since 1970). Initial objects move to it, with uids like kube's; others do not change."""
        before, self.epoch, self.live, self.calendar = self.epoch, epoch, live, True
        if self.is_new:
            self.date_again(before)

    def date_again(self, before: int) -> None:
        """Move the creation of the cluster's initial objects to virtual time 0, whose wall time was `before` (ns since 1970)."""
        for kind in _STANDING:
            for number, manifest in enumerate(self.list(kind)):
                key, uid = _key(manifest), manifest["metadata"]["uid"]
                if manifest["metadata"]["creationTimestamp"] != format_time(before):
                    continue
                self._uids.pop(uid, None)
                made = self.next_uid(kind, f"{key}/{number}") if self.calendar else uid
                meta = {**manifest["metadata"], "uid": made, "creationTimestamp": self.timestamp(0)}
                self._uids[made] = (kind, key)
                self.overwrite({**manifest, "metadata": meta}, kind)

    def timestamp(self, now: int) -> str:
        """Return a virtual time in the format of manifests."""
        return format_time(self.epoch + now)

    def replica(self) -> Store:
        """Return a copy, without Kubernetes Events and subscribers, which `mirror` keeps current."""
        # Put the Events aside while copying, so that the copy does not include a list that is dropped at once.
        events, self.events = self.events, []
        twin = self.copy()
        self.events = events
        return twin

    def mirror(self, event: WatchEvent) -> None:
        """Apply a write of the original store to this replica."""
        key, objects = (event.namespace, event.name), self._objects.setdefault(event.kind, {})
        # The order of the keys changes only when an object is added or removed; a modified object keeps its place.
        if (event.new is None) != (key not in objects):
            self._sorted.pop(event.kind, None)
        self._owned.pop(event.kind, None)
        if event.new is None:
            objects.pop(key, None)
            if event.kind == "Pod":
                self._assign(key, self._pods.pop(key, None), None)
            elif event.kind == "Node":
                self._nodes.pop(event.name, None)
            return
        objects[key] = event.new
        if event.new_pod is not None:
            self._assign(key, self._pods.get(key), event.new_pod)
            self._pods[key] = event.new_pod
        elif event.new_node is not None:
            self._nodes[event.name] = event.new_node

    def adopt(self, events: Iterable[WatchEvent], replica: Store) -> None:
        """Apply the writes of a replica to this store, and notify the subscribers of each."""
        for event in events:
            self.mirror(event)
            manifest = event.new if event.new is not None else event.old
            assert manifest is not None
            if event.new is None:
                self._uids.pop(manifest["metadata"].get("uid", ""), None)
            elif event.type == ADDED:
                self._uids[manifest["metadata"]["uid"]] = (event.kind, (event.namespace, event.name))
            self._notify(event)
        self._written.update(replica._written)
        self.resource_version, self._created = replica.resource_version, replica.created

    def subscribe(self, callback: Subscriber) -> None:
        """Call back after each write, after earlier subscribers."""
        self._subscribers.append(callback)

    def forget_subscribers(self) -> None:
        """Remove all subscribers."""
        self._subscribers.clear()

    # writing

    def create(
        self, manifest: Manifest, kind: str, now: int, like: Pod | None = None, written: Written = ()
    ) -> WatchEvent:
        """Add an object. An imported uid and creationTimestamp stay. Raise Refused if the name exists. `like`: see _write.

        `written`: see note_written; the record of `like` is reused.
        """
        key = _key(manifest)
        if key in self._objects.get(kind, _NO_OBJECTS):
            raise Refused.because(already_exists(get_kind_by_key(kind).resource, key[1]))
        metadata = dict(manifest["metadata"])
        # An imported uid that exists already is replaced: by_uid() and ownerReferences need unique uids.
        if not metadata.get("uid") or metadata["uid"] in self._uids:
            metadata["uid"] = self.next_uid(*key)
        self._created += 1
        metadata.setdefault("creationTimestamp", self.timestamp(now))
        metadata.setdefault("generation", 1)
        self._uids[metadata["uid"]] = (kind, key)
        if like is not None and like.uid in self._written:
            self._written[metadata["uid"]] = self._written[like.uid]
        self.note_written(metadata["uid"], written)
        return self._write(ADDED, kind, key, None, {**manifest, "metadata": metadata}, like)

    def replace(self, manifest: Manifest, kind: str, counts: bool = False) -> WatchEvent | None:
        """Replace an object, keeping its uid and age, or return None if nothing changes. `counts`: any change is a new generation."""
        key = _key(manifest)
        old = self._objects.get(kind, _NO_OBJECTS).get(key)
        if old is None:
            raise Refused.because(not_found(get_kind_by_key(kind).resource, key[1]))
        kept = old["metadata"]
        metadata = {**manifest["metadata"], **{name: kept[name] for name in _OWNED if name in kept}}
        new = {**manifest, "metadata": metadata}
        if new == old:
            return None
        if counts or new.get("spec") != old.get("spec"):
            metadata["generation"] = int(kept.get("generation") or 0) + 1
        return self._write(MODIFIED, kind, key, old, new)

    def overwrite(self, manifest: Manifest, kind: str) -> WatchEvent:
        """Replace an existing object completely, including server-owned fields, even if nothing changes."""
        key = _key(manifest)
        old = self._objects.get(kind, _NO_OBJECTS).get(key)
        if old is None:
            raise Refused.because(not_found(get_kind_by_key(kind).resource, key[1]))
        return self._write(MODIFIED, kind, key, old, manifest)

    def remove(self, kind: str, namespace: str, name: str) -> WatchEvent | None:
        """Remove an object at once, or return None if it does not exist."""
        key = (namespace, name)
        old = self._objects.get(kind, _NO_OBJECTS).get(key)
        if old is None:
            return None
        del self._objects[kind][key]
        if kind in self._owned:
            self._owned[kind].note(key, old, None)
        self._uids.pop(old["metadata"].get("uid", ""), None)
        self._written.pop(old["metadata"].get("uid", ""), None)
        self._sorted.pop(kind, None)
        self.resource_version += 1
        pod = self._pods.pop(key, None) if kind == "Pod" else None
        self._assign(key, pod, None)
        return self._notify(
            WatchEvent(
                DELETED, kind, old, None, old_pod=pod, old_node=self._nodes.pop(name, None) if kind == "Node" else None
            )
        )

    def bind(self, key: str, uid: str, node_name: str, now: int, labels: Mapping[str, str] = {}) -> Answer:
        """Bind a pod: set spec.nodeName, labels, and the condition PodScheduled=True, or return the refusal.

        kube: pkg/registry/core/pod/storage/storage.go (BindingREST)
        """
        pod = self.pod_at(key)
        if pod is None:
            return not_found("pods", key.partition("/")[2])
        if refusal := _binding_refusal(pod, uid):
            return refusal
        status = pod.manifest.get("status") or {}
        generation = int(pod.manifest["metadata"].get("generation") or 0)
        condition = {"type": "PodScheduled", "observedGeneration": generation, "status": "True"}
        if self.calendar:  # as in the real API server, whose binding sets none
            del condition["observedGeneration"]
        # One write, as in kube's setPodNodeAndMetadata: a watcher sees the node and PodScheduled=True together.
        bound: Manifest = {
            **with_section(pod.manifest, "spec", {"nodeName": node_name}),
            "status": with_condition(status, condition, self.timestamp(now)) or status,
        }
        if labels:
            bound = with_section(bound, "metadata", {"labels": {**pod.labels, **labels}})
        self._write(MODIFIED, "Pod", (pod.namespace, pod.name), pod.manifest, bound, pod)
        return DONE

    def patch_pod_status(
        self,
        key: str,
        now: int,
        *,
        condition: Mapping[str, Any] | None = None,
        nominated_node_name: str | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Set a condition, the nomination ("" clears it), and other fields of a pod's status. Write nothing if nothing changes."""
        pod = self.pod_at(key)
        if pod is None:
            return not_found("pods", key.partition("/")[2])
        old = pod.manifest.get("status") or {}
        status = dict(old)
        if condition is not None:
            status = with_condition(status, condition, self.timestamp(now)) or status
        if nominated_node_name is not None and nominated_node_name != pod.nominated_node_name:
            status["nominatedNodeName"] = nominated_node_name
            if not nominated_node_name:
                del status["nominatedNodeName"]
        status.update(fields or {})
        if status != old:
            self._write(MODIFIED, "Pod", _key(pod.manifest), pod.manifest, {**pod.manifest, "status": status}, pod)
        return DONE

    def read_again(self, reading: Reading) -> None:
        """Parse all pods again with another reading, without writing or notifying."""
        if reading != self.reading:
            self.reading = reading
            self._pods = {key: Pod.from_manifest(pod.manifest, None, reading) for key, pod in self._pods.items()}

    def record(self, event: KubeEvent) -> None:
        """Store a Kubernetes Event."""
        self.events.append(event)

    # all changes of objects

    def _write(
        self, change: str, kind: str, key: Key, old: Manifest | None, new: Manifest, like: Pod | None = None
    ) -> WatchEvent:
        """Stamp and store a manifest. `like`: the previous pod if its spec changes at most in nodeName."""
        self.resource_version += 1
        stamp = {**new["metadata"], "resourceVersion": str(self.resource_version)}
        manifest: Manifest = {**new, "metadata": stamp}
        objects = self._objects.setdefault(kind, {})
        if key not in objects:
            self._sorted.pop(kind, None)
        if kind in self._owned:
            self._owned[kind].note(key, objects.get(key), manifest)
        objects[key] = manifest
        if kind == "Pod":
            before, pod = self._pods.get(key), Pod.from_manifest(manifest, like, self.reading)
            self._pods[key] = pod
            self._assign(key, before, pod)
            return self._notify(WatchEvent(change, kind, old, manifest, before, pod))
        if kind == "Node":
            previous, node = self._nodes.get(key[1]), Node.from_manifest(manifest)
            self._nodes[key[1]] = node
            return self._notify(WatchEvent(change, kind, old, manifest, old_node=previous, new_node=node))
        return self._notify(WatchEvent(change, kind, old, manifest))

    def _assign(self, key: Key, before: Pod | None, after: Pod | None) -> None:
        """Update the index of pods by node, once it is in use."""
        if not self._assigned:
            return
        old = before.node_name if before is not None else ""
        new = after.node_name if after is not None else ""
        if old != new:
            if old:
                del self._assigned[old][key]
            if new:
                self._assigned.setdefault(new, {})[key] = None

    def _notify(self, event: WatchEvent) -> WatchEvent:
        for subscriber in self._subscribers:
            subscriber(event)
        return event

    def _ownership(self, kind: str) -> ControllerIndex:
        index = self._owned.get(kind)
        if index is None:
            index = self._owned[kind] = ControllerIndex(self._objects.get(kind, _NO_OBJECTS).items())
        return index

    def _order(self, kind: str) -> Keys:
        keys = self._sorted.get(kind)
        if keys is None:
            keys = self._sorted[kind] = sorted(self._objects.get(kind, _NO_OBJECTS))
        return keys


def _key(manifest: Manifest) -> Key:
    metadata = manifest["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _binding_refusal(pod: Pod, uid: str) -> Answer | None:
    if uid and pod.uid != uid:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {pod.uid}"
        key = f"/registry/pods/{pod.key}"
        error = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMessage: {why}"
        return conflict("pods", pod.name, error)
    if pod.deleting:
        why = f"pod {pod.name} is being deleted, cannot be assigned to a host"
    elif pod.node_name:
        why = f'pod {pod.name} is already assigned to node "{pod.node_name}"'
    elif pod.spec.scheduling_gates:
        why = f"pod {pod.name} has non-empty .spec.schedulingGates"
    else:
        return None
    return conflict("pods/binding", pod.name, why)
