"""Pods with their times: from manifests, a CSV table such as openb's, a session's trace, or a trace of SimKube."""

import csv
import lzma
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from scheduler_core.analysis.fixes.effects import key_of
from scheduler_core.apimachinery.objects import Manifest, parse_time
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.formats.export import read_log
from scheduler_core.formats.manifests import read
from scheduler_core.world.commands import command_from_json
from scheduler_core.world.simulation import Simulation, in_creation_order

# Columns of a table: seconds, and amounts with the suffix of their quantity. Other columns must be resources, such as nvidia.com/gpu.
_ARRIVALS, _ENDS, _STAYS = ("arrival_s", "creation_time"), ("end_s", "deletion_time"), ("duration_s",)
_AMOUNTS = {
    "cpu": ("cpu", ""),
    "cpu_milli": ("cpu", "m"),
    "memory": ("memory", ""),
    "memory_mib": ("memory", "Mi"),
    "gpu": ("nvidia.com/gpu", ""),
    "num_gpu": ("nvidia.com/gpu", ""),
}
_TEXTS = ("name", "namespace", "priority")
_PASSED_OVER = ("gpu_milli", "gpu_spec", "qos", "pod_phase", "scheduled_time")  # of openb's tables
_TEMPLATES = {"CronJob": ("spec", "jobTemplate", "spec", "template")}  # other kinds have spec.template
_KEPT = (
    "Namespace",
    "PriorityClass",
    "Node",
    "CSINode",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
)  # from a session


@dataclass
class TimedPod:
    """A pod with its arrival and its duration (ns), or None if unknown."""

    pod: Manifest
    arrival: int | None = None
    stay: int | None = None


@dataclass
class Source:
    """The pods of a file, in the order of their arrival, and its other objects."""

    pods: list[TimedPod] = field(default_factory=list)
    others: list[Manifest] = field(default_factory=list)


def read_source(name: str, data: bytes) -> Source:
    """Read a file according to its extension. Raise ValueError with the received and the expected value."""
    if name.endswith(".xz"):
        name, data = name.removesuffix(".xz"), lzma.decompress(data)
    try:
        if name.endswith(".csv"):
            return Source(list(_read_table(data.decode().splitlines())))
        if name.endswith(".jsonl"):
            return _replay(map(msgspec.json.decode, filter(None, data.splitlines())))
        trace = _read_simkube(data)
    except (ValueError, msgspec.MsgspecError) as error:
        raise ValueError(f"{name}: {error}") from None
    if trace is not None:
        return Source(list(_follow(trace)))
    found = read(data)
    if not found.objects and found.notes:
        raise ValueError(f"{name}: no objects were found; expected what kubectl prints, manifests, or a trace")
    objects = [each.manifest for each in found.objects]
    pods = [each for each in in_creation_order(objects) if each["kind"] == "Pod"]
    came = [parse_time(stamp) if (stamp := pod["metadata"].get("creationTimestamp")) else None for pod in pods]
    first = min((time for time in came if time is not None), default=0)
    times = [None if time is None else time - first for time in came]
    return Source(list(map(TimedPod, pods, times)), [each for each in objects if each["kind"] != "Pod"])


def _read_table(lines: Iterable[str]) -> Iterator[TimedPod]:
    rows = csv.DictReader(lines)
    known = {*_ARRIVALS, *_ENDS, *_STAYS, *_AMOUNTS, *_TEXTS, *_PASSED_OVER}
    if wrong := [name for name in rows.fieldnames or () if name not in known and "/" not in name]:
        expected = ", ".join(sorted(known - set(_PASSED_OVER)))
        raise ValueError(
            f"received the column {wrong[0]}; expected some of {expected}, and resources such as nvidia.com/gpu"
        )
    made = []
    for number, row in enumerate(rows):
        try:
            made.append(_read_row(number, {name: text.strip() for name, text in row.items() if text and text.strip()}))
        except (ValueError, AttributeError) as error:
            raise ValueError(f"line {number + 2}: {error}") from None
    first = min((each.arrival for each in made if each.arrival is not None), default=0)
    for each in made:
        each.arrival = None if each.arrival is None else each.arrival - first
    yield from sorted(made, key=lambda each: each.arrival or 0)


def _read_row(number: int, row: Mapping[str, str]) -> TimedPod:
    def seconds(names: Iterable[str]) -> int | None:
        return next((round(float(row[name]) * SECOND) for name in names if name in row), None)

    requests = {resource: row[name] + unit for name, (resource, unit) in _AMOUNTS.items() if name in row}
    requests |= {name: amount for name, amount in row.items() if "/" in name}
    arrival, end, stay = seconds(_ARRIVALS), seconds(_ENDS), seconds(_STAYS)
    if stay is None and end is not None:
        stay = max(0, end - (arrival or 0))
    return TimedPod(
        make_pod(
            row.get("name") or f"pod-{number}", row.get("namespace", "default"), requests, int(row.get("priority", 0))
        ),
        arrival,
        stay,
    )


