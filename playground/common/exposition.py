"""Metrics in Prometheus' text form, version 0.0.4, as kube-scheduler's own /metrics gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from scheduler_core.analysis.status import METRICS, MetricKind
from scheduler_core.analysis.status import Metric as Entry

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SCHEDULER = "scheduler"
"""The label that distinguishes several schedulers. kube has none: there each is a process of its own."""

Data = Mapping[str, Any]


def exposition(readings: Data) -> bytes:
    """Return the readings of features/metrics/worker.py as text.

    A metric without any count yet is left out, as in kube.
    """
    return generate_latest(_SchedulersCollector(readings["schedulers"]))


class _SchedulersCollector(Collector):
    def __init__(self, schedulers: list[Data]) -> None:
        self._series = [
            (scheduler["name"], {family["name"]: family["series"] for family in scheduler["families"]})
            for scheduler in schedulers
        ]

    def collect(self) -> Iterator[Metric]:
        for entry in METRICS:
            series = [(name, sample) for name, families in self._series for sample in families.get(entry.name, ())]
            if series:
                yield self._family(entry, series)

    def _family(self, entry: Entry, series: list[tuple[str, Data]]) -> Metric:
        several = len(self._series) > 1
        labels = [*entry.labels, *([SCHEDULER] if several else [])]
        text = f"[{entry.stability}] {entry.help}"
        rows = [([*sample["labels"], *([name] if several else [])], sample) for name, sample in series]
        if entry.kind is MetricKind.HISTOGRAM:
            return _histogram(HistogramMetricFamily(entry.name, text, labels=labels), entry, rows)
        make = CounterMetricFamily if entry.kind is MetricKind.COUNTER else GaugeMetricFamily
        family = make(entry.name, text, labels=labels)
        for values, sample in rows:
            family.add_metric(values, sample["value"])
        return family


def _histogram(
    family: HistogramMetricFamily, entry: Entry, rows: list[tuple[list[str], Data]]
) -> HistogramMetricFamily:
    bounds = [*map(floatToGoString, entry.buckets), "+Inf"]
    for values, sample in rows:
        added = list(accumulate(sample["counts"]))
        family.add_metric(values, list(zip(bounds, added, strict=True)), sample["sum"])
    return family
