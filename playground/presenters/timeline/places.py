"""Places where a pod can be, as the class names of their colour on the screen."""

from __future__ import annotations

from scheduler_core.world.readonly import Place

KIND = {
    Place.GATED: "gated",
    Place.ACTIVE: "queue",
    Place.BACKOFF: "backoff",
    Place.UNSCHEDULABLE: "unschedulable",
    Place.IN_FLIGHT: "cycle",
    Place.WAITING: "permit",
    Place.BINDING: "binding",
    Place.BOUND: "bound",
    Place.RUNNING: "running",
    Place.IGNORED: "ignored",
}


def kind(place: str) -> str:
    """The class name; "" of a place that is none of the cluster's, such as deleted."""
    return KIND.get(place, "")
