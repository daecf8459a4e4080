"""Fixes of affinity: one of the pod's terms as a preference, or the deletion of existing pods that conflict."""

from collections.abc import Iterable, Iterator
from typing import Any

from scheduler_core.apimachinery.objects import PREFERRED, REQUIRED, LabelSelector, Pod
from scheduler_core.scheduler.framework.drafts import Change, Draft, Edit, Refusal, edit_at
from scheduler_core.scheduler.plugins.helper import fixes
from scheduler_core.scheduler.plugins.helper.arguments import alike
from scheduler_core.scheduler.plugins.interpodaffinity.explanation import TermFigures, repelling, term_figures
from scheduler_core.scheduler.plugins.interpodaffinity.filtering import NO_AFFINITY, OWN_ANTI, STATUSES, Rules

MOST_DOMAINS = 2
MOST_NAMESPACES = 3

_PLACE = "spec", "affinity"
_NO_AFFINITY, _OWN_ANTI = STATUSES[NO_AFFINITY].message, STATUSES[OWN_ANTI].message


def propose(draft: Draft, refusal: Refusal, rules: Rules | None) -> Iterator[Draft]:
    if _NO_AFFINITY in refusal.status.reasons:
        yield from _by_its_own_label(draft, refusal)
        yield from _by_another_key(draft, refusal, "podAffinity")
        yield from _propose_elsewhere(draft, refusal)
        yield from _propose_softening(draft, "podAffinity", _NO_AFFINITY)
        if not _may_be_near_on_a_new_node(draft, refusal):
            return
    elif _OWN_ANTI in refusal.status.reasons:
        yield from _by_another_key(draft, refusal, "podAntiAffinity")
        yield from _propose_softening(draft, "podAntiAffinity", _OWN_ANTI)
        if rules is not None and not draft.changes:
            terms = [term_figures(refusal.nodes, refusal.row, term) for term in rules.anti_terms]
            yield from _deleting(draft, refusal, terms)
    elif rules is not None and not draft.changes:
        yield from _deleting(draft, refusal, repelling(rules, refusal.nodes, refusal.row))
    yield from fixes.add_node(draft, refusal)


def _terms(draft: Draft, what: str) -> list[dict[str, Any]]:
    """Return the required terms of a kind of affinity, with the draft's changes."""
    return ((draft.pod or draft.original)["spec"].get("affinity") or {}).get(what, {}).get(REQUIRED) or []


def _may_be_near_on_a_new_node(draft: Draft, refusal: Refusal) -> bool:
    """Return whether a new node can share a domain with pods that the affinity requires: a domain larger than one node."""
    terms = _terms(draft, "podAffinity")
    wide = [LabelSelector.of(term.get("labelSelector")) for term in terms if term.get("topologyKey") != fixes.HOSTNAME]
    return bool(refusal.nodes.pod_table.list_classes(lambda pod: any(each.matches(pod.labels) for each in wide)))


def _deleting(draft: Draft, refusal: Refusal, terms: Iterable[TermFigures]) -> Iterator[Draft]:
    """Propose to delete the pods that match the terms in the node's domains, on any node."""
    pods = list({pod.key: pod for term in terms for pod in term.pods}.values())
    if pods and len(pods) <= fixes.MOST_DELETED:
        yield fixes.delete_pods(draft, pods[0].node_name, pods)


