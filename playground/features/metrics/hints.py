"""What one asks Prometheus about each metric, and what the answer says."""

from __future__ import annotations

from playground.presenters.words import gettext_noop


def _quantile(name: str, by: str = "") -> str:
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile(0.99, sum by ({labels}) (rate({name}_bucket[5m])))"


def _mean(name: str) -> str:
    return f"rate({name}_sum[5m]) / rate({name}_count[5m])"


_S = "scheduler_"
HINTS: dict[str, tuple[str, str]] = {
    _S + "schedule_attempts_total": (
        f"sum by (result) (rate({_S}schedule_attempts_total[5m]))",
        gettext_noop("Attempts a second, by how they ended."),
    ),
    _S + "scheduling_attempt_duration_seconds": (
        _quantile(_S + "scheduling_attempt_duration_seconds", "result"),
        gettext_noop("The time that 99 of 100 attempts stay under, by how they ended."),
    ),
    _S + "scheduling_algorithm_duration_seconds": (
        _quantile(_S + "scheduling_algorithm_duration_seconds"),
        gettext_noop("The time that 99 of 100 decisions stay under, without the binding."),
    ),
    _S + "event_handling_duration_seconds": (
        f"sum by (event) (rate({_S}event_handling_duration_seconds_count[5m]))",
        gettext_noop("Cluster events a second that the scheduler hears of, by kind."),
    ),
    _S + "preemption_victims": (
        _mean(_S + "preemption_victims"),
        gettext_noop("Victims of one preemption, on average."),
    ),
    _S + "preemption_attempts_total": (
        f"rate({_S}preemption_attempts_total[5m])",
        gettext_noop(
            "How often no node is feasible and preemption looks for victims: a sign of a full cluster."
        ),
    ),
    _S + "pending_pods": (
        f"sum by (queue) ({_S}pending_pods)",
        gettext_noop("Pods that wait, by queue. Unschedulable ones that stay need somebody to look at them."),
    ),
    _S + "pod_scheduling_sli_duration_seconds": (
        _quantile(_S + "pod_scheduling_sli_duration_seconds"),
        gettext_noop("How long 99 of 100 pods wait at most until they are bound, all attempts included."),
    ),
    _S + "pod_scheduling_attempts": (
        _mean(_S + "pod_scheduling_attempts"),
        gettext_noop("Attempts that a pod needs until it is bound, on average."),
    ),
    _S + "framework_extension_point_duration_seconds": (
        f"sum by (extension_point) (rate({_S}framework_extension_point_duration_seconds_sum[5m]))",
        gettext_noop("Where the scheduler's time goes: seconds a second, by extension point."),
    ),
    _S + "plugin_execution_duration_seconds": (
        f"topk(5, sum by (plugin) (rate({_S}plugin_execution_duration_seconds_sum[5m])))",
        gettext_noop("The five plugins that take most of the time, of the cycles that are sampled."),
    ),
    _S + "queue_incoming_pods_total": (
        f'sum by (event) (rate({_S}queue_incoming_pods_total{{queue="active"}}[5m]))',
        gettext_noop("Which events bring pods into the active queue."),
    ),
    _S + "goroutines": (
        f'{_S}goroutines{{operation="binding"}}',
        gettext_noop("Bindings in progress."),
    ),
    _S + "permit_wait_duration_seconds": (
        _mean(_S + "permit_wait_duration_seconds"),
        gettext_noop("How long pods wait on Permit, on average."),
    ),
    _S + "cache_size": (
        f'{_S}cache_size{{type="assumed_pods"}}',
        gettext_noop("Pods that have a node and whose binding the API server has not confirmed yet."),
    ),
    _S + "unschedulable_pods": (
        f"topk(5, sum by (plugin) ({_S}unschedulable_pods))",
        gettext_noop("The plugins that hold most pods back."),
    ),
    _S + "plugin_evaluation_total": (
        f"topk(5, sum by (plugin) (rate({_S}plugin_evaluation_total[5m])))",
        gettext_noop("The plugins that are called most."),
    ),
    _S + "queueing_hint_execution_duration_seconds": (
        f"sum by (plugin, hint) (rate({_S}queueing_hint_execution_duration_seconds_count[5m]))",
        gettext_noop("How often hints are asked, and how often they spare a pod a vain attempt (QueueSkip)."),
    ),
    _S + "inflight_events": (
        f'sum({_S}inflight_events{{event!="PodPopped"}})',
        gettext_noop(
            "Events kept for pods in flight: a number that only grows tells of a pod that is never done."
        ),
    ),
    _S + "preemption_goroutines_execution_total": (
        f"rate({_S}preemption_goroutines_execution_total[5m])",
        gettext_noop("Preemptions a second that are carried out beside the cycles."),
    ),
    _S + "async_api_call_execution_total": (
        f'sum by (call_type) (rate({_S}async_api_call_execution_total{{result="error"}}[5m]))',
        gettext_noop("Calls to the API server that fail, by kind."),
    ),
    _S + "async_api_call_execution_duration_seconds": (
        _quantile(_S + "async_api_call_execution_duration_seconds", "call_type"),
        gettext_noop("How long the API server takes for 99 of 100 calls at most, by kind."),
    ),
    _S + "pending_async_api_calls": (
        f"sum by (call_type) ({_S}pending_async_api_calls)",
        gettext_noop("Calls that wait for their turn: more and more of them when the API server is slow."),
    ),
    _S + "volume_scheduling_stage_error_total": (
        f"sum by (operation) (rate({_S}volume_scheduling_stage_error_total[5m]))",
        gettext_noop("Errors of volume binding, by stage."),
    ),
}
