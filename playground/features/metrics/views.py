"""kube-scheduler's metrics and statistics on virtual time: pages with charts, each chart as CSV, and Prometheus' text format."""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any, TypeVar

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from playground.features.metrics.presenter import MetricsPage, present
from playground.features.metrics.query import Metrics, Statistics
from playground.features.metrics.statistics import StatisticsPage
from playground.features.metrics.statistics import present as present_statistics
from playground.presenters.charts import CONTENT_TYPE as CSV_TYPE
from playground.presenters.charts import csv_text
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import attach, by_htmx, describe_session, position, stands_still
from scheduler_core.analysis.status import METRICS, MetricKind
from scheduler_core.analysis.status import Metric as Entry

# Metrics in Prometheus' text format 0.0.4, like kube-scheduler's /metrics.

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SCHEDULER = "scheduler"
"""The label that distinguishes several schedulers. kube has none: there each is a process of its own."""
BUILD = "kubernetes_build_info", "[BETA] A constant '1' with the version of Kubernetes that this was built from."

Data = Mapping[str, Any]
Q = TypeVar("Q", Metrics, Statistics)


def exposition(readings: Data) -> bytes:
    """Return the readings of features/metrics/worker.py as text.

    A metric without any count yet is left out, as in kube.
    """
    return generate_latest(_SchedulersCollector(readings["schedulers"]))


class _SchedulersCollector(Collector):
    def __init__(self, schedulers: list[Data]) -> None:
        self._releases = {scheduler["name"]: scheduler["release"] for scheduler in schedulers}
        self._series = [
            (scheduler["name"], {family["name"]: family["series"] for family in scheduler["families"]})
            for scheduler in schedulers
        ]

    def collect(self) -> Iterator[Metric]:
        several = [SCHEDULER] if len(self._releases) > 1 else []
        built = GaugeMetricFamily(*BUILD, labels=["git_version", *several])
        for name, release in self._releases.items():
            built.add_metric([f"v{release}", name][: 1 + len(several)], 1)
        yield from [built] if self._releases else ()
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


LONGEST_NAME = 253
LONGEST_FILTER = 100


@opens("GET")
async def metrics(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the page; for htmx, the changing part, or 204 if nothing has changed since the step `seen`."""
    if await stands_still(request, client):
        return HttpResponse(status=204)
    asked = _ask(Metrics, request)
    readings, head = await client.ask_with_head(asked)
    q = request.GET.get("q", "").strip()[:LONGEST_FILTER]
    context = {**_place(request, client, head), **present(_one(readings, asked.scheduler), q)}
    return render(request, *_part(request, context))


def _part(request: HttpRequest, context: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the template and context: the page, the filtered list, or for other htmx requests the charts with the list."""
    if not by_htmx(request):
        return "metrics/page.html", context
    if request.headers.get("HX-Target") == "metrics-all":
        return "metrics/all.html", context
    return "metrics/live.html", {**context, "oob": True}


def _one(readings: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the readings of one scheduler: the requested one, or the first."""
    return readings if name else {**readings, "schedulers": readings["schedulers"][:1]}


def _ask(query: type[Q], request: HttpRequest) -> Q:
    """Build the request for the figures of the scheduler and step in the URL."""
    return query(at=position(request), scheduler=request.GET.get("scheduler", "")[:LONGEST_NAME])


def _place(request: HttpRequest, client: SessionClient, head: int) -> dict[str, Any]:
    """Return the context about the session and the step. `at` is None at the newest step."""
    at = position(request)
    return {**describe_session(request, client), "head": head, "at": at if at is not None and at < head else None}


@opens("GET")
async def metrics_csv(request: HttpRequest, client: SessionClient, chart: str) -> HttpResponse:
    """Return all numbers of one of the page's charts, or 404."""
    asked = _ask(Metrics, request)
    readings = _one(await client.ask(asked), asked.scheduler)
    return _download(client, chart, present(readings, ""), readings)


@opens("GET")
async def metrics_text(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Return all metrics with values, in the text exposition format 0.0.4."""
    readings = await client.ask(_ask(Metrics, request))
    return HttpResponse(exposition(readings), content_type=CONTENT_TYPE)


@opens("GET")
async def statistics(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the page; for htmx, the changing part, or 204 if nothing has changed since the step `seen`."""
    if await stands_still(request, client):
        return HttpResponse(status=204)
    readings, head = await client.ask_with_head(_ask(Statistics, request))
    context = {**_place(request, client, head), **present_statistics(readings)}
    name = "statistics_live" if by_htmx(request) else "statistics"
    return render(request, f"metrics/{name}.html", context)


@opens("GET")
async def statistics_csv(request: HttpRequest, client: SessionClient, chart: str) -> HttpResponse:
    """Return all numbers of one chart, or 404."""
    readings = await client.ask(_ask(Statistics, request))
    return _download(client, chart, present_statistics(readings), readings)


def _download(
    client: SessionClient, name: str, shown: MetricsPage | StatisticsPage, readings: dict[str, Any]
) -> HttpResponse:
    """Return a chart as a file, each line with the scheduler's release; empty without data. Raise Http404 if there is no such chart."""
    found = next((each for each in shown["charts"] if each["id"] == name), None)
    if found is None:
        raise Http404(_("This chart does not exist."))
    title = f"{client.session.name} {shown['position']}"
    head, lines = found["csv"]
    if head:
        head, lines = [*head, "release"], [[*line, readings["schedulers"][0]["release"]] for line in lines]
    return attach(csv_text(head, lines), CSV_TYPE, f"{slugify(title) or 'session'}-{name}.csv")
