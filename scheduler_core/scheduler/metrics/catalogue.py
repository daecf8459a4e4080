"""Every metric that kube-scheduler registers: its name, type, labels, buckets and stability, and where the engine observes it.

kube: metrics/metrics.go, framework/plugins/volumebinding/metrics/metrics.go @ v1.34.1
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

# Names that kube-scheduler v1.34 no longer has, with what to ask for now.
#
# kube: CHANGELOG-1.18 to 1.34, pull requests 94884, 95001, 96447, 109546, 128810, 131425


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


class MetricKind(enum.StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Time(enum.StrEnum):
    """The meaning of a duration in virtual time."""

    NONE = "not a duration"
    PASSES = "virtual time passes"
    STANDS = "always 0: virtual time stands still meanwhile"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `observed`: where and when, in this engine. `gate`: the world's setting without which kube does not register it."""

    name: str
    kind: MetricKind
    stability: str
    labels: tuple[str, ...]
    help: str
    observed: str
    buckets: tuple[float, ...] = ()
    time: Time = Time.NONE
    gate: str = ""


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Upper bounds, each `factor` times the one before, added up as Prometheus' Go client does it."""
    bounds, bound = [], start
    for _ in range(count):
        bounds.append(bound)
        bound *= factor
    return tuple(bounds)


_MILLISECONDS = exponential(0.001, 2, 15)
_POINTS = exponential(0.0001, 2, 12)
_PLUGINS = exponential(0.00001, 1.5, 20)
_LONG = exponential(0.01, 2, 20)
_C, _G, _H = MetricKind.COUNTER, MetricKind.GAUGE, MetricKind.HISTOGRAM

