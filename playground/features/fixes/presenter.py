"""Fixes in words: each change as a sentence, what it defeats, and what it does to other pods."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypedDict, cast

from playground.common.catalogs import read_yaml
from playground.presenters.amounts import amounts, duration, is_bytes
from playground.presenters.scene import short
from playground.presenters.why.facts import MEANINGS
from playground.presenters.words import Message, message
from scheduler_core.world.readonly import parse_quantity

MOST_EFFECTS = 6
SECOND = 1_000_000_000


@lru_cache
def read_texts() -> dict[str, dict[str, str]]:
    """The words of changes and of their effects: tables by kind."""
    texts: dict[str, dict[str, str]] = read_yaml(Path(__file__).with_name("texts.yaml"))
    return texts


def _change(kind: str, /, **values: object) -> Message:
    return message(read_texts()["changes"][kind], **values)


def sentence(change: Mapping[str, Any]) -> Message:
    """One change as people say it."""
    kind, values = change["kind"], _align_units(dict(change["values"]))
    if kind in _SPECIAL:
        return _SPECIAL[kind](values)
    if kind in _LISTS:
        return _describe_list(kind, values)
    for name in ("claim", "pod", "budget"):
        if name in values:
            values[name] = short(values[name])
    return _change(kind, **values)


def _align_units(values: dict[str, Any]) -> dict[str, Any]:
    """The values with an amount before and after the change in one unit: 1.5 and 1, not 1500m and 1."""
    resource, both = values.get("resource"), [values.get("from"), values.get("to")]
    measured = isinstance(resource, str) and (resource == "cpu" or is_bytes(resource))
    if not measured or None in both or both[1] == "0":
        return values
    scale = 1000 if resource == "cpu" else 1
    before, after = amounts(str(resource), *(int(parse_quantity(str(each)) * scale) for each in both))
    return {**values, "from": before, "to": after}


def _describe_rule(table: str, values: dict[str, Any]) -> Message:
    return message(read_texts()[table][values["what"]], text=values["text"])


def _describe_deletion(values: dict[str, Any]) -> Message:
    pods = ", ".join(short(key) for key in values["pods"])
    if not values["amounts"]:
        return _change("free-of-pods", node=values["node"], list=pods)
    return _change("free", node=values["node"], list=pods, amounts=", ".join(values["amounts"]))


def _describe_new_node(values: dict[str, Any]) -> Message:
    if values["like"]:
        text = "node-virtual" if values.get("virtual") else "node-of-group" if values.get("group") else "node"
        return _change(text, name=values["node"], node=values["like"], group=values.get("group", ""))
    amounts = ", ".join(f"{n} {name}" for name, n in values["amounts"].items() if name != "pods")
    labels = ", ".join(f"{key}={value}" for key, value in values["labels"].items())
    return _change("node-of-size-with-labels" if labels else "node-of-size", amounts=amounts, labels=labels)


def _describe_list(kind: str, values: dict[str, Any]) -> Message:
    field = _LISTS[kind]
    rest = {name: short(each) if name == "pod" else each for name, each in values.items() if name != field}
    listed = map(short, values[field]) if field == "pods" else values[field]
    if isinstance(rest.get("to"), list):
        rest["to"] = ", ".join(rest["to"])
    return _change(kind, list=", ".join(listed), **rest)


def _ready(values: dict[str, Any]) -> Message:
    taints = values.get("taints") or ()
    if not taints or any(key.endswith(("/not-ready", "/unreachable")) for key in taints):
        return _change("ready", node=values["node"])
    return _change("ready-of-cause", node=values["node"], list=", ".join(dict.fromkeys(taints)))


def _describe_claim_class(values: dict[str, Any]) -> Message:
    text = "claim-class" if values["to"] else "claim-without-class"
    return _change(text, claim=short(values["claim"]), to=values["to"])


def _describe_claim(values: dict[str, Any]) -> Message:
    if "deviceClass" in values:
        return _change("claim-for-device", claim=short(values["claim"]), name=values["deviceClass"])
    return _change("claim", claim=short(values["claim"]), size=values["size"])


def _describe_priority(values: dict[str, Any]) -> Message:
    texts = (
        ("priority-preempts", "priority-new-preempts")
        if values["value"] == values["from"]
        else ("priority", "priority-new")
    )
    return _change(texts[bool(values["new"])], name=values["class"], value=values["value"])


def _describe_request(values: dict[str, Any]) -> Message:
    text = "request-of-container" if values.get("container") else "request"
    return _change("request-left" if values["to"] == "0" else text, **values)


_SPECIAL: dict[str, Callable[[dict[str, Any]], Message]] = {
    "soften": partial(_describe_rule, "softened"),
    "harden": partial(_describe_rule, "hardened"),
    "free": _describe_deletion,
    "node": _describe_new_node,
    "capacity": lambda values: _change("capacity-of-pods" if values["resource"] == "pods" else "capacity", **values),
    "unit": lambda values: _change("unit-of-container" if values.get("container") else "unit", **values),
    "claim": _describe_claim,
    "claim-class": _describe_claim_class,
    "ready": _ready,
    "toleration": lambda values: _change("toleration-for-good" if values.get("forever") else "toleration", **values),
    "budget": lambda values: _change(
        "budget-counted" if values.get("counted") else "budget", **{**values, "budget": short(values["budget"])}
    ),
    "priority": _describe_priority,
    "request": _describe_request,
    "claim-beside": lambda values: _change(
        "claim-beside" if values.get("ends", True) else "claim-used", claim=short(values["claim"]), to=values["to"]
    ),
    "wait": lambda values: _change(
        "wait-for-end" if values.get("ends") else "wait",
        pod=short(values["pod"]),
        time=duration(max(values.get("time", 0), SECOND)),
    ),
    "recreate": lambda values: _change(
        "recreate-job" if "job" in values else "recreate-with-class" if values.get("class") else "recreate",
        **{**values, "pod": short(values["pod"])},
    ),
    "outside": lambda values: message(read_yaml(MEANINGS)["steps"][values["meaning"]], **values),
    "setting": lambda values: _change("setting" if "to" in values else "setting-left", **values),
    "config-object": lambda values: _change("config-object-copied" if "from" in values else "config-object", **values),
    "node-name": lambda values: _change(
        "node-name-that-exists" if values.get("exists") else "node-name", node=values["node"]
    ),
}
# Kinds of changes whose sentence has a list, and the value that the list is of.
_OF_LISTS = {
    "pods": ("move", "free-quota", "free-claim", "partner-priority"),
    "labels": ("runtime-class", "namespace-label", "daemon-selector", "other-labels"),
    "containers": ("order", "security-context", "sidecar"),
    "gates": ("gates",),
    "ports": ("port", "delete-daemons"),
    "claims": ("without-claims",),
    "tolerations": ("allowed-tolerations",),
    "resources": ("limit-range",),
    "namespaces": ("namespaces",),
    "nodes": ("pool",),
    "finalizers": ("finalizer",),
    "fields": ("policy-field",),
    "flags": ("drain",),
}
_LISTS = {kind: value for value, kinds in _OF_LISTS.items() for kind in kinds}


def defeats(changes: list[Mapping[str, Any]]) -> list[Message]:
    """Return what the changes defeat or cost, without duplicates."""
    texts, words = [], read_texts()
    for change in changes:
        kind = change["kind"]
        text = words["softening_defeats"][change["values"]["what"]] if kind == "soften" else words["defeats"].get(kind)
        if text is not None and text not in texts:
            texts.append(text)
    return [message(text) for text in texts]


def effect_sentence(effect: Mapping[str, Any]) -> Message:
    """Return a sentence about the effect on one other pod."""
    kind = effect["kind"]
    if kind == "replaced" and not effect["to"]:
        kind = "replaced-waits"
    elif kind == "evicted" and effect["by"]:
        kind = "evicted-and-remade"
    elif kind == "evicted" and not effect["node"]:
        kind = "evicted-waiting"
    values = {name: effect[name] for name in ("node", "to")}
    return message(read_texts()["effects"][kind], pod=short(effect["pod"]), by=short(effect["by"]), **values)


def effects_in_words(effects: list[Mapping[str, Any]]) -> list[Message]:
    """The worst first; of many pods the first few, and how many more there are."""
    lines = [effect_sentence(effect) for effect in effects[:MOST_EFFECTS]]
    if len(effects) > MOST_EFFECTS:
        lines.append(message(read_texts()["effects"]["more"], n=len(effects) - MOST_EFFECTS))
    return lines


def warning_of(disturbance: str) -> Message | None:
    """Return the warning about a fix that harms others in one of the worst ways."""
    text = read_texts()["warnings"].get(disturbance)
    return None if text is None else message(text)


class ShownFix(TypedDict):
    """A fix with its sentences; `takes` is "" if it takes less than a second."""

    kind: str
    commands: list[dict[str, Any]]
    pauses: list[int]
    kubectl: str
    node: str
    steps: int
    recreated: bool
    held_back: int
    proven: bool
    lines: list[Message]
    defeats: list[Message]
    effects: list[Message]
    warning: Message | None
    takes: str


class ShownFindings(TypedDict):
    """A search's findings; `name` is the short form of `pod`, `late` whether the search ran out of time."""

    pod: str
    name: str
    state: str
    fixes: list[ShownFix]
    tried: int
    unproven: int
    cut: int
    late: bool
    proven: int


def describe_findings(findings: Mapping[str, Any]) -> ShownFindings:
    """Return a search's findings (Findings.to_json()), each fix with its sentences."""
    shown = {
        "late": False,
        "proven": sum(fix["proven"] for fix in findings["fixes"]),
        **findings,
        "name": short(findings["pod"]),
        "fixes": list(map(_describe_fix, findings["fixes"])),
    }
    return cast(ShownFindings, shown)


def _describe_fix(fix: Mapping[str, Any]) -> ShownFix:
    shown = {
        **fix,
        "lines": [sentence(change) for change in fix["changes"]],
        "defeats": defeats(fix["changes"]),
        "effects": effects_in_words(fix["effects"]),
        "warning": warning_of(fix["disturbance"]),
        "takes": duration(fix["time"]) if fix["time"] >= SECOND else "",
    }
    return cast(ShownFix, shown)


class ProblemRow(TypedDict):
    """Something that is not as its owner wants it; `query` leads to its fixes."""

    of: str
    subject: str
    name: str
    said: str
    count: int
    query: str
