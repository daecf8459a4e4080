"""Stricter rules for a pod on an undesired node: a preference, or a rule with too narrow a scope, becomes a requirement.

Each proposal is tried with the pod recreated. If no other node suits, the pod waits.
"""

import copy
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from scheduler_core.analysis.fixes.containers import ANY
from scheduler_core.analysis.fixes.kubectl import bare, clean, format_apply, workload_of
from scheduler_core.apimachinery.objects import PREFERRED, REQUIRED, LabelSelector, Manifest, Node, Pod, controller_of
from scheduler_core.apimachinery.objects.affinity import misses, read_lacking_keys, read_required_terms
from scheduler_core.apimachinery.objects.labels import NOT_IN, NodeSelectorTerm
from scheduler_core.scheduler.config import load_configuration
from scheduler_core.scheduler.framework import Point
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.plugins.helper.arguments import likeness
from scheduler_core.scheduler.plugins.helper.fixes import (
    HOSTNAME,
    OF_CONTROLLERS,
    find_delay,
    find_open_role,
    list_own_tolerations,
)
from scheduler_core.world.simulation import Simulation

_SOFT, _HARD, MOST = "ScheduleAnyway", "DoNotSchedule", 3
Stricter = Iterator[tuple[Change, tuple[Any, ...], Any]]  # a path in the pod's spec, and the value


def propose_stricter(draft: Draft, sim: Simulation, pod: Pod, node: Node) -> Iterator[Draft]:
    """Propose to close the gaps in the pod's rules. If its node violates a rule by now, propose to place the pod again."""
    rules = (*_list_spreads(sim, pod), *_list_terms(sim, pod, node), *_list_requirements(sim, pod, node))
    for change, path, value in rules:
        yield draft.with_pod(change, partial(_place_anew, path, value))
    yield from _give_label(draft, sim, pod)
    yield from _label_node(draft, sim, pod, node)
    yield from _enable_plugins(draft, sim, pod)
    refused = any(each.effect == "NoSchedule" and not pod.spec.tolerates(each) for each in node.taints)
    later = any(find_delay(each, pod) for each in sim.store.nodes() if each is not node and each.ready == "True")
    if (misses(pod, node) or refused or later) and not node.unschedulable:
        yield draft.typing(Change("recreate", {"pod": pod.key}), _make_anew(sim, pod))


def _place_anew(path: tuple[Any, ...], value: Any, manifest: dict[str, Any]) -> None:
    within: Any = manifest["spec"]
    for part in path[:-1]:
        within = within[part] if isinstance(within, list) else within.setdefault(part, {})
    within[path[-1]] = value
    without_node_name(manifest)


def without_node_name(manifest: dict[str, Any]) -> None:
    """Remove the fields that a pod has since it was scheduled."""
    manifest["spec"].pop("nodeName", None)
    manifest.pop("status", None)


def _harden(what: str, text: str = "") -> Change:
    return Change("harden", {"what": what, "text": text})


def _list_spreads(sim: Simulation, pod: Pod) -> Stricter:
    """Yield spread constraints that count more pods, are hard, require a second domain, or select the pod itself."""
    spec, field = pod.manifest["spec"], "topologySpreadConstraints"
    narrowed = spec.get("nodeSelector") or (spec.get("affinity") or {}).get("nodeAffinity")
    for index, each in enumerate(spec.get(field) or ()):
        key, selector = each["topologyKey"], (each.get("labelSelector") or {}).get("matchLabels") or {}
        if each.get("nodeAffinityPolicy", "Honor") == "Honor" and narrowed:
            values = {"key": key, "field": "nodeAffinityPolicy", "to": "Ignore"}
            yield Change("policy", values), (field, index, "nodeAffinityPolicy"), "Ignore"
        if each.get("whenUnsatisfiable") == _SOFT:
            yield _harden("spread", key), (field, index, "whenUnsatisfiable"), _HARD
            if each.get("maxSkew", 1) > 1:
                yield _harden("skew", key), (field, index), {**each, "whenUnsatisfiable": _HARD, "maxSkew": 1}
        elif "minDomains" not in each and len({n.labels[key] for n in sim.store.nodes() if key in n.labels}) == 1:
            yield _harden("min-domains", key), (field, index, "minDomains"), 2
        own = {name: pod.labels[name] for name in selector if name in pod.labels}
        if own and own != selector:
            text = ", ".join(map("=".join, own.items()))
            yield _harden("own-labels", text), (field, index, "labelSelector"), {"matchLabels": own}


