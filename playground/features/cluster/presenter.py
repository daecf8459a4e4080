"""The components around the schedulers: controllers, budgets, rollouts, and what nodes.py has of nodes."""

from collections.abc import Callable, Mapping
from typing import Any

from playground.features.cluster.nodes import drains, node, nodes, series, zones
from playground.presenters.amounts import clock, duration
from playground.presenters.charts import curves
from playground.presenters.sentences.deeds import describe_deeds
from playground.presenters.stage.controller.replicas import replicas
from playground.presenters.words import gettext_noop

# Rollouts: a Deployment's ReplicaSets, old and new, over virtual time.


def rollouts(rows: list[dict[str, Any]], now: int) -> list[dict[str, Any]]:
    return [_rollout(row, now) for row in rows]


def _rollout(row: dict[str, Any], now: int) -> dict[str, Any]:
    sets = row["sets"]
    levels = {entry["name"]: entry["levels"] for entry in reversed(sets)}
    times, unit, lines = series(levels, ("ready",), now)
    shown = [entry for i, entry in enumerate(sets) if i == 0 or entry["desired"] or entry["pods"]]
    most = max([row["desired"], *(entry["pods"] for entry in sets), 1])
    return {
        **row,
        "id": f"rollout-{row['namespace']}-{row['name']}",
        "sets": [
            {
                **entry,
                "ready_share": round(100 * int(entry["ready"]) / most),
                "pods_share": round(100 * int(entry["pods"]) / most),
                "newest": i == 0,
            }
            for i, entry in enumerate(shown)
        ],
        "older": len(sets) - len(shown),
        "figure": curves(times, unit, lines, True) if len(times) > 2 else None,
        "conditions": [c for c in row["conditions"] if c["message"]],
    }


# Controllers: what each watches, its work queue, and what it did last and why.


def controllers(rows: list[dict[str, Any]], now: int) -> list[dict[str, Any]]:
    """Return the controllers, the latest active first, then by name; disabled ones come last."""
    ordered = sorted(
        rows, key=lambda row: (not row["runs"], -(int(row["done"][0]["t"]) + 1 if row["done"] else 0), row["name"])
    )
    return [_controller(row, now) for row in ordered]


def _controller(row: dict[str, Any], now: int) -> dict[str, Any]:
    return {
        **row,
        "waiting": [{**entry, "due": duration(max(entry["due"] - now, 0))} for entry in row["waiting"]],
        "more": row["length"] - len(row["waiting"]),
        "done": [{**done, "t": clock(done["t"]), "text": describe_deeds(done["text"])} for done in row["done"]],
    }


# PodDisruptionBudgets as bars: healthy pods against those that are needed.


def budgets(rows: list[dict[str, Any]], now: int) -> list[dict[str, Any]]:
    return [_budget(row, now) for row in rows]


def _budget(row: dict[str, Any], now: int) -> dict[str, Any]:
    """`bar`: percents of the widest of expected, healthy and needed."""
    most = max(row["expected"], row["healthy"], row["needed"], 1)
    times, unit, lines = series({"": row["levels"]}, ("healthy", "needed", "allowed"), now)
    return {
        **row,
        "id": f"budget-{row['namespace']}-{row['name']}",
        "healthy_share": round(100 * row["healthy"] / most),
        "needed_share": round(100 * row["needed"] / most),
        "figure": curves(times, unit, lines, False) if len(times) > 2 else None,
    }


PARTS = {
    "controllers": gettext_noop("Controllers"),
    "nodes": gettext_noop("Nodes"),
    "budgets": gettext_noop("Disruption budgets"),
    "rollouts": gettext_noop("Rollouts"),
    "replicas": gettext_noop("Schedulers"),
    "devices": gettext_noop("Devices"),
    "claims": gettext_noop("Device claims"),
}
_ROWS: Mapping[str, Callable[[list[dict[str, Any]], int], list[dict[str, Any]]]] = {
    "controllers": controllers,
    "nodes": nodes,
    "budgets": budgets,
    "rollouts": rollouts,
    "replicas": replicas,
}


def present(reading: Mapping[str, Any], part: str, name: str) -> dict[str, Any]:
    """Present the data of worker.py; `name` is the name of one node."""
    now = reading["now"]
    return {
        "position": reading["position"],
        "clock": clock(now),
        "parts": [{"name": key, "title": title} for key, title in PARTS.items()],
        "part": part,
        "name": name,
        "rows": _ROWS[part](reading["rows"], now) if part in _ROWS else [],
        "found": reading.get("found"),
        "node": node(reading["node"], now) if reading["node"] else None,
        "zones": zones(reading.get("zones", ()), now),
        "drains": drains(reading.get("drains", ())),
        "troubles": reading.get("troubles", ()),
    }
