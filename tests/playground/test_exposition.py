"""Prometheus' text form, read back by Prometheus' own Python parser."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from playground.features.metrics.views import exposition
from playground.features.metrics.worker import metrics_of
from playground.sessions.protocol.errors import SessionGone
from scheduler_core.scheduler.metrics.catalogue import BY_NAME
from scheduler_core.world.commands import SetConfiguration
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import world
from tests.scheduler_core.worlds import configuration, node, pod, settle

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def scraped(text: bytes) -> Samples:
    """(name, labels) -> value of every sample."""
    families = text_string_to_metric_families(text.decode())
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def run_world() -> Simulation:
    sim = world(node("a"), node("b"), pod("web"), pod("big", cpu="9"))
    settle(sim)
    return sim


def second_scheduler(sim: Simulation) -> None:
    profiles = [{"schedulerName": "second"}]
    sim.apply(SetConfiguration(configuration(profiles=profiles), "other"))


def test_every_sample_has_the_labels_of_the_catalogue() -> None:
    found = scraped(exposition(metrics_of(run_world(), "")))
    assert len(found) > 300
    assert found.pop(("kubernetes_build_info", (("git_version", "v1.34.1"),))) == 1
    for name, labels in found:
        metric = BY_NAME.get(name) or BY_NAME[name.rpartition("_")[0]]
        assert {label for label, _ in labels} - {"le"} == set(metric.labels)


def test_buckets_are_added_up_to_the_count() -> None:
    found = scraped(exposition(metrics_of(run_world(), "")))
    name, labels = (
        "scheduler_scheduling_attempt_duration_seconds",
        {"profile": "default-scheduler", "result": "scheduled"},
    )
    at = {le: found[f"{name}_bucket", tuple(sorted({**labels, "le": le}.items()))] for le in ("0.004", "0.008", "+Inf")}
    assert at == {"0.004": 0, "0.008": 1, "+Inf": 1}
    assert found[f"{name}_sum", tuple(sorted(labels.items()))] == 0.006


def test_help_tells_the_stability_as_kube_does() -> None:
    text = exposition(metrics_of(run_world(), "")).decode()
    assert "# HELP scheduler_pending_pods [STABLE] " in text
    assert "# TYPE scheduler_schedule_attempts_total counter" in text


def test_what_has_not_been_counted_is_not_told() -> None:
    assert b"permit_wait" not in exposition(metrics_of(run_world(), ""))


def test_several_schedulers_are_told_apart_by_a_label() -> None:
    sim = run_world()
    second_scheduler(sim)
    found = scraped(exposition(metrics_of(sim, "")))
    schedulers = {dict(labels)["scheduler"] for _, labels in found}
    assert schedulers == {"kube-scheduler", "other"}


def test_one_of_several_schedulers_has_kubes_labels_only() -> None:
    sim = run_world()
    second_scheduler(sim)
    found = scraped(exposition(metrics_of(sim, "kube-scheduler")))
    assert not any("scheduler" in dict(labels) for _, labels in found)


def test_a_scheduler_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(SessionGone, match=r"No scheduler nobody exists at this step\. Schedulers: kube-scheduler"):
        metrics_of(run_world(), "nobody")
