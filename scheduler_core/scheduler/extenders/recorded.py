"""A recorded extender: rules that say what it answers, as the conformance corpus has them.

The first rule with the verb of the call and with the pod (or without `pods`) applies; without one the answer is a neutral one.
docs/extenders.md lists what a rule may say; the corpus' README-sampling-extenders.md is where it comes from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.scheduler.extenders.exchange import Answer, Exchange
from scheduler_core.scheduler.extenders.extender import Verb
from scheduler_core.scheduler.extenders.request import Request
from scheduler_core.scheduler.extenders.wire import node_json

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
    """Only nodes of the request; a text for all is for those without one of their own."""
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
