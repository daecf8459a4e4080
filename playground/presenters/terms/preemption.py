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
            "A Filter plugin said that the pod cannot run on the node (Unschedulable). Later plugins are not asked "
            "about this node."
        ),
        "docs/glossary.md",
        (Source(CONCEPTS, "Filter"), Source(DEEP_DIVE, "Filter Stage:")),
    ),
    "unresolvable": Term(
        gettext_noop("unresolvable"),
        gettext_noop(
            "The refusal has a reason that evicting pods cannot change, such as a taint "
            "(UnschedulableAndUnresolvable). Preemption leaves the node out."
        ),
        "docs/glossary.md",
        (Source(CONCEPTS, "Preemption"),),
    ),
    "skipped": Term(
        gettext_noop("skipped"),
        gettext_noop(
            "The plugin's PreFilter or PreScore returned Skip: it is not relevant to this pod and is not asked about "
            "any node."
        ),
        "docs/architecture.md",
        (Source(CONCEPTS, "PreFilter"),),
    ),
    "candidate": Term(
        gettext_noop("candidate"),
        gettext_noop(
            "A node on which the pod would fit once certain pods of lower priority, its victims, are evicted."
        ),
        _DOCS,
        (_FLOW,),
    ),
    "dry run": Term(
        gettext_noop("dry run"),
        gettext_noop(
            "The search for victims on a copy of the snapshot: all pods of lower priority are removed, Filter runs, "
            "then one after the other is put back."
        ),
        _DOCS,
        (_FLOW,),
    ),
    "victim": Term(
        gettext_noop("victim"),
        gettext_noop("A pod of lower priority that preemption evicts to make room. It ends after its grace period."),
        "docs/glossary.md",
        (Source(CONCEPTS, "Graceful termination of preemption victims"),),
    ),
    "reprieve": Term(
        gettext_noop("reprieve"),
        gettext_noop(
            "In the dry run a removed pod is put back; if the pending pod still fits, it stays. Pods under a budget "
            "that would be violated come first, then higher priorities."
        ),
        "docs/glossary.md",
        (_FLOW,),
    ),
    "nominated": Term(
        gettext_noop("nominated"),
        gettext_noop(
            "Preemption chose this node for the pod (status.nominatedNodeName). Pods of lower or equal priority leave "
            "the room to it, but the pod may still land elsewhere."
        ),
        "docs/glossary.md",
        (Source(CONCEPTS, "User exposed information"), Source(DEEP_DIVE, "Nominated Pod:")),
    ),
    "PDB": Term(
        gettext_noop("PDB violation"),
        gettext_noop(
            "Evicting the pod would leave fewer healthy pods than its PodDisruptionBudget wants. Preemption avoids it "
            "where it can, and does it where it cannot."
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
            "A PodDisruptionBudget says how many of its pods must stay healthy, or how many may be missing. Evictions "
            "through the API respect it."
        ),
        "docs/cluster.md",
        (Source(DEEP_DIVE, "PDB (Pod Disruption Budget):"), Source(CONCEPTS, "How API-initiated eviction works")),
    ),
    "fewest violations": Term(
        gettext_noop("PDB violations, the first criterion"),
        gettext_noop("Of the candidates, those stay whose victims violate the fewest PodDisruptionBudgets."),
        _DOCS,
        (_FLOW, _CHOICE),
    ),
    "highest priority": Term(
        gettext_noop("highest priority of a victim, the second criterion"),
        gettext_noop("Of the candidates left, those stay whose most important victim has the lowest priority."),
        _DOCS,
        (_FLOW, _CHOICE),
    ),
    "sum of priorities": Term(
        gettext_noop("sum of priorities, the third criterion"),
        gettext_noop(
            "Of the candidates left, those stay whose victims' priorities have the lowest sum. kube adds 2^31 to each,"
            " so more victims never look better."
        ),
        _DOCS,
        (_FLOW, _CHOICE),
    ),
    "fewest victims": Term(
        gettext_noop("number of victims, the fourth criterion"),
        gettext_noop("Of the candidates left, those with the fewest victims stay."),
        _DOCS,
        (_FLOW, _CHOICE),
    ),
    "latest start": Term(
        gettext_noop("start time, the fifth criterion"),
        gettext_noop(
            "Of the candidates left, the one stays whose most important victims started last: the younger pod has less"
            " to lose."
        ),
        _DOCS,
        (_FLOW,),
    ),
    "draw": Term(
        gettext_noop("draw"),
        gettext_noop(
            "Candidates that tie in every criterion: kube takes the first that a Go map yields, which is random. Here "
            "the session's seed decides."
        ),
        "docs/architecture.md",
        (_FLOW,),
    ),
    "grace period": Term(
        gettext_noop("grace period"),
        gettext_noop(
            "How long an evicted pod may take to end, 30 s by default. Its resources are free only afterwards, so the "
            "preemptor waits that long."
        ),
        "docs/cluster.md",
        (Source(CONCEPTS, "Graceful termination of preemption victims"),),
    ),
}
