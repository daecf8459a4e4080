"""A command of the log in one sentence, from its JSON."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from playground.presenters.words import Message, gettext_noop, message

NAMED = 3  # objects of a kind that are named before "…"
TEXT = 120
SHORT = 40

Data = Mapping[str, Any]


def sentence(command: Data) -> Message:
    """Return a sentence that describes a command. An imported trace may be the source, so no field is sure to be present."""
    describe = _OF_KIND.get(str(command.get("kind", "")))
    if describe is None:
        return message(gettext_noop("%(kind)s: %(what)s"), kind=command.get("kind", "?"), what=_fields(command))
    return describe(command)


def describe_omission(command: Data) -> Message:
    """Return a short phrase for a history without this command, for the name of a branch."""
    kind = str(command.get("kind", ""))
    ref = command.get("ref")
    ref = ref if isinstance(ref, Mapping) else {}
    if kind == "ApplyObjects":
        what = _format_by_kind((_get_kind_and_name(manifest) for manifest in _list(command.get("objects"))), SHORT, 1)
        return message(gettext_noop("%(what)s"), what=what or "?")
    if kind == "DeleteObjects":
        return message(gettext_noop("deleting %(what)s"), what=_format_by_kind(_refs(command), SHORT, 1))
    if kind == "PatchObject":
        what = _cut(f"{ref.get('kind', '?')} {ref.get('name', '?')}", SHORT)
        return message(gettext_noop("changing %(what)s"), what=what)
    return message(_SHORT.get(kind, gettext_noop("a command")))


def _apply(command: Data) -> Message:
    what = _format_by_kind(_get_kind_and_name(manifest) for manifest in _list(command.get("objects")))
    if command.get("create_only"):
        return message(gettext_noop("creates %(what)s"), what=what)
    return message(gettext_noop("creates or changes %(what)s"), what=what)


def _get_kind_and_name(manifest: object) -> tuple[str, str]:
    data = manifest if isinstance(manifest, Mapping) else {}
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else ""
    return str(data.get("kind", "?")), str(name or "?")


def _delete(command: Data) -> Message:
    return message(gettext_noop("deletes %(what)s"), what=_format_by_kind(_refs(command)))


def _refs(command: Data) -> list[tuple[str, str]]:
    refs = [ref for ref in _list(command.get("refs")) if isinstance(ref, Mapping)]
    return [(str(ref.get("kind", "?")), str(ref.get("name", "?"))) for ref in refs]


def _patch(command: Data) -> Message:
    ref = command.get("ref")
    ref = ref if isinstance(ref, Mapping) else {}
    kind, name = ref.get("kind", "?"), ref.get("name", "?")
    leaves = list(_leaves(command.get("patch")))
    if known := _verb(str(kind), leaves):
        return message(known, kind=kind, name=name)
    return message(
        gettext_noop("changes %(kind)s %(name)s: %(what)s"), kind=kind, name=name, what=_cut(", ".join(leaves))
    )


def _verb(kind: str, leaves: list[str]) -> str:
    """Return kubectl's verb for a patch; "" if kubectl has none."""
    if len(leaves) != 1:
        return ""
    if leaves[0].startswith(_RESTARTED):
        return gettext_noop("restarts the rollout of %(kind)s %(name)s")
    return _PATCHES.get((kind, leaves[0])) or _PATCHES.get(("", leaves[0]), "")


_RESTARTED = "spec.template.metadata.annotations.kubectl.kubernetes.io/restartedAt="
# What patches mean that kubectl has a verb for, by kind ("": any) and what they set.
_PATCHES = {
    ("Node", "spec.unschedulable=True"): gettext_noop("cordons %(name)s"),
    ("Node", "spec.unschedulable=None"): gettext_noop("uncordons %(name)s"),
    ("Node", "spec.unschedulable=False"): gettext_noop("uncordons %(name)s"),
    ("Deployment", "spec.paused=True"): gettext_noop("pauses the rollout of %(kind)s %(name)s"),
    ("Deployment", "spec.paused=None"): gettext_noop("resumes the rollout of %(kind)s %(name)s"),
    ("", "spec.suspend=True"): gettext_noop("suspends %(kind)s %(name)s"),
    ("", "spec.suspend=False"): gettext_noop("resumes %(kind)s %(name)s"),
}


