"""The evidence for a lesson's question, and the goals of its task."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict

import yaml

from playground.common.catalogs import read_yaml
from playground.lessons import Card, Playthrough
from playground.lessons.conditions import Condition, holds
from playground.lessons.facts import Value
from playground.lessons.format import Mistake
from playground.lessons.named import key_of, object_of, pod_key, short
from playground.presenters.scene import last_attempt, scheduler_of, table_of
from playground.presenters.terms import read_terms
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import WorldView, format_quantity

MOST_NODES, MOST_PODS, MOST_OTHERS, MOST_TERMS = 12, 4, 12, 4
MEANT: dict[str, str] = read_yaml(Path(__file__).with_name("meant.yaml"))
# Defaults of pods, and labels of every node, that no lesson is about.
DEFAULTED = ("default-scheduler", "PreemptLowerPriority")
COMMON = ("kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch", "node.kubernetes.io/instance-type")
# Objects that pods refer to, or that limit them.
DECIDING = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "PodDisruptionBudget", "PriorityClass", "PodGroup",
            "ResourceClaim", "ResourceSlice", "LimitRange", "ResourceQuota")  # fmt: skip
OF_NODES = "kube-node-lease"
TELLING = ("priority", "priorityClassName", "preemptionPolicy", "schedulerName", "nodeSelector", "nodeName", "affinity",
           "tolerations", "topologySpreadConstraints", "schedulingGates", "overhead", "resourceClaims", "volumes")  # fmt: skip


class Amount(TypedDict):
    used: str
    of: str
    share: int


class GivenNode(TypedDict):
    name: str
    labels: list[str]
    taints: list[str]
    amounts: list[Amount]
    pods: list[str]


class GivenPod(TypedDict):
    """`parts` are the fields of `text`, each with its lines. `names`: the pods with this text."""

    kind: str
    names: list[str]
    text: str
    parts: list[str]


class TaskData(TypedDict):
    """`resources` names the columns of amounts. `more` is the number of nodes left out. `others`: waiting pods without a text.

    `terms` are the terms in the card's text.
    """

    nodes: list[GivenNode]
    resources: list[str]
    more: int
    labelled: bool
    tainted: bool
    pods: list[GivenPod]
    objects: list[GivenPod]
    others: list[str]
    terms: list[str]


def list_named_pods(card: Card) -> tuple[str, ...]:
    """Return the pods in a card's question and condition, those of the question first."""
    answer = card.question.answer.values() if card.question is not None else ()
    texts = [each for value in answer for each in (value if isinstance(value, list | tuple) else [value])]
    return tuple(key_of(str(each)) for each in [*texts, card.pod, card.when.get("pod", "")] if each)


def list_named_terms(text: str) -> list[str]:
    """Return the terms in an English text, in the text's order, at most MOST_TERMS."""
    titles = {name: re.escape(term.title.partition(" (")[0]) for name, term in read_terms().items()}
    found = {name: at.start() for name, title in titles.items() if (at := re.search(rf"\b{title}(?:s|es)?\b", text))}
    return sorted(found, key=found.__getitem__)[:MOST_TERMS]


def list_given(sim: WorldView, named: Sequence[str], elects: bool, text: str) -> TaskData:
    """Return the nodes, the pods in the question, and the waiting pods. For an election, return the Lease instead of the nodes."""
    nodes = [] if elects else sim.store.list("Node")
    table = table_of(scheduler_of(sim))
    resources = [name for name in ("cpu", "memory") if name in table.resources.names]
    extra = {name for node in nodes for name in node.get("status", {}).get("allocatable", {}) if "/" in name}
    resources += [name for name in sorted(extra) if name in table.resources.names][:2]
    rows = [_node(sim, node, resources) for node in nodes[:MOST_NODES]]
    pods = {key: pod for pod in sim.store.list("Pod") if (key := pod_key(pod["metadata"]))}
    waiting = [key for key, pod in pods.items() if not pod["spec"].get("nodeName")]
    alike: dict[str, list[str]] = {}
    for key in [key for key in dict.fromkeys([*named, *waiting]) if key in pods][: MOST_PODS + MOST_OTHERS]:
        alike.setdefault(format_deciding(pods[key]), []).append(short(key))
    objects = [
        _make_given(kind, [each["metadata"]["name"]], _format_object(each))
        for kind in (("Lease",) if elects else DECIDING)
        for each in sim.store.list(kind)
        if not each["metadata"]["name"].startswith("system-") and each["metadata"].get("namespace") != OF_NODES
    ][:MOST_PODS]
    shown = list(alike.items())[:MOST_PODS]
    return {
        "nodes": rows,
        "resources": resources,
        "more": max(len(nodes) - MOST_NODES, 0),
        "labelled": any(row["labels"] for row in rows),
        "tainted": any(row["taints"] for row in rows),
        "pods": (objects if elects else []) + [_make_given("Pod", names, text) for text, names in shown],
        "objects": [] if elects else objects,
        "others": [name for names in list(alike.values())[MOST_PODS:] for name in names],
        "terms": list_named_terms(text),
    }


