"""Explain: why a pod is not on a node, as data: what it waits for, what refused it where, and how near it was (docs/explain.md)."""

from __future__ import annotations

from scheduler_core.analysis.explain.asking import explain
from scheduler_core.analysis.explain.ended import KUBELET, Past
from scheduler_core.analysis.explain.explanation import Explanation, Given, Preemption, State
from scheduler_core.analysis.explain.missing_pods import explain_uncreated

__all__ = ["KUBELET", "Explanation", "Given", "Past", "Preemption", "State", "explain", "explain_uncreated"]
