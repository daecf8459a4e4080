"""Reasons for a pod's placement: the nodes that passed the filters, the scores that decided, and the rules that did not apply.

The plugins run on the current state, without the pod itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.analysis.explain.explanation import Fact, GivenReason, Role
from scheduler_core.analysis.explain.provenance import template_of
from scheduler_core.analysis.explain.refusals import refusals
from scheduler_core.analysis.fixes.diagnosis import Diagnosis, diagnose_on, scheduler_for
from scheduler_core.analysis.inspection.one_node import list_verdicts
from scheduler_core.apimachinery.objects import Node, Pod, optional_time
from scheduler_core.apimachinery.objects.affinity import (
    AffinityTerm,
    affinity_terms,
    read_lacking_keys,
    read_required_terms,
    wrong_labels,
)
from scheduler_core.apimachinery.objects.labels import NOT_IN, LabelSelector
from scheduler_core.apimachinery.objects.resources import CPU, MEMORY
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, volumes_of
from scheduler_core.scheduler.cache.pod_classes import NO_POD, PodClass
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.config.load import load_configuration
from scheduler_core.scheduler.core.handle import WorldHandle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework.plugin import Point, Rows
from scheduler_core.scheduler.framework.runtime.framework import Framework, Trial
from scheduler_core.scheduler.framework.runtime.points import run_normalize_score, run_pre_score, run_score
from scheduler_core.scheduler.plugins.helper.fixes import find_delay, find_open_role, list_own_tolerations
from scheduler_core.scheduler.plugins.interpodaffinity.counts import with_named_namespaces
from scheduler_core.scheduler.plugins.registry import registry_of
from scheduler_core.world.simulation import Simulation

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SELECTED = "volume.kubernetes.io/selected-node"
MIRROR, _HARD = "kubernetes.io/config.mirror", "DoNotSchedule"
SHOWN, SMALL = 3, 400


@dataclass(frozen=True, slots=True)
class Placement:
    """A pod's placement compared with the other nodes: facts, and the refusals of the others."""

    facts: tuple[Fact, ...] = ()
    reasons: tuple[GivenReason, ...] = ()
    total: int = 0


def note(code: str, **values: Any) -> Fact:
    return Fact(Role.NOTES, code, values)


def explain_place(world: Simulation, pod: Pod, node: str) -> Placement:
    """Explain why a pod is on a node, or is about to be bound to it."""
    if MIRROR in pod.annotations:
        return Placement((note("IsStatic", pod=pod.key, node=node),))
    scheduler = scheduler_for(world, pod)
    framework = None if scheduler is None else scheduler.framework_of(pod)
    if scheduler is None or framework is None:
        return Placement()
    cache, stored = scheduler.cache.copy(), world.store.pod_at(pod.key)
    if cache.is_assumed(pod.uid) and not pod.node_name:
        cache.forget(pod)
    elif stored is not None and (stored.uid, stored.node_name) == (pod.uid, node):
        cache.remove_pod(pod)
    nodes, alone = cache.table(), replace(pod, node_name="")
    row = nodes.row(node)
    if row is None:
        return Placement()
    diagnosis = diagnose_on(scheduler, framework, alone, nodes)
    bypassed = was_not_scheduled(world, pod)
    facts = list(_list_broken_rules(scheduler, diagnosis, row, bypassed))
    if not bypassed:
        facts = [*_compare_nodes(diagnosis, node), *facts]
    facts += [*_list_narrow_rules(world, diagnosis, row), *_list_missing_data(world, alone, node)]
    return Placement(tuple(facts), refusals(diagnosis)[0], len(nodes))


def was_not_scheduled(world: Simulation, pod: Pod) -> bool:
    """Return whether the pod was created with its nodeName, as far as is known, so that no scheduler decided."""
    if not pod.node_name or pod.key in world.journal.last_attempt:
        return False
    if pod.phase == "Pending" and _waits_for_choice(world, pod):
        return True
    applied = pod.annotations.get(_LAST_APPLIED, "")
    made_here = pod.uid.startswith(f"{pod.namespace}-{pod.name}-")
    scheduled, owner = pod.condition("PodScheduled"), template_of(world, pod)
    if owner is not None and owner[1].get("nodeName") == pod.node_name:
        return True
    # Pods of a dump without uids were scheduled before the world began, and templates name no nodes.
    since = 0 if scheduled is None else optional_time(scheduled.get("lastTransitionTime")) or 0
    ran_before = scheduled is not None and since <= world.store.epoch
    chosen = ran_before or (owner is not None and not owner[1].get("nodeName"))
    return '"nodeName"' in applied or (made_here and not chosen)