def _format_object(manifest: Mapping[str, Any]) -> str:
    """Return the spec of an object other than a pod, or its other fields if it has no spec."""
    rest = {name: value for name, value in manifest.items() if name not in ("apiVersion", "kind", "metadata", "status")}
    return str(yaml.safe_dump(manifest.get("spec", rest), default_flow_style=None))


def _make_given(kind: str, names: list[str], text: str) -> GivenPod:
    return {"kind": kind, "names": names, "text": text, "parts": split_fields(text)}


def split_fields(text: str) -> list[str]:
    """Split the YAML of an object into its fields, each with its lines."""
    return re.split(r"\n(?=\w)", text.strip()) if text else []


def _node(sim: WorldView, node: Mapping[str, Any], resources: Sequence[str]) -> GivenNode:
    name, spec = node["metadata"]["name"], node.get("spec", {})
    table = table_of(scheduler_of(sim))
    row = table.row(name)
    running = [pod for pod in sim.store.list("Pod") if pod["spec"].get("nodeName") == name]
    closed = ["unschedulable"] if spec.get("unschedulable") else []
    return {
        "name": name,
        "labels": [
            f"{key}={value}" for key, value in sorted(node["metadata"].get("labels", {}).items()) if key not in COMMON
        ],
        "taints": closed + [f"{each['key']}={each.get('value', '')}:{each['effect']}" for each in spec.get("taints", ())],
        "amounts": [] if row is None else [_amount(table, row, resource) for resource in resources],
        "pods": [_pod(sim, pod) for pod in running[:8]],
    }  # fmt: skip


def _amount(table: Any, row: int, resource: str) -> Amount:
    column = table.resources.names.index(resource)
    used, of = int(table.requested[row][column]), int(table.allocatable[row][column])
    return {
        "used": _format_amount(used, resource),
        "of": _format_amount(of, resource),
        "share": round(100 * used / of) if of else 0,
    }


def _format_amount(number: int, resource: str) -> str:
    return format_quantity(f"{number}m") if resource == "cpu" else format_quantity(number, binary=resource == "memory")


def _pod(sim: WorldView, pod: Mapping[str, Any]) -> str:
    """Format a running pod with the properties that questions are about: labels, priority, and host ports."""
    spec, meta = pod["spec"], pod["metadata"]
    ports = [
        port["hostPort"] for each in spec.get("containers", ()) for port in each.get("ports", ()) if "hostPort" in port
    ]
    said = [f"{key}={value}" for key, value in sorted(meta.get("labels", {}).items())][:3]
    said += [f"priority: {spec['priority']}"] if spec.get("priority") else []
    said += [f"hostPort: {port}" for port in ports]
    said += _uses(sim, pod)
    name = short(pod_key(pod["metadata"]))
    return f"{name} ({', '.join(said)})" if said else name


def _uses(sim: WorldView, pod: Mapping[str, Any]) -> list[str]:
    """Return the pod's measured usage at this time, if a lesson sets it, with its request for the same resource."""
    asked = pod["spec"].get("containers", ({},))[0].get("resources", {}).get("requests", {})
    found: dict[str, str] = {}
    inputs = sim.surroundings.inputs
    for entry, written in zip(inputs.usage, inputs.entries, strict=True):
        if entry.pod == pod_key(pod["metadata"]) and entry.at <= sim.now:
            found |= {
                name: f"usage.{name}: {amount}, requests.{name}: {asked.get(name, 0)}"
                for name, amount in written.items()
            }
    return [text for name, text in found.items() if name not in ("at", "pod")]