def _leaves(patch: object, path: str = "") -> list[str]:
    """Return the fields that a merge patch sets, as path=value."""
    if not isinstance(patch, Mapping):
        return [f"{path}={patch}"]
    return [leaf for key, value in patch.items() for leaf in _leaves(value, f"{path}.{key}" if path else str(key))]


def _configure(command: Data) -> Message:
    scheduler = command.get("scheduler", "")
    if command.get("configuration") is None:
        return message(gettext_noop("starts scheduler %(plugin)s with the default configuration"), plugin=scheduler)
    return message(gettext_noop("starts scheduler %(plugin)s with another configuration"), plugin=scheduler)


def _settings(command: Data) -> Message:
    settings = command.get("settings")
    return message(gettext_noop("sets %(what)s"), what=_fields(settings if isinstance(settings, Mapping) else {}))


def _fail(command: Data) -> Message:
    """Describe which calls fail or take longer, with which code, and how often."""
    values = {name: command.get(name, "") for name in ("call", "pod", "code", "times")}
    if command.get("times") == 0:
        return message(gettext_noop("removes the injected faults from the %(call)s calls of %(pod)s"), **values)
    if not command.get("code"):
        return message(gettext_noop("changes the latency of the next %(call)s of %(pod)s"), **values)
    if command.get("times", 1) == 1:
        return message(gettext_noop("makes the next %(call)s of %(pod)s fail with %(code)s"), **values)
    return message(gettext_noop("makes the next %(times)s %(call)s calls of %(pod)s fail with %(code)s"), **values)


def _create(command: Data) -> Message:
    return message(
        gettext_noop("creates %(what)s"), what=_format_by_kind([_get_kind_and_name(command.get("manifest"))])
    )


def _scale(command: Data) -> Message:
    ref = command.get("ref")
    ref = ref if isinstance(ref, Mapping) else {}
    return message(
        gettext_noop("scales %(kind)s %(name)s to %(replicas)s"),
        kind=ref.get("kind", "?"),
        name=ref.get("name", "?"),
        replicas=command.get("replicas", "?"),
    )


def _programs(command: Data) -> Message:
    """The first rule is the one that a form puts there."""
    rules = [rule for rule in _list(command.get("rules")) if isinstance(rule, Mapping)]
    if not rules:
        return message(gettext_noop("sets the programs of the containers"))
    rule = rules[0]
    said = _fields({name: value for name, value in rule.items() if name not in ("pods", "container")})
    pods = rule.get("pods") or "*"
    return message(gettext_noop("sets the programs of pods with %(pods)s: %(what)s"), pods=pods, what=said or "-")


def _usage(command: Data) -> Message:
    """The last entry is the one that a form adds."""
    entries = [entry for entry in _list(command.get("entries")) if isinstance(entry, Mapping)]
    if not entries:
        return message(gettext_noop("sets the usage of pods and nodes"))
    entry = entries[-1]
    name = entry.get("pod") or entry.get("node") or entry.get("podLabel") or "?"
    about = ("at", "pod", "node", "podLabel")
    said = _fields({name: value for name, value in entry.items() if name not in about})
    return message(gettext_noop("sets the usage of %(name)s: %(what)s"), name=name, what=said or "-")


_BEHAVIOURS = {
    "recorded": gettext_noop("makes extender %(url)s answer by rules"),
    "cel": gettext_noop("sets the answers of extender %(url)s"),
    "http": gettext_noop("calls extender %(url)s over the network"),
}


def _extender(command: Data) -> Message:
    behaviour = command.get("behaviour")
    kind = str(behaviour.get("type", "")) if isinstance(behaviour, Mapping) else ""
    text = _BEHAVIOURS.get(kind, gettext_noop("makes extender %(url)s refuse connections"))
    return message(text, url=_cut(str(command.get("url_prefix", "?"))))