def _waits_for_choice(world: Simulation, pod: Pod) -> bool:
    """Return whether a pod's claim shows that no scheduler decided: no node is selected, and nothing is allocated."""
    for use in volumes_of(pod.spec).claims:
        claim = world.store.get(CLAIM, pod.namespace, use.name(pod))
        spec = (claim or {}).get("spec") or {}
        of_class = world.store.get("StorageClass", "", str(spec.get("storageClassName") or "")) or {}
        annotations = ((claim or {}).get("metadata") or {}).get("annotations") or {}
        waits = of_class.get("volumeBindingMode") == "WaitForFirstConsumer" and "volumeName" not in spec
        if claim is not None and waits and SELECTED not in annotations:
            return True
    entries, key = pod.manifest["spec"].get("resourceClaims") or (), "resourceClaimName"
    statuses = (pod.manifest.get("status") or {}).get("resourceClaimStatuses") or ()
    made = {each.get("name"): each.get(key) for each in statuses}
    names = [each.get(key) or made.get(each.get("name")) for each in entries]
    claims = [world.store.get("ResourceClaim", pod.namespace, str(name)) for name in names if name]
    return any(claim is not None and not (claim.get("status") or {}).get("allocation") for claim in claims)


# The nodes compared


def _compare_nodes(diagnosis: Diagnosis, node: str) -> Iterator[Fact]:
    names, feasible = diagnosis.nodes.names, np.array(diagnosis.feasible, np.intp)
    yield note("FiltersLeft", count=len(feasible), total=len(names))
    if node not in {names[row] for row in feasible.tolist()}:
        return
    if len(feasible) == 1:
        yield note("OnlyNode", node=node)
        return
    scores = _score(diagnosis.framework, Trial(diagnosis.pod, diagnosis.nodes, diagnosis.state), feasible)
    if not scores:
        return
    totals = np.sum(list(scores.values()), axis=0)
    here = int(np.flatnonzero(feasible == diagnosis.nodes.row(node))[0])
    order = [i for i in np.argsort(-totals, kind="stable").tolist() if i != here]
    other = order[0]
    rival = names[int(feasible[other])]
    values = {"node": node, "score": int(totals[here]), "other": rival, "otherScore": int(totals[other])}
    drawn = scores.get("NodeAffinity", totals)
    for i in [each for each in order if drawn is not totals and drawn[each] > drawn[here]][:1]:
        more = {name: int(points[here] - points[i]) for name, points in scores.items() if points[here] > points[i]}
        if more and totals[here] >= totals[i]:
            plugins, less = sorted(more, key=more.__getitem__, reverse=True), int(drawn[i] - drawn[here])
            found = {"other": names[int(feasible[i])], "plugins": plugins, "points": sum(more.values()), "less": less}
            yield note("Outweighed", node=node, **found)
    if totals[other] > totals[here]:
        yield note("OtherScoresHigher", **values)
        if delay := find_delay(diagnosis.nodes.nodes[int(feasible[other])], diagnosis.pod):
            yield note("NodeCameLater", pod=diagnosis.pod.key, other=rival, left=delay)
        return
    if totals[other] == totals[here]:
        tied = [names[int(feasible[i])] for i in order if totals[i] == totals[here]]
        yield note("Tie", node=node, score=int(totals[here]), nodes=tied[:SHOWN], count=len(tied))
        return
    yield note("HighestScore", **values, scores=_list_scores(scores, here, other))
    plugin = max(scores, key=lambda name: int(scores[name][here] - scores[name][other]))
    points = {"points": int(scores[plugin][here]), "otherPoints": int(scores[plugin][other])}
    strategy = (diagnosis.framework.profile.args.get(plugin, {}).get("scoringStrategy") or {}).get("type")
    named = plugin if strategy in (None, "LeastAllocated") else f"{plugin} ({strategy})"
    yield note("DecidingPlugin", plugin=named, node=node, other=rival, **points)
    for name in scores:
        if name != plugin and scores[name][here] < scores[name][other]:
            points = {"points": int(scores[name][here]), "otherPoints": int(scores[name][other])}
            yield note("AgainstIt", plugin=name, node=node, other=rival, **points)


def _list_scores(scores: dict[str, NDArray[np.int64]], here: int, other: int) -> list[dict[str, Any]]:
    return [
        {"plugin": k, "points": int(points[here]), "otherPoints": int(points[other])} for k, points in scores.items()
    ]


