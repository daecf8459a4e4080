"""What else acts on the cluster: controllers by kube's names, the kubelet, and terms of theirs."""

from __future__ import annotations

from playground.presenters.terms.term import CONCEPTS, ELECTION, OVERVIEW, SEQUENCES, Source, Term
from playground.presenters.words import gettext_noop

_DOCS = "docs/cluster.md"
_EVICTION = Source(CONCEPTS, "10 - Node-pressure Eviction")
_API_EVICTION = Source(CONCEPTS, "How API-initiated eviction works")
_DISRUPTION = Source(CONCEPTS, "Pod Disruption")

CONTROLLERS: dict[str, Term] = {
    "controller": Term(
        gettext_noop("controller"),
        gettext_noop(
            "A loop that compares what is with what is wanted and changes objects until both agree. It looks at one "
            "key of its work queue at a time."
        ),
        _DOCS,
    ),
    "work queue": Term(
        gettext_noop("work queue"),
        gettext_noop(
            "The keys of objects that a controller still has to look at. A key that failed comes back later, each time"
            " after a longer pause."
        ),
        _DOCS,
    ),
    "kubelet": Term(
        "kubelet",
        gettext_noop(
            "The agent on each node: starts the pods bound to it, ends deleted ones after their grace period, and "
            "evicts when the node runs out of a resource."
        ),
        _DOCS,
        (Source(OVERVIEW, "上下游依赖"), _EVICTION),
    ),
    "eviction signal": Term(
        gettext_noop("eviction signal"),
        gettext_noop(
            "What the kubelet measures, such as memory.available. Below its threshold it evicts pods: first those "
            "above their requests, then by priority."
        ),
        _DOCS,
        (Source(CONCEPTS, "Eviction signals"), Source(CONCEPTS, "Pod selection for kubelet eviction")),
    ),
    "lease": Term(
        gettext_noop("lease"),
        gettext_noop(
            "The lock that the replicas of a scheduler compete for. Only the holder schedules; it renews the lease, "
            "and loses it when it does not."
        ),
        "docs/leader-election.md",
        (Source(ELECTION, "选主过程"), Source(SEQUENCES, "场景 4:Scheduler 启动流程")),
    ),
    "replicaset-controller": Term(
        "replicaset-controller",
        gettext_noop("Creates and deletes pods until a ReplicaSet has as many as it wants."),
        _DOCS,
    ),
    "replicationcontroller-controller": Term(
        "replicationcontroller-controller",
        gettext_noop("Creates and deletes pods until a ReplicationController has as many as it wants."),
        _DOCS,
    ),
    "deployment-controller": Term(
        "deployment-controller",
        gettext_noop(
            "Makes a ReplicaSet for each revision of a Deployment and shifts pods from the old one to the new one."
        ),
        _DOCS,
    ),
    "statefulset-controller": Term(
        "statefulset-controller",
        gettext_noop("Keeps the numbered pods of a StatefulSet, each with its own claims, and replaces them in order."),
        _DOCS,
    ),
    "daemonset-controller": Term(
        "daemonset-controller",
        gettext_noop(
            "Keeps one pod of a DaemonSet on every node that the pod fits; node affinity names the node, and the "
            "scheduler binds it."
        ),
        _DOCS,
        (Source(CONCEPTS, "DaemonSet"),),
    ),
    "job-controller": Term(
        "job-controller",
        gettext_noop("Runs pods of a Job until enough of them have succeeded, or too many have failed."),
        _DOCS,
    ),
    "cronjob-controller": Term(
        "cronjob-controller", gettext_noop("Creates a Job at each moment of a CronJob's schedule."), _DOCS
    ),
    "ttl-after-finished-controller": Term(
        "ttl-after-finished-controller",
        gettext_noop("Deletes finished Jobs once their ttlSecondsAfterFinished is over."),
        _DOCS,
    ),
    "node-lifecycle-controller": Term(
        "node-lifecycle-controller",
        gettext_noop("Watches the nodes' heartbeats, marks a silent node NotReady or Unknown, and taints it."),
        _DOCS,
        (Source(CONCEPTS, "Taint based Evictions"), Source(CONCEPTS, "Taint Nodes by Condition")),
    ),
    "taint-eviction-controller": Term(
        "taint-eviction-controller",
        gettext_noop(
            "Deletes pods that do not tolerate a NoExecute taint of their node, or no longer once tolerationSeconds "
            "are over."
        ),
        _DOCS,
        (Source(CONCEPTS, "Taint based Evictions"),),
    ),
    "disruption-controller": Term(
        "disruption-controller",
        gettext_noop(
            "Counts the healthy pods of each PodDisruptionBudget and writes how many disruptions it allows now."
        ),
        _DOCS,
        (_DISRUPTION, _API_EVICTION),
    ),
    "garbage-collector-controller": Term(
        "garbage-collector-controller", gettext_noop("Deletes objects whose owners are gone."), _DOCS
    ),
    "pod-garbage-collector-controller": Term(
        "pod-garbage-collector-controller",
        gettext_noop("Deletes pods of nodes that no longer exist, and finished pods when there are too many."),
        _DOCS,
    ),
    "namespace-controller": Term(
        "namespace-controller",
        gettext_noop("Deletes what is in a namespace that was deleted, and then the namespace."),
        _DOCS,
    ),
    "persistentvolume-binder-controller": Term(
        "persistentvolume-binder-controller",
        gettext_noop("Binds claims to volumes that suit them, and releases volumes whose claim is gone."),
        _DOCS,
    ),
    "persistentvolume-attach-detach-controller": Term(
        "persistentvolume-attach-detach-controller",
        gettext_noop("Has volumes attached to the nodes whose pods use them, and detached from the others."),
        _DOCS,
    ),
    "ephemeral-volume-controller": Term(
        "ephemeral-volume-controller", gettext_noop("Creates the claims of pods' generic ephemeral volumes."), _DOCS
    ),
    "persistentvolumeclaim-protection-controller": Term(
        "persistentvolumeclaim-protection-controller",
        gettext_noop("Keeps a deleted claim until no pod uses it any more."),
        _DOCS,
    ),
    "persistentvolume-protection-controller": Term(
        "persistentvolume-protection-controller",
        gettext_noop("Keeps a deleted volume until it is bound to no claim any more."),
        _DOCS,
    ),
    "resourcequota-controller": Term(
        "resourcequota-controller", gettext_noop("Counts what a namespace uses of its ResourceQuotas."), _DOCS
    ),
    "resourceclaim-controller": Term(
        "resourceclaim-controller",
        gettext_noop("Creates the ResourceClaims that pods ask for by template, and frees claims whose pods are gone."),
        "docs/devices.md",
    ),
    "device-taint-eviction-controller": Term(
        "device-taint-eviction-controller",
        gettext_noop("Deletes pods whose devices got a NoExecute taint that their claim does not tolerate."),
        "docs/devices.md",
    ),
}
