"""NodePorts: rejects nodes where a host port of the pod is in use.

kube: plugins/nodeports/node_ports.go, HostPortInfo in kube-scheduler/framework/types.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import controller_of, is_sidecar
from scheduler_core.apimachinery.objects.pod import HostPort, Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Action, CycleState, On, Reason, error, explanation, unschedulable
from scheduler_core.scheduler.framework.drafts import Change, Draft, Refusal
from scheduler_core.scheduler.framework.plugin import (
    GO_ON,
    NOTHING_TO_DO,
    Plugin,
    Point,
    PreFilterResult,
    Rows,
    Verdicts,
)
from scheduler_core.scheduler.plugins.helper.fixes import MOST_DELETED, add_node, delete_pods
from scheduler_core.scheduler.plugins.helper.hints import was_placed

NAME = "NodePorts"

PRE_FILTER_STATE = "PreFilter" + NAME

PORTS_TAKEN = Reason("HostPortsTaken", "node(s) didn't have free ports for the requested pod ports")
REFUSED = unschedulable(PORTS_TAKEN())

ANY_IP = "0.0.0.0"  # noqa: S104 - a host port's wildcard address, nothing listens here

NO_STATE = error(f'reading "{PRE_FILTER_STATE}" from cycleState: not found')

_COLUMNS = explanation.gettext_noop("host port"), explanation.gettext_noop("in use by")
_FREE = explanation.Words("free")


def _clash(wanted: HostPort, used: Iterable[HostPort]) -> bool:
    """Return whether a used port has the same protocol and port, and the same address or a wildcard on either side."""
    return any(_same_port(wanted, other) and _addresses_meet(wanted, other) for other in used)


def after_pod_with_ports_deleted(plugin: NodePorts, pod: Pod, old: Pod, new: None) -> bool:
    """Return whether the deleted pod was placed and used a host port of the pod. kube: isSchedulableAfterPodDeleted"""
    used = old.spec.host_ports
    if not was_placed(old) or not used:
        return False
    return any(_clash(port, used) for port in pod.spec.host_ports)


class NodePorts(Plugin):
    """Looks only at the rows where some pod holds a host port."""

    name = NAME
    between_pods = True
    skips = {Point.PRE_FILTER: explanation.gettext_noop("no host ports")}
    reasons = (PORTS_TAKEN,)
    row_local = True
    events = (On("Pod", Action.DELETE, after_pod_with_ports_deleted), On("Node", Action.ADD))

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        if not pod.spec.host_ports:
            return NOTHING_TO_DO
        state.write(PRE_FILTER_STATE, pod.spec.host_ports)
        return GO_ON

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        wanted: tuple[HostPort, ...] | None = state.get(PRE_FILTER_STATE)
        if wanted is None:  # an error without PreFilter, as in kube
            return Verdicts.refuse(np.ones(len(rows), np.bool_), NO_STATE)
        taken = np.zeros(len(nodes), np.bool_)
        for row in nodes.rows_with_ports:  # in any order: rows are independent
            taken[row] = any(_clash(port, nodes.ports[row]) for port in wanted)
        refused = taken[rows]
        return Verdicts.refuse(refused, REFUSED) if refused.any() else None

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable) -> explanation.Explanation:
        ports = tuple(explanation.Code(_text(port)) for port in pod.spec.host_ports)
        return (explanation.remark("Host ports that the node must have free:", *ports),)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> explanation.Explanation:
        """Return a table of the pod's host ports, with the conflicting ports on the node."""
        rows = tuple(_explain_port(port, place, pod, nodes.pods[row]) for port, place in _places(pod))
        return (explanation.Table(_COLUMNS, rows),) if rows else ()

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        """Propose to remove the pod's host ports, or to delete the pods that use them."""
        spec, nodes, row = refusal.pod.spec, refusal.nodes, refusal.row
        taken = list_taken_ports(refusal.pod, nodes.ports[row])
        yield draft.with_pod(Change("port", {"ports": taken}), _without_host_ports)
        wanted = {(port.protocol, port.port) for port in spec.host_ports}
        holders = [
            pod for pod in nodes.pods[row] if any((port.protocol, port.port) in wanted for port in pod.spec.host_ports)
        ]
        daemons = [owner for pod in holders if (owner := controller_of(pod.manifest) or {}).get("kind") == "DaemonSet"]
        if daemons and not draft.changes:  # a DaemonSet recreates a deleted pod
            values = {"owner": daemons[0]["name"], "ports": taken}
            call = f"kubectl delete daemonset {daemons[0]['name']} -n {holders[0].namespace}"
            yield draft.typing(Change("delete-daemons", values), call)
        elif holders and not draft.changes and len(holders) <= MOST_DELETED:
            yield delete_pods(draft, nodes.names[row], holders)
        yield from add_node(draft, refusal)


def _explain_port(port: HostPort, place: str, pod: Pod, others: Iterable[Pod]) -> explanation.Row:
    wanted = (explanation.WrittenValue(_text(port), explanation.Source("Pod", pod.key, place)),)
    held: list[explanation.Part] = []
    for other in others:
        for used, path in _places(other):
            if _clash(port, (used,)):
                holder = explanation.WrittenValue(_text(used), explanation.Source("Pod", other.key, path))
                held += [explanation.Code(explanation.Key(other.key)), explanation.Below((holder,))]
    parts: explanation.Parts = tuple(held) or (_FREE,)
    return explanation.Row((wanted, parts), bad=bool(held))


def _places(pod: Pod) -> Iterator[tuple[HostPort, str]]:
    """Yield the pod's host ports, each with its path in the manifest; of init containers only those of sidecars."""
    spec = pod.manifest["spec"]
    paths = (
        f"spec.{containers}[{i}].ports[{j}].hostPort"
        for containers in ("initContainers", "containers")
        for i, container in enumerate(spec.get(containers) or ())
        if containers == "containers" or is_sidecar(container)
        for j, port in enumerate(container.get("ports") or ())
        if (port.get("hostPort") or 0) > 0
    )
    return zip(pod.spec.host_ports, paths, strict=True)


def _without_host_ports(manifest: dict[str, Any]) -> None:
    manifest["spec"].pop("hostNetwork", None)  # hostNetwork makes all container ports host ports
    for container in manifest["spec"]["containers"]:
        for port in container.get("ports") or ():
            port.pop("hostPort", None)
            port.pop("hostIP", None)


def list_taken_ports(pod: Pod, used: Iterable[HostPort]) -> list[str]:
    """Return the pod's host ports that are in use, as readable text."""
    return [_text(port) for port in pod.spec.host_ports if _clash(port, used)]


def _same_port(a: HostPort, b: HostPort) -> bool:
    return a.port == b.port and (a.protocol or "TCP") == (b.protocol or "TCP")


def _addresses_meet(a: HostPort, b: HostPort) -> bool:
    first, second = a.ip or ANY_IP, b.ip or ANY_IP
    return first == second or ANY_IP in (first, second)


def _text(port: HostPort) -> str:
    return f"{port.ip or ANY_IP}:{port.port}/{port.protocol or 'TCP'}"