def _score(framework: Framework, trial: Trial, rows: Rows) -> dict[str, NDArray[np.int64]]:
    """Return the weighted points of each plugin by row, or nothing if a plugin cannot score."""
    normalizing = {plugin.name for plugin in framework.at(Point.NORMALIZE_SCORE)}
    for plugin in framework.at(Point.PRE_SCORE):
        status = run_pre_score(plugin, trial, rows).status
        if not status.ok and not status.skipped:
            return {}
    found: dict[str, NDArray[np.int64]] = {}
    for plugin in framework.at(Point.SCORE):
        if plugin.name in trial.state.skip_score:
            continue
        points = run_score(plugin, trial, rows).scores
        if points is not None and plugin.name in normalizing:
            points = run_normalize_score(plugin, trial, rows, points).scores
        if points is None:
            return {}
        found[plugin.name] = points * framework.weights[plugin.name]
    return found


# Rules that did not keep the pod off the node


def _list_broken_rules(scheduler: Scheduler, diagnosis: Diagnosis, row: int, bypassed: bool) -> Iterator[Fact]:
    """Yield the rules that the pod's placement breaks now: no scheduler checked them, or they apply to new pods only."""
    pod, node = diagnosis.pod, diagnosis.nodes.names[row]
    if bypassed:
        yield note("BypassedScheduler", pod=pod.key, node=node)
    stored = scheduler.world.store.pod_at(pod.key)
    is_asked = bypassed or (
        stored is not None and bool(stored.node_name)
    )  # its resources are assumed while it is being bound
    for verdict in list_verdicts(scheduler, diagnosis.framework, pod, diagnosis.nodes, row) if is_asked else ():
        if verdict.status is not None:
            lacks = [f"{key}={value}" for key, value in wrong_labels(pod, diagnosis.nodes.nodes[row]).items()]
            if lacks and verdict.plugin == "NodeAffinity":
                yield note("LabelsAreMissing", pod=pod.key, node=node, labels=lacks)
            code = "RuleNotAsked" if bypassed else "RuleOfNewPods"
            text = diagnosis.specify(verdict.status, verdict.status.message, row)
            if not bypassed and diagnosis.nodes.nodes[row].unschedulable and "unschedulable" in text:
                yield note("CordonEndsNothing", node=node)
                continue
            yield note(code, pod=pod.key, node=node, plugin=verdict.plugin, message=text)
    yield from _list_disabled_plugins(scheduler, diagnosis, row)


def _list_disabled_plugins(scheduler: Scheduler, diagnosis: Diagnosis, row: int) -> Iterator[Fact]:
    """Yield the plugins that the profile omits and that would have rejected the node."""
    framework, features = diagnosis.framework, scheduler.features
    asked = {plugin.name for point in (Point.FILTER, Point.PRE_FILTER) for plugin in framework.at(point)}
    usual = load_configuration(None, features).profiles[0]
    if all(name in asked for name, _ in usual.plugins[Point.FILTER]):
        return
    whole = Framework(
        replace(usual, args={**usual.args, **framework.profile.args}), registry_of(features), WorldHandle(scheduler)
    )
    for verdict in list_verdicts(scheduler, whole, diagnosis.pod, diagnosis.nodes, row):
        if verdict.status is not None and verdict.plugin not in asked:
            values = {"node": diagnosis.nodes.names[row], "plugin": verdict.plugin, "message": verdict.status.message}
            yield note("PluginIsDisabled", pod=diagnosis.pod.key, profile=framework.name, **values)


