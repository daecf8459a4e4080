"""A scheduler's metrics: the catalogue, what they are now (families with their series), and how they developed (scrapes)."""

from __future__ import annotations

from scheduler_core.metrics.catalogue import BY_NAME, METRICS, Metric, MetricKind
from scheduler_core.metrics.former import FORMER
from scheduler_core.readings.families import read_families
from scheduler_core.readings.scrapes import scrape

__all__ = ["BY_NAME", "FORMER", "METRICS", "Metric", "MetricKind", "read_families", "scrape"]
