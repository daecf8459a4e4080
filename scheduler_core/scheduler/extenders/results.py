"""Parsing of an extender's answer: the results of the verbs, or the scheduler's error with kube's message.

kube: staging/src/k8s.io/kube-scheduler/extender/v1/types.go, pkg/scheduler/extender.go (send) @ v1.34.1
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects import BadQuantity, Node, nanos, parse_time
from scheduler_core.scheduler.extenders import go_json as go
from scheduler_core.scheduler.extenders.exchange import Answer, Exchange
from scheduler_core.scheduler.extenders.extender import Request, Verb
from scheduler_core.scheduler.extenders.go_json import GoError, Number, first_value
from scheduler_core.scheduler.extenders.wire import node_json

# A recorded extender: rules for its answers, in the format of the conformance corpus.
#
# The first rule with the verb of the call and with the pod (or without `pods`) applies; without one the answer is neutral.
# docs/extenders.md lists the fields of a rule; their source is the corpus' README-sampling-extenders.md.

Rule = Mapping[str, Any]
MILLISECOND = 1_000_000
SCRIPTED_FAILURE = "scripted failure"


def answer_from_rules(exchange: Exchange, rules: Sequence[Rule], latency: int = 0) -> Answer:
    """Return the answer by the rules, after `latency` ns unless a rule sets a delay."""
    rule = _rule(exchange, rules)
    status = int(rule.get("status", 200))
    latency = int(rule["delayMs"]) * MILLISECOND if "delayMs" in rule else latency
    if "raw" in rule:
        return Answer(status, rule["raw"], latency=latency)
    if status != 200:
        return Answer(status, SCRIPTED_FAILURE, latency=latency)
    body = _BODIES[exchange.verb](exchange.request, rule)
    return Answer(status, json.dumps(body, ensure_ascii=False), latency=latency)


def _rule(exchange: Exchange, rules: Sequence[Rule]) -> Rule:
    pod = exchange.request.pod.key
    for rule in rules:
        if rule.get("verb") == exchange.verb.value and ("pods" not in rule or pod in rule["pods"]):
            return rule
    return {}


def _filter(request: Request, rule: Rule) -> dict[str, Any]:
    if rule.get("error"):
        return {"Error": rule["error"]}
    nodes = {node.name: node for node in request.nodes}
    unresolvable = _reasons(nodes, rule.get("unresolvable"), rule.get("unresolvableAll"))
    failed = _reasons(nodes, rule.get("refuse"), rule.get("refuseAll"))
    gone = set(rule.get("drop") or ())
    if not rule.get("keepRefused"):
        gone |= {*failed, *unresolvable}
    kept = [name for name in nodes if name not in gone]
    if rule.get("order") == "reverse":
        kept.reverse()
    elif rule.get("order") == "sorted":
        kept.sort()
    kept += rule.get("add") or ()
    answer = {"FailedNodes": failed, "FailedAndUnresolvableNodes": unresolvable, "Error": ""}
    return {**_build_filter_nodes(nodes, kept, rule, request.names_only), **answer}


def _reasons(nodes: Mapping[str, Node], by_name: Mapping[str, str] | None, for_all: str | None) -> dict[str, str]:
    """Return the reasons by node of the request; `for_all` applies to the nodes without an own reason."""
    out = {name: text for name, text in (by_name or {}).items() if name in nodes}
    if for_all is not None:
        out |= {name: for_all for name in nodes if name not in out}
    return out


def _build_filter_nodes(nodes: Mapping[str, Node], kept: Sequence[str], rule: Rule, names_only: bool) -> dict[str, Any]:
    form = rule.get("form") or ("nodeNames" if names_only else "nodes")
    if form == "nodeNames":
        return {"NodeNames": list(kept)}
    if form == "nodes":
        return {"Nodes": {"items": [_node(name, nodes, rule) for name in kept]}}
    return {}


def _node(name: str, nodes: Mapping[str, Node], rule: Rule) -> dict[str, Any]:
    if name not in nodes:
        return {"metadata": {"name": name}}
    node = node_json(nodes[name])
    allocatable = (rule.get("allocatable") or {}).get(name)
    if allocatable is None:
        return node
    return {**node, "status": {**node["status"], "allocatable": allocatable}}


def _prioritize(request: Request, rule: Rule) -> list[dict[str, Any]]:
    scores: Mapping[str, int] = rule.get("scores") or {}
    names = [node.name for node in request.nodes]
    out = []
    for name in names:
        score = scores.get(name, rule.get("default"))
        if score is not None:
            out.append({"Host": name, "Score": score})
    out += [{"Host": name, "Score": scores[name]} for name in sorted(scores) if name not in names]
    return out


def _preempt(request: Request, rule: Rule) -> dict[str, Any]:
    keep, violations = rule.get("keep") or {}, rule.get("numPDBViolations") or {}
    out: dict[str, Any] = {}
    for victims in request.victims:
        name = victims.node
        if name in (rule.get("dropNodes") or ()):
            continue
        uids = [pod.uid for pod in victims.pods if name not in keep or pod.uid in keep[name]]
        out[name] = {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": victims.violations}
    for name, uids in (rule.get("addVictims") or {}).items():
        entry = out.setdefault(name, {"Pods": [], "NumPDBViolations": 0})
        entry["Pods"] += [{"UID": uid} for uid in uids]
    for name, number in violations.items():
        if name in out:
            out[name]["NumPDBViolations"] = number
    return {"NodeNameToMetaVictims": out}


def _bind(request: Request, rule: Rule) -> dict[str, Any]:
    return {"Error": rule.get("error", "")}


_BODIES = {Verb.FILTER: _filter, Verb.PRIORITIZE: _prioritize, Verb.PREEMPT: _preempt, Verb.BIND: _bind}

SUCCESS = 200
_QUANTITY = re.compile(r"[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*\Z")
_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_NUMERIC = "unable to parse numeric part of quantity"
_SUFFIX = "unable to parse quantity's suffix"


class ExtenderError(ValueError):
    """The scheduler's error for a failed call."""


