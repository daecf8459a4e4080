"""Terms of the score stage, and of how many nodes are looked at."""

from __future__ import annotations

from playground.presenters.terms.term import CONCEPTS, OVERVIEW, STRUCTURES, Source, Term
from playground.presenters.words import gettext_noop

_DOCS = "docs/plugins.md"
_SCORES = Source(OVERVIEW, "2. Scoring Phase(打分阶段)")
_ITERATES = Source(CONCEPTS, "How the scheduler iterates over Nodes")

SCORES: dict[str, Term] = {
    "raw": Term(
        gettext_noop("raw score"),
        gettext_noop(
            "The value that Score returned for the node. Its range depends on the plugin until NormalizeScore has run."
        ),
        _DOCS,
        (Source(CONCEPTS, "Score"),),
    ),
    "normalised": Term(
        gettext_noop("normalized score"),
        gettext_noop(
            "The plugin's score after NormalizeScore, from 0 to 100, relative to the feasible nodes of this attempt."
        ),
        _DOCS,
        (Source(CONCEPTS, "NormalizeScore"),),
    ),
    "weight": Term(
        gettext_noop("weight"),
        gettext_noop(
            "The factor for a plugin's normalized score. The profile sets it. The default is 1; TaintToleration has 3."
        ),
        "docs/configuration.md",
        (_SCORES,),
    ),
    "total": Term(
        gettext_noop("total"),
        gettext_noop(
            "The sum of the weighted scores of all plugins and extenders. The node with the highest total is selected."
        ),
        _DOCS,
        (_SCORES,),
    ),
    "tie": Term(
        gettext_noop("tie"),
        gettext_noop(
            "Nodes that share the highest total. kube-scheduler picks one at random. Here the random seed of the "
            "session decides, so a replay picks the same."
        ),
        "docs/architecture.md",
        (Source(CONCEPTS, "Node selection in kube-scheduler"), Source(OVERVIEW, "调度算法(schedulePod)")),
    ),
    "feasible": Term(
        gettext_noop("feasible"),
        gettext_noop("The node passed every Filter plugin, so it can run the pod. Only feasible nodes are scored."),
        "docs/glossary.md",
        (Source(CONCEPTS, "Scheduling overview"), Source(OVERVIEW, "1. Filtering Phase(过滤阶段)")),
    ),
    "sampling": Term(
        gettext_noop("sampling"),
        gettext_noop(
            "In a large cluster, Filter stops once it has found enough feasible nodes "
            "(percentageOfNodesToScore). The rest is not examined in this attempt."
        ),
        "docs/configuration.md",
        (Source(CONCEPTS, "7 - Scheduler Performance Tuning"), Source(CONCEPTS, "Node scoring threshold")),
    ),
    "not examined": Term(
        gettext_noop("not examined"),
        gettext_noop(
            "Filter did not reach the node because enough other nodes were feasible. The pod might fit the node or not."
        ),
        "docs/glossary.md",
        (_ITERATES,),
    ),
    "nextStartNodeIndex": Term(
        "nextStartNodeIndex",
        gettext_noop(
            "The position in the list of nodes where the next attempt starts: after the last examined node, so "
            "that every node gets its turn."
        ),
        "docs/architecture.md",
        (_ITERATES,),
    ),
    "percentageOfNodesToScore": Term(
        "percentageOfNodesToScore",
        gettext_noop(
            "The share of nodes, in percent, that must be feasible for Filter to stop. At 0 it depends on the "
            "cluster size: 50 % minus 1 for each 125 nodes, at least 5 %. Up to 100 nodes, all are examined."
        ),
        "docs/configuration.md",
        (Source(CONCEPTS, "Setting the threshold"), Source(CONCEPTS, "Default threshold")),
    ),
    "allocatable": Term(
        gettext_noop("allocatable"),
        gettext_noop(
            "The resources of a node for pods: its capacity minus the part that the kubelet reserves for the "
            "system. Requests count against it, not usage."
        ),
        "docs/cluster.md",
        (Source(STRUCTURES, "2.3 NodeInfo(节点信息)"),),
    ),
    "requests": Term(
        gettext_noop("requests"),
        gettext_noop(
            "The amount of each resource that the pod requests, including init containers and overhead. It is "
            "reserved even if the pod does not use it."
        ),
        "docs/plugins.md",
        (Source(OVERVIEW, "1. 合理设置 Pod 资源请求"), Source(CONCEPTS, "3 - Pod Overhead")),
    ),
}
