"""Which events may help a pod that PodTopologySpread refused.

kube: plugins/podtopologyspread/plugin.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.plugins.podtopologyspread.constraints import Constraint

# `plugin.hard_constraints(pod)` is None where some constraint can't be parsed.


def after_spread_pod_change(plugin: Any, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """kube: isSchedulableAfterPodChange"""
    if any(other is not None and not _is_involved(other, pod) for other in (new, old)):
        return False
    constraints: tuple[Constraint, ...] | None = plugin.hard_constraints(pod)
    if constraints is None:
        return True
    if old is None or new is None:
        added_or_deleted = new or old
        assert added_or_deleted is not None
        return any(c.selector.matches(added_or_deleted.labels) for c in constraints)
    tolerates_more = new.uid == pod.uid and new.spec.tolerations != old.spec.tolerations
    if tolerates_more and any(c.honors_taints for c in constraints):
        return True
    return any(c.selector.matches(old.labels) != c.selector.matches(new.labels) for c in constraints)


def _is_involved(other: Pod, pod: Pod) -> bool:
    return other.uid == pod.uid or (bool(other.node_name) and other.namespace == pod.namespace)


def after_spread_node_change(plugin: Any, pod: Pod, old: Node | None, new: Node | None) -> bool:
    """kube: isSchedulableAfterNodeChange"""
    constraints: tuple[Constraint, ...] | None = plugin.hard_constraints(pod)
    if constraints is None:
        return True
    before = old is not None and _has_all_keys(old, constraints)
    after = new is not None and _has_all_keys(new, constraints)
    if old is None or new is None:
        return before or after
    if before != after:
        return True
    return after and (_moves(old, new, constraints) or old.taints != new.taints)


def _has_all_keys(node: Node, constraints: tuple[Constraint, ...]) -> bool:
    return all(c.topology_key in node.labels for c in constraints)


def _moves(old: Node, new: Node, constraints: tuple[Constraint, ...]) -> bool:
    return any(old.labels.get(c.topology_key, "") != new.labels.get(c.topology_key, "") for c in constraints)