@dataclass(frozen=True, slots=True)
class FilterResult:
    """The result of Filter. `nodes`, `node_names`: None if absent."""

    nodes: tuple[Node, ...] | None = None
    node_names: tuple[str, ...] | None = None
    failed: Mapping[str, str] = ()  # type: ignore[assignment]
    unresolvable: Mapping[str, str] = ()  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class MetaVictims:
    """Victims by their UIDs."""

    uids: tuple[str, ...]
    violations: int


def read_filter(exchange: Exchange) -> FilterResult:
    """Parse the answer of Filter. Raise ExtenderError."""
    result = _read(exchange, _FILTER) or {}
    _raise_error_of(result)
    nodes, names = result.get("Nodes"), result.get("NodeNames")
    return FilterResult(
        None if nodes is None else tuple(Node.from_manifest(node) for node in nodes.get("items") or ()),
        None if names is None else tuple(names),
        result.get("FailedNodes") or {},
        result.get("FailedAndUnresolvableNodes") or {},
    )


def read_prioritize(exchange: Exchange) -> list[tuple[str, int]]:
    """Return hosts with their scores, in the order of the answer. Raise ExtenderError."""
    return [(entry.get("Host", ""), entry.get("Score", 0)) for entry in _read(exchange, _PRIORITIES) or ()]


def read_preempt(exchange: Exchange) -> dict[str, MetaVictims]:
    """Return the victims by node. Raise ExtenderError.

    DEVIATION: if victims or a pod among them are null, kube-scheduler crashes; here this is an error.
    """
    result = _read(exchange, _PREEMPT) or {}
    by_node = result.get("NodeNameToMetaVictims") or {}
    return {node: _victims(by_node[node]) for node in sorted(by_node)}


def _victims(raw: Mapping[str, Any] | None) -> MetaVictims:
    pods = None if raw is None else raw.get("Pods") or []
    if raw is None or pods is None or None in pods:
        raise ExtenderError("runtime error: invalid memory address or nil pointer dereference")
    return MetaVictims(tuple(pod.get("UID", "") for pod in pods), raw.get("NumPDBViolations", 0))


def read_bind(exchange: Exchange) -> None:
    """Raise ExtenderError if the extender did not bind the pod."""
    _raise_error_of(_read(exchange, _BIND) or {})


def _raise_error_of(result: Mapping[str, Any]) -> None:
    if result.get("Error"):
        raise ExtenderError(result["Error"])


