"""Formats of other tools that contain objects: watch output, exports and records of kube-scheduler-simulator, SimKube's traces, and
reviews of cluster-capacity.

Formats: kubectl get --watch --output-watch-events; kube-scheduler-simulator simulator/{snapshot/snapshot.go,recorder/recorder.go};
SimKube docs/ref/trace-files.md (version 2); cluster-capacity pkg/framework/report.go.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadedObject
from scheduler_core.apimachinery.objects.texts.json_text import check_depth
from scheduler_core.formats.manifests.notes import Change, Note, NotObjects, gettext_noop, inside, outcome

WATCHED = gettext_noop(
    "Watch output. Events: %(changes)s. The last state of each object counts. Deleted objects are left out."
)
RECORDED = gettext_noop(
    "A record of kube-scheduler-simulator. Changes: %(changes)s. The last state of each object counts. "
    "Deleted objects are left out."
)
TRACED = gettext_noop(
    "A trace of SimKube. Changes: %(changes)s. The last state of each object counts. The run time of its "
    "pods is ignored."
)
FULLEST = gettext_noop("At the end no object was left, so the moment with the most objects is used.")
EXPORTED = gettext_noop(
    "An export of kube-scheduler-simulator (%(lists)s). You can apply its scheduler configuration separately."
)
REVIEWED = gettext_noop(
    "A review of cluster-capacity. Its pod is read. Replicas that fit: %(replicas)s. The next one fails: %(reason)s"
)
NO_TRACE = gettext_noop("This is neither text, nor an archive, nor a trace of SimKube version 2.")

_EXPORT = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "nodes": ("v1", "Node"),
    "pvs": ("v1", "PersistentVolume"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pods": ("v1", "Pod"),
}
_CONFIGURATION = ("kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration")
_EVENTS = {"ADDED": False, "MODIFIED": False, "DELETED": True}
_RECORDS = {"add": False, "update": False, "delete": True}
_LARGEST_DEPTH = 64


def expand_documents(documents: Sequence[LoadedObject]) -> tuple[list[LoadedObject], list[Note]]:
    """Replace documents in such formats by the objects they contain. Other documents stay unchanged."""
    kept: list[LoadedObject] = []
    notes: list[Note] = []
    changes: dict[str, list[Change]] = {}
    for each in documents:
        manifest = each.manifest
        format_ = None if not isinstance(manifest, Mapping) or "kind" in manifest else _format(manifest)
        if format_ is None:
            kept.append(each)
        elif format_ in (WATCHED, RECORDED, TRACED):
            changes.setdefault(format_, []).extend(_CHANGES[format_](each))
        else:
            objects, note = _WHOLE[format_](each)
            kept += objects
            notes.append(note)
    for format_, made in changes.items():
        result = outcome(made)
        kept += result.objects
        notes.append(Note(format_, {"changes": f"{result.changes:,}"}))
        notes += [Note(FULLEST)] if result.fullest else []
    return kept, notes


def _format(manifest: Mapping[str, Any]) -> str | None:
    if isinstance(manifest.get("object"), Mapping) and isinstance(manifest.get("type"), str):
        return WATCHED
    if isinstance(manifest.get("resource"), Mapping) and str(manifest.get("event")).lower() in _RECORDS:
        return RECORDED
    if isinstance(manifest.get("events"), list) and "pod_lifecycles" in manifest:
        return TRACED
    if sum(isinstance(manifest.get(name), list) for name in _EXPORT) >= 2:
        return EXPORTED
    spec, status = manifest.get("spec"), manifest.get("status")
    reviewed = isinstance(spec, Mapping) and isinstance(spec.get("templates"), list) and "podRequirements" in spec
    return REVIEWED if reviewed and isinstance(status, Mapping) else None


def _expand_watch_event(event: LoadedObject) -> Iterator[Change]:
    gone = _EVENTS.get(event.manifest["type"])
    if gone is not None:
        yield Change(inside(event, "object", event.manifest["object"]), gone)


def _expand_record(record: LoadedObject) -> Iterator[Change]:
    gone = _RECORDS[str(record.manifest["event"]).lower()]
    yield Change(inside(record, "resource", record.manifest["resource"]), gone)


def _expand_trace(trace: LoadedObject) -> Iterator[Change]:
    for i, event in enumerate(trace.manifest["events"]):
        for field, gone in (("applied_objs", False), ("deleted_objs", True)):
            objects = event.get(field) if isinstance(event, Mapping) else None
            for j, each in enumerate(objects if isinstance(objects, list) else ()):
                if isinstance(each, Mapping):
                    yield Change(inside(trace, f"events[{i}].{field}[{j}]", each), gone)


def _expand_export(export: LoadedObject) -> tuple[list[LoadedObject], Note]:
    objects: list[LoadedObject] = []
    lists = []
    for name, (version, kind) in _EXPORT.items():
        entries = export.manifest.get(name)
        entries = entries if isinstance(entries, list) else []
        lists += [f"{name} {len(entries):,}"] if entries else []
        for i, entry in enumerate(entries):
            if isinstance(entry, Mapping):
                whole = {"apiVersion": version, "kind": kind, **entry}
                objects.append(inside(export, f"{name}[{i}]", whole))
    configuration = export.manifest.get("schedulerConfig")
    if isinstance(configuration, Mapping):
        version, kind = _CONFIGURATION
        whole = {"apiVersion": version, "kind": kind, **configuration}
        objects.append(inside(export, "schedulerConfig", whole))
    return objects, Note(EXPORTED, {"lists": ", ".join(lists) or "–"})


def _expand_review(review: LoadedObject) -> tuple[list[LoadedObject], Note]:
    spec, status = review.manifest["spec"], review.manifest["status"]
    objects = [
        inside(review, f"spec.templates[{i}]", {"apiVersion": "v1", "kind": "Pod", **each, "status": {}})
        for i, each in enumerate(spec["templates"])
        if isinstance(each, Mapping)
    ]
    reason = status.get("failReason")
    said = reason.get("failMessage") or reason.get("failType") if isinstance(reason, Mapping) else ""
    values = {"replicas": str(status.get("replicas", "?")), "reason": str(said or "?")[:300]}
    return objects, Note(REVIEWED, values)


_CHANGES: dict[str, Callable[[LoadedObject], Iterator[Change]]] = {
    WATCHED: _expand_watch_event,
    RECORDED: _expand_record,
    TRACED: _expand_trace,
}
_WHOLE: dict[str, Callable[[LoadedObject], tuple[list[LoadedObject], Note]]] = {
    EXPORTED: _expand_export,
    REVIEWED: _expand_review,
}


class _Trace(msgspec.Struct):
    """The parts of a SimKube trace that are read."""

    version: int
    events: list[dict[str, Any]]


def is_trace(data: bytes) -> bool:
    """Return True if bytes begin as a trace of SimKube: a small map of msgpack whose first key is the version."""
    return 0x81 <= data[0] <= 0x8F and data[1:9] == b"\xa7version" if data else False


def read_trace(data: bytes, name: str = "") -> list[LoadedObject]:
    """Return a SimKube trace as one document without places in the text. Raise NotObjects."""
    try:
        trace = msgspec.msgpack.decode(data, type=_Trace)
        check_depth(trace.events, _LARGEST_DEPTH)
    except (msgspec.MsgspecError, InvalidObject, RecursionError, UnicodeDecodeError) as error:
        raise NotObjects(Note(NO_TRACE)) from error
    if trace.version != 2:
        raise NotObjects(Note(NO_TRACE))
    whole = {"version": trace.version, "events": trace.events, "pod_lifecycles": {}}
    return [LoadedObject(whole, 0, lambda _: None, name)]