def make_pod(name: str, namespace: str, requests: Mapping[str, str], priority: int = 0) -> Manifest:
    """Return a pod of one container."""
    amounts = {key: amount for key, amount in requests.items() if amount != "0"}
    limits = {key: amount for key, amount in amounts.items() if "/" in key}  # extended resources need both
    resources = {"requests": amounts, **({"limits": limits} if limits else {})}
    spec = {"containers": [{"name": "c", "image": "x", "resources": resources}]}
    more = {"priorityClassName": f"priority-{priority}".replace("--", "-minus-")} if priority else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {**spec, **more},
    }


def read_class(name: str) -> int | None:
    """Return the priority of a class that `make_pod` named, or None for any other name."""
    found = re.fullmatch(r"priority-(minus-)?(\d+)", name)
    return None if found is None else int(found[2]) * (-1 if found[1] else 1)


def _replay(lines: Iterable[Mapping[str, Any]]) -> Source:
    """Replay a session's history, and record when its pods arrived and how long each had a node."""
    seed, log, head = read_log(lines)
    sim, found = Simulation(seed), Source()
    there: dict[tuple[str, str], TimedPod] = {}
    bound: dict[tuple[str, str], int] = {}
    while sim.position < head:
        if sim.position in log:
            sim.apply(command_from_json(log[sim.position]))
        elif not sim.advance():
            break
        for event in sim.changes:
            key = (event.namespace, event.name)
            if event.kind == "Pod" and event.new is None and key in there:
                if key in bound:
                    there[key].stay = sim.now - bound.pop(key)
                del there[key]
            elif event.kind == "Pod" and event.new is not None:
                if key not in there:
                    there[key] = TimedPod(event.new, sim.now)
                    found.pods.append(there[key])
                if event.new["spec"].get("nodeName"):
                    bound.setdefault(key, sim.now)
    found.others = [dict(each) for kind in _KEPT for each in sim.store.list(kind)]
    return found


def _read_simkube(data: bytes) -> Mapping[str, Any] | None:
    """Return a trace of version 2, as msgpack or JSON. Return None if the bytes are no trace."""
    for begins, decode in ((b"\xa7version", msgspec.msgpack.decode), (b'"pod_lifecycles"', msgspec.json.decode)):
        if begins in data[:16] or (begins.startswith(b'"') and begins in data and b'"applied_objs"' in data):
            trace = decode(data)
            if not isinstance(trace, Mapping) or trace.get("version") != 2:
                raise ValueError(f"received version {trace.get('version')!r} of SimKube's traces; expected 2")
            return trace
    return None


def _follow(trace: Mapping[str, Any]) -> Iterator[TimedPod]:
    """Yield the pods of a trace: the number that a workload wants at each event, or one for each recorded lifetime."""
    lives: dict[str, list[Any]] = {}
    for key, found in trace.get("pod_lifecycles", {}).items():
        lives[str(key[1] if isinstance(key, tuple) else key)] = [life for each in found.values() for life in each]
    made: list[TimedPod] = []
    wanted: dict[tuple[str, str], list[TimedPod]] = {}
    first = min((event["ts"] for event in trace["events"]), default=0)
    for event in trace["events"]:
        at = (event["ts"] - first) * SECOND
        for each in event.get("applied_objs", ()):
            key = key_of(each)
            mine = wanted.setdefault((each["kind"], key), [])
            if each["kind"] != "Pod" and key in lives:
                mine += [_live(each, key, number, life, first) for number, life in enumerate(lives.pop(key))]
                made += mine
                continue
            count = 1 if each["kind"] == "Pod" else _count(each)
            new = [TimedPod(_pod_of(each, key, len(mine) + i), at) for i in range(count - len(mine))]
            if new and each["kind"] == "Pod" and key in lives:
                new[0].stay = _live(each, key, 0, lives[key][0], first).stay
            for last in mine[count:]:
                last.stay = at - (last.arrival or 0)
            wanted[each["kind"], key] = mine[:count] + new
            made += new
        for each in event.get("deleted_objs", ()):
            key = key_of(each)
            for last in wanted.pop((each["kind"], key), ()):
                last.stay = last.stay if last.stay is not None else at - (last.arrival or 0)
    yield from sorted(made, key=lambda each: each.arrival or 0)


def _live(owner: Mapping[str, Any], key: str, number: int, life: Any, first: int) -> TimedPod:
    times: Any = (
        next(iter(life.values())) if isinstance(life, Mapping) else first
    )  # Running(start), Finished(start, end), or Empty
    start, end = times if isinstance(times, list) else (times, None)
    return TimedPod(
        _pod_of(owner, key, number), (start - first) * SECOND, None if end is None else (end - start) * SECOND
    )


def _count(owner: Mapping[str, Any]) -> int:
    spec = owner.get("spec") or {}
    replicas = spec.get("replicas", spec.get("parallelism", 0 if owner["kind"] in ("CronJob", "DaemonSet") else 1))
    return int(replicas)


def _pod_of(owner: Mapping[str, Any], key: str, number: int) -> Manifest:
    if owner["kind"] == "Pod":
        return owner
    template: Any = owner
    for name in _TEMPLATES.get(owner["kind"], ("spec", "template")):
        template = template.get(name) or {}
    if not template.get("spec"):
        raise ValueError(f"{owner['kind']} {key}: received no pod template; expected one at spec.template")
    namespace, _, name = key.partition("/")
    meta = {**(template.get("metadata") or {}), "name": f"{name}-{number}", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]}
