"""Extension points, in the order in which an attempt passes them."""

from __future__ import annotations

from playground.presenters.terms.term import CONCEPTS, DEEP_DIVE, OVERVIEW, QUEUE, SEQUENCES, Source, Term
from playground.presenters.words import gettext_noop

_DOCS = "docs/architecture.md"
_EXTENDERS = Source(OVERVIEW, "扩展点")

POINTS: dict[str, Term] = {
    "PreEnqueue": Term(
        "PreEnqueue",
        gettext_noop(
            "Asked before a pod enters the active queue. A plugin that refuses keeps the pod gated: it gets no attempt"
            " until something changes."
        ),
        "docs/queue.md",
        (Source(OVERVIEW, "1. PreEnqueue(入队前检查)"),),
    ),
    "QueueSort": Term(
        "QueueSort",
        gettext_noop(
            "Orders the active queue: of two pods, the plugin says which one is popped first. Each scheduler has "
            "exactly one."
        ),
        "docs/queue.md",
        (Source(CONCEPTS, "QueueSort"), Source(QUEUE, "Active queue (heap)")),
    ),
    "PreFilter": Term(
        "PreFilter",
        gettext_noop(
            "Runs once per attempt, before any node is looked at. A plugin prepares what its Filter needs, names the "
            "only nodes worth trying, skips itself or ends the attempt."
        ),
        _DOCS,
        (Source(CONCEPTS, "PreFilter"), Source(DEEP_DIVE, "PreFilter Stage:")),
    ),
    "Filter": Term(
        "Filter",
        gettext_noop(
            "Asks each plugin in turn whether a node can run the pod. The first refusal ends it for that node; a node "
            "that every plugin passes is feasible."
        ),
        _DOCS,
        (Source(CONCEPTS, "Filter"), Source(OVERVIEW, "1. Filtering Phase(过滤阶段)")),
    ),
    "ExtenderFilter": Term(
        "ExtenderFilter",
        gettext_noop(
            "Extenders, which are asked over HTTP, may refuse nodes that every Filter plugin has passed. A step of its"
            " own here; kube has no name for it."
        ),
        "docs/extenders.md",
        (_EXTENDERS,),
    ),
    "PostFilter": Term(
        "PostFilter",
        gettext_noop(
            "Runs only when no node is feasible. The first plugin that finds a way, which usually is preemption, "
            "nominates the pod to a node; the attempt fails all the same."
        ),
        _DOCS,
        (Source(CONCEPTS, "PostFilter"), Source(DEEP_DIVE, "PostFilter Stage:")),
    ),
    "ExtenderPreempt": Term(
        "ExtenderPreempt",
        gettext_noop(
            "Extenders may strike candidates of preemption, or change their victims, before one is chosen. A step of "
            "its own here; kube has no name for it."
        ),
        "docs/extenders.md",
        (_EXTENDERS,),
    ),
    "PreScore": Term(
        "PreScore",
        gettext_noop(
            "Runs once per attempt, with the feasible nodes. A plugin prepares what its Score needs, or skips its "
            "scoring for this pod."
        ),
        _DOCS,
        (Source(CONCEPTS, "PreScore"),),
    ),
    "Score": Term(
        "Score",
        gettext_noop(
            "Each plugin rates every feasible node. It is not run when only one node is feasible, because there is "
            "nothing to choose."
        ),
        _DOCS,
        (Source(CONCEPTS, "Score"), Source(OVERVIEW, "2. Scoring Phase(打分阶段)")),
    ),
    "NormalizeScore": Term(
        "NormalizeScore",
        gettext_noop(
            "Brings a plugin's raw scores into the range 0 to 100, usually by the lowest and highest among the "
            "feasible nodes. Only then they are multiplied by the weight."
        ),
        _DOCS,
        (Source(CONCEPTS, "NormalizeScore"),),
    ),
    "ExtenderPrioritize": Term(
        "ExtenderPrioritize",
        gettext_noop(
            "Extenders rate the feasible nodes from 0 to 10; kube-scheduler multiplies by 10 and by the extender's "
            "weight, and adds it to the total."
        ),
        "docs/extenders.md",
        (_EXTENDERS,),
    ),
    "Reserve": Term(
        "Reserve",
        gettext_noop(
            "Runs once a node is chosen and the pod assumed on it. Plugins set aside what else the pod needs there, "
            "such as volumes or devices."
        ),
        _DOCS,
        (Source(CONCEPTS, "Reserve"),),
    ),
    "Unreserve": Term(
        "Unreserve",
        gettext_noop(
            "Takes a reservation back when a later step fails. Every Reserve plugin is asked, the last one first, and "
            "none may refuse."
        ),
        _DOCS,
        (Source(CONCEPTS, "Reserve"), Source(SEQUENCES, "场景 3:绑定失败回滚流程")),
    ),
    "Permit": Term(
        "Permit",
        gettext_noop(
            "The last word of the scheduling cycle: a plugin lets the pod go on, rejects it, or makes it wait, up to "
            "15 minutes, while other pods are scheduled."
        ),
        _DOCS,
        (Source(CONCEPTS, "Permit"),),
    ),
    "WaitOnPermit": Term(
        "WaitOnPermit",
        gettext_noop(
            "The binding cycle begins by waiting here until every Permit plugin that asked for time allows the pod, "
            "one rejects it, or a timeout ends."
        ),
        _DOCS,
        (Source(OVERVIEW, "3. Binding Phase(绑定阶段)"), Source(CONCEPTS, "Permit")),
    ),
    "PreBind": Term(
        "PreBind",
        gettext_noop(
            "Does what has to be done before the pod may be bound, such as having its volumes bound, and may take "
            "long. An error here undoes the reservation."
        ),
        _DOCS,
        (Source(CONCEPTS, "PreBind"),),
    ),
    "ExtenderBind": Term(
        "ExtenderBind",
        gettext_noop(
            "An extender that binds is asked first; if it takes the pod, no Bind plugin runs. A step of its own here; "
            "kube counts it to Bind."
        ),
        "docs/extenders.md",
        (_EXTENDERS,),
    ),
    "Bind": Term(
        "Bind",
        gettext_noop(
            "Tells the API server which node the pod is on. The first plugin that handles the pod ends the point; a "
            "refusal such as 409 Conflict undoes everything."
        ),
        _DOCS,
        (Source(CONCEPTS, "Bind"), Source(DEEP_DIVE, "Binding Cycle:")),
    ),
    "PostBind": Term(
        "PostBind",
        gettext_noop(
            "Tells plugins that the pod is bound, so that they can tidy up. It changes nothing any more and no plugin "
            "can refuse."
        ),
        _DOCS,
        (Source(CONCEPTS, "PostBind"),),
    ),
}
