"""The catalogue of metrics against what kube-scheduler v1.34.1 registers."""

from __future__ import annotations

from scheduler_core.analysis.status.families import read_families
from scheduler_core.scheduler.metrics.catalogue import BY_NAME, FORMER, METRICS, MetricKind
from scheduler_core.world.commands import SetSettings
from scheduler_core.world.simulation import Simulation


def test_names_are_unique_and_kubes() -> None:
    own = [metric for metric in METRICS if metric.name.startswith("scheduler_")]
    others = [metric.name for metric in METRICS if metric not in own]
    assert len(BY_NAME) == len(METRICS)
    assert len([metric for metric in own if metric.behavior is None]) == 26
    assert others == ["leader_election_master_status", "leader_election_slowpath_total"]


def test_counters_end_as_counters_do() -> None:
    assert all(m.name.endswith("_total") for m in METRICS if m.kind is MetricKind.COUNTER)


def test_histograms_alone_have_buckets() -> None:
    assert all(bool(m.buckets) == (m.kind is MetricKind.HISTOGRAM) for m in METRICS)


def test_bounds_are_kubes() -> None:
    attempt = BY_NAME["scheduler_scheduling_attempt_duration_seconds"].buckets
    plugin = BY_NAME["scheduler_plugin_execution_duration_seconds"].buckets
    assert (len(attempt), attempt[0], attempt[-1]) == (15, 0.001, 16.384)
    assert (len(plugin), plugin[1], round(plugin[-1], 4)) == (20, 1.5000000000000002e-05, 0.0222)


def test_a_world_without_pods_shows_what_kube_shows_from_its_start() -> None:
    shown = {f.metric.name for f in read_families(Simulation().schedulers[0]) if f.series}
    assert shown == {
        "scheduler_scheduling_algorithm_duration_seconds",
        "scheduler_preemption_victims",
        "scheduler_preemption_attempts_total",
        "scheduler_pending_pods",
        "scheduler_pod_scheduling_attempts",
        "scheduler_goroutines",
        "scheduler_cache_size",
        "scheduler_inflight_events",
        "scheduler_pending_async_api_calls",
    }


def test_a_former_name_leads_to_metrics_and_labels_that_exist() -> None:
    assert {former.name for former in FORMER}.isdisjoint(BY_NAME)
    now = [successor for former in FORMER for successor in former.now]
    assert [name for name, _ in now if name not in BY_NAME] == []
    labelled = [(name, labels[1:].partition("=")[0]) for name, labels in now if labels]
    assert len(labelled) > 3
    assert [(name, label) for name, label in labelled if label not in BY_NAME[name].labels] == []


def test_each_release_has_its_own_metrics() -> None:
    found = {}
    for release in ("1.34.1", "1.35.4", "1.37.2"):
        sim = Simulation()
        sim.apply(SetSettings({"release": release}))
        found[release] = {family.metric.name for family in read_families(sim.schedulers[0])}
    batches = {"scheduler_batch_attempts_total", "scheduler_batch_cache_flushed_total"}
    assert found["1.35.4"] - found["1.34.1"] == batches
    newest = {"scheduler_batch_rescore_attempts_total", "scheduler_queue_incoming_entities_total"}
    assert found["1.37.2"] - found["1.35.4"] == {*newest, "scheduler_queued_entities"}
