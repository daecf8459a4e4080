"""Explanations of why a pod is not on a node, as data: what it waits for, each rejection, and near misses (docs/explain.md)."""

from scheduler_core.analysis.explain.asking import explain, list_problems, list_stuck
from scheduler_core.analysis.explain.ended import KUBELET, Past, record_events
from scheduler_core.analysis.explain.explanation import TIMES, Explanation, Fact, GivenReason, Preemption, Role, State
from scheduler_core.analysis.explain.first_pods import MAKERS, add_first_pods, list_untouched
from scheduler_core.analysis.explain.missing_pods import count_quotas, explain_refused_pod, explain_uncreated
from scheduler_core.analysis.explain.workloads import STICKING
from scheduler_core.analysis.fixes.admission import read_refusal

__all__ = [
    "KUBELET",
    "STICKING",
    "Explanation",
    "Fact",
    "GivenReason",
    "Past",
    "Preemption",
    "Role",
    "State",
    "explain",
]
__all__ += ["count_quotas", "explain_refused_pod", "explain_uncreated", "list_problems", "list_stuck", "read_refusal"]
__all__ += ["TIMES", "record_events"]
__all__ += ["MAKERS", "add_first_pods", "list_untouched"]