def format_deciding(pod: Mapping[str, Any]) -> str:
    """Format the fields of a pod that affect scheduling as YAML, without those that admission sets for every pod."""
    spec = {field: value for field in TELLING if (value := pod["spec"].get(field)) and value not in DEFAULTED}
    tolerated = [each for each in spec.pop("tolerations", ()) if each.get("tolerationSeconds") != 300]
    asked = [
        {name: value for name in ("requests", "ports") if (value := {**each, **each.get("resources", {})}.get(name))}
        for each in pod["spec"].get("containers", ())
    ]
    shown = {
        "labels": dict(pod["metadata"].get("labels", {})),
        **spec,
        "tolerations": tolerated,
        "containers": [each for each in asked if each],
    }
    # A checkpoint may change the order of fields within a value, so sort them for an equal text.
    ordered = json.dumps({name: value for name, value in shown.items() if value}, sort_keys=True)
    return _format_yaml(tuple(shown), ordered)


@lru_cache(maxsize=256)
def _format_yaml(names: Sequence[str], data: str) -> str:
    """Format the fields of a JSON object as YAML, in the order of `names`, so that the result is equal in every step of an attempt."""
    fields = json.loads(data)
    chosen = {name: fields[name] for name in names if name in fields}
    return str(yaml.safe_dump(chosen, sort_keys=False, default_flow_style=None))


# Hints for a wrong answer: the engine's reasons against it, never the solution.


def list_hints(card: Card, played: Playthrough, given: Sequence[str]) -> list[Message]:
    """Return the hints for an answer that was judged wrong."""
    assert card.question is not None
    key, kind = played.keys[card.id], card.question.kind
    given = [text.strip() for text in given if text.strip()]
    evidence = played.evidence.get(card.id)
    said = evidence.said if evidence is not None else {}
    if kind == "number":
        number = float(given[0])
        meant = describe_meanings(played.meant.get(card.id, ())).get(f"{number:g}")
        over = isinstance(key, int | float) and number > key
        text = gettext_noop("Your number is too high.") if over else gettext_noop("Your number is too low.")
        return [message(text), *([meant] if meant else _count(card, given, key, said))]
    if isinstance(key, tuple) and kind == "order":
        right = next((place for place, name in enumerate(given) if key[place : place + 1] != (name,)), len(given))
        text = gettext_noop("Correct up to position %(places)s. %(name)s is not next.")
        text = text if right else gettext_noop("%(name)s is not first.")
        return [message(text, places=right, name=(*given, "–")[right])]
    if isinstance(key, tuple):
        wrong, missing = len(set(given) - set(key)), len(set(key) - set(given))
        texts = {
            gettext_noop("Names that do not belong: %(count)s."): wrong,
            gettext_noop("Names that are missing: %(count)s."): missing,
        }
        return [message(text, count=count) for text, count in texts.items() if count]
    refusals = [_describe_hint(name, said[name]) for name in given if name in said]
    return refusals or [message("Not %(name)s. Compare it with the others again.", name=given[0])]


def describe_meanings(meant: Sequence[Mistake]) -> dict[str, Message]:
    """Return, for each wrong number with a meaning, the mistake that leads to it."""
    return {f"{each.value:g}": message(MEANT[each.how], given=f"{each.value:g}", **each.names) for each in meant}


def _count(card: Card, given: Sequence[str], key: Value, said: Mapping[str, str]) -> list[Message]:
    """Return hints for a wrong number of nodes: an overlooked feasible node, or the reason of a refusal."""
    assert card.question is not None and isinstance(key, int | float)
    if "feasible_for" not in card.question.answer:
        return []
    if float(given[0]) < key:
        return [message("You left out a node that no plugin refuses.")]
    refused = {name: text for name, text in said.items() if not text.isdecimal()}
    return [_describe_hint(name, text) for name, text in list(refused.items())[:1]]


