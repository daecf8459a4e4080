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
            "A pause after a failed attempt: 1 s, doubled with each further failure, at most 10 s. In the "
            "backoff queue, a pod only waits for its backoff to end."
        ),
        _DOCS,
        (Source(QUEUE, "Backoff queue (heap)"), _BACKOFF),
    ),
    "unschedulable": Term(
        gettext_noop("unschedulable pods"),
        gettext_noop(
            "Pods whose last attempt found no node. They wait for an event that may help. Every 30 s, pods that "
            "have waited for more than 5 minutes return for another attempt."
        ),
        _DOCS,
        (Source(QUEUE, "Unschedulable queue (map)"), _WAKES),
    ),
    "gated": Term(
        gettext_noop("gated"),
        gettext_noop(
            "A PreEnqueue plugin keeps the pod out of the active queue, most often because of scheduling gates. "
            "A gated pod gets no attempt."
        ),
        _DOCS,
        (Source(OVERVIEW, "1. PreEnqueue(入队前检查)"),),
    ),
    "in flight": Term(
        gettext_noop("in flight"),
        gettext_noop(
            "Popped, and neither bound nor back in the queue. Cluster events meanwhile are recorded, so that a "
            "failed pod does not miss one that would help."
        ),
        _DOCS,
        (_MOVING,),
    ),
    "attempt": Term(
        gettext_noop("attempt"),
        gettext_noop("One try to schedule a pod: a scheduling cycle and, with a node found, a binding cycle."),
        "docs/glossary.md",
        (Source(CONCEPTS, "Scheduling Cycle & Binding Cycle"), Source(SEQUENCES, "场景 1:Pod 调度完整流程")),
    ),
    "priority": Term(
        gettext_noop("priority"),
        gettext_noop(
            "The number that a pod gets from its PriorityClass. A higher one is popped first and can preempt "
            "pods of lower priority."
        ),
        _DOCS,
        (Source(CONCEPTS, "Pod priority"), Source(CONCEPTS, "Effect of Pod priority on scheduling order")),
    ),
    "cluster event": Term(
        gettext_noop("cluster event"),
        gettext_noop(
            "A change that may make waiting pods schedulable, such as a new node or a deleted pod. Each plugin "
            "registers for the events that can lift its refusal."
        ),
        _DOCS,
        (_MOVING, _WAKES),
    ),
    "queueing hint": Term(
        gettext_noop("queueing hint"),
        gettext_noop(
            "A plugin's decision whether an event helps a pod that it refused: Queue gives the pod another "
            "attempt, QueueSkip leaves it in place."
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
            "Data that plugins share within one attempt, such as the results of PreFilter for Filter. It is "
            "discarded after the attempt."
        ),
        "docs/architecture.md",
        (Source(DEEP_DIVE, "CycleState Object:"), Source(STRUCTURES, "4. CycleState(调度周期状态)")),
    ),
    "ForceActivate": Term(
        "ForceActivate", gettext_noop("A plugin moved this pod to the active queue immediately."), _DOCS, (_MOVING,)
    ),
    "BackoffComplete": Term(
        "BackoffComplete",
        gettext_noop("The pod's backoff ended, so it moved from the backoff queue to the active queue."),
        _DOCS,
        (Source(QUEUE, "Backoff queue (heap)"),),
    ),
    "ScheduleAttemptFailure": Term(
        "ScheduleAttemptFailure",
        gettext_noop("The pod's attempt failed, so it returned to the queue."),
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
