"""NodeDeclaredFeatures: rejects nodes whose kubelet does not declare a feature that the pod's spec needs. Since 1.35.

kube: plugins/nodedeclaredfeatures/nodedeclaredfeatures.go, component-helpers/nodedeclaredfeatures/features @ v1.37.2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import Manifest, Node, Pod
from scheduler_core.apimachinery.objects.spec import PodSpec
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Action, CycleState, Features, On, Reason, explanation
from scheduler_core.scheduler.framework.plugin import (
    GO_ON,
    NOTHING_TO_DO,
    Handle,
    Plugin,
    PreFilterResult,
    Rows,
    Verdicts,
)
from scheduler_core.scheduler.framework.status import error, unresolvable
from scheduler_core.scheduler.plugins.helper.memo import remember

NAME = "NodeDeclaredFeatures"
NEEDS = "PreFilter" + NAME

UNDECLARED = Reason("FeatureUndeclared", "node(s) didn't match Pod's required features")
REFUSED = unresolvable(UNDECLARED())
NO_STATE = error(f'error reading "{NEEDS}" from cycle-state: not found')
_COLUMNS = explanation.gettext_noop("feature that the pod needs"), explanation.gettext_noop("declared by the node")
_CONTAINERS = ("containers", "initContainers")
_ALL = (*_CONTAINERS, "ephemeralContainers")


def _find(spec: Manifest, kinds: Sequence[str], field: str, name: str) -> list[Any]:
    """Return the values under `name` in the list `field` of each container; `kinds` are the spec's container lists."""
    return [
        each[name]
        for kind in kinds
        if kind in spec
        for container in spec[kind] or ()
        if field in container
        for each in container[field] or ()
        if name in each
    ]


def _restarts_all(spec: Manifest) -> bool:
    return "RestartAllContainers" in _find(spec, _CONTAINERS, "restartPolicyRules", "action")


def _mounts_with_options(spec: Manifest) -> bool:
    return any(_find(spec, _ALL, "volumeMounts", "bindMountOptions"))


def _maps_host_users(spec: Manifest) -> bool:
    return bool(spec.get("hostNetwork")) and spec.get("hostUsers") is False


# Feature -> whether a pod's spec needs it, and the behavior that brought it, if it is newer than the plugin.
_FEATURES: Mapping[str, tuple[Callable[[Manifest], bool], Behavior | None]] = {
    "RestartAllContainersOnContainerExits": (_restarts_all, None),
    "UserNamespacesHostNetworkSupport": (_maps_host_users, Behavior.HOST_USERS_DECLARED),
    "VolumeBindMountOptions": (_mounts_with_options, Behavior.BIND_MOUNT_OPTIONS),
}


def after_own_needs_change(plugin: NodeDeclaredFeatures, pod: Pod, old: Pod, new: Pod) -> bool:
    """Return whether the update changes the features that the pod needs. kube: isSchedulableAfterTargetPodUpdate"""
    return plugin.needs_of(old) != plugin.needs_of(new)


def after_features_change(plugin: NodeDeclaredFeatures, pod: Pod, old: Node | None, new: Node) -> bool:
    """Return whether a node is new or declares other features. kube: isSchedulableAfterNodeChange"""
    return old is None or declared(old) != declared(new)


def declared(node: Node) -> tuple[str, ...]:
    """Return the features that a node's kubelet declares."""
    return tuple((node.manifest.get("status") or {}).get("declaredFeatures") or ())


class NodeDeclaredFeatures(Plugin):
    """PreFilter reads the pod's needs from its spec; Filter looks for them in status.declaredFeatures of the nodes."""

    name = NAME
    reasons = (UNDECLARED,)
    row_local = True
    events = (
        On("Node", Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE, after_features_change),
        On("Pod", Action.UPDATE, after_own_needs_change),
    )

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._enabled = handle.features.node_declared_features
        known = handle.features.behaviors
        self._features = {name: needs for name, (needs, since) in _FEATURES.items() if since is None or since in known}
        self._memo_key = f"{NAME} {[*self._features]}"  # worlds of several releases share specs

    @classmethod
    def variant(cls, features: Features) -> type[Plugin] | None:
        return cls if Behavior.DECLARED_FEATURES in features.behaviors else None

    @classmethod
    def in_default_set(cls, features: Features) -> bool:
        return features.node_declared_features

    def registrations(self) -> tuple[On, ...]:
        return self.events if self._enabled else ()

    def needs_of(self, pod: Pod) -> tuple[str, ...]:
        """Return the features that a pod's spec needs."""
        spec = pod.spec
        known: tuple[str, ...] | None = spec.memo.get(self._memo_key)
        return self._remember_needs(spec) if known is None else known

    def _remember_needs(self, spec: PodSpec) -> tuple[str, ...]:
        return remember(
            spec.memo,
            self._memo_key,
            lambda: tuple(name for name, needs in self._features.items() if needs(spec.manifest)),
        )

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        needs = self.needs_of(pod) if self._enabled else ()
        if not needs:
            return NOTHING_TO_DO
        state.write(NEEDS, needs)
        return GO_ON

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        if not self._enabled:
            return None
        needs: tuple[str, ...] | None = state.get(NEEDS)
        if needs is None:
            return Verdicts.refuse(np.ones(len(rows), np.bool_), NO_STATE)
        lacking = remember(
            nodes.memo,
            (NAME, needs),
            lambda: np.array([not set(needs) <= set(declared(node)) for node in nodes.nodes], np.bool_),
        )[rows]
        return Verdicts.refuse(lacking, REFUSED) if np.count_nonzero(lacking) else None

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> explanation.Explanation:
        """Return a table of the features that the pod needs, and whether the node declares them."""
        node = nodes.nodes[row]
        found = declared(node)
        return (explanation.Table(_COLUMNS, tuple(_build_row(node, found, need) for need in state.get(NEEDS) or ())),)


def _build_row(node: Node, found: tuple[str, ...], need: str) -> explanation.Row:
    source = explanation.Source("Node", node.name, "status.declaredFeatures")
    said: explanation.Parts = (
        (explanation.WrittenValue(need, source),) if need in found else (explanation.WrittenValue("–", source),)
    )
    return explanation.Row(((explanation.Code(need),), said), bad=need not in found)