def _answer(command: Data) -> Message:
    answer = command.get("answer")
    answer = answer if isinstance(answer, Mapping) else {}
    if answer.get("error"):
        return message(gettext_noop("an extender's answer: %(what)s"), what=_cut(str(answer["error"])))
    status, body = answer.get("status", "?"), str(answer.get("body", ""))
    return message(gettext_noop("an extender's answer: %(what)s"), what=_cut(f"{status} {body}"))


_VERBS = {
    "POST": gettext_noop("%(agent)s creates %(what)s"),
    "PUT": gettext_noop("%(agent)s replaces %(what)s"),
    "PATCH": gettext_noop("%(agent)s changes %(what)s"),
    "DELETE": gettext_noop("%(agent)s deletes %(what)s"),
}


def _request(command: Data) -> Message:
    """The client of the API server and its request: `kubectl apply creates pods web-0`."""
    path, body = str(command.get("path", "")).strip("/").split("/"), command.get("body")
    meta = body.get("metadata") if isinstance(body, Mapping) else None
    parts = path[2:] if path[:1] == ["api"] else path[3:]
    if parts[:1] == ["namespaces"] and len(parts) > 2:
        parts = parts[2:]
    name = str(meta.get("name") or "") if isinstance(meta, Mapping) and len(parts) == 1 else ""
    what = _cut(" ".join(filter(None, [*parts, name])))
    text = _VERBS.get(str(command.get("method")), gettext_noop("%(agent)s changes %(what)s"))
    return message(text, agent=_cut(str(command.get("agent") or "kubectl"), SHORT), what=what)


def _fill(text: str) -> Callable[[Data], Message]:
    """A text whose values are fields of the command."""
    fields = re.findall(r"%\((\w+)\)s", text)
    return lambda data: message(text, **{field: data.get(field, "") for field in fields})


def _choose(holds: Callable[[Data], bool], text: str, otherwise: str) -> Callable[[Data], Message]:
    """One of two texts."""
    first, second = _fill(text), _fill(otherwise)
    return lambda data: (first if holds(data) else second)(data)


_OF_KIND: dict[str, Callable[[Data], Message]] = {
    "ApplyObjects": _apply,
    "DeleteObjects": _delete,
    "PatchObject": _patch,
    "SetConfiguration": _configure,
    "SetSettings": _settings,
    "DefinePlugin": _choose(
        lambda data: data.get("definition") is None,
        gettext_noop("removes the plugin %(plugin)s"),
        gettext_noop("defines the plugin %(plugin)s in CEL"),
    ),
    "DecidePermit": _choose(
        lambda data: data.get("decision") == "allow",
        gettext_noop("allows %(pod)s, which waits on Permit"),
        gettext_noop("rejects %(pod)s, which waits on Permit"),
    ),
    "FailCall": _fail,
    "CreateObject": _create,
    "ScaleObject": _scale,
    "BindPod": _fill(gettext_noop("binds %(pod)s to %(node)s")),
    "EvictPod": _choose(
        lambda data: bool(data.get("dry_run")),
        gettext_noop("checks whether %(pod)s can be evicted"),
        gettext_noop("requests the eviction of %(pod)s"),
    ),
    "DrainNode": _fill(gettext_noop("drains %(node)s")),
    "CancelDrain": _fill(gettext_noop("cancels the drain of %(node)s")),
    "SetKubelet": _choose(
        lambda data: bool(data.get("running")),
        gettext_noop("starts the kubelet of %(node)s"),
        gettext_noop("stops the kubelet of %(node)s"),
    ),
    "ReportCondition": _fill(gettext_noop("sets the condition %(type)s=%(status)s of %(node)s")),
    "ReportDeviceCondition": _fill(gettext_noop("sets the condition %(type)s=%(status)s of the devices of %(claim)s")),
    "SetPrograms": _programs,
    "SetUsage": _usage,
    "StartScheduler": _fill(gettext_noop("starts scheduler process %(name)s")),
    "StopScheduler": _choose(
        lambda data: data.get("signal") == "SIGKILL",
        gettext_noop("kills scheduler %(name)s (SIGKILL)"),
        gettext_noop("stops scheduler %(name)s (SIGTERM)"),
    ),
    "PartitionScheduler": _choose(
        lambda data: bool(data.get("partitioned")),
        gettext_noop("partitions scheduler %(name)s from the API server"),
        gettext_noop("reconnects scheduler %(name)s to the API server"),
    ),
    "SetExtender": _extender,
    "AnswerExtender": _answer,
    "CallAPI": _request,
    "BeginLife": _fill(gettext_noop("starts the clock at %(start)s")),
    "Undo": _fill(gettext_noop("undoes the previous change")),
    "Redo": _fill(gettext_noop("redoes the undone change")),
}