def _describe_hint(name: str, text: str) -> Message:
    if not text.isdecimal():
        return message("Look at %(name)s again. %(why)s", name=name, why=text)
    return message("%(name)s has %(points)s points. Another node has more.", name=name, points=text)


SCHEDULED = gettext_noop("%(pod)s is scheduled")
# The goal of a condition, by the first of these words in it.
WANTED = {
    "on": gettext_noop("%(pod)s runs on %(on)s"),
    "outcome": gettext_noop("An attempt of %(pod)s ends: %(outcome)s"),
    "place": gettext_noop("%(pod)s reaches: %(place)s"),
    "field": gettext_noop("%(field)s of %(object)s is %(is)s"),
    "exists": gettext_noop("%(exists)s exists"),
    "lacks": gettext_noop("%(lacks)s does not exist"),
    "event": gettext_noop("The event %(event)s is recorded"),
    "seconds": gettext_noop("%(seconds)s seconds have passed"),
    "scheduler": gettext_noop("The scheduler %(scheduler)s reaches: %(stage)s"),
    "pod": gettext_noop("%(pod)s reaches the state that the task requires"),
}

QUEUED = gettext_noop("%(pod)s is in the active queue: press Step or Run")
AWAITED = {
    "in flight": gettext_noop("%(pod)s is in its scheduling cycle: press Step or Run"),
    "waiting on permit": gettext_noop("%(pod)s waits on Permit"),
    "binding": gettext_noop("%(pod)s is being bound: press Step or Run"),
}


class Goal(TypedDict):
    """The goal `wanted`, and its state `now` until it is `done`."""

    wanted: Message
    done: bool
    now: Message | None


def list_goals(check: Condition, sim: WorldView) -> list[Goal]:
    """Return the goals of a task's check, one for each condition."""
    goals: list[Goal] = []
    for condition in _conditions(check):
        if any(word in condition for word in WANTED):
            done = holds(condition, sim)
            goals.append({"wanted": _want(condition), "done": done, "now": None if done else _describe(condition, sim)})
    return goals


def _conditions(check: Condition) -> Iterator[Condition]:
    """Yield the conditions that must all hold; of alternatives, only the first."""
    for each in check.get("all", check.get("any", ())[:1]):
        yield from _conditions(each)
    if rest := {word: value for word, value in check.items() if word not in ("all", "any")}:
        yield rest


def _want(condition: Condition) -> Message:
    text = next(text for word, text in WANTED.items() if word in condition)
    if text == WANTED["outcome"] and condition["outcome"] == "scheduled":
        text = SCHEDULED
    kind, name, *path = condition.get("field", ("", ""))
    known: dict[str, Any] = {**condition, "field": ".".join(map(str, path)), "object": f"{kind} {name}"}
    known["is"] = _write(condition.get("is"))
    return message(text, **{name: value for name, value in known.items() if f"%({name})s" in text})


def _describe(condition: Condition, sim: WorldView) -> Message:
    if "field" in condition:
        kind, name, *path = condition["field"]
        value = object_of(kind, name, sim)
        if value is None:
            return message("%(pod)s does not exist yet", pod=name)
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                value = None
        return message("The value is %(value)s", value=_write(value))
    if "pod" in condition:
        # A goal about a pod: its node, or the reason why it has none.
        pod = str(condition["pod"])
        manifest = object_of("Pod", pod, sim)
        if manifest is None:
            return message("%(pod)s does not exist yet", pod=pod)
        if node := manifest["spec"].get("nodeName"):
            return message("%(pod)s is on %(node)s", pod=pod, node=node)
        attempt = last_attempt(sim, key_of(pod))
        if attempt is not None and attempt.message:
            return message("Not yet, because: %(why)s", why=attempt.message)
        if manifest["spec"].get("schedulingGates"):
            return message("A scheduling gate still holds the pod.")
        return message(AWAITED.get(sim.journal.place(key_of(pod)) or "", QUEUED), pod=pod)
    return message(gettext_noop("The object still exists") if "lacks" in condition else gettext_noop("Not yet"))


def _write(value: object) -> object:
    """Format a field's value as manifests do."""
    if value is None:
        return message("not set")
    return str(value).lower() if isinstance(value, bool) else str(value)[:80]
