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
        gettext_noop("What Score returned for the node. Its range is the plugin's own until NormalizeScore has run."),
        _DOCS,
        (Source(CONCEPTS, "Score"),),
    ),
    "normalised": Term(
        gettext_noop("normalised score"),
        gettext_noop(
            "The plugin's score after NormalizeScore, from 0 to 100. It compares the feasible nodes of this one "
            "attempt."
        ),
        _DOCS,
        (Source(CONCEPTS, "NormalizeScore"),),
    ),
    "weight": Term(
        gettext_noop("weight"),
        gettext_noop(
            "What a plugin's normalised score is multiplied by. The profile sets it; the default is 1, TaintToleration"
            " has 3."
        ),
        "docs/configuration.md",
        (_SCORES,),
    ),
    "total": Term(
        gettext_noop("total"),
        gettext_noop(
            "The sum of all plugins' weighted scores, and of the extenders'. The node with the highest total gets the "
            "pod."
        ),
        _DOCS,
        (_SCORES,),
    ),
    "tie": Term(
        gettext_noop("tie"),
        gettext_noop(
            "Nodes that share the highest total. kube-scheduler picks one of them at random; here the session's seed "
            "decides, so a replay picks the same."
        ),
        "docs/architecture.md",
        (Source(CONCEPTS, "Node selection in kube-scheduler"), Source(OVERVIEW, "调度算法(schedulePod)")),
    ),
    "feasible": Term(
        gettext_noop("feasible"),
        gettext_noop("The node passes every Filter plugin, so the pod can run there. Only feasible nodes are scored."),
        "docs/glossary.md",
        (Source(CONCEPTS, "Scheduling overview"), Source(OVERVIEW, "1. Filtering Phase(过滤阶段)")),
    ),
    "sampling": Term(
        gettext_noop("sampling"),
        gettext_noop(
            "In a large cluster Filter stops once it has found enough feasible nodes (percentageOfNodesToScore); the "
            "rest is not examined in this attempt."
        ),
        "docs/configuration.md",
        (Source(CONCEPTS, "7 - Scheduler Performance Tuning"), Source(CONCEPTS, "Node scoring threshold")),
    ),
    "not examined": Term(
        gettext_noop("not examined"),
        gettext_noop(
            "Filter did not come to the node, because enough nodes were feasible before its turn. It says nothing "
            "about whether the pod fits there."
        ),
        "docs/glossary.md",
        (_ITERATES,),
    ),
    "nextStartNodeIndex": Term(
        "nextStartNodeIndex",
        gettext_noop(
            "Where the next attempt begins in the list of nodes: after the last one examined, so that every node has "
            "its turn."
        ),
        "docs/architecture.md",
        (_ITERATES,),
    ),
    "percentageOfNodesToScore": Term(
        "percentageOfNodesToScore",
        gettext_noop(
            "How many feasible nodes, in percent of all, are enough. At 0 it follows the cluster's size: 50 % minus "
            "one for each 125 nodes, at least 5 %. It is never fewer than 100 nodes: up to 100 all are examined."
        ),
        "docs/configuration.md",
        (Source(CONCEPTS, "Setting the threshold"), Source(CONCEPTS, "Default threshold")),
    ),
    "allocatable": Term(
        gettext_noop("allocatable"),
        gettext_noop(
            "What a node can give to pods: its capacity without what the kubelet keeps for the system. Requests, not "
            "use, count against it."
        ),
        "docs/cluster.md",
        (Source(STRUCTURES, "2.3 NodeInfo(节点信息)"),),
    ),
    "requests": Term(
        gettext_noop("requests"),
        gettext_noop(
            "How much of each resource the pod asks for, init containers and overhead included. It is reserved whether"
            " the pod uses it or not."
        ),
        "docs/plugins.md",
        (Source(OVERVIEW, "1. 合理设置 Pod 资源请求"), Source(CONCEPTS, "3 - Pod Overhead")),
    ),
}
