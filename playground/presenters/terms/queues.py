"""Terms of the scheduling queue: where pods wait, what moves them, and what an attempt is."""

from __future__ import annotations

from playground.presenters.terms.term import CONCEPTS, DEEP_DIVE, OVERVIEW, QUEUE, SEQUENCES, STRUCTURES, Source, Term
from playground.presenters.words import gettext_noop

_DOCS = "docs/queue.md"
_MOVING = Source(QUEUE, "Moving request")
_BACKOFF = Source(STRUCTURES, "2. 调度队列的退避机制")
_WAKES = Source(STRUCTURES, "3. UnschedulableQ 的触发机制")

QUEUES: dict[str, Term] = {
    "active": Term(
        gettext_noop("active queue (activeQ)"),
        gettext_noop(
            "Pods that are ready for an attempt, in QueueSort's order. Each scheduling cycle pops the first one."
        ),
        _DOCS,
        (Source(QUEUE, "Active queue (heap)"), Source(OVERVIEW, "1. SchedulingQueue(调度队列)")),
    ),
    "backoff": Term(
        gettext_noop("backoff"),
        gettext_noop(
            "A pause after a failed attempt: 1 s, doubled with each further failure, at most 10 s. The pod waits in "
            "the backoff queue for time alone."
        ),
        _DOCS,
        (Source(QUEUE, "Backoff queue (heap)"), _BACKOFF),
    ),
    "unschedulable": Term(
        gettext_noop("unschedulable pods"),
        gettext_noop(
            "Pods whose last attempt found no node. They wait until a cluster event may help; each half minute, those "
            "that have waited for more than 5 minutes are taken along."
        ),
        _DOCS,
        (Source(QUEUE, "Unschedulable queue (map)"), _WAKES),
    ),
    "gated": Term(
        gettext_noop("gated"),
        gettext_noop(
            "A PreEnqueue plugin keeps the pod out of the active queue, most often because of its scheduling gates. It"
            " gets no attempt meanwhile."
        ),
        _DOCS,
        (Source(OVERVIEW, "1. PreEnqueue(入队前检查)"),),
    ),
    "in flight": Term(
        gettext_noop("in flight"),
        gettext_noop(
            "Popped and not yet bound or back in the queue. Cluster events of that time are kept, so that a failed pod"
            " does not miss one that would help."
        ),
        _DOCS,
        (_MOVING,),
    ),
    "attempt": Term(
        gettext_noop("attempt"),
        gettext_noop("One try to place a pod: a scheduling cycle and, if it finds a node, a binding cycle."),
        "docs/glossary.md",
        (Source(CONCEPTS, "Scheduling Cycle & Binding Cycle"), Source(SEQUENCES, "场景 1:Pod 调度完整流程")),
    ),
    "priority": Term(
        gettext_noop("priority"),
        gettext_noop(
            "A number that the pod has from its PriorityClass. The higher one is popped first and may preempt pods of "
            "lower priority."
        ),
        _DOCS,
        (Source(CONCEPTS, "Pod priority"), Source(CONCEPTS, "Effect of Pod priority on scheduling order")),
    ),
    "cluster event": Term(
        gettext_noop("cluster event"),
        gettext_noop(
            "A change that may make waiting pods schedulable, such as a node added or a pod deleted. Each plugin "
            "registers for those that can take back its refusal."
        ),
        _DOCS,
        (_MOVING, _WAKES),
    ),
    "queueing hint": Term(
        gettext_noop("queueing hint"),
        gettext_noop(
            "A plugin's answer to whether an event helps a pod that it refused: Queue gives it another attempt, "
            "QueueSkip leaves it where it is."
        ),
        _DOCS,
        (_MOVING,),
    ),
    "scheduling cycle": Term(
        gettext_noop("scheduling cycle"),
        gettext_noop("From the pop to Permit: chooses a node for one pod. Scheduling cycles run one after the other."),
        "docs/architecture.md",
        (Source(CONCEPTS, "Scheduling Cycle & Binding Cycle"), Source(OVERVIEW, "调度周期(Scheduling Cycle)")),
    ),
    "snapshot": Term(
        gettext_noop("snapshot"),
        gettext_noop(
            "A copy of the cache's nodes and pods made when the scheduling cycle begins. Every plugin of the attempt "
            "sees this copy."
        ),
        "docs/architecture.md",
        (Source(DEEP_DIVE, "Additional Benefits of Snapshotting"),),
    ),
    "CycleState": Term(
        "CycleState",
        gettext_noop(
            "What plugins leave for each other within one attempt, such as PreFilter's figures for Filter. It ends "
            "with the attempt."
        ),
        "docs/architecture.md",
        (Source(DEEP_DIVE, "CycleState Object:"), Source(STRUCTURES, "4. CycleState(调度周期状态)")),
    ),
    "ForceActivate": Term(
        "ForceActivate",
        gettext_noop("A plugin asked the scheduler to move this pod to the active queue at once."),
        _DOCS,
        (_MOVING,),
    ),
    "BackoffComplete": Term(
        "BackoffComplete",
        gettext_noop("The pod's backoff ended, so it went from the backoff queue to the active queue."),
        _DOCS,
        (Source(QUEUE, "Backoff queue (heap)"),),
    ),
    "ScheduleAttemptFailure": Term(
        "ScheduleAttemptFailure",
        gettext_noop("The pod's attempt failed, so it went back to the queue."),
        _DOCS,
        (Source(QUEUE, "Active queue (heap)"),),
    ),
    "UnschedulableTimeout": Term(
        "UnschedulableTimeout",
        gettext_noop(
            "The pod was unschedulable for more than 5 minutes without an event that helps, so the scheduler tries it "
            "again."
        ),
        _DOCS,
        (Source(QUEUE, "Scheduling queue in kube-scheduler"),),
    ),
    "PopFromBackoffQ": Term(
        "PopFromBackoffQ",
        gettext_noop(
            "The active queue was empty, so the scheduler popped the pod from the backoff queue before its backoff "
            "ended."
        ),
        _DOCS,
        (Source(QUEUE, "Backoff queue (heap)"),),
    ),
}
