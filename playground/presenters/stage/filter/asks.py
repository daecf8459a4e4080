"""What the pod asks of a node, in a few words each: what the filter stage says beside its question."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from playground.presenters.amounts import amount
from playground.presenters.words import Message, exactly, gettext_noop, message
from scheduler_core.world.readonly import Pod, Toleration

_BY_NODE_CONTROLLER = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_OPERATORS = {"Exists": "%s", "DoesNotExist": "!%s"}


def asks(pod: Pod) -> list[Message]:
    """Requests first, then what narrows the nodes."""
    return [
        *_requests(pod),
        *(exactly(f"{key}={value}") for key, value in pod.spec.node_selector.items()),
        *_node_affinity(pod.spec.manifest),
        *_beside(pod.spec.pod_affinity, gettext_noop("beside %(pods)s by %(topology)s")),
        *_beside(pod.spec.pod_anti_affinity, gettext_noop("not beside %(pods)s by %(topology)s")),
        *(
            message(gettext_noop("spread by %(topology)s"), topology=_short(spread["topologyKey"]))
            for spread in pod.spec.topology_spread
            if spread.get("whenUnsatisfiable") != "ScheduleAnyway"
        ),
        *(message(gettext_noop("host port %(port)s"), port=port.port) for port in pod.spec.host_ports),
        *_tolerations(pod.spec.tolerations),
    ]


def _requests(pod: Pod) -> Iterator[Message]:
    requests = pod.requests
    named = [(name, requests.get(name)) for name in ("cpu", "memory", "ephemeral-storage")]
    named = [(name, value) for name, value in (*named, *requests.scalar) if value]
    for name, value in named:
        yield exactly(amount(name, value) if name == "memory" else f"{amount(name, value)} {name}")
    if not named:
        yield message(gettext_noop("no requests"))


def _node_affinity(manifest: Mapping[str, Any]) -> Iterator[Message]:
    required = _at(manifest, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for term in _at(required, "nodeSelectorTerms") or ():
        said = [_expression(e) for e in (*term.get("matchExpressions", ()), *term.get("matchFields", ()))]
        if said:
            yield exactly(", ".join(said))


def _beside(affinity: Mapping[str, Any], words: str) -> Iterator[Message]:
    for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        yield message(words, pods=_selector(term.get("labelSelector")), topology=_short(term["topologyKey"]))


def _selector(selector: Mapping[str, Any] | None) -> str:
    labels = [f"{key}={value}" for key, value in _at(selector, "matchLabels").items()]
    labels += [_expression(e) for e in _at(selector, "matchExpressions") or ()]
    return ", ".join(labels) or "*"


def _expression(expression: Mapping[str, Any]) -> str:
    """Format an expression as kubectl does, a single value with an equals sign."""
    key, operator = _short(expression["key"]), expression["operator"]
    values = [str(value) for value in expression.get("values") or ()]
    if operator in _OPERATORS:
        return _OPERATORS[operator] % key
    if operator in ("Gt", "Lt"):
        return f"{key}{'>' if operator == 'Gt' else '<'}{values[0]}"
    if len(values) == 1:
        return f"{key}{'=' if operator == 'In' else '!='}{values[0]}"
    return f"{key} {'in' if operator == 'In' else 'notin'} ({','.join(values)})"


def _tolerations(tolerations: Iterable[Toleration]) -> Iterator[Message]:
    """But those that kube gives every pod."""
    for toleration in tolerations:
        if toleration.key not in _BY_NODE_CONTROLLER:
            taint = f"{toleration.key}={toleration.value}" if toleration.value else toleration.key or "*"
            yield message(gettext_noop("tolerates %(taint)s"), taint=taint)


def _short(key: str) -> str:
    """A label's key without its prefix."""
    return key.rpartition("/")[2]


def _at(data: Any, *path: str) -> Any:
    """Return the value at a path; an empty mapping if there is none."""
    for name in path:
        data = (data or {}).get(name)
    return data or {}