def _propose_elsewhere(draft: Draft, refusal: Refusal) -> Iterator[Draft]:
    """Propose to label the node into a domain of a term's key, and to search the namespaces where matching pods run."""
    for index, term in enumerate(_terms(draft, "podAffinity")):
        selector = LabelSelector.of(term.get("labelSelector"))
        asked = list_asked_pods(refusal, selector)
        key = str(term.get("topologyKey") or "")
        homes = [refusal.nodes.nodes[row] for pod in asked if (row := refusal.nodes.row(pod.node_name)) is not None]
        asked += [refusal.pod] if selector.matches(refusal.pod.labels) else []
        domains = {node.labels[key] for node in homes if key in node.labels}
        yield from fixes.in_domain(draft, refusal, key, sorted(domains)[:MOST_DOMAINS])
        if key in refusal.node.labels:
            bare = [node for node in homes if key not in node.labels]
            yield from (fixes.label_node(draft, node, [(key, refusal.node.labels[key])]) for node in bare[:1])
        searched = term.get("namespaces") or [refusal.pod.namespace]
        others = sorted({pod.namespace for pod in asked} - set(searched))
        wanted = (term.get("namespaceSelector") or {}).get("matchLabels") or {}
        for namespace in sorted({pod.namespace for pod in asked})[:MOST_NAMESPACES] if wanted else ():
            yield fixes.label_namespace(draft, namespace, wanted)
        if others and len(others) <= MOST_NAMESPACES and term.get("namespaceSelector") is None:
            change = Change("namespaces", {"namespaces": others, "text": _text(selector)})
            yield draft.with_pod(
                change, edit_at(*_PLACE, "podAffinity", REQUIRED, index, namespaces=[*searched, *others])
            )


def list_asked_pods(refusal: Refusal, selector: LabelSelector) -> list[Pod]:
    """Return the pods with a node that match a selector, in any namespace."""
    return refusal.nodes.pod_table.list_pods(lambda each: selector.matches(each.labels))


def _by_its_own_label(draft: Draft, refusal: Refusal) -> Iterator[Draft]:
    """Propose the pod's own label for a term with a similar label that no pod has: then the first pod need not wait."""
    own = refusal.pod.labels
    for index, term in enumerate(_terms(draft, "podAffinity")):
        for key, value in ((term.get("labelSelector") or {}).get("matchLabels") or {}).items():
            has = own.get(key, "")
            if (
                has != value
                and alike(value, has)
                and not list_asked_pods(refusal, LabelSelector.of({"matchLabels": {key: value}}))
            ):
                change = Change("term-value", {"from": f"{key}={value}", "to": f"{key}={has}"})
                place = (*_PLACE, "podAffinity", REQUIRED, index, "labelSelector", "matchLabels")
                yield draft.with_pod(change, edit_at(*place, **{key: has}))


def _by_another_key(draft: Draft, refusal: Refusal, what: str) -> Iterator[Draft]:
    """Propose an existing topology key for one that no node has; a wider key for affinity, the hostname for anti-affinity."""
    for index, term in enumerate(_terms(draft, what)):
        key = str(term.get("topologyKey") or "")
        other = fixes.HOSTNAME if key != fixes.HOSTNAME else ""
        if what == "podAffinity":  # without matching pods, no key helps
            there = list_asked_pods(refusal, LabelSelector.of(term.get("labelSelector")))
            other = fixes.wider_key(refusal, key) if there else ""
        for kind, keys in (("topology-key", fixes.other_keys(refusal, key)), ("topology", [other] if other else [])):
            for each in keys:
                values = {"what": what, "from": key, "to": each}
                yield draft.with_pod(Change(kind, values), edit_at(*_PLACE, what, REQUIRED, index, topologyKey=each))


def _text(selector: LabelSelector) -> str:
    return ", ".join(str(requirement) for requirement in selector.requirements) or "*"


def _propose_softening(draft: Draft, what: str, reason: str) -> Iterator[Draft]:
    for index, term in enumerate(_terms(draft, what)):
        selector = LabelSelector.of(term.get("labelSelector"))
        values = {"what": what, "text": f"{_text(selector)} @ {term.get('topologyKey', '')}", "reason": reason}
        yield draft.with_pod(Change("soften", values), _preference(what, index))


def _preference(what: str, index: int) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        rules = manifest["spec"]["affinity"][what]
        term = rules[REQUIRED].pop(index)
        if not rules[REQUIRED]:
            del rules[REQUIRED]
        rules.setdefault(PREFERRED, []).append({"weight": 100, "podAffinityTerm": term})

    return edit
