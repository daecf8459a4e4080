"""Fixes as messages: each change as a sentence, the purpose that it defeats, and its effects on other pods."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict, cast

from playground.common.catalogs import read_yaml
from playground.presenters.scene import short
from playground.presenters.why.facts import MEANINGS
from playground.presenters.words import SECOND, Message, amounts, choose_message, duration, is_bytes, message
from scheduler_core.world.readonly import parse_quantity

MOST_EFFECTS = 6


@lru_cache
def read_texts() -> dict[str, dict[str, Any]]:
    """Return the texts of changes and of their effects: tables by kind."""
    texts: dict[str, dict[str, Any]] = read_yaml(Path(__file__).with_name("texts.yaml"))
    return texts


def sentence(change: Mapping[str, Any]) -> Message:
    """Return one change as a sentence."""
    kind, values = change["kind"], _align_units(dict(change["values"]))
    if kind == "outside":
        return message(read_yaml(MEANINGS)["steps"][values["meaning"]], **values)
    if kind in _VALUES:
        values |= _VALUES[kind](values)
    if field := _LISTS.get(kind):
        values["list"] = ", ".join(map(short, values[field]) if field == "pods" else values[field])
        if isinstance(values.get("to"), list):
            values["to"] = ", ".join(values["to"])
    for name in ("pod",) if field else ("claim", "pod", "budget"):
        if name in values:
            values[name] = short(values[name])
    return choose_message(read_texts()["changes"][kind], values)


def _align_units(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with the amounts before and after the change in one unit: 1.5 and 1, not 1500m and 1."""
    resource, both = values.get("resource"), [values.get("from"), values.get("to")]
    measured = isinstance(resource, str) and (resource == "cpu" or is_bytes(resource))
    if not measured or None in both or both[1] == "0":
        return values
    scale = 1000 if resource == "cpu" else 1
    before, after = amounts(str(resource), *(int(parse_quantity(str(each)) * scale) for each in both))
    return {**values, "from": before, "to": after}


def _describe_new_node(values: dict[str, Any]) -> dict[str, Any]:
    if values["like"]:
        return {"name": values["node"], "node": values["like"]}
    amounts = ", ".join(f"{n} {name}" for name, n in values["amounts"].items() if name != "pods")
    labels = ", ".join(f"{key}={value}" for key, value in values["labels"].items())
    return {"amounts": amounts, "labels": labels, "virtual": False, "group": ""}


def _list_causes(values: dict[str, Any]) -> dict[str, Any]:
    """Return the taints to name, or none if the node's own controller set them, because it removes them when the node is ready."""
    taints = values.get("taints") or ()
    own = any(key.endswith(("/not-ready", "/unreachable")) for key in taints)
    return {"list": "" if own else ", ".join(dict.fromkeys(taints))}


# The values of a kind's sentence that are not fields of the change.
_VALUES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "free": lambda values: {"list": ", ".join(map(short, values["pods"])), "amounts": ", ".join(values["amounts"])},
    "node": _describe_new_node,
    "claim": lambda values: {"name": values.get("deviceClass")},
    "ready": _list_causes,
    "priority": lambda values: {"name": values["class"], "preempts": values["value"] == values["from"]},
    "wait": lambda values: {"time": duration(max(values.get("time", 0), SECOND))},
}
# Kinds of changes whose sentence has a list, with the listed value.
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
    values = {**effect, "pod": short(effect["pod"]), "by": short(effect["by"])}
    return choose_message(read_texts()["effects"][effect["kind"]], values)


def effects_in_words(effects: list[Mapping[str, Any]]) -> list[Message]:
    """Return messages about the worst effects, and the number of further ones."""
    lines = [effect_sentence(effect) for effect in effects[:MOST_EFFECTS]]
    if len(effects) > MOST_EFFECTS:
        lines.append(message(read_texts()["effects"]["more"], n=len(effects) - MOST_EFFECTS))
    return lines


def warning_of(disturbance: str) -> Message | None:
    """Return the warning about a fix that harms others in one of the worst ways."""
    text = read_texts()["warnings"].get(disturbance)
    return None if text is None else message(text)


class ShownFix(TypedDict):
    """A fix with its sentences. `takes` is "" if it takes less than a second."""

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
    """The result of a search. `name` is the short form of `pod`. `late`: the time limit ended the search."""

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
    """An object in an unwanted state. `query` leads to its fixes."""

    of: str
    subject: str
    name: str
    said: str
    count: int
    query: str
