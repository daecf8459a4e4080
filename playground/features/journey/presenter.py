"""What an attempt looked like from inside: what an AttemptObserver saw, in the words of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.presenters.amounts import clock, duration

EVENTS = 20
_STAYS = "stays"
_PLAIN = ("Reserve", "Permit", "PreBind", "PostBind")  # a success there is shown in short


def describe_attempt(account: Mapping[str, Any]) -> dict[str, Any]:
    """`whole` is false where the attempt or its binding had not ended, or was too long to be run again."""
    steps = [_step(step) for step in account["steps"]]
    calls = [_call(call) for call in account["calls"]]
    return {
        "refusals": account["refusals"],
        "answers": [_step(step) for step in account["answers"]],
        **_events(account["events"]),
        "steps": [step for step in steps if step["point"] != "Unreserve"],
        "rollback": [step for step in steps if step["point"] == "Unreserve"],
        "calls": calls,
        "bind_failed": next((call for call in calls if call["verb"] == "BIND" and call["failed"]), None),
        "end": {**account["end"], "t": clock(account["end"]["t"])} if account["end"] else None,
        "whole": account["whole"],
    }


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: step[name] for name in ("point", "plugin", "code", "message")},
        "at": step["position"],
        "t": clock(step["t"]),
        "took": duration(step["took"]) if step["took"] else "",
        "limit": duration(step["timeout"]) if step["code"] == "Wait" and step["timeout"] else "",
        "failed": step["code"] not in ("Success", "Skip", "Wait"),
        "plain": step["code"] == "Success"
        and not (step["took"] or step["message"])
        and step["point"] in _PLAIN,
    }


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    failed = call.get("error") or call.get("fault") or ""
    return {
        "verb": call["verb"],
        "what": _what(call),
        "failed": failed if isinstance(failed, str) else str(failed.get("message", failed)),
        "at": call["position"],
        "t": clock(call["t"]),
    }


def _what(call: Mapping[str, Any]) -> str:
    """The fields of a status, a claim with what becomes of it, or a node."""
    if isinstance(fields := call.get("status"), list):
        return ", ".join(fields)
    if call.get("kind"):
        about = f"{call['kind']} {call['object']}"
        return f"{about}: {', '.join(call['effects'])}" if call.get("effects") else about
    return str(call.get("node", ""))


def _events(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the events that mattered first, then the others in order; at most EVENTS of them."""
    ordered = sorted(events, key=lambda event: event.get("decision", _STAYS) == _STAYS)
    return {
        "flight": [
            {**event, "at": event["position"], "t": clock(event["t"]), "helps": _helps(event)}
            for event in ordered[:EVENTS]
        ],
        "flight_more": max(len(events) - EVENTS, 0),
    }


def _helps(event: Mapping[str, Any]) -> bool | None:
    """None where nobody asked: the attempt succeeded, or has not ended."""
    decision = event.get("decision")
    return None if decision is None else decision != _STAYS
