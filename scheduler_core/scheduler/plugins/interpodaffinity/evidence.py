"""What pod affinity asks for and nothing offers: topology keys that no node has, pods that run in other namespaces."""

from __future__ import annotations

from scheduler_core.apimachinery.objects.labels import LabelSelector
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import Evidence

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def affinity_evidence(pod: Pod, nodes: NodeTable) -> Evidence:
    """`missingKeys`, and `elsewhere`: the namespaces where pods run that a term asks for and does not look at."""
    terms = (pod.manifest["spec"].get("affinity") or {}).get("podAffinity", {}).get(REQUIRED) or []
    keys = dict.fromkeys(str(term.get("topologyKey") or "") for term in terms)
    missing = [key for key in keys if not any(key in node.labels for node in nodes.nodes)]
    elsewhere: set[str] = set()
    for term in terms:
        if term.get("namespaceSelector") is not None:
            continue
        selector, searched = (LabelSelector.of(term.get("labelSelector")), term.get("namespaces") or [pod.namespace])
        table = nodes.pod_table
        found = table.list_classes(lambda each, selector=selector: selector.matches(each.labels))  # type: ignore[misc]
        homes = {table.classes.classes[number].namespace for number in found}
        elsewhere |= set() if homes & set(searched) else homes
    return {"missingKeys": missing, "elsewhere": sorted(elsewhere)}