def _list_terms(sim: Simulation, pod: Pod, node: Node) -> Stricter:
    """Yield anti-affinity that covers all namespaces, or that requires an unmet preference."""
    path = ("affinity", "podAntiAffinity", REQUIRED)
    rules = (pod.manifest["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
    terms = rules.get(REQUIRED) or []
    if any("namespaces" not in term and term.get("namespaceSelector") != {} for term in terms):
        wide = [term if "namespaces" in term else {**term, "namespaceSelector": {}} for term in terms]
        yield Change("namespace-selector", {}), path, wide
    for term in (each["podAffinityTerm"] for each in rules.get(PREFERRED) or ()):
        key, selector = str(term.get("topologyKey")), LabelSelector.of(term.get("labelSelector"))
        near = {each.name for each in sim.store.nodes() if each.labels.get(key) == node.labels.get(key)}
        if not any(p.key != pod.key and p.node_name in near and selector.matches(p.labels) for p in sim.store.pods()):
            continue
        text = ", ".join(map(str, selector.requirements)) or "*"
        yield _harden("podAntiAffinity", f"{text} @ {term.get('topologyKey', '')}"), path, [*terms, term]


def _list_requirements(sim: Simulation, pod: Pod, node: Node) -> Stricter:
    """Yield required node labels: preferred ones, ones whose absence meets a requirement, ones of a node with a tolerated taint; and
    terms that are joined.
    """
    path = ("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")
    rules = (pod.manifest["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    raw: list[Manifest] = (rules.get(REQUIRED) or {}).get("nodeSelectorTerms") or [{}]

    if (controller_of(pod.manifest) or {}).get("kind") == "DaemonSet":  # its controller ties each pod to a node
        raw = [{name: each for name, each in term.items() if name != "matchFields"} for term in raw]

    def add(asked: Iterable[Manifest]) -> list[Manifest]:
        return [{**term, "matchExpressions": [*(term.get("matchExpressions") or ()), *asked]} for term in raw]

    if len(raw) > 1:
        whole = [each for term in raw for each in term.get("matchExpressions") or ()]
        yield _harden("terms"), path, [{"matchExpressions": whole}]
    for each in (each["preference"] for each in rules.get(PREFERRED) or ()):
        term = NodeSelectorTerm.of(each)
        if term.expressions and not term.matches(node.labels, node.name):
            text = ", ".join(map(str, term.expressions))
            yield _harden("nodeAffinity", text), path, add(each.get("matchExpressions") or ())
    for one in (one for term in raw for one in NodeSelectorTerm.of(term).expressions):
        if one.op == NOT_IN and one.key not in node.labels:
            yield _harden("exists", one.key), path, add([{"key": one.key, "operator": "Exists"}])
    if role := find_open_role(pod, node, sim.store.nodes()):
        yield _harden("absent", role), path, add([{"key": role, "operator": "DoesNotExist"}])
    given = pod.manifest["spec"].get("tolerations") or ()
    if any(not each.get("key") for each in given) and node.unschedulable:
        yield _harden("tolerations"), ("tolerations",), [each for each in given if each.get("key")]
    for taint in [each for each in node.taints if each.effect != "PreferNoSchedule" and pod.spec.tolerates(each)][:1]:
        is_label = taint.key in node.labels and not taint.key.startswith(OF_CONTROLLERS)
        mine = {"key": HOSTNAME, "operator": "NotIn", "values": [node.labels.get(HOSTNAME, node.name)]}
        asked = {"key": taint.key, "operator": "DoesNotExist"} if is_label else mine
        text = str(NodeSelectorTerm.of({"matchExpressions": [asked]}).expressions[0])
        yield _harden("nodeAffinity", text), path, add([asked])
    own = list_own_tolerations(pod)
    drawn = [n for n in sim.store.nodes() if any(each.tolerates(taint) for each in own for taint in n.taints)]
    for other in drawn[:1] if node not in drawn else ():
        differ = {k: v for k, v in other.labels.items() if node.labels.get(k) != v} or {HOSTNAME: other.name}
        key = next((name for name in differ if name != HOSTNAME), HOSTNAME)
        asked = {"key": key, "operator": "In", "values": [differ[key]]}
        yield _harden("nodeAffinity", f"{key}={differ[key]}"), path, add([asked])


def _give_label(draft: Draft, sim: Simulation, pod: Pod) -> Iterator[Draft]:
    """Propose labels for a pod whose affinity compares a label key that the pod lacks. The value most like the pod's name is first."""
    terms = read_required_terms(pod)
    for term, key in [(each, key) for each in terms for _, key in read_lacking_keys(each, pod)]:
        selector = LabelSelector.of(term.get("labelSelector"))
        near = (each for each in sim.store.pods() if each.namespace == pod.namespace and key in each.labels)
        values = {each.labels[key] for each in near if selector.matches(each.labels)}
        for value in sorted(values, key=lambda each: (each not in pod.name, -likeness(each, pod.name), each))[:MOST]:
            change, owner = _harden("label", f"{key}={value}"), workload_of(sim.store, pod.manifest)
            if owner is not None:
                target = f"{owner['kind'].lower()} {owner['metadata']['name']} -n {pod.namespace}"
                patch = {"spec": {"template": {"metadata": {"labels": {key: value}}}}}
                yield draft.patching(change, target, patch)
                continue
            yield draft.typing(change, _replace(pod, **{key: value}))


def _label_node(draft: Draft, sim: Simulation, pod: Pod, node: Node) -> Iterator[Draft]:
    """Propose the node label that the pod's anti-affinity uses, with the value of other nodes, and the pod recreated."""
    rules = (pod.manifest["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
    anew = _make_anew(sim, pod)
    for key in sorted({str(term.get("topologyKey")) for term in rules.get(REQUIRED) or ()} - {*node.labels}):
        known = sorted({each.labels[key] for each in sim.store.nodes() if key in each.labels}) or [ANY]
        values = [{"node": node.name, "key": key, "value": value} for value in known[:MOST]]
        yield from (draft.typing(Change("label", each), anew) for each in values)


def _make_anew(sim: Simulation, pod: Pod) -> str:
    """Return the call after which a pod is scheduled again: its workload creates another, or the call replaces the pod."""
    is_owned = workload_of(sim.store, pod.manifest) is not None
    return f"kubectl delete pod {pod.name} -n {pod.namespace}" if is_owned else _replace(pod)


def _replace(pod: Pod, **labels: str) -> str:
    """Return the call that recreates a pod without a node."""
    made = clean(bare(pod.manifest))
    made["metadata"]["labels"] = {**pod.labels, **labels}
    made["spec"] = {name: each for name, each in made["spec"].items() if name != "nodeName"}
    return format_apply(made, "replace --force")


def _enable_plugins(draft: Draft, sim: Simulation, pod: Pod) -> Iterator[Draft]:
    """Propose to enable a default Filter plugin that the pod's profile leaves out, and to recreate the pod."""
    scheduler = next((each for each in sim.schedulers if each.responsible_for(pod)), None)
    framework = None if scheduler is None else scheduler.framework_of(pod)
    if scheduler is None or framework is None or scheduler.configuration.given is None:
        return
    there = {plugin.name for point in (Point.FILTER, Point.PRE_FILTER) for plugin in framework.at(point)}
    usual = load_configuration(None, scheduler.features).profiles[0].plugins[Point.FILTER]
    for name in [name for name, _ in usual if name not in there]:
        given = copy.deepcopy(dict(scheduler.configuration.given))
        mine = (e for e in given.get("profiles") or () if e.get("schedulerName", framework.name) == framework.name)
        for points in (each for profile in mine for each in (profile.get("plugins") or {}).values()):
            points["disabled"] = [each for each in points.get("disabled") or () if each["name"] != name]
        change, anew = (
            Change("enable", {"plugin": name, "profile": framework.name}),
            Change("recreate", {"pod": pod.key}),
        )
        yield draft.with_configuration(change, scheduler.name, given).with_pod(anew, without_node_name)
