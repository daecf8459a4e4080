"""Names that kube-scheduler v1.34 no longer has, with what to ask for now.

kube: CHANGELOG-1.18 to 1.34, pull requests 94884, 95001, 96447, 109546, 128810, 131425
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Former:
    """A name of older releases. `now` are metrics of the catalogue, with the labels that narrow them down to what the old one counted."""

    name: str
    now: tuple[tuple[str, str], ...]
    why: str


_POINT = "scheduler_framework_extension_point_duration_seconds"
_ATTEMPT = "scheduler_scheduling_attempt_duration_seconds"

FORMER: tuple[Former, ...] = (
    Former(
        "scheduler_scheduling_duration_seconds",
        ((_ATTEMPT, ""), (_POINT, "")),
        "A summary of the parts of scheduling by operation, deprecated in v1.18 and then removed. Overviews of the scheduler still "
        "list it as the time from pop to bind: that is the first of these; the second tells the parts.",
    ),
    Former(
        "scheduler_e2e_scheduling_duration_seconds",
        ((_ATTEMPT, ""),),
        "The same measurement under a name that promised more: one attempt is not a pod's whole way. Deprecated in v1.23.",
    ),
    Former(
        "scheduler_binding_duration_seconds",
        ((_POINT, '{extension_point="Bind"}'),),
        "Binding became an extension point like the others. Deprecated in v1.20.",
    ),
    Former(
        "scheduler_scheduling_algorithm_predicate_evaluation_seconds",
        ((_POINT, '{extension_point="Filter"}'),),
        "Predicates became Filter plugins.",
    ),
    Former(
        "scheduler_scheduling_algorithm_priority_evaluation_seconds",
        ((_POINT, '{extension_point="Score"}'),),
        "Priorities became Score plugins.",
    ),
    Former(
        "scheduler_scheduling_algorithm_preemption_evaluation_seconds",
        ((_POINT, '{extension_point="PostFilter"}'),),
        "Preemption became a PostFilter plugin. Deprecated in v1.20.",
    ),
    Former(
        "scheduler_pod_scheduling_duration_seconds",
        (("scheduler_pod_scheduling_sli_duration_seconds", ""),),
        "It counted the time in which scheduling gates held a pod back; the SLI begins when the pod may be scheduled.",
    ),
    Former("scheduler_pod_preemption_victims", (("scheduler_preemption_victims", ""),), "Renamed."),
    Former(
        "scheduler_total_preemption_attempts",
        (("scheduler_preemption_attempts_total", ""),),
        "Renamed: counters end in _total.",
    ),
    Former("scheduler_scheduler_goroutines", (("scheduler_goroutines", ""),), "Renamed."),
    Former(
        "scheduler_scheduler_cache_size",
        (("scheduler_cache_size", ""),),
        "Renamed; deprecated in v1.33, removed in v1.34.",
    ),
)