def _read(exchange: Exchange, reader: go.Reader) -> Any:
    answer = exchange.answer
    assert answer is not None
    if answer.error and not answer.in_body:
        raise ExtenderError(f'Post "{exchange.url}": {answer.error}')
    if answer.status != SUCCESS:
        path = exchange.url.removeprefix(f"{exchange.extender.url_prefix.rstrip('/')}/")
        raise ExtenderError(f"failed {path} with extender at URL {exchange.url}, code {answer.status}")
    if answer.error:
        raise ExtenderError(answer.error)
    try:
        value = first_value(answer.body)
        return None if value is None else reader(value, go.FieldPlace())
    except GoError as error:
        raise ExtenderError(str(error)) from error


def _quantity(value: Any, where: go.FieldPlace) -> str:
    """Read a quantity; numbers keep their spelling."""
    spelled = str(value).strip() if isinstance(value, str) else ""
    if not _QUANTITY.match(spelled):
        raise GoError(_FORMAT)
    try:
        nanos(spelled)
    except BadQuantity:
        number = re.match(r"[+-]?[0-9.]+", spelled)
        assert number is not None
        raise GoError(_NUMERIC if number[0].count(".") > 1 else _SUFFIX) from None
    return spelled


def _time(value: Any, where: go.FieldPlace) -> str:
    if isinstance(value, Number):
        raise go.mismatch(value, "string", where)
    spelled = go.text(value, where)
    try:
        parse_time(spelled)
    except ValueError:
        year = f'cannot parse "{spelled}" as "2006"'
        raise GoError(f'parsing time "{spelled}" as "2006-01-02T15:04:05Z07:00": {year}') from None
    return spelled


def _empty() -> dict[str, Any]:
    return {}


_TEXTS = go.map_of(go.text, "map[string]string", str)
_RESOURCES = go.map_of(_quantity, "v1.ResourceList", lambda: "0")
_METADATA = go.struct(
    "ObjectMeta",
    {
        "name": go.text,
        "namespace": go.text,
        "uid": go.text,
        "resourceVersion": go.text,
        "creationTimestamp": _time,
        "labels": _TEXTS,
        "annotations": _TEXTS,
    },
    others=True,
)
_TAINT = go.struct("Taint", {"key": go.text, "value": go.text, "effect": go.text, "timeAdded": _time})
_SPEC = go.struct(
    "NodeSpec",
    {
        "podCIDR": go.text,
        "providerID": go.text,
        "unschedulable": go.boolean,
        "taints": go.list_of(_TAINT, "[]v1.Taint", _empty),
    },
    others=True,
)
_IMAGE = go.struct("ContainerImage", {"names": go.list_of(go.text, "[]string", str), "sizeBytes": go.int64})
_CONDITION = go.struct(
    "NodeCondition",
    dict.fromkeys(("type", "status", "reason", "message"), go.text)
    | {"lastHeartbeatTime": _time, "lastTransitionTime": _time},
)
_STATUS = go.struct(
    "NodeStatus",
    {
        "capacity": _RESOURCES,
        "allocatable": _RESOURCES,
        "conditions": go.list_of(_CONDITION, "[]v1.NodeCondition", _empty),
        "images": go.list_of(_IMAGE, "[]v1.ContainerImage", _empty),
    },
    others=True,
)
_NODE = go.struct(
    "Node",
    {"kind": go.text, "apiVersion": go.text, "metadata": _METADATA, "spec": _SPEC, "status": _STATUS},
    others=True,
)
_NODE_LIST = go.struct("NodeList", {"items": go.list_of(_NODE, "[]v1.Node", _empty)}, others=True)
_FAILED = go.map_of(go.text, "v1.FailedNodesMap", str)
_FILTER = go.struct(
    "ExtenderFilterResult",
    {
        "Nodes": _NODE_LIST,
        "NodeNames": go.list_of(go.text, "[]string", str),
        "FailedNodes": _FAILED,
        "FailedAndUnresolvableNodes": _FAILED,
        "Error": go.text,
    },
)
_PRIORITIES = go.list_of(go.struct("HostPriority", {"Host": go.text, "Score": go.int64}), "v1.HostPriorityList", _empty)
_META_POD = go.struct("MetaPod", {"UID": go.text})
_META_VICTIMS = go.struct("MetaVictims", {"Pods": go.list_of(_META_POD, "[]*v1.MetaPod"), "NumPDBViolations": go.int64})
_PREEMPT = go.struct(
    "ExtenderPreemptionResult", {"NodeNameToMetaVictims": go.map_of(_META_VICTIMS, "map[string]*v1.MetaVictims")}
)
_BIND = go.struct("ExtenderBindingResult", {"Error": go.text})
