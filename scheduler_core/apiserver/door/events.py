"""Events as objects of both API groups: those that components of the world recorded, and those that clients wrote.

The world's Events are a list, not objects of the store. A repeated Event about one object increases its count, as in kube's recorders.

kube: client-go/tools/record/events_cache.go, pkg/apis/events/v1/conversion.go @ v1.34.1
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from scheduler_core.apimachinery.objects import Errors, Manifest
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors, subdomain_errors
from scheduler_core.apimachinery.objects.times import format_micro_time
from scheduler_core.apiserver.door.resources import EVENTS
from scheduler_core.apiserver.kinds import KINDS, find_kind, key_of
from scheduler_core.apiserver.kube_events import KubeEvent
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.validation import checks


def list_events(store: Store, api_version: str = "v1") -> list[Manifest]:
    """Return all Events in the version of one of the two groups, the oldest first within a namespace."""
    own = {key_of(each): each for each in store.list(EVENTS)}
    found = [own.pop(key_of(each), each) if _is_as_known(own, each) else each for each in _of_world(store)]
    found = [each for each in (*found, *own.values()) if not is_gone(each)]
    found.sort(key=lambda each: (each["metadata"].get("namespace") or "", each["metadata"]["name"]))
    return found if api_version == "v1" else [convert(each) for each in found]


def _is_as_known(own: dict[tuple[str, str], Manifest], event: Manifest) -> bool:
    """Return whether a client's version of a world's Event applies. A deletion applies until the Event recurs."""
    kept = own.get(key_of(event), event)
    return _count(kept) == _count(event) or not is_gone(kept)


def _count(event: Manifest) -> Any:
    return (event.get("series") or event).get("count")


def is_gone(event: Manifest) -> bool:
    """Return whether a client has deleted an Event of the world; the store keeps such Events with a deletionTimestamp."""
    return "deletionTimestamp" in event["metadata"]


def check_event(event: Manifest, strict: bool, old: Manifest | None = None) -> None:
    """Raise Refused (422) if an Event in the form of v1 is invalid. `strict`: of events.k8s.io, where only the series may change."""
    errors, namespace = Errors(), event["metadata"].get("namespace")
    about = (event.get("involvedObject") or {}).get("namespace") or ""
    timed = bool(event.get("eventTime"))
    wrong = not about and namespace not in ("default", "kube-system") if timed else namespace != (about or "default")
    errors.invalid("involvedObject.namespace", about, "does not match event.namespace", when=wrong)
    if timed:
        field, reporter = (
            "reportingController" if strict else "reportingComponent",
            event.get("reportingComponent") or "",
        )
        errors.required(field, when=not reporter)
        errors.problems(field, reporter, list_qualified_name_errors(reporter))
        for name, most in _MOST.items():
            errors.required(name, when=not event.get(name) and name != "message")
            errors.invalid(name, "", f"can have at most {most} characters", when=len(event.get(name) or "") > most)
    series = event.get("series") if old is None or event.get("series") != old.get("series") else None
    if strict and old is None:
        checks.metadata(event, True, subdomain_errors, errors)
    if strict:
        if series:
            errors.invalid("series.count", "", "should be at least 2", when=(series.get("count") or 0) < 2)
            errors.required("series.lastObservedTime", when=not series.get("lastObservedTime"))
    if strict and old is None:
        errors.required("eventTime", when=not timed)
        type_ = event.get("type") or ""
        errors.invalid("type", "", f"has invalid value: {type_}", when=type_ not in ("Normal", "Warning"))
        for name in ("firstTimestamp", "lastTimestamp", "count", "source"):
            errors.invalid(name, "", "needs to be unset", when=event.get(name))
    for name in _FIXED if strict and old is not None else ():
        given, had = ((each or {}).get(_BACK.get(name, name)) or None for each in (event, old))
        errors.invalid(name, given, checks.IMMUTABLE, when=given != had)
    if errors:
        raise Refused.invalid("Event", event["metadata"].get("name") or "", errors)


_FIXED = (
    *("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type"),
    *("eventTime", "action", "related", "reportingController", "reportingInstance"),
)
_MOST = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}


def remove_event(store: Store, event: Manifest, now: int) -> None:
    """Delete an Event. An Event of the world is no object of the store, so the store records its deletion."""
    namespace, name = key_of(event)
    if store.get(EVENTS, namespace, name) is not None:
        store.remove(EVENTS, namespace, name)
    if any(key_of(each) == (namespace, name) for each in _of_world(store)):
        store.create(
            {**event, "metadata": {**event["metadata"], "deletionTimestamp": store.timestamp(now)}}, EVENTS, now
        )


def _of_world(store: Store) -> Iterator[Manifest]:
    groups: dict[tuple[str, ...], list[tuple[int, KubeEvent]]] = {}
    for number, (key, each) in enumerate(group_events(store.events)):
        groups.setdefault(key, []).append((number, each))
    for group in groups.values():
        (number, first), (_, last) = group[0], group[-1]
        yield event_manifest(store, first, last, sum(each.count for _, each in group), number)


def group_events(events: Iterable[KubeEvent]) -> Iterator[tuple[tuple[str, ...], KubeEvent]]:
    """Yield each Event with its key. Events of one key raise the first one's count; its message stays. kube: events/event_broadcaster.go"""
    for each in events:
        more = (each.version, each.related) if each.version else (each.message,)
        yield (each.type, each.reason, each.kind, each.namespace, each.name, each.reporter, *more), each


