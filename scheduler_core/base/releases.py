"""Releases of kube-scheduler, and the table of what differs between them. No other module compares releases.

Code asks for a behavior by its name, when it is constructed. docs/releases.md and the page "What is different" list this table.
Measured with the schedulers v1.34.1, v1.34.2, v1.35.4, v1.36.3, and v1.37.2; read in pkg/scheduler of the same releases.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple, TypeVar, get_args

Release = Literal["1.34.1", "1.34.2", "1.35.4", "1.36.3", "1.37.2"]
RELEASES: tuple[Release, ...] = get_args(Release)
OLDEST: Release = "1.34.1"
NEWEST: Release = "1.37.2"

T = TypeVar("T")


class Behavior(enum.StrEnum):
    """The names of the differences, as code asks for them."""

    CONSTANT_TAINT_TEXT = "constant-taint-text"
    DECLARED_FEATURES = "declared-features"
    DEVICES_SCORE = "devices-score"
    CLASSES_SERVE_ALONE = "classes-serve-alone"
    ALLOCATED_CLAIMS_SCORE = "allocated-claims-score"
    FAILURE_CLEARS_NOMINATION = "failure-clears-nomination"
    ASSUMED_POD_DELETION = "assumed-pod-deletion"
    DEVICE_CLASSES_HEARD = "device-classes-heard"
    LAST_VICTIM_GATES = "last-victim-gates"
    BALANCE_BY_CHANGE = "balance-by-change"
    AFFINITY_HINTS = "affinity-hints"
    RECREATED_POD_LEAVES = "recreated-pod-leaves"
    PREEMPTION_IN_MEMORY = "preemption-in-memory"
    REASONS_COUNTED_ONCE = "reasons-counted-once"
    IMAGE_VOLUMES = "image-volumes"
    BIND_MOUNT_OPTIONS = "bind-mount-options"
    NODE_NAME_FIRST = "node-name-first"
    QUIET_WITHOUT_CLAIMS = "quiet-without-claims"
    PLACEMENT_TEXT = "placement-text"
    GATED_NOMINATIONS = "gated-nominations"
    FIRST_SPENT_BUDGET = "first-spent-budget"
    WHOLE_POD_SUMS = "whole-pod-sums"
    BATCHING = "batching"
    TIES_IN_ORDER = "ties-in-order"
    BATCH_RESCORE = "batch-rescore"
    POD_GROUPS = "pod-groups"
    SPLIT_POD_EVENTS = "split-pod-events"
    TAINTS_UNHEARD = "taints-unheard"
    ANY_ANTI_AFFINITY_TERM = "any-anti-affinity-term"
    CLEARED_NOMINATIONS_GO = "cleared-nominations-go"
    FLUSHED_GATES = "flushed-gates"
    DELETED_CLAIMS_HEARD = "deleted-claims-heard"
    DELETED_PODS_UNCOUNTED = "deleted-pods-uncounted"


class Difference(NamedTuple):
    """A behavior, the first release that has it, where kube's sources say so, and one sentence."""

    behavior: Behavior
    since: str
    source: str
    text: str


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        Behavior.CONSTANT_TAINT_TEXT,
        "1.34.2",
        "kubernetes#134740",
        "TaintToleration no longer names the taint, so several taints are one line of the message.",
    ),
    Difference(
        Behavior.DECLARED_FEATURES,
        "1.35",
        "KEP-5328",
        "The plugin NodeDeclaredFeatures refuses nodes that do not declare a feature that a pod needs; on by default since 1.36.",
    ),
    Difference(
        Behavior.DEVICES_SCORE,
        "1.35",
        "kubernetes#134711",
        "DynamicResources scores nodes by the alternatives that its requests got, with weight 2.",
    ),
    Difference(
        Behavior.FAILURE_CLEARS_NOMINATION,
        "1.35",
        "pkg/scheduler/schedule_one.go",
        "A failure clears the nomination, also without a PostFilter plugin and where nominations are expected to last.",
    ),
    Difference(
        Behavior.CLASSES_SERVE_ALONE,
        "1.35",
        "plugins/noderesources/fit.go",
        "NodeResourcesFit leaves a resource that a node lacks to DynamicResources only where a DeviceClass names the resource.",
    ),
    Difference(
        Behavior.ASSUMED_POD_DELETION,
        "1.35",
        "kubernetes#134157",
        "A pod that is deleted while it is being bound gives its room back at once; a binding is no deletion of a nominated pod.",
    ),
    Difference(
        Behavior.DEVICE_CLASSES_HEARD,
        "1.35",
        "plugins/noderesources/fit.go",
        "A DeviceClass for an extended resource wakes pods that NodeResourcesFit refused and that request the resource.",
    ),
    Difference(
        Behavior.LAST_VICTIM_GATES,
        "1.35",
        "kubernetes#134294",
        "A pod that preempts stays gated until the deletion of the last victim begins, not only until the victim is next.",
    ),
    Difference(
        Behavior.ALLOCATED_CLAIMS_SCORE,
        "1.36",
        "plugins/dynamicresources/dynamicresources.go",
        "DynamicResources also scores a pod of which another claim has its devices already; 1.35 fails the cycle.",
    ),
    Difference(
        Behavior.BALANCE_BY_CHANGE,
        "1.36",
        "kubernetes#135573",
        "NodeResourcesBalancedAllocation scores how much the pod changes a node's balance: 75 means no change.",
    ),
    Difference(
        Behavior.IMAGE_VOLUMES, "1.36", "kubernetes#130231", "ImageLocality counts the images of image volumes."
    ),
    Difference(
        Behavior.AFFINITY_HINTS,
        "1.36",
        "kubernetes#135325",
        "InterPodAffinity wakes a pod whose labels change, or whose obstacle, a pod with anti-affinity against it, is deleted.",
    ),
    Difference(
        Behavior.RECREATED_POD_LEAVES,
        "1.36",
        "pkg/scheduler/schedule_one.go",
        "A failed attempt is dropped if its pod was deleted and created again under the same name; before, the attempt used the new pod.",
    ),
    Difference(
        Behavior.PREEMPTION_IN_MEMORY,
        "1.36",
        "kubernetes#135719",
        "A victim that waits on Permit or PreBind is not deleted: it returns to the queue, and the preemptor is activated.",
    ),
    Difference(
        Behavior.REASONS_COUNTED_ONCE,
        "1.36",
        "backend/queue/scheduling_queue.go",
        "scheduler_unschedulable_pods counts a plugin that gates a pod repeatedly only once.",
    ),
    Difference(
        Behavior.BIND_MOUNT_OPTIONS,
        "1.37",
        "component-helpers/nodedeclaredfeatures",
        "A pod that mounts volumes with bindMountOptions needs a node that declares VolumeBindMountOptions.",
    ),
    Difference(
        Behavior.NODE_NAME_FIRST, "1.37", "apis/config/v1/default_plugins.go", "NodeName runs before NodeUnschedulable."
    ),
    Difference(
        Behavior.QUIET_WITHOUT_CLAIMS,
        "1.37",
        "plugins/dynamicresources/dynamicresources.go",
        "DynamicResources adds nothing to the message of a pod without claims.",
    ),
    Difference(
        Behavior.PLACEMENT_TEXT,
        "1.37",
        "kubernetes#140180",
        "The message of a pod that preempts names the node and the number of victims.",
    ),
    Difference(
        Behavior.GATED_NOMINATIONS,
        "1.37",
        "kubernetes#139057",
        "A gated pod with a nominated node holds room on this node.",
    ),
    Difference(
        Behavior.FIRST_SPENT_BUDGET,
        "1.37",
        "framework/preemption/preemption.go",
        "A victim that violates one budget is not charged to the budgets that follow.",
    ),
    Difference(
        Behavior.WHOLE_POD_SUMS,
        "1.37",
        "kubernetes#140047",
        "A resize counts the largest of three sums over the whole pod, not the sum of each container's largest.",
    ),
    Difference(
        Behavior.BATCHING,
        "1.35",
        "KEP-5598",
        "A pod like the one before takes the next node of its list and is not scored; the gate OpportunisticBatching is on by default.",
    ),
    Difference(
        Behavior.TIES_IN_ORDER,
        "1.35",
        "pkg/scheduler/framework/sorted_nodes.go",
        "Without extenders, nodes that tie are not drawn: the order in which they were found decides.",
    ),
    Difference(
        Behavior.BATCH_RESCORE,
        "1.37",
        "framework/runtime/batch.go",
        "A node that takes another such pod goes back into the list with fresh scores; before, the list was thrown away.",
    ),
    Difference(
        Behavior.POD_GROUPS,
        "1.37",
        "KEP-4671",
        "The pods of a PodGroup are one entity of the queue and are placed in one cycle, where the gate GenericWorkload is on.",
    ),
    Difference(
        Behavior.SPLIT_POD_EVENTS,
        "1.37",
        "kubernetes#135905",
        "Events of pods are AssignedPod, UnscheduledPod, or TargetPod (the pod itself), and larger requests are an event.",
    ),
    Difference(
        Behavior.TAINTS_UNHEARD,
        "1.37",
        "pkg/scheduler/scheduler.go",
        "Changed taints and uncordoning wake only pods that a plugin about taints or cordoned nodes refused.",
    ),
    Difference(
        Behavior.ANY_ANTI_AFFINITY_TERM,
        "1.37",
        "kubernetes#139161",
        "InterPodAffinity wakes a pod when one of its anti-affinity terms matched the other pod; before, all had to match.",
    ),
    Difference(
        Behavior.CLEARED_NOMINATIONS_GO,
        "1.37",
        "backend/queue/nominator.go",
        "A cleared nomination leaves the nominator; before, the pod stayed in a list of its own.",
    ),
    Difference(
        Behavior.FLUSHED_GATES,
        "1.37",
        "backend/queue/scheduling_queue.go",
        "The flush of pods that have waited for five minutes asks the gates of gated pods again.",
    ),
    Difference(
        Behavior.DELETED_CLAIMS_HEARD,
        "1.37",
        "plugins/dynamicresources/dynamicresources.go",
        "A deleted ResourceClaim wakes pods that DynamicResources refused.",
    ),
    Difference(
        Behavior.DELETED_PODS_UNCOUNTED,
        "1.37",
        "backend/queue/scheduling_queue.go",
        "scheduler_unschedulable_pods no longer counts pods that were deleted.",
    ),
)


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def pick(history: Mapping[str, T], release: Release) -> T | None:
    """Return the newest entry of a history by release that this release has; None where all are newer."""
    entries = [(_numbers(since), entry) for since, entry in history.items() if _numbers(since) <= _numbers(release)]
    return max(entries, key=lambda entry: entry[0])[1] if entries else None


@cache
def behaviors_of(release: Release) -> frozenset[Behavior]:
    """Return the behaviors that a release has."""
    return frozenset(each.behavior for each in DIFFERENCES if _numbers(each.since) <= _numbers(release))


def read_release(text: str) -> Release:
    """Return the modeled release that a text such as "v1.36.3" or "1.36" names: the nearest patch of the same minor. ValueError."""
    found = re.fullmatch(r"v?1\.(\d+)(?:\.(\d+))?(?:[-+].*)?", text.strip())
    alike = [each for each in RELEASES if found and _numbers(each)[1] == int(found[1])]
    if not found or not alike:
        raise ValueError(f"received {text!r}; expected a release from 1.34 to 1.37, such as {NEWEST}")
    wanted = int(found[2]) if found[2] else _numbers(alike[-1])[2]
    return min(alike, key=lambda each: abs(_numbers(each)[2] - wanted))


def nearest_release(version: str) -> Release:
    """Return the modeled release nearest to a version such as "1.33.2": the oldest before 1.34, the newest after 1.37."""
    minor = _numbers(version)[1]
    if minor < _numbers(OLDEST)[1]:
        return OLDEST
    return NEWEST if minor > _numbers(NEWEST)[1] else read_release(version)
