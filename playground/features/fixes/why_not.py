"""Why a pod is not on a node: every Filter plugin's verdict, and the node's score if it is feasible."""

from collections.abc import Mapping
from typing import Any, TypedDict, cast

from playground.presenters.problems import in_plain_words
from playground.presenters.words import Message
from scheduler_core.analysis.inspection import WhyNot

MOST_BEST = 3


class PluginScore(TypedDict):
    plugin: str
    raw: int
    points: int
    weight: int
    weighted: int


class WhyNotAnswer(TypedDict):
    """The verdicts. `first`: the plugin that would reject the node in an attempt."""

    feasible: bool
    first: str
    why: str
    verdicts: "list[VerdictRow]"
    count: int
    leaves: str
    gates: list[str]
    scores: list[PluginScore]
    total: int | None
    top: int | None
    best: list[str]
    wins: bool


class WhyNotPage(TypedDict):
    """The worker's answer, and the parts of the pod's key. `found` is None if there is no such node or scheduler."""

    pod: str
    namespace: str
    name: str
    node: str
    nodes: list[str]
    known: bool
    scheduler: str
    bound: str
    found: WhyNotAnswer | None


def name_pod(answer: Mapping[str, Any]) -> WhyNotPage:
    namespace, _, name = str(answer["pod"]).partition("/")
    return cast(WhyNotPage, {**answer, "namespace": namespace, "name": name})


def present_why_not(found: WhyNot) -> WhyNotAnswer:
    refusal = found.refusal
    first = refusal.plugin if refusal is not None else ""
    return {
        "feasible": refusal is None,
        "first": first,
        "why": refusal.message if refusal is not None else "",
        "verdicts": [_verdict(each, first) for each in found.verdicts],
        "count": found.feasible,
        "leaves": found.leaves,
        "gates": list(found.gates),
        "scores": [
            {
                "plugin": each.plugin,
                "raw": each.raw,
                "points": each.normalized,
                "weight": each.weight,
                "weighted": each.normalized * each.weight,
            }
            for each in found.scores
        ],
        "total": found.total,
        "top": found.top,
        "best": list(found.best[:MOST_BEST]),
        "wins": found.node in found.best,
    }


class VerdictRow(TypedDict):
    plugin: str
    state: str
    point: str
    said: str
    unresolvable: bool
    plain: list[Message]
    first: bool


def _verdict(each: Any, first: str) -> VerdictRow:
    status = each.status
    return {
        "plugin": each.plugin,
        "state": "skipped" if each.skipped else "ok" if status is None else "no",
        "point": str(each.point.value),
        "said": status.message if status is not None else "",
        "unresolvable": status is not None and status.code.kube_name == "UnschedulableAndUnresolvable",
        "plain": [p for reason in (status.reasons if status else ()) if (p := in_plain_words(reason))],
        "first": status is not None and each.plugin == first,
    }
