"""The search for devices as it is walked on a page: requests one below the other, each with the devices that were tried.

What led on is told in one line: after a device that was chosen for good comes the next request, not one level deeper. What was tried behind
a device that was undone stays inside of it. Devices that were refused one after the other for the same reason are folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from playground.features.device_search.checks import describe_check, why
from playground.presenters.words import Message, gettext_noop, message

Node = Mapping[str, Any]
FOLDED = 4  # so many alike in a row are one line
OUTCOMES = {
    "found": gettext_noop("chosen"),
    "undone": gettext_noop("chosen, then undone"),
    "refused": gettext_noop("refused"),
    "none": gettext_noop("no device is left to try"),
    "too-many": gettext_noop("would be more than 32 devices"),
    "error": gettext_noop("ends the scheduling cycle"),
    "": gettext_noop("goes on"),
}
_FOUND = gettext_noop("found")
_GATHERED = gettext_noop("is one of them")
_NOT_GATHERED = gettext_noop("is none of them")
_ENDS = {
    "found": gettext_noop("%(node)s can give all devices. %(n)s tried, %(u)s taken back."),
    "none": gettext_noop(
        "%(node)s can't give all devices. %(n)s tried, %(u)s taken back: nothing led to a solution."
    ),
    "too-many": gettext_noop("%(node)s can't give all devices: a claim would have more than 32."),
    "error": gettext_noop("The search on %(node)s ends the scheduling cycle: %(text)s"),
    "": gettext_noop("The search on %(node)s goes on for longer than is shown here."),
}
_ORDER = {
    "status": gettext_noop(
        "A real cluster may say something else of this node: kube goes through pools and slices in the order of a Go map, "
        "another one each time, and here the order decides whether the search succeeds. The playground sorts them by name."
    ),
    "allocation": gettext_noop(
        "A real cluster may choose other devices: kube goes through pools and slices in the order of a Go map, another one "
        "each time, and takes the first solution. The playground sorts them by name."
    ),
}


def describe_search(root: Node, node: str, left_out: int, cut: bool, order: str) -> dict[str, Any]:
    """The whole search on a node, from its tree (devices/watch.py)."""
    tried, undone = _counts(root)
    return {
        "outcome": root["outcome"],
        "end": message(
            _ENDS.get(root["outcome"], _ENDS[""]), node=node, n=tried, u=undone, text=root.get("text", "")
        ),
        "pools": [_pool(check) for check in root["checks"]],
        "blocks": _blocks(root["nodes"], frozenset()),
        "left_out": left_out,
        "cut": cut,
        "order": order_note(order),
        "tried": tried,
        "undone": undone,
    }


def order_note(order: str) -> Message | None:
    """Return a note that a real cluster may decide differently, and why; None if it cannot."""
    return message(_ORDER[order]) if order else None


def _counts(root: Node) -> tuple[int, int]:
    tried = undone = 0
    todo = list(root["nodes"])
    while todo:
        node = todo.pop()
        todo += node["nodes"]
        tried += node.get("again", 0)
        if node["kind"] == "device":
            tried += 1
            undone += node["outcome"] == "undone"
    return tried, undone


def _pool(check: Node) -> dict[str, Any]:
    return {name: check[name] for name in ("pool", "devices", "incomplete", "invalid")} | {
        "slices": len(check["slices"])
    }


def _blocks(nodes: Iterable[Node], chosen: frozenset[str]) -> list[dict[str, Any]]:
    """Requests in the order in which they were come to. What follows a chosen device is a block of its own after this one.

    `chosen`: the devices that were chosen on the way here.
    """
    blocks: list[dict[str, Any]] = []
    todo = list(nodes)
    while todo:
        node = todo.pop(0)
        devices = node["nodes"]
        blocks.append(
            {
                "kind": node["kind"],
                "claim": node.get("claim", ""),
                "request": node.get("request", ""),
                "number": node.get("number", 0),
                "count": node.get("count", 0),
                "outcome": node["outcome"],
                "word": _FOUND if node["outcome"] == "found" else OUTCOMES[node["outcome"]],
                "text": node.get("text", ""),
                "rows": _fold_devices([_device(each, node["kind"] == "all", chosen) for each in devices]),
                "left_out": node.get("left_out", 0),
                "again": node.get("again", 0),
            }
        )
        for each in devices:
            if each["outcome"] in ("found", "error", "") and each["nodes"]:
                todo = [*each["nodes"], *todo]
            if each["outcome"] == "found" and node["kind"] != "all":
                chosen |= {each["device"]}
    return blocks


def _device(node: Node, gathered: bool, chosen: frozenset[str]) -> dict[str, Any]:
    outcome = node["outcome"]
    word = (_GATHERED if outcome == "found" else _NOT_GATHERED) if gathered else OUTCOMES[outcome]
    checks = [_mark_chosen(check, node["device"] in chosen) for check in node["checks"]]
    last = checks[-1] if checks else None
    refused = last is not None and not last["passed"]
    return {
        "device": str(node.get("device", "")).rpartition("/")[2],
        "id": node.get("device", ""),
        "outcome": "refused" if gathered and outcome == "none" else outcome,
        "word": word,
        "why": why(last) if refused and last is not None else None,
        "checks": [describe_check(check) for check in checks],
        "text": node.get("text", ""),
        "inner": _blocks(node["nodes"], chosen | {node["device"]}) if outcome == "undone" else [],
        "left_out": node.get("left_out", 0) if outcome == "undone" else 0,
    }


def _mark_chosen(check: Node, is_chosen: bool) -> Node:
    """A device that this search has chosen itself is in use in another sense."""
    return {**check, "kind": "chosen"} if is_chosen and check["kind"] == "in-use" else check


def _fold_devices(devices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of one device each, or of many that were refused for the same reason one after the other."""
    rows: list[dict[str, Any]] = []
    start = 0
    for end in range(1, len(devices) + 1):
        if end < len(devices) and _alike(devices[start], devices[end]):
            continue
        run = devices[start:end]
        if len(run) >= FOLDED:
            rows.append({"fold": run, "why": run[0]["why"], "outcome": run[0]["outcome"]})
        else:
            rows += [{"device": each} for each in run]
        start = end
    return rows


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return (
        one["outcome"] == other["outcome"]
        and one["why"] == other["why"]
        and not one["inner"]
        and not other["inner"]
    )
