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
            "A loop that compares the current state with the desired state and changes objects until both agree. "
            "It processes one key of its work queue at a time."
        ),
        _DOCS,
    ),
    "work queue": Term(
        gettext_noop("work queue"),
        gettext_noop(
            "The keys of objects that a controller has yet to process. A key that failed returns after a pause, "
            "which grows with each failure."
        ),
        _DOCS,
    ),
    "kubelet": Term(
        "kubelet",
        gettext_noop(
            "The agent on each node. It starts the pods bound to the node, stops deleted pods after their grace "
            "period, and evicts pods when the node runs out of a resource."
        ),
        _DOCS,
        (Source(OVERVIEW, "上下游依赖"), _EVICTION),
    ),
    "eviction signal": Term(
        gettext_noop("eviction signal"),
        gettext_noop(
            "A measurement of the kubelet, such as memory.available. Below its threshold the kubelet evicts "
            "pods: first those above their requests, then by priority."
        ),
        _DOCS,
        (Source(CONCEPTS, "Eviction signals"), Source(CONCEPTS, "Pod selection for kubelet eviction")),
    ),
    "lease": Term(
        gettext_noop("lease"),
        gettext_noop(
            "The lock for which the replicas of a scheduler compete. Only the holder schedules. It must renew "
            "the Lease or it loses the Lease."
        ),
        "docs/leader-election.md",
        (Source(ELECTION, "选主过程"), Source(SEQUENCES, "场景 4:Scheduler 启动流程")),
    ),
    "replicaset-controller": Term(
        "replicaset-controller",
        gettext_noop("Creates and deletes pods until a ReplicaSet has its number of replicas."),
        _DOCS,
    ),
    "replicationcontroller-controller": Term(
        "replicationcontroller-controller",
        gettext_noop("Creates and deletes pods until a ReplicationController has its number of replicas."),
        _DOCS,
    ),
    "deployment-controller": Term(
        "deployment-controller",
        gettext_noop(
            "Creates a ReplicaSet for each revision of a Deployment and shifts pods from the old one to the new one."
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
            "Keeps one pod of a DaemonSet on every suitable node. Node affinity names the node, and the "
            "scheduler binds the pod."
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
        gettext_noop(
            "Watches the nodes' heartbeats. It marks a node without heartbeats NotReady or Unknown and taints it."
        ),
        _DOCS,
        (Source(CONCEPTS, "Taint based Evictions"), Source(CONCEPTS, "Taint Nodes by Condition")),
    ),
    "taint-eviction-controller": Term(
        "taint-eviction-controller",
        gettext_noop(
            "Deletes pods that do not tolerate a NoExecute taint of their node, immediately or after tolerationSeconds."
        ),
        _DOCS,
        (Source(CONCEPTS, "Taint based Evictions"),),
    ),
    "disruption-controller": Term(
        "disruption-controller",
        gettext_noop(
            "Counts the healthy pods of each PodDisruptionBudget and writes the number of disruptions that it "
            "currently allows."
        ),
        _DOCS,
        (_DISRUPTION, _API_EVICTION),
    ),
    "garbage-collector-controller": Term(
        "garbage-collector-controller", gettext_noop("Deletes objects whose owners no longer exist."), _DOCS
    ),
    "pod-garbage-collector-controller": Term(
        "pod-garbage-collector-controller",
        gettext_noop("Deletes pods of nodes that no longer exist, and finished pods when there are too many."),
        _DOCS,
    ),
    "namespace-controller": Term(
        "namespace-controller",
        gettext_noop("Deletes the objects in a deleted namespace, and then the namespace."),
        _DOCS,
    ),
    "persistentvolume-binder-controller": Term(
        "persistentvolume-binder-controller",
        gettext_noop("Binds claims to suitable volumes and releases volumes whose claim is deleted."),
        _DOCS,
    ),
    "persistentvolume-attach-detach-controller": Term(
        "persistentvolume-attach-detach-controller",
        gettext_noop("Attaches volumes to the nodes whose pods use them, and detaches them from other nodes."),
        _DOCS,
    ),
    "ephemeral-volume-controller": Term(
        "ephemeral-volume-controller", gettext_noop("Creates the claims of pods' generic ephemeral volumes."), _DOCS
    ),
    "persistentvolumeclaim-protection-controller": Term(
        "persistentvolumeclaim-protection-controller",
        gettext_noop("Keeps a deleted claim until no pod uses it."),
        _DOCS,
    ),
    "persistentvolume-protection-controller": Term(
        "persistentvolume-protection-controller",
        gettext_noop("Keeps a deleted volume until no claim is bound to it."),
        _DOCS,
    ),
    "resourcequota-controller": Term(
        "resourcequota-controller", gettext_noop("Counts the usage of a namespace for its ResourceQuotas."), _DOCS
    ),
    "resourceclaim-controller": Term(
        "resourceclaim-controller",
        gettext_noop(
            "Creates ResourceClaims from the templates that pods name, and frees claims whose pods no longer exist."
        ),
        "docs/devices.md",
    ),
    "device-taint-eviction-controller": Term(
        "device-taint-eviction-controller",
        gettext_noop("Deletes pods whose devices have a NoExecute taint that the claim does not tolerate."),
        "docs/devices.md",
    ),
}
