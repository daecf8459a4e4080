"""The search for devices as a list of steps: requests in sequence, each with the devices tried.

Success continues at the same level: the next request follows a device that was kept. Attempts after a device that was undone stay inside
of it. Consecutive devices that were refused for the same reason are folded.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from playground.common.catalogs import read_yaml
from playground.features.device_search import query
from playground.presenters.words import Message, message

WORDS = read_yaml(Path(__file__).with_suffix(".yaml"))["search"]

Node = Mapping[str, Any]
FOLDED = 4  # so many alike in a row are one line


def describe_search(root: Node, node: str, left_out: int, cut: bool, order: str) -> query.Search:
    """Return the whole search on a node, from its tree (devices/watch.py)."""
    tried, undone = _counts(root)
    return {
        "outcome": root["outcome"],
        "end": message(
            WORDS["ends"].get(root["outcome"], WORDS["ends"][""]),
            node=node,
            n=tried,
            u=undone,
            text=root.get("text", ""),
        ),
        "pools": [_pool(check) for check in root["checks"]],
        "blocks": _blocks(root["nodes"], frozenset()),
        "left_out": left_out,
        "cut": cut,
        "order": order_note(order),
    }


def order_note(order: str) -> Message | None:
    """Return a note that a real cluster may decide differently, with the reason, or None."""
    return message(WORDS["order"][order]) if order else None


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


def _pool(check: Node) -> query.SearchedPool:
    return {
        "pool": check["pool"],
        "devices": check["devices"],
        "incomplete": check["incomplete"],
        "invalid": check["invalid"],
        "slices": len(check["slices"]),
    }


def _blocks(nodes: Iterable[Node], chosen: frozenset[str]) -> list[query.Block]:
    """Return requests in the order of the search. The steps after a chosen device are a separate block after this one.

    `chosen`: the devices that were chosen on the path to these nodes.
    """
    blocks: list[query.Block] = []
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
                "word": WORDS["found"] if node["outcome"] == "found" else WORDS["outcomes"][node["outcome"]],
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


def _device(node: Node, gathered: bool, chosen: frozenset[str]) -> query.TriedDevice:
    outcome = node["outcome"]
    word = (
        (WORDS["gathered"] if outcome == "found" else WORDS["not-gathered"]) if gathered else WORDS["outcomes"][outcome]
    )
    checks = [
        {**check, "kind": "chosen"} if node["device"] in chosen and check["kind"] == "in-use" else check
        for check in node["checks"]
    ]
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


def _fold_devices(devices: list[query.TriedDevice]) -> list[query.DeviceRow]:
    """Return rows of one device each, or of several consecutive devices that were refused for the same reason."""
    rows: list[query.DeviceRow] = []
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


def _alike(one: query.TriedDevice, other: query.TriedDevice) -> bool:
    return one["outcome"] == other["outcome"] and one["why"] == other["why"] and not one["inner"] and not other["inner"]


Check = Mapping[str, Any]
MOST_VALUES = 24
LONGEST = 120

_DISTINCT = "distinctAttribute"


def describe_check(check: Check) -> query.DescribedCheck:
    """Return a check as `passed`, a sentence, and its evidence: an expression with the values of its parts, or amounts."""
    kind, passed = check["kind"], bool(check["passed"])
    if kind == "selector" and check.get("error"):
        text = message(WORDS["fails"], owner=check["owner"], error=check["error"])
    else:
        text = message(WORDS["checks"][kind].get("passed" if passed else "not-passed", ""), **_values(check))
    return {
        "kind": kind,
        "passed": passed,
        "said": text,
        "expression": check.get("expression", ""),
        "parts": list(parts(check)),
        "amounts": list(amounts(check)),
    }


def why(check: Check) -> Message:
    """Return a short reason for a check that did not pass."""
    if check.get("error"):
        return message(WORDS["error"])
    kind = check["kind"]
    if kind == "constraint" and check.get("value") is None:
        kind = "missing"
    elif kind == "constraint" and check.get("constraint") == _DISTINCT:
        kind = "distinct"
    return message(WORDS["why"][kind], **_values(check))


def _values(check: Check) -> dict[str, object]:
    names = ("owner", "missing", "taint", "constraint", "attribute")
    values: dict[str, object] = {name: check[name] for name in names if name in check}
    for name in ("value", "expected"):
        if name in check:
            value = check[name]
            values[name] = format_value(
                next(iter(value.values())) if isinstance(value, Mapping) and len(value) == 1 else value
            )
    return values


def format_value(value: Any) -> str:
    """Format a value as CEL does."""
    if isinstance(value, Mapping) and "error" in value and len(value) == 1:
        return str(value["error"])
    text = "–" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def parts(check: Check) -> Iterable[query.Part]:
    """Yield the values of the expression's parts from left to right and then of the whole, without literals and function names."""
    seen = set()
    values = sorted(check.get("values") or (), key=lambda each: (each["start"], -each["end"]))
    for each in values[:MOST_VALUES]:
        text, value = " ".join(str(each["text"]).split()), format_value(each["value"])
        if text in (value, "device") or text in seen or text == check.get("expression"):
            continue
        seen.add(text)
        yield {"text": text, "value": value}


def amounts(check: Check) -> Iterable[query.Amount]:
    """Yield the amounts of a check. For capacities: wanted, taken, and total. For counters: needed and left."""
    for name, each in (check.get("amounts") or {}).items():
        yield {"name": name, "wanted": each["wanted"], "taken": each["taken"], "of": each["of"]}
    left = check.get("left") or {}
    for name, amount in (check.get("needs") or {}).items():
        yield {"name": name, "wanted": amount, "left": left.get(name, "0")}