def _list_narrow_rules(world: Simulation, diagnosis: Diagnosis, row: int) -> Iterator[Fact]:
    """Yield the pod's own rules with a narrower scope than expected."""
    pod, nodes = diagnosis.pod, diagnosis.nodes
    terms = affinity_terms(pod)
    for term in with_named_namespaces((*terms.required_anti, *terms.preferred_anti), world.store):
        yield from _describe_term("podAntiAffinity", term, nodes, row)
    rules = diagnosis.state.get("PreFilterInterPodAffinity")
    if rules is not None and rules.matches_itself and rules.affinity and not any(t.total for t in rules.affinity):
        yield note("FirstOfItsGroup", pod=pod.key)
    yield from list_keys_left_out(pod)
    yield from _list_uncounted(diagnosis)
    yield from _list_wishes(pod, nodes, row)
    yield from _list_unmet_preferences(pod, nodes, row)
    yield from _list_open_requirements(pod, nodes.nodes[row])
    yield from _list_tolerated(pod, nodes.nodes[row])
    if role := find_open_role(pod, nodes.nodes[row], nodes.nodes):
        yield note("ControlPlaneIsOpen", pod=pod.key, node=nodes.names[row], key=role)
    yield from _list_alternatives(pod, nodes.nodes[row])
    yield from _list_idle_tolerations(diagnosis, row)
    for constraint in pod.spec.topology_spread:
        selector = LabelSelector.of(constraint.get("labelSelector"))
        if not selector.matches(pod.labels):
            text = ", ".join(map(str, selector.requirements))
            yield note("SelectsNotItself", pod=pod.key, topologyKey=constraint["topologyKey"], selector=text)
    soft = [c["topologyKey"] for c in pod.spec.topology_spread if c.get("whenUnsatisfiable") != _HARD]
    if soft:
        yield note("SoftSpread", pod=pod.key, topologyKey=soft[0])
    lacks = [resource for resource in (CPU, MEMORY) if not pod.requests.get(resource)]
    if len(lacks) == 2:
        yield note("AsksForNothing", pod=pod.key)
        here = [each for each in nodes.pods[row] if not each.requests.get(CPU) and not each.requests.get(MEMORY)]
        if here:
            yield note("CountForLittle", node=nodes.names[row], count=len(here))


def list_keys_left_out(pod: Pod) -> Iterator[Fact]:
    """Yield the label keys in the pod's required rules that have no effect, because the pod itself lacks the labels."""
    for rule in (*read_required_terms(pod), *pod.spec.topology_spread):
        for field, key in read_lacking_keys(rule, pod):
            yield note("KeyIsLeftOut", pod=pod.key, field=field, key=key)


def _list_wishes(pod: Pod, nodes: NodeTable, row: int) -> Iterator[Fact]:
    """Yield the pods near a node that the pod's preferred anti-affinity avoids."""
    labels = nodes.nodes[row].labels
    for term in affinity_terms(pod).preferred_anti:
        domain = labels.get(term.topology_key)
        rows = np.array([each.labels.get(term.topology_key) == domain for each in nodes.nodes], np.bool_)

        def is_avoided(each: PodClass, term: AffinityTerm = term) -> bool:
            return each.namespace in term.namespaces and term.selector.matches(each.labels)

        if not term.selector.matches(pod.labels) and not list_pods_of(nodes, is_avoided, rows | True):
            text = ", ".join(map(str, term.selector.requirements))
            yield note("WishSelectsNobody", pod=pod.key, selector=text)
        if domain is not None and (found := list_pods_of(nodes, is_avoided, rows)):
            yield note("SoftTerm", pod=pod.key, pods=[each.key for each in found[:SHOWN]], count=len(found))


def _list_unmet_preferences(pod: Pod, nodes: NodeTable, row: int) -> Iterator[Fact]:
    """Yield the labels that the pod prefers and its node lacks."""
    for weight, term in pod.spec.node_affinity_preferred:
        node = nodes.nodes[row]
        if term.expressions and not term.matches(node.labels, node.name):
            better = [each.name for each in nodes.nodes[:SMALL] if term.matches(each.labels, each.name)]
            text = ", ".join(map(str, term.expressions))
            values = {"requirement": text, "weight": weight, "nodes": better[:SHOWN], "count": len(better)}
            yield note("OnlyPrefers" if better else "PrefersNobody", pod=pod.key, node=node.name, **values)


def _list_open_requirements(pod: Pod, node: Node) -> Iterator[Fact]:
    """Yield the requirements that a node meets because it lacks the label."""
    required = pod.spec.node_affinity_required
    for term in () if required is None else required.terms:
        for each in term.expressions if term.matches(node.labels, node.name) else ():
            if each.op == NOT_IN and each.key not in node.labels:
                text = f"{each.key} NotIn ({', '.join(each.values)})"
                yield note("MeetsWithoutLabel", pod=pod.key, node=node.name, key=each.key, requirement=text)


def _list_tolerated(pod: Pod, node: Node) -> Iterator[Fact]:
    """Yield the taints of a node that the pod tolerates."""
    for taint in node.taints:
        by = next((each for each in pod.spec.tolerations if each.tolerates(taint)), None)
        if by is not None and taint.effect in ("NoSchedule", "NoExecute"):
            yield note("Tolerates" if by.key else "ToleratesAll", pod=pod.key, node=node.name, taint=str(taint))


