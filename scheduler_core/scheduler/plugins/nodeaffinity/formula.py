"""How NodeAffinity comes to a node's score: the weights of the preferred terms that the node matches.

kube: plugins/nodeaffinity/node_affinity.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_core.apimachinery.objects.labels import NodeSelectorTerm
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.explanation import Aside, Code, Parts, Source, Words, gettext_noop
from scheduler_core.scheduler.framework.formula import Formula, Line, Value, constant, times, total
from scheduler_core.scheduler.plugins.nodeaffinity.arguments import PREFERRED

_WEIGHT = gettext_noop("weight of the term")
_MATCHES, _DIFFERS = (
    gettext_noop("the node matches the term"),
    gettext_noop("the node does not match the term"),
)
_ADDED = Aside((Words(gettext_noop("of the plugin's addedAffinity")),))
_NODE: Parts = (Words(gettext_noop("node")),)
_SUMMED: Parts = (
    Words(gettext_noop("The weights of the preferred terms that the node matches are added up.")),
)

Terms = Iterable[tuple[int, NodeSelectorTerm]]


def score_formula(pod: Pod, node: Node, own: Terms, added: Terms) -> Formula:
    lines = [*_lines(pod, node, own), *_lines(None, node, added)]
    return Formula((*lines, Line(_NODE, total(*lines) if lines else constant(0))), (_SUMMED,))


def _lines(pod: Pod | None, node: Node, terms: Terms) -> Iterator[Line]:
    """`pod` whose terms they are; None: the plugin's own."""
    paths = _paths(pod) if pod is not None else []
    for i, (weight, term) in enumerate(terms):
        source = Source("Pod", pod.key, paths[i]) if pod is not None and i < len(paths) else None
        matches = term.matches(node.labels, node.name)
        held = Value(
            int(matches),
            _MATCHES if matches else _DIFFERS,
            source=Source("Node", node.name, "metadata.labels"),
        )
        name: Parts = (Code(_format_term(term)), *((" ", _ADDED) if pod is None else ()))
        yield Line(name, times(Value(weight, _WEIGHT, source=source), held))


def _paths(pod: Pod) -> list[str]:
    """Return the paths of the weights of the terms that count."""
    affinity = (pod.manifest["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    terms = enumerate(affinity.get(PREFERRED) or ())
    counting = [
        i
        for i, raw in terms
        if raw.get("weight") and not NodeSelectorTerm.of(raw.get("preference") or {}).empty
    ]
    return [f"spec.affinity.nodeAffinity.{PREFERRED}[{i}].weight" for i in counting]


def _format_term(term: NodeSelectorTerm) -> str:
    wanted = (*term.expressions, *term.fields)
    return ", ".join(f"{r.key} {r.op} {' '.join(r.values)}".rstrip() for r in wanted)
