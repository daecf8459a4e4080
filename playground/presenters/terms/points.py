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
            "Runs before a pod enters the active queue. If a plugin refuses, the pod is gated: it gets no "
            "attempt until the refusal is lifted."
        ),
        "docs/queue.md",
        (Source(OVERVIEW, "1. PreEnqueue(入队前检查)"),),
    ),
    "QueueSort": Term(
        "QueueSort",
        gettext_noop(
            "Orders the active queue: of two pods, the plugin chooses the one to pop first. Each scheduler has "
            "exactly one such plugin."
        ),
        "docs/queue.md",
        (Source(CONCEPTS, "QueueSort"), Source(QUEUE, "Active queue (heap)")),
    ),
    "PreFilter": Term(
        "PreFilter",
        gettext_noop(
            "Runs once per attempt, before Filter. A plugin prepares data for its Filter, narrows the nodes to "
            "try, returns Skip, or ends the attempt."
        ),
        _DOCS,
        (Source(CONCEPTS, "PreFilter"), Source(DEEP_DIVE, "PreFilter Stage:")),
    ),
    "Filter": Term(
        "Filter",
        gettext_noop(
            "Checks plugin by plugin whether a node can run the pod. The first refusal ends the checks of that "
            "node. A node that passes every plugin is feasible."
        ),
        _DOCS,
        (Source(CONCEPTS, "Filter"), Source(OVERVIEW, "1. Filtering Phase(过滤阶段)")),
    ),
    "ExtenderFilter": Term(
        "ExtenderFilter",
        gettext_noop(
            "Extenders, which the scheduler calls over HTTP, can refuse nodes that passed all Filter plugins. "
            "This is a separate step here; kube has no name for it."
        ),
        "docs/extenders.md",
        (_EXTENDERS,),
    ),
    "PostFilter": Term(
        "PostFilter",
        gettext_noop(
            "Runs only if no node is feasible. The first plugin that finds a way, usually preemption, nominates "
            "a node. The attempt fails nevertheless."
        ),
        _DOCS,
        (Source(CONCEPTS, "PostFilter"), Source(DEEP_DIVE, "PostFilter Stage:")),
    ),
    "ExtenderPreempt": Term(
        "ExtenderPreempt",
        gettext_noop(
            "Extenders can remove candidates of preemption or change their victims before one is chosen. This is "
            "a separate step here; kube has no name for it."
        ),
        "docs/extenders.md",
        (_EXTENDERS,),
    ),
    "PreScore": Term(
        "PreScore",
        gettext_noop(
            "Runs once per attempt, with the feasible nodes. A plugin prepares data for its Score, or skips "
            "scoring for this pod."
        ),
        _DOCS,
        (Source(CONCEPTS, "PreScore"),),
    ),
    "Score": Term(
        "Score",
        gettext_noop("Each plugin scores every feasible node. With a single feasible node, Score does not run."),
        _DOCS,
        (Source(CONCEPTS, "Score"), Source(OVERVIEW, "2. Scoring Phase(打分阶段)")),
    ),
    "NormalizeScore": Term(
        "NormalizeScore",
        gettext_noop(
            "Scales a plugin's raw scores to the range 0 to 100, usually by the lowest and highest among the "
            "feasible nodes. The weight is applied afterwards."
        ),
        _DOCS,
        (Source(CONCEPTS, "NormalizeScore"),),
    ),
    "ExtenderPrioritize": Term(
        "ExtenderPrioritize",
        gettext_noop(
            "Extenders score the feasible nodes from 0 to 10. kube-scheduler multiplies the score by 10 and by "
            "the extender's weight, and adds it to the total."
        ),
        "docs/extenders.md",
        (_EXTENDERS,),
    ),
    "Reserve": Term(
        "Reserve",
        gettext_noop(
            "Runs once the pod is assumed on the chosen node. Plugins reserve other resources for the pod there, "
            "such as volumes or devices."
        ),
        _DOCS,
        (Source(CONCEPTS, "Reserve"),),
    ),
    "Unreserve": Term(
        "Unreserve",
        gettext_noop(
            "Releases a reservation after a later step failed. It calls every Reserve plugin, the last one "
            "first, and no plugin can refuse."
        ),
        _DOCS,
        (Source(CONCEPTS, "Reserve"), Source(SEQUENCES, "场景 3:绑定失败回滚流程")),
    ),
    "Permit": Term(
        "Permit",
        gettext_noop(
            "The end of the scheduling cycle: a plugin allows the pod, rejects it, or makes it wait, up to 15 "
            "minutes, while other pods are scheduled."
        ),
        _DOCS,
        (Source(CONCEPTS, "Permit"),),
    ),
    "WaitOnPermit": Term(
        "WaitOnPermit",
        gettext_noop(
            "The start of the binding cycle: the pod waits until every Permit plugin that made it wait allows "
            "it, one rejects it, or the wait times out."
        ),
        _DOCS,
        (Source(OVERVIEW, "3. Binding Phase(绑定阶段)"), Source(CONCEPTS, "Permit")),
    ),
    "PreBind": Term(
        "PreBind",
        gettext_noop(
            "Does the work that must precede the binding, such as binding volumes, and may take long. An error "
            "here undoes the reservation."
        ),
        _DOCS,
        (Source(CONCEPTS, "PreBind"),),
    ),
    "ExtenderBind": Term(
        "ExtenderBind",
        gettext_noop(
            "The scheduler first calls an extender that binds. If the extender takes the pod, no Bind plugin "
            "runs. This is a separate step here; kube counts it as Bind."
        ),
        "docs/extenders.md",
        (_EXTENDERS,),
    ),
    "Bind": Term(
        "Bind",
        gettext_noop(
            "Writes the pod's node to the API server. The first plugin that handles the pod ends the point. A "
            "refusal such as 409 Conflict undoes everything."
        ),
        _DOCS,
        (Source(CONCEPTS, "Bind"), Source(DEEP_DIVE, "Binding Cycle:")),
    ),
    "PostBind": Term(
        "PostBind",
        gettext_noop("Informs plugins that the pod is bound, so that they can clean up. No plugin can refuse."),
        _DOCS,
        (Source(CONCEPTS, "PostBind"),),
    ),
}