_SHORT = {
    "CreateObject": gettext_noop("a new object"),
    "ScaleObject": gettext_noop("a scaling"),
    "BindPod": gettext_noop("a manual binding"),
    "EvictPod": gettext_noop("an eviction"),
    "DrainNode": gettext_noop("a drain"),
    "CancelDrain": gettext_noop("the end of a drain"),
    "SetKubelet": gettext_noop("a kubelet stop or start"),
    "ReportCondition": gettext_noop("a node condition"),
    "ReportDeviceCondition": gettext_noop("a device condition"),
    "SetPrograms": gettext_noop("the programs of the containers"),
    "SetUsage": gettext_noop("the usage of pods and nodes"),
    "StartScheduler": gettext_noop("a scheduler start"),
    "StopScheduler": gettext_noop("a scheduler stop"),
    "PartitionScheduler": gettext_noop("a network partition of a scheduler"),
    "SetConfiguration": gettext_noop("a configuration"),
    "SetSettings": gettext_noop("settings"),
    "DefinePlugin": gettext_noop("a custom plugin"),
    "DecidePermit": gettext_noop("a decision on Permit"),
    "FailCall": gettext_noop("a failing call"),
    "SetExtender": gettext_noop("the behavior of an extender"),
    "AnswerExtender": gettext_noop("an extender's answer"),
    "CallAPI": gettext_noop("a request to the API server"),
    "BeginLife": gettext_noop("the start of the clock"),
    "Undo": gettext_noop("an undo"),
    "Redo": gettext_noop("a redo"),
}
# Which form a command came by, after the source that its log entry names.
SOURCES = {
    "start": gettext_noop("start"),
    "builder": gettext_noop("Build"),
    "objects": gettext_noop("Objects"),
    "import": gettext_noop("YAML or import"),
    "configuration": gettext_noop("Configuration"),
    "components": gettext_noop("Components"),
    "plugins": gettext_noop("Own plugins"),
    "calls": gettext_noop("API calls"),
    "extenders": gettext_noop("Extenders"),
    "outside": gettext_noop("an external extender"),
    "kubectl": gettext_noop("the API server"),
    "actions": gettext_noop("Actions"),
    "studio": gettext_noop("studio"),
    "fix": gettext_noop("Fix"),
    "story": gettext_noop("story"),
    "trace": gettext_noop("imported trace"),
}


def _format_by_kind(named: Iterable[tuple[str, str]], most: int = 3 * TEXT, first: int = NAMED) -> str:
    """Kinds with the first names of each: Node small, medium, Pod web-1, web-2, web-3 … (12)."""
    kinds: dict[str, list[str]] = {}
    for kind, name in named:
        kinds.setdefault(kind, []).append(name)
    parts = []
    for kind, names in kinds.items():
        more = f" … ({len(names):,})" if len(names) > first else ""
        parts.append(f"{kind} {', '.join(names[:first])}{more}")
    return _cut("; ".join(parts), most)


def _fields(data: Data) -> str:
    return _cut(
        ", ".join(f"{name}={value}" for name, value in data.items() if name != "kind" and value not in (None, ""))
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _cut(text: str, most: int = TEXT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
