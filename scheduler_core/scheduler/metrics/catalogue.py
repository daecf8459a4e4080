"""Every metric that kube-scheduler registers: its name, type, labels, buckets and stability, and where the engine observes it.

metrics.json lists them. Its `buckets` are a first bound, a factor, and a count; `time` names a member of Time.

kube: metrics/metrics.go, framework/plugins/volumebinding/metrics/metrics.go @ v1.34.1
"""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Names that kube-scheduler v1.34 no longer has, with what to ask for now.
# kube: CHANGELOG-1.18 to 1.34, pull requests 94884, 95001, 96447, 109546, 128810, 131425


@dataclass(frozen=True, slots=True)
class Former:
    """A name of older releases. `now` are metrics of the catalogue, with the labels that narrow them down to what the old one counted."""

    name: str
    now: tuple[tuple[str, str], ...]
    why: str


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


def _read_metric(fields: dict[str, Any]) -> Metric:
    fields |= {"kind": MetricKind(fields["kind"]), "labels": tuple(fields["labels"])}
    fields |= {"buckets": exponential(*fields.get("buckets", (0, 0, 0))), "time": Time[fields.get("time", "NONE")]}
    return Metric(**fields)


_DATA = json.loads(Path(__file__).with_name("metrics.json").read_text())
METRICS: tuple[Metric, ...] = tuple(map(_read_metric, _DATA["metrics"]))
BY_NAME = {metric.name: metric for metric in METRICS}
FORMER: tuple[Former, ...] = tuple(
    Former(each["name"], tuple((name, labels) for name, labels in each["now"]), each["why"]) for each in _DATA["former"]
)