def event_manifest(store: Store, first: KubeEvent, last: KubeEvent, count: int, number: int) -> dict[str, Any]:
    """Return an Event of the world as an object of v1."""
    known = KINDS.get(first.kind)
    involved: dict[str, Any] = {"kind": first.kind}
    if first.namespace:
        involved["namespace"] = first.namespace
    involved["name"] = first.name
    there = store.get(first.kind, first.namespace, first.name)
    if there is not None:
        involved |= {"uid": there["metadata"].get("uid", ""), "apiVersion": there["apiVersion"]}
        involved["resourceVersion"] = first.version or there["metadata"].get("resourceVersion", "")
    elif known is not None:
        involved["apiVersion"] = f"{known.group}/v1" if known.group else "v1"
    if first.kind == "Node":
        involved["uid"] = first.name
    place = f"{first.t}/{first.reason}/{first.kind}/{first.namespace}/{first.name}/{first.message}"
    digest = hashlib.sha256(place.encode()).hexdigest()
    uid = f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
    start, end = store.timestamp(first.t), store.timestamp(last.t)
    meta = {
        "name": f"{first.name}.{store.epoch + first.t + number:x}",  # recorders name them after the time
        "namespace": first.namespace or "default",
        "uid": uid,
        "resourceVersion": str(store.resource_version),
        "creationTimestamp": start,
    }
    event: dict[str, Any] = {"kind": "Event", "apiVersion": "v1", "metadata": meta, "involvedObject": involved}
    event |= {"reason": first.reason, "message": first.message, "type": first.type}
    if _is_new_style(first):
        event |= {"source": {}, "firstTimestamp": None, "lastTimestamp": None}
        event |= {"eventTime": format_micro_time(store.epoch + first.t), "action": first.action or "Binding"}
        if count > 1:
            event["series"] = {"count": count, "lastObservedTime": format_micro_time(store.epoch + last.t)}
        return event | {"reportingComponent": first.reporter, "reportingInstance": f"{first.reporter}-vm"}
    event |= {"source": {"component": first.reporter}, "firstTimestamp": start, "lastTimestamp": end, "count": count}
    return event | {"eventTime": None, "reportingComponent": first.reporter, "reportingInstance": ""}


def _is_new_style(event: KubeEvent) -> bool:
    """Return whether the reporter writes Events of events.k8s.io, as schedulers do."""
    return event.reason in ("Scheduled", "FailedScheduling", "Preempted", "WaitingForPods") and event.kind == "Pod"


_RENAMED = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_BACK = {new: old for old, new in _RENAMED.items()}


def convert(event: Manifest) -> dict[str, Any]:
    """Convert an Event of v1 to events.k8s.io/v1."""
    renamed = {_RENAMED.get(name, name): value for name, value in event.items()}
    return {**renamed, "apiVersion": "events.k8s.io/v1"}


def convert_back(event: Manifest) -> dict[str, Any]:
    """Convert an Event of events.k8s.io/v1 to v1."""
    return {**{_BACK.get(name, name): value for name, value in event.items()}, "apiVersion": "v1"}


assert find_kind("v1", "Event") is None  # imports contain no Events