def _list_alternatives(pod: Pod, node: Node) -> Iterator[Fact]:
    """Yield that a node meets one term of the pod's node affinity and not the others, because the terms are alternatives."""
    selector = pod.spec.node_affinity_required
    met = [] if selector is None else [term.matches(node.labels, node.name) for term in selector.terms]
    if any(met) and not all(met):
        yield note("TermsAreAlternatives", pod=pod.key, node=node.name, term=met.index(True) + 1, terms=len(met))


def _list_idle_tolerations(diagnosis: Diagnosis, row: int) -> Iterator[Fact]:
    """Yield a toleration of the pod for a taint of another feasible node, if the pod's node does not have the taint."""
    pod, nodes = diagnosis.pod, diagnosis.nodes.nodes
    own = list_own_tolerations(pod)
    if any(each.tolerates(taint) for each in own for taint in nodes[row].taints):
        return
    for other in diagnosis.feasible:
        for taint in nodes[other].taints:
            if any(each.tolerates(taint) for each in own):
                values = {"node": nodes[row].name, "other": nodes[other].name}
                yield note("TolerationDoesNotDraw", pod=pod.key, taint=str(taint), **values)
                return


def _describe_term(kind: str, term: AffinityTerm, nodes: NodeTable, row: int) -> Iterator[Fact]:
    """Yield why an anti-affinity term did not match pods it should avoid: their namespace, or a node without its label."""
    labels = nodes.nodes[row].labels
    if term.topology_key not in labels:
        yield note("NodeWithoutLabel", node=nodes.names[row], topologyKey=term.topology_key, kind=kind)
        return
    others = [other.labels.get(term.topology_key) for other in nodes.nodes]
    here = np.array([domain == labels[term.topology_key] for domain in others], np.bool_)
    found = list_pods_of(
        nodes,
        lambda each: term.selector.matches(each.labels) and not term.matches(each.namespace, each.labels, {}),
        here,
    )
    if found:
        values = {"namespaces": list(term.namespaces), "pods": [pod.key for pod in found[:SHOWN]]}
        text = ", ".join(map(str, term.namespace_selector.requirements))
        code = "TermLooksForLabels" if text else "TermLooksInNamespace"
        yield note(code, kind=kind, namespaceSelector=text, **values, count=len(found))


def list_pods_of(nodes: NodeTable, chosen: Callable[[PodClass], bool], rows: NDArray[np.bool_]) -> list[Pod]:
    """Return the pods of the chosen classes on the rows, by name."""
    table = nodes.pod_table
    classes = np.array([bool(chosen(each)) for each in table.classes.classes], np.bool_)
    places = np.flatnonzero(classes[table.cls] & rows[table.node] & (table.cls != NO_POD)).tolist()
    return sorted((pod for place in places if (pod := table.pods[place]) is not None), key=lambda pod: pod.key)


def _list_uncounted(diagnosis: Diagnosis) -> Iterator[Fact]:
    """Yield the pods that a hard spread does not count, because a policy excludes their nodes."""
    spread, nodes = diagnosis.state.get("PreFilterPodTopologySpread"), diagnosis.nodes
    if spread is None:
        return
    for i, constraint in enumerate(spread.constraints.items):
        domains = spread.layout.domains[i]
        if len(domains.eligible) == 1 == constraint.min_domains and len(nodes) > 1:
            only = domains.values[int(domains.eligible[0]) - 1]
            yield note("OneDomain", topologyKey=constraint.topology_key, domain=only)
        found = list_pods_of(nodes, constraint.counted.of, (domains.counted <= 0) & domains.labelled)
        if found:
            policies = {"nodeAffinityPolicy": constraint.honors_affinity, "nodeTaintsPolicy": constraint.honors_taints}
            where = list(dict.fromkeys(pod.node_name for pod in found))[:SHOWN]
            values = {"topologyKey": constraint.topology_key, "nodes": where, "count": len(found)}
            honored = [name for name, honors in policies.items() if honors]
            yield note("NotCounted", **values, pods=[pod.key for pod in found[:SHOWN]], policies=honored)


def _list_missing_data(world: Simulation, pod: Pod, node: str) -> Iterator[Fact]:
    """Yield the plugins that pass a node because the data they compare is missing."""
    if volumes_of(pod.spec).claims and world.store.get("CSINode", "", node) is None:
        yield note("LimitUnknown", node=node, plugin="NodeVolumeLimits")
