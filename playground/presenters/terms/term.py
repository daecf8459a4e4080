"""What a term is: its words, where the reference documents describe it, and where our own do."""

from __future__ import annotations

from typing import NamedTuple

OVERVIEW = "Kubernetes-03-Scheduler-概览"
SEQUENCES = "Kubernetes-03-Scheduler-时序图"
STRUCTURES = "Kubernetes-03-Scheduler-数据结构"
CONCEPTS = "Scheduling, Preemption and Eviction"
ELECTION = "kube-scheduler选主机制介绍"
QUEUE = "Scheduling queue in kube-scheduler"
DEEP_DIVE = "A Deeper Dive of kube-scheduler"


class Source(NamedTuple):
    """A section of a reference document, by its heading."""

    document: str
    section: str


class Term(NamedTuple):
    """A term of kube's or ours. `title` and `text` are translated; kube's own names have no other words."""

    title: str
    text: str
    docs: str
    sources: tuple[Source, ...] = ()
