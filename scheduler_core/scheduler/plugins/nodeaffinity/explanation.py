"""What NodeAffinity sees on a node: each requirement beside the node's own value."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.labels import IN, NodeSelectorTerm, Requirement, accepts_field
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.explanation import (
    Aside,
    Code,
    Explanation,
    Parts,
    Row,
    Source,
    Table,
    Words,
    Written,
    gettext_noop,
)

_TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
_COLUMNS = gettext_noop("requested"), gettext_noop("the node has")
_TERM, _NO_LABEL = Words(gettext_noop("term")), Words(gettext_noop("no such label"))


def explain_affinity(
    pod: Pod, terms: Sequence[NodeSelectorTerm], added: Sequence[NodeSelectorTerm], node: Node
) -> Explanation:
    """The pod's terms and those that the profile adds are numbered. Each value leads to where it is written, but for added terms."""
    rows = [
        _of_label(Requirement(key, IN, (value,)), node, 0, f"spec.nodeSelector[{key}]", pod)
        for key, value in pod.spec.node_selector.items()
    ]
    for number, term in enumerate((*terms, *added), 1):
        path = f"{_TERMS}[{number - 1}]" if number <= len(terms) else ""
        for i, requirement in enumerate(term.expressions):
            rows.append(_of_label(requirement, node, number, path and f"{path}.matchExpressions[{i}]", pod))
        for i, field in enumerate(term.fields):
            holds, written = accepts_field(field, node.name), path and f"{path}.matchFields[{i}]"
            name = Written(node.name, Source("Node", node.name, "metadata.name"))
            rows.append(Row((_describe_requirement(field, number, written, pod), (name,)), bad=not holds))
    return (Table(_COLUMNS, tuple(rows)),) if rows else ()


def _of_label(requirement: Requirement, node: Node, term: int, path: str, pod: Pod) -> Row:
    value = node.labels.get(requirement.key)
    source = Source("Node", node.name, f"metadata.labels[{requirement.key}]")
    has: Parts = (Written(value, source),) if value else (_NO_LABEL,)
    return Row((_describe_requirement(requirement, term, path, pod), has), bad=not requirement.accepts(value))


def _describe_requirement(requirement: Requirement, term: int, path: str, pod: Pod) -> Parts:
    wanted = f"{requirement.key} {requirement.op} {', '.join(requirement.values)}".rstrip()
    number: Parts = (Aside((_TERM, f" {term}")), " ") if term else ()
    return (*number, Written(wanted, Source("Pod", pod.key, path)) if path else Code(wanted))
