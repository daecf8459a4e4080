"""Comparing an attempt with what the corpus expects, field by field in the order of a cycle; the first difference, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.testing.corpus.observe import without_empty

Attempt = Mapping[str, Any]

# In the order in which a cycle makes them.
FIELDS = (
    "profile",
    "preEnqueue",
    "nodeOrder",
    "preFilter",
    "nominatedNode",
    "filter",
    "feasible",
    "sampling",
    "feasibleAfterExtenders",
    "extenders",
    "scored",
    "skippedScores",
    "scores",
    "topNodes",
    "bestTotal",
    "chosen",
    "evaluatedNodes",
    "feasibleNodes",
    "binding",
    "diagnosis",
    "errorKind",
    "error",
    "unschedulablePlugins",
    "preemption",
    "message",
    "nominatedNodeAfter",
    "volumeEffects",
    "nodeAllocations",
    "bindError",
    "claims",
    "createdClaim",
    "extendedResourceClaimStatus",
    "draPostFilter",
    "claimsReleased",
    "orderDependent",
)


LEFT_OUT_IN_ERRORS = ("scored", "skippedScores", "scores")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing in which an attempt differs. `attempt` counts from 1; `where` says field, plugin and node."""

    attempt: int
    pod: str
    where: str
    expected: Any
    received: Any

    def __str__(self) -> str:
        return (
            f"attempt {self.attempt} of pod {self.pod}, {self.where}: "
            f"expected {_words(self.expected)}, received {_words(self.received)}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "attempt": self.attempt,
            "pod": self.pod,
            "where": self.where,
            "expected": self.expected,
            "received": self.received,
        }


def _words(value: Any) -> str:
    """A value as a reader takes it in; a status is named by its plugin and reasons."""
    if value is None:
        return "nothing"
    if isinstance(value, dict) and "code" in value and "reasons" in value:
        by = f" by {value['plugin']}" if value.get("plugin") else ""
        return f"{value['code']}{by}: {', '.join(value['reasons'])}"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else text[:297] + "..."


def first_difference(number: int, pod: str, expected: Attempt, received: Attempt) -> Difference | None:
    """Of one attempt, both sides in the corpus' shape."""
    for field in FIELDS:
        difference = _field_difference(field, expected.get(field), _cut(received.get(field)))
        if difference is not None:
            return Difference(number, pod, *difference)
    return None


Mismatch = tuple[str, Any, Any]


def _field_difference(field: str, expected: Any, received: Any) -> Mismatch | None:
    if expected == received:
        return None
    if field == "filter" and isinstance(expected, dict) and isinstance(received, dict):
        return _by_node(expected, received)
    if field == "scores" and isinstance(expected, dict) and isinstance(received, dict):
        return _scores(expected, received)
    if isinstance(expected, dict) and isinstance(received, dict) and "reasons" not in expected:
        return _entry(field, expected, received)
    if field == "preFilter" and isinstance(expected, dict) and isinstance(received, dict):
        return _entry(field, expected, received)
    return field, expected, received


def _entry(field: str, expected: Mapping[str, Any], received: Mapping[str, Any]) -> Mismatch | None:
    for name in dict.fromkeys((*expected, *received)):
        if expected.get(name) != received.get(name):
            return f"{field}.{name}", expected.get(name), received.get(name)
    return None


_PASSES = "passes"
_NOT_SHOWN = "not evaluated"


def _by_node(expected: Mapping[str, Any], received: Mapping[str, Any]) -> Mismatch | None:
    for node in dict.fromkeys((*expected, *received)):
        wanted, got = _verdict(expected, node), _verdict(received, node)
        if wanted != got:
            plugin = next((v["plugin"] for v in (wanted, got) if isinstance(v, dict) and v.get("plugin")), "")
            by = f" by plugin {plugin}" if plugin else ""
            return f"filter of node {node}{by}", wanted, got
    return None


def _verdict(verdicts: Mapping[str, Any], node: str) -> Any:
    if node not in verdicts:
        return _NOT_SHOWN
    return _PASSES if verdicts[node] is None else verdicts[node]


def _scores(expected: Mapping[str, Any], received: Mapping[str, Any]) -> Mismatch | None:
    for name in ("plugins", "weights"):
        if expected[name] != received[name]:
            return f"scores.{name}", expected[name], received[name]
    wanted, got = expected["nodes"], received["nodes"]
    for node in dict.fromkeys((*wanted, *got)):
        if node not in wanted or node not in got:
            return f"scores of node {node}", wanted.get(node), got.get(node)
        for step in ("raw", "normalized", "weighted"):
            for plugin, a, b in zip(
                expected["plugins"], wanted[node][step] or (), got[node][step], strict=True
            ):
                if a != b:
                    return f"{step} score of node {node} by plugin {plugin}", a, b
        for part, words in (("extender", "extenders' score"), ("total", "total score")):
            if wanted[node].get(part) != got[node].get(part):
                return f"{words} of node {node}", wanted[node].get(part), got[node].get(part)
    return None


_COMPILER = re.compile(r"(CEL compile error: ).*", re.DOTALL)


def _cut(value: Any) -> Any:
    """Without the words of CEL's compiler, which are told and not compared."""
    if isinstance(value, str):
        return _COMPILER.sub(r"\1", value)
    if isinstance(value, list):
        return [_cut(each) for each in value]
    return {name: _cut(each) for name, each in value.items()} if isinstance(value, dict) else value


def comparable(attempt: Attempt) -> dict[str, Any]:
    """The fields of an expected attempt that are compared, without the empty ones: empty and absent are one, as in the corpus."""
    out = {field: _cut(attempt[field]) for field in FIELDS if field in attempt}
    if "preemption" in out:
        out["preemption"] = without_empty(out["preemption"])
    if out.get("errorKind") == "Error":
        # The format does not say how much of the scoring that an error cut short is recorded.
        for name in LEFT_OUT_IN_ERRORS:
            out.pop(name, None)
    return without_empty(out)
