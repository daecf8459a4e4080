"""Terms of verdicts and of preemption: what a refusal means, who may go, and who is chosen."""

from __future__ import annotations

from playground.presenters.terms.term import CONCEPTS, DEEP_DIVE, SEQUENCES, Source, Term
from playground.presenters.words import gettext_noop

_DOCS = "docs/plugins.md"
_FLOW = Source(DEEP_DIVE, "Preemption Control Flow")
_CHOICE = Source(SEQUENCES, "场景 2:抢占调度流程")

PREEMPTION: dict[str, Term] = {
    "refused": Term(
        gettext_noop("refused"),
        gettext_noop(
            "A Filter plugin found that the node cannot run the pod (Unschedulable). Later plugins do not check "
            "this node."
        ),
        "docs/glossary.md",
        (Source(CONCEPTS, "Filter"), Source(DEEP_DIVE, "Filter Stage:")),
    ),
    "unresolvable": Term(
        gettext_noop("unresolvable"),
        gettext_noop(
            "The reason for the refusal cannot be resolved by evicting pods, for example a taint "
            "(UnschedulableAndUnresolvable). Preemption skips the node."
        ),
        "docs/glossary.md",
        (Source(CONCEPTS, "Preemption"),),
    ),
    "skipped": Term(
        gettext_noop("skipped"),
        gettext_noop(
            "The plugin's PreFilter or PreScore returned Skip: the plugin is not relevant to this pod and checks "
            "no node."
        ),
        "docs/architecture.md",
        (Source(CONCEPTS, "PreFilter"),),
    ),
    "candidate": Term(
        gettext_noop("candidate"),
        gettext_noop("A node where the pod would fit once certain pods of lower priority, its victims, are preempted."),
        _DOCS,
        (_FLOW,),
    ),
    "dry run": Term(
        gettext_noop("dry run"),
        gettext_noop(
            "The search for victims on a copy of the snapshot: all pods of lower priority are removed, Filter "
            "runs, then the pods are put back one by one."
        ),
        _DOCS,
        (_FLOW,),
    ),
    "victim": Term(
        gettext_noop("victim"),
        gettext_noop("A pod of lower priority that preemption deletes to make room. It stops after its grace period."),
        "docs/glossary.md",
        (Source(CONCEPTS, "Graceful termination of preemption victims"),),
    ),
    "reprieve": Term(
        gettext_noop("reprieve"),
        gettext_noop(
            "The dry run puts a removed pod back. If the pending pod still fits, the removed pod stays. Pods "
            "whose budget would be violated are tried first, then higher priorities."
        ),
        "docs/glossary.md",
        (_FLOW,),
    ),
    "nominated": Term(
        gettext_noop("nominated"),
        gettext_noop(
            "Preemption chose this node for the pod (status.nominatedNodeName). Other pods of lower or equal "
            "priority cannot use these resources. The pod may still land on another node."
        ),
        "docs/glossary.md",
        (Source(CONCEPTS, "User exposed information"), Source(DEEP_DIVE, "Nominated Pod:")),
    ),
    "PDB": Term(
        gettext_noop("PDB violation"),
        gettext_noop(
            "The eviction would leave fewer healthy pods than the PodDisruptionBudget requires. Preemption "
            "avoids it if possible, but not always."
        ),
        _DOCS,
        (
            Source(CONCEPTS, "PodDisruptionBudget is supported, but not guaranteed"),
            Source(DEEP_DIVE, "PDB (Pod Disruption Budget):"),
        ),
    ),
    "budget": Term(
        gettext_noop("disruption budget"),
        gettext_noop(
            "A PodDisruptionBudget sets how many of its pods must stay healthy, or how many may be unavailable. "
            "Evictions through the API respect it."
        ),
        "docs/cluster.md",
        (Source(DEEP_DIVE, "PDB (Pod Disruption Budget):"), Source(CONCEPTS, "How API-initiated eviction works")),
    ),
    "fewest violations": Term(
        gettext_noop("PDB violations, the first criterion"),
        gettext_noop("Keeps the candidates whose victims violate the fewest PodDisruptionBudgets."),
        _DOCS,
        (_FLOW, _CHOICE),
    ),
    "highest priority": Term(
        gettext_noop("highest priority of a victim, the second criterion"),
        gettext_noop("Of the candidates left, keeps those whose highest-priority victim has the lowest priority."),
        _DOCS,
        (_FLOW, _CHOICE),
    ),
    "sum of priorities": Term(
        gettext_noop("sum of priorities, the third criterion"),
        gettext_noop(
            "Of the candidates left, keeps those with the lowest sum of victims' priorities. kube adds 2^31 to "
            "each, so more victims never look better."
        ),
        _DOCS,
        (_FLOW, _CHOICE),
    ),
    "fewest victims": Term(
        gettext_noop("number of victims, the fourth criterion"),
        gettext_noop("Of the candidates left, keeps those with the fewest victims."),
        _DOCS,
        (_FLOW, _CHOICE),
    ),
    "latest start": Term(
        gettext_noop("start time, the fifth criterion"),
        gettext_noop(
            "Of the candidates left, chooses the one whose highest-priority victims started last. A younger pod "
            "has less to lose."
        ),
        _DOCS,
        (_FLOW,),
    ),
    "draw": Term(
        gettext_noop("random pick"),
        gettext_noop(
            "If candidates tie in every criterion, kube takes the first of a Go map, which is random. Here the "
            "random seed of the session decides."
        ),
        "docs/architecture.md",
        (_FLOW,),
    ),
    "grace period": Term(
        gettext_noop("grace period"),
        gettext_noop(
            "The time that an evicted pod gets to stop, 30 s by default. Its resources are free only afterwards, "
            "so the preemptor waits that long."
        ),
        "docs/cluster.md",
        (Source(CONCEPTS, "Graceful termination of preemption victims"),),
    ),
}
