"""Schedulers: who holds which lease, and since when; one lane for each replica."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import clock

MOST_SPANS = 60


def replicas(rows: list[dict[str, Any]], now: int) -> list[dict[str, Any]]:
    return [_lease(row, now) for row in rows]


def _lease(row: dict[str, Any], now: int) -> dict[str, Any]:
    """`lanes`: for each replica when it held the lease, as shares (percent) of all of the time since the first change."""
    spans = _spans(row["levels"], now)
    first = spans[0][1] if spans else now
    whole = max(now - first, 1)
    names = {**{r["identity"]: r for r in row["replicas"]}, **{who: None for who, _, _ in spans if who}}
    known = {r["identity"]: r for r in row["replicas"]}
    return {
        **row,
        "first": clock(first),
        "lanes": [
            {
                "identity": identity,
                "replica": _replica(known[identity]) if identity in known else None,
                "holds": identity == row["holder"],
                "spans": [
                    {
                        "x": round(100 * (begin - first) / whole, 2),
                        "width": max(round(100 * (end - begin) / whole, 2), 0.3),
                        "from": clock(begin),
                        "to": clock(end),
                    }
                    for who, begin, end in spans
                    if who == identity
                ],
            }
            for identity in names
        ],
        "leaders": sum(replica["leads"] for replica in row["replicas"]),
    }


def _replica(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "clock": clock(max(row["clock"], 0))}


def _spans(levels: list[dict[str, Any]], now: int) -> list[tuple[str, int, int]]:
    """Who held the lease from when to when."""
    ends = [level["t"] for level in levels[1:]] + [now]
    spans = [(str(level.get("holder", "")), level["t"], end) for level, end in zip(levels, ends, strict=True)]
    return spans[-MOST_SPANS:]
