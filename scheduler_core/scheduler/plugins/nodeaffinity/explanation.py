"""What NodeAffinity sees on a node: each requirement beside the node's own value."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.labels import IN, NodeSelectorTerm, Requirement, accepts_field
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework import explanation

_TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
_COLUMNS = explanation.gettext_noop("requested"), explanation.gettext_noop("the node has")
_TERM, _NO_LABEL = (
    explanation.Words(explanation.gettext_noop("term")),
    explanation.Words(explanation.gettext_noop("no such label")),
)


def explain_affinity(
    pod: Pod, terms: Sequence[NodeSelectorTerm], added: Sequence[NodeSelectorTerm], node: Node
) -> explanation.Explanation:
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
            name = explanation.Written(node.name, explanation.Source("Node", node.name, "metadata.name"))
            rows.append(explanation.Row((_describe_requirement(field, number, written, pod), (name,)), bad=not holds))
    return (explanation.Table(_COLUMNS, tuple(rows)),) if rows else ()


def _of_label(requirement: Requirement, node: Node, term: int, path: str, pod: Pod) -> explanation.Row:
    value = node.labels.get(requirement.key)
    source = explanation.Source("Node", node.name, f"metadata.labels[{requirement.key}]")
    has: explanation.Parts = (explanation.Written(value, source),) if value else (_NO_LABEL,)
    return explanation.Row(
        (_describe_requirement(requirement, term, path, pod), has), bad=not requirement.accepts(value)
    )


def _describe_requirement(requirement: Requirement, term: int, path: str, pod: Pod) -> explanation.Parts:
    wanted = f"{requirement.key} {requirement.op} {', '.join(requirement.values)}".rstrip()
    number: explanation.Parts = (explanation.Aside((_TERM, f" {term}")), " ") if term else ()
    return (
        *number,
        explanation.Written(wanted, explanation.Source("Pod", pod.key, path)) if path else explanation.Code(wanted),
    )