METRICS: tuple[Metric, ...] = (
    Metric(
        "scheduler_schedule_attempts_total",
        _C,
        "STABLE",
        ("result", "profile"),
        "Attempts to schedule a pod, by how they ended: scheduled, unschedulable (plugins refused every node) or error.",
        "a pod is bound, or an attempt fails in its scheduling or its binding cycle",
    ),
    Metric(
        "scheduler_scheduling_attempt_duration_seconds",
        _H,
        "STABLE",
        ("result", "profile"),
        "Time of one attempt from its pop to its end, the binding included.",
        "together with scheduler_schedule_attempts_total",
        _MILLISECONDS,
        Time.PASSES,
    ),
    Metric(
        "scheduler_scheduling_algorithm_duration_seconds",
        _H,
        "ALPHA",
        (),
        "Time from the pop to the choice of a node; where no node is feasible, PostFilter included.",
        "a node is chosen, or the attempt fails before one is",
        _MILLISECONDS,
        Time.PASSES,
    ),
    Metric(
        "scheduler_event_handling_duration_seconds",
        _H,
        "ALPHA",
        ("event",),
        "Time that the scheduler's handler of a watch event takes.",
        "a watch event has been handled, once for each cluster event that it amounts to",
        _POINTS,
        Time.STANDS,
    ),
    Metric(
        "scheduler_preemption_victims",
        _H,
        "STABLE",
        (),
        "Victims of one preemption.",
        "victims begin to be evicted; where the cycle waits for their API calls, when those are over",
        exponential(1, 2, 7),
    ),
    Metric(
        "scheduler_preemption_attempts_total",
        _C,
        "STABLE",
        (),
        "Times that preemption was tried, with or without a candidate found.",
        "DefaultPreemption runs at PostFilter",
    ),
    Metric(
        "scheduler_pending_pods",
        _G,
        "STABLE",
        ("queue",),
        "Pending pods by queue: active, backoff, unschedulable (tried and refused), gated (held back by a PreEnqueue plugin).",
        "read off the queue; the counts of unschedulable and gated pods are kept as kube keeps them",
    ),
    Metric(
        "scheduler_pod_scheduling_sli_duration_seconds",
        _H,
        "BETA",
        ("attempts",),
        "Time from a pod's first way into the active queue until it is bound, by the number of attempts that it took (15+ for more).",
        "a pod is bound",
        _LONG,
        Time.PASSES,
    ),
    Metric(
        "scheduler_pod_scheduling_attempts",
        _H,
        "STABLE",
        (),
        "Attempts that a pod needed until it was bound.",
        "a pod is bound",
        exponential(1, 2, 5),
    ),
    Metric(
        "scheduler_framework_extension_point_duration_seconds",
        _H,
        "STABLE",
        ("extension_point", "status", "profile"),
        "Time that all plugins of one extension point take together.",
        "an extension point is left; of a scheduling cycle's points when the cycle ends",
        _POINTS,
        Time.PASSES,
    ),
    Metric(
        "scheduler_plugin_execution_duration_seconds",
        _H,
        "ALPHA",
        ("plugin", "extension_point", "status"),
        "Time that one plugin takes at one extension point; at Filter and Score for each node.",
        "a plugin has answered, in every cycle (kube looks at one cycle in ten, drawn at random); "
        "of a scheduling cycle's plugins when the cycle ends",
        _PLUGINS,
        Time.PASSES,
    ),
    Metric(
        "scheduler_queue_incoming_pods_total",
        _C,
        "STABLE",
        ("queue", "event"),
        "Pods that came into a queue, by the queue and by the event that moved them.",
        "a pod comes into the active, backoff or unschedulable queue",
    ),
    Metric(
        "scheduler_goroutines",
        _G,
        "ALPHA",
        ("operation",),
        "Work going on beside the scheduling thread, by what it is.",
        "binding cycles in progress; filtering and scoring nodes in parallel are over before anybody looks",
    ),
    Metric(
        "scheduler_permit_wait_duration_seconds",
        _H,
        "ALPHA",
        ("result",),
        "Time that pods waited on Permit, by how the wait ended.",
        "a wait on Permit ends",
        _MILLISECONDS,
        Time.PASSES,
    ),
    Metric(
        "scheduler_cache_size",
        _G,
        "ALPHA",
        ("type",),
        "Nodes, pods and assumed pods in the scheduler's cache.",
        "read off the cache (kube does so once a second)",
    ),
    Metric(
        "scheduler_unschedulable_pods",
        _G,
        "ALPHA",
        ("plugin", "profile"),
        "Waiting pods by the plugin that refused them. A pod counts once for each of its plugins, so the sum over plugins says nothing.",
        "a plugin's refusal sends a pod back to the queue, a PreEnqueue plugin holds one back, or such a pod is popped",
    ),
    Metric(
        "scheduler_plugin_evaluation_total",
        _C,
        "ALPHA",
        ("plugin", "extension_point", "profile"),
        "Calls of a plugin at PreFilter, Filter, PreScore and Score; Filter and Score count each node.",
        "a scheduling cycle ends; a plugin that asked to be skipped does not count",
    ),
    Metric(
        "scheduler_queueing_hint_execution_duration_seconds",
        _H,
        "ALPHA",
        ("plugin", "event", "hint"),
        "Time that a plugin's queueing hint takes to say whether an event may help a waiting pod: Queue or QueueSkip.",
        "a hint has been asked",
        _PLUGINS,
        Time.STANDS,
    ),
    Metric(
        "scheduler_inflight_events",
        _G,
        "ALPHA",
        ("event",),
        "Events kept for the pods in flight, and these pods themselves as PodPopped.",
        "read off the list of events in flight (kube does so once a second)",
    ),
    Metric(
        "scheduler_preemption_goroutines_duration_seconds",
        _H,
        "ALPHA",
        ("result",),
        "Time that evicting one preemption's victims beside the cycles takes.",
        "such an eviction is over; always success and 0, since v1.34.1 itself takes both down when it begins",
        _LONG,
        Time.STANDS,
        "async_preemption",
    ),
    Metric(
        "scheduler_preemption_goroutines_execution_total",
        _C,
        "ALPHA",
        ("result",),
        "Preemptions carried out beside the cycles.",
        "such an eviction is over; always success, since v1.34.1 itself takes that down when it begins",
        gate="async_preemption",
    ),
    Metric(
        "scheduler_async_api_call_execution_total",
        _C,
        "ALPHA",
        ("call_type", "result"),
        "Calls to the API server made by the dispatcher.",
        "the API server has answered",
        gate="async_api_calls",
    ),
    Metric(
        "scheduler_async_api_call_execution_duration_seconds",
        _H,
        "ALPHA",
        ("call_type", "result"),
        "Time that such a call takes, without the wait for its turn.",
        "the API server has answered",
        _MILLISECONDS,
        Time.PASSES,
        "async_api_calls",
    ),
    Metric(
        "scheduler_pending_async_api_calls",
        _G,
        "ALPHA",
        ("call_type",),
        "Calls that wait for their turn in the dispatcher.",
        "read off the dispatcher",
        gate="async_api_calls",
    ),
    Metric(
        "scheduler_volume_binder_cache_requests_total",
        _C,
        "ALPHA",
        ("operation",),
        "Requests to the cache of the volume binder.",
        "never: v1.34.1 registers it and counts nothing in it",
    ),
    Metric(
        "scheduler_volume_scheduling_stage_error_total",
        _C,
        "ALPHA",
        ("operation",),
        "Errors of the volume binder by its stage: predicate, assume or bind.",
        "VolumeBinding answers Filter (predicate), Reserve (assume) or PreBind (bind) with an error",
    ),
    Metric(
        "leader_election_master_status",
        _G,
        "ALPHA",
        ("name",),
        "Whether this process leads: 1, or 0 for a standby. `name` is that of the lock.",
        "read off the candidate of a process that stands for election",
    ),
    Metric(
        "leader_election_slowpath_total",
        _C,
        "ALPHA",
        ("name",),
        "Renewals of the lease that had to read it first, as it had changed or its time was over.",
        "a leader renews by reading the Lease and then writing it",
    ),
)

BY_NAME = {metric.name: metric for metric in METRICS}
