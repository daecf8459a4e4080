"""Terms of the binding stage: what the cache believes and what the API server knows."""

from __future__ import annotations

from playground.presenters.terms.term import CONCEPTS, DEEP_DIVE, OVERVIEW, SEQUENCES, STRUCTURES, Source, Term
from playground.presenters.words import gettext_noop

_DOCS = "docs/architecture.md"
_ASSUME = Source(STRUCTURES, "1. Assume 机制的作用")

BINDING: dict[str, Term] = {
    "assumed": Term(
        gettext_noop("assumed"),
        gettext_noop(
            "The scheduler's cache counts the pod on its node before the API server confirms the binding, so "
            "that the next pod cannot get the same resources."
        ),
        _DOCS,
        (_ASSUME, Source(OVERVIEW, "3. Binding Phase(绑定阶段)")),
    ),
    "forget": Term(
        gettext_noop("forget"),
        gettext_noop("Removes an assumed pod from the cache after a failure. Its requests no longer count as used."),
        _DOCS,
        (Source(STRUCTURES, "2.4 核心方法"), Source(SEQUENCES, "场景 3:绑定失败回滚流程")),
    ),
    "binding cycle": Term(
        gettext_noop("binding cycle"),
        gettext_noop(
            "From the wait on Permit to PostBind. It runs in parallel with the scheduling cycles of later pods, "
            "so a slow call delays no other pod."
        ),
        _DOCS,
        (Source(CONCEPTS, "Scheduling Cycle & Binding Cycle"), Source(DEEP_DIVE, "Binding Cycle:")),
    ),
    "waiting": Term(
        gettext_noop("waiting on Permit"),
        gettext_noop(
            "A Permit plugin makes the pod wait. The pod keeps its resources on the node until plugins allow it, "
            "a plugin rejects it, or the wait times out."
        ),
        _DOCS,
        (Source(CONCEPTS, "Permit"),),
    ),
    "cache": Term(
        gettext_noop("scheduler cache"),
        gettext_noop(
            "The scheduler's view of nodes and pods: the objects from its informers and the pods that it has assumed."
        ),
        _DOCS,
        (Source(OVERVIEW, "2. Scheduler Cache(调度缓存)"), Source(STRUCTURES, "2.2 数据结构")),
    ),
}
