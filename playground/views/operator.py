"""For the operator: what the server counts of itself."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from playground.sessions.web.runtime import runtime


class _Sessions(Collector):
    """Sessions and workers of this process, as they are when somebody asks."""

    def describe(self) -> list[Metric]:
        """Nothing is looked at before somebody asks."""
        return []

    def collect(self) -> Iterator[Metric]:
        sessions, pool = runtime().sessions, runtime().services.pool
        known = GaugeMetricFamily(
            "playground_sessions",
            "Sessions known here, by whether a worker has them.",
            labels=["state"],
        )
        here = sum(each.engine.is_open for each in list(sessions.values()))
        known.add_metric(["open"], here)
        known.add_metric(["left"], len(sessions) - here)
        yield known
        memory = GaugeMetricFamily(
            "playground_worker_memory_bytes", "Resident memory of a worker.", labels=["lane", "worker"]
        )
        held = GaugeMetricFamily(
            "playground_worker_sessions", "Sessions that a worker has.", labels=["lane", "worker"]
        )
        for lane, heavy in (("small", False), ("large", True)):
            for number, worker in enumerate(pool.lane(heavy)):
                memory.add_metric([lane, str(number)], worker.memory())
                held.add_metric([lane, str(number)], len(worker.sessions))
        yield memory
        yield held


REGISTRY.register(_Sessions())


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """The server's metrics in Prometheus' text form, for those whom METRICS_CLIENTS names; nobody else learns that they are there."""
    try:
        client = ip_address(str(request.META.get("REMOTE_ADDR", "")))
    except ValueError:
        raise Http404 from None
    if not any(client in network for network in settings.METRICS_CLIENTS):
        raise Http404
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
