"""Plugins: those of the default profile in kube's order, then ours."""

from __future__ import annotations

from playground.presenters.terms.term import CONCEPTS, DEEP_DIVE, OVERVIEW, SEQUENCES, Source, Term
from playground.presenters.words import gettext_noop

_DOCS = "docs/plugins.md"
_OWN = "docs/own-plugins.md"
_FILTERS = Source(OVERVIEW, "1. Filtering Phase(过滤阶段)")
_SCORES = Source(OVERVIEW, "2. Scoring Phase(打分阶段)")

PLUGINS: dict[str, Term] = {
    "SchedulingGates": Term(
        "SchedulingGates",
        gettext_noop("Keeps a pod out of the queue while spec.schedulingGates has an entry."),
        _DOCS,
        (Source(OVERVIEW, "1. PreEnqueue(入队前检查)"),),
    ),
    "PrioritySort": Term(
        "PrioritySort",
        gettext_noop(
            "Pops the pod with the highest priority first. Of equal priorities, the pod that was queued first."
        ),
        _DOCS,
        (Source(CONCEPTS, "Effect of Pod priority on scheduling order"),),
    ),
    "NodeUnschedulable": Term(
        "NodeUnschedulable",
        gettext_noop("Refuses cordoned nodes unless the pod tolerates the taint node.kubernetes.io/unschedulable."),
        _DOCS,
        (_FILTERS, Source(CONCEPTS, "Taint Nodes by Condition")),
    ),
    "NodeName": Term(
        "NodeName",
        gettext_noop("Refuses every node except the node in spec.nodeName."),
        _DOCS,
        (Source(CONCEPTS, "nodeName"),),
    ),
    "NodeDeclaredFeatures": Term(
        "NodeDeclaredFeatures",
        gettext_noop("Refuses nodes whose kubelet does not declare a feature that the pod needs. Since 1.35."),
        _DOCS,
        (),
    ),
    "TaintToleration": Term(
        "TaintToleration",
        gettext_noop(
            "Refuses nodes with a NoSchedule or NoExecute taint that the pod does not tolerate, and prefers nodes with"
            " fewer PreferNoSchedule taints."
        ),
        _DOCS,
        (Source(CONCEPTS, "5 - Taints and Tolerations"),),
    ),
    "NodeAffinity": Term(
        "NodeAffinity",
        gettext_noop(
            "Refuses nodes whose labels do not match the pod's nodeSelector or required node affinity, and prefers "
            "those that match its preferred terms."
        ),
        _DOCS,
        (Source(CONCEPTS, "Node affinity"), Source(CONCEPTS, "Node affinity weight")),
    ),
    "NodePorts": Term(
        "NodePorts", gettext_noop("Refuses nodes where a host port of the pod is already in use."), _DOCS, (_FILTERS,)
    ),
    "NodeResourcesFit": Term(
        "NodeResourcesFit",
        gettext_noop(
            "Refuses nodes with fewer free resources than the pod requests. Scores by strategy: LeastAllocated "
            "spreads, MostAllocated and RequestedToCapacityRatio pack."
        ),
        _DOCS,
        (_FILTERS, Source(CONCEPTS, "8 - Resource Bin Packing")),
    ),
    "VolumeRestrictions": Term(
        "VolumeRestrictions",
        gettext_noop(
            "Refuses nodes where a disk that cannot be shared, or a ReadWriteOncePod claim, is in use by another pod."
        ),
        _DOCS,
    ),
    "NodeVolumeLimits": Term(
        "NodeVolumeLimits", gettext_noop("Refuses nodes to which a CSI driver cannot attach more volumes."), _DOCS
    ),
    "VolumeBinding": Term(
        "VolumeBinding",
        gettext_noop(
            "Refuses nodes where no volume can be reached, found or provisioned for the pod's claims. Binds "
            "these claims before the pod."
        ),
        _DOCS,
        (_FILTERS, Source(OVERVIEW, "11. PreBind(绑定前处理)")),
    ),
    "VolumeZone": Term(
        "VolumeZone",
        gettext_noop("Refuses nodes outside the zone or region that the labels of the pod's bound volumes name."),
        _DOCS,
    ),
    "PodTopologySpread": Term(
        "PodTopologySpread",
        gettext_noop(
            "Refuses nodes whose domain, such as a zone, would have over maxSkew more matching pods than the "
            "emptiest domain. Prefers emptier domains."
        ),
        _DOCS,
        (Source(CONCEPTS, "4 - Pod Topology Spread Constraints"),),
    ),
    "InterPodAffinity": Term(
        "InterPodAffinity",
        gettext_noop(
            "Keeps a pod in one domain with the pods of its affinity and away from the pods of its "
            "anti-affinity. The anti-affinity of existing pods counts, too."
        ),
        _DOCS,
        (Source(CONCEPTS, "Inter-pod affinity and anti-affinity"),),
    ),
    "DynamicResources": Term(
        "DynamicResources",
        gettext_noop(
            "Refuses nodes where the pod's ResourceClaims cannot get their devices. Allocates devices at Reserve "
            "and writes the allocation at PreBind."
        ),
        "docs/devices.md",
    ),
    "DefaultPreemption": Term(
        "DefaultPreemption",
        gettext_noop(
            "For a pod without a feasible node, searches nodes where preempting lower-priority pods makes room, "
            "chooses the node with the least harm, and nominates it."
        ),
        _DOCS,
        (Source(DEEP_DIVE, "Deep Dive: Default Preemption"), Source(CONCEPTS, "Preemption")),
    ),
    "NodeResourcesBalancedAllocation": Term(
        "NodeResourcesBalancedAllocation",
        gettext_noop("Prefers nodes where the requested shares of CPU and memory would be about equal."),
        _DOCS,
        (_SCORES,),
    ),
    "ImageLocality": Term(
        "ImageLocality",
        gettext_noop("Prefers nodes that already have the pod's images. Large images that many nodes have count most."),
        _DOCS,
        (_SCORES,),
    ),
    "DefaultBinder": Term(
        "DefaultBinder",
        gettext_noop("Binds the pod by creating a Binding. The API server then sets spec.nodeName."),
        _DOCS,
        (Source(OVERVIEW, "Bind 阶段"), Source(SEQUENCES, "场景 3:绑定失败回滚流程")),
    ),
    "Demonstration": Term(
        "Demonstration",
        gettext_noop(
            "A plugin of this playground, off by default. It follows the pod's annotations to show extension "
            "points that are rarely used."
        ),
        _DOCS,
    ),
    "CreationTimeSort": Term(
        "CreationTimeSort",
        gettext_noop("A QueueSort plugin of this playground. It pops the oldest pod first, regardless of priority."),
        _DOCS,
        (Source(CONCEPTS, "QueueSort"),),
    ),
    "SmallestFirstSort": Term(
        "SmallestFirstSort",
        gettext_noop(
            "A QueueSort plugin of this playground. It pops the pod with the smallest CPU request first, then "
            "the smallest memory request."
        ),
        _DOCS,
        (Source(CONCEPTS, "QueueSort"),),
    ),
    "GangScheduling": Term(
        "GangScheduling",
        gettext_noop(
            "Holds the pods of a PodGroup back until there are enough of them, and binds them only if enough of them have "
            "a node. Since 1.35, and only with the gate GenericWorkload."
        ),
        _DOCS,
        (),
    ),
    "Coscheduling": Term(
        "Coscheduling",
        gettext_noop(
            "Schedules all pods of a group or none. Pods with a node wait on Permit until enough pods of the "
            "group have one."
        ),
        _OWN,
        (Source(OVERVIEW, "10. Permit(许可)"),),
    ),
    "CoschedulingSort": Term(
        "CoschedulingSort",
        gettext_noop("A QueueSort plugin that keeps the pods of a group together in the active queue."),
        _OWN,
        (Source(CONCEPTS, "QueueSort"),),
    ),
    "TargetLoadPacking": Term(
        "TargetLoadPacking",
        gettext_noop("Packs nodes up to a target of measured CPU load, and prefers nodes with less load beyond it."),
        _OWN,
    ),
    "NodeResourcesAllocatable": Term(
        "NodeResourcesAllocatable",
        gettext_noop("Prefers nodes with few or with many allocatable resources, depending on its mode."),
        _OWN,
    ),
}
