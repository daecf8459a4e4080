"""NodeVolumeLimits: refuses nodes to which a CSI driver could attach no more volumes.

kube: plugins/nodevolumelimits/csi.go @ v1.34.1
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.volumes import volumes_of
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.drafts import Change, Draft, Refusal
from scheduler_core.scheduler.framework.events import Action, On
from scheduler_core.scheduler.framework.explanation import Explanation, Row, Source, Table, Written, gettext_noop, say
from scheduler_core.scheduler.framework.plugin import Plugin, Point, PreFilterResult, Rows, Verdicts
from scheduler_core.scheduler.framework.reasons import Reason
from scheduler_core.scheduler.framework.status import SKIP, Status, error, unschedulable
from scheduler_core.scheduler.plugins.helper.fixes import MOST_DELETED, add_node, delete_pods
from scheduler_core.scheduler.plugins.helper.hints import after_claim_change
from scheduler_core.scheduler.plugins.nodevolumelimits import hints
from scheduler_core.scheduler.plugins.nodevolumelimits.counting import NO_CLAIM, Counter, limits_of

NAME = "NodeVolumeLimits"

TOO_MANY_VOLUMES = Reason("TooManyVolumes", "node(s) exceed max volume count")
REFUSED = unschedulable(TOO_MANY_VOLUMES())

_NOTHING_TO_DO = PreFilterResult(SKIP)
_GO_ON = PreFilterResult()

_COLUMNS = gettext_noop("driver"), gettext_noop("attached"), gettext_noop("new"), gettext_noop("limit")


class NodeVolumeLimits(Plugin):
    """Counts only on nodes whose CSINode sets a limit for a driver of the pod's volumes."""

    name = NAME
    skips = {Point.PRE_FILTER: gettext_noop("no volumes that count against a limit")}
    reasons = (TOO_MANY_VOLUMES, NO_CLAIM)
    events = (
        On("storage.k8s.io/CSINode", Action.ADD),
        On("storage.k8s.io/CSINode", Action.UPDATE, hints.after_limits_change),
        On("Pod", Action.DELETE, hints.after_pod_with_volumes_deleted),
        On("PersistentVolumeClaim", Action.ADD, after_claim_change),
        On("storage.k8s.io/VolumeAttachment", Action.DELETE, hints.after_attachment_deleted),
    )

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        volumes = volumes_of(pod.spec)
        return _GO_ON if volumes.claims or volumes.in_tree else _NOTHING_TO_DO

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        counter = Counter(self.handle)
        problem = counter.problem_of_new(pod)
        if problem is not None:
            return Verdicts.refuse(np.ones(len(rows), np.bool_), problem)
        reason = np.full(len(rows), -1, np.int32)
        statuses: list[Status] = [REFUSED]
        for i, row in enumerate(rows.tolist()):
            csi_node = self.handle.get("CSINode", "", nodes.names[row])
            limits = limits_of(csi_node)
            if not limits:
                continue
            try:
                if counter.exceeds(pod, nodes.pods[row], csi_node, limits):
                    reason[i] = 0
            except ValueError as wrong:
                statuses.append(error(str(wrong)))
                reason[i] = len(statuses) - 1
        return Verdicts(reason, tuple(statuses)) if (reason >= 0).any() else None

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        """Let the driver attach more, delete who has volumes attached, or add a node."""
        nodes, row = refusal.nodes, refusal.row
        csi_node = self.handle.get("CSINode", "", nodes.names[row])
        counter, limits = Counter(self.handle), limits_of(csi_node)
        try:
            attached, new = counter.count(refusal.pod, nodes.pods[row], csi_node, nodes.names[row])
            over = {
                d: attached.get(d, 0) + n for d, n in new.items() if attached.get(d, 0) + n > limits.get(d, 1 << 31)
            }
            holders = _holders(counter, refusal, csi_node, limits)
        except ValueError:
            return
        if csi_node is None or not over:
            return
        yield _raise_limits(draft, nodes.names[row], csi_node, limits, over)
        if holders and not draft.changes:
            yield delete_pods(draft, nodes.names[row], holders)
        yield from add_node(draft, refusal)

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        volumes = volumes_of(pod.spec)
        return (say(gettext_noop("Volumes to count on each node:"), str(len(volumes.claims) + len(volumes.in_tree))),)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Per driver with a limit: the volumes attached, those the pod adds, and the limit."""
        counter = Counter(self.handle)
        csi_node = self.handle.get("CSINode", "", nodes.names[row])
        try:
            attached, new = counter.count(pod, nodes.pods[row], csi_node, nodes.names[row])
        except ValueError:
            return ()
        if csi_node is None:
            return ()
        rows = [
            _explain_limit(driver, attached.get(driver, 0), new.get(driver, 0), limit, _source(csi_node, driver))
            for driver, limit in limits_of(csi_node).items()
        ]
        return (Table(_COLUMNS, tuple(rows)),) if rows else ()


def _raise_limits(
    draft: Draft, node: str, csi_node: Manifest, limits: Mapping[str, int], over: dict[str, int]
) -> Draft:
    """CSINode with limits that are just high enough."""
    edited: dict[str, Any] = copy.deepcopy(dict(csi_node))
    for driver in edited["spec"]["drivers"]:
        if driver["name"] in over:
            driver["allocatable"]["count"] = over[driver["name"]]
    driver = next(iter(over))
    values = {"node": node, "driver": driver, "from": limits[driver], "to": over[driver]}
    return draft.with_applied(Change("attach-limit", values), edited)


def _holders(counter: Counter, refusal: Refusal, csi_node: Manifest | None, limits: Mapping[str, int]) -> list[Pod]:
    """The fewest pods of the lowest priority without which there would be room; none where that takes too many."""
    left = [pod for pod in refusal.nodes.pods[refusal.row] if not pod.deleting]
    gone: list[Pod] = []
    for pod in sorted(left, key=lambda pod: (pod.priority, pod.key)):
        if not counter.volumes(pod, csi_node):
            continue
        gone.append(pod)
        left.remove(pod)
        if not counter.exceeds(refusal.pod, left, csi_node, limits):
            return gone
        if len(gone) == MOST_DELETED:
            break
    return []


def _explain_limit(driver: str, attached: int, new: int, limit: int, source: Source) -> Row:
    allowed = (Written(str(limit), source),)
    return Row(((driver,), (str(attached),), (str(new),), allowed), bad=attached + new > limit)


def _source(csi_node: Manifest, driver: str) -> Source:
    """Return the location of a driver's volume limit in a CSINode."""
    at = [each.get("name") or "" for each in csi_node["spec"]["drivers"]].index(driver)
    return Source("CSINode", csi_node["metadata"]["name"], f"spec.drivers[{at}].allocatable.count")
