"""The plugins' own figures for one node, in their own terms: domains and skews, matching pods, claims, amounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.presenters.amounts import amount
from playground.presenters.scene import cycle_of, framework_of, short
from scheduler_core.inspection.node_figures import figures

Told = Mapping[str, Any]
Section = dict[str, Any]
DOMAINS = 8
PODS = 5


def sections(sim: Any, node: str, only: str = "") -> list[Section]:
    """What each plugin that ran in the present cycle tells of a node; of one plugin alone where `only` names it."""
    cycle = cycle_of(sim)
    if cycle is None or not node:
        return []
    wanted = [name for name in _SECTIONS if not only or name == only]
    told = figures(framework_of(sim), cycle, node, wanted)
    made = [
        {"plugin": name, **section}
        for name, why in told.items()
        if (section := _SECTIONS[name](why)) is not None
    ]
    return made


def _resources(why: Told) -> Section | None:
    rows = [
        {
            "name": each["name"],
            "incoming": amount(each["name"], each["incoming"]),
            "requested": amount(each["name"], each["requested"]),
            "allocatable": amount(each["name"], each["allocatable"]),
            "lacks": amount(each["name"], lacking) if (lacking := _lacking(each)) > 0 else "",
        }
        for each in why["resources"]
    ]
    pods = why["pods"]
    rows.append(
        {
            "name": "pods",
            "incoming": "1",
            "requested": str(pods["count"]),
            "allocatable": str(pods["allowed"]),
            "lacks": "1" if pods["count"] >= pods["allowed"] else "",
        }
    )
    return {"kind": "resources", "rows": rows}


def _lacking(each: Told) -> int:
    return int(each["incoming"] + each["requested"] - each["allocatable"]) if each["incoming"] else 0


def _spread(why: Told) -> Section | None:
    constraints = [_constraint(each) for each in why["hard"]]
    return {"kind": "spread", "constraints": constraints} if constraints else None


def _constraint(told: Told) -> dict[str, Any]:
    domains = [
        {
            "name": each["value"],
            "pods": each["pods"],
            "skew": each["skew"],
            "ok": each["skew"] <= told["maxSkew"],
            "here": each["value"] == told["domain"],
        }
        for each in told["domains"]
    ]
    most = max((each["pods"] for each in domains), default=0)
    for each in domains:
        each["bar"] = round(100 * each["pods"] / most) if most else 0
    return {
        "key": told["topologyKey"],
        "max_skew": told["maxSkew"],
        "min_domains": told["minDomains"],
        "selector": ", ".join(told["selector"]),
        "minimum": told["minimum"],
        "labelled": told["domain"] is not None,
        "domains": domains[:DOMAINS],
        "more": max(told["numDomains"] - DOMAINS, 0),
    }


def _affinity(why: Told) -> Section | None:
    terms = [_term("affinity", each, each["pods"] > 0) for each in why["affinity"]]
    terms += [_term("anti-affinity", each, each["pods"] == 0) for each in why["antiAffinity"]]
    existing = [
        {**_term("", each, ok=False), "pods": [{"key": each["pod"], "name": short(each["pod"])}]}
        for each in why["existing"]
    ]
    if not terms and not existing:
        return None
    alone = bool(why.get("matchesItself")) and not why.get("matchAll")
    return {"kind": "affinity", "terms": terms, "existing": existing, "first_of_its_group": alone}


def _term(side: str, told: Told, ok: bool) -> dict[str, Any]:
    names = list(told.get("names") or ())
    selector = told["selector"]
    return {
        "side": side,
        "ok": ok,
        "key": told["topologyKey"],
        "domain": told["domain"],
        "selector": "" if selector is None else ", ".join(selector),
        "nothing": selector is None,
        "count": told["pods"],
        "pods": [{"key": key, "name": short(key)} for key in names[:PODS]],
        "more": max(int(told["pods"]) - min(len(names), PODS), 0),
    }


def _claims(why: Told) -> Section | None:
    claims = [
        {
            "claim": short(each["claim"]),
            "state": each["state"],
            "volume": each.get("volume") or "",
            "reached": each.get("reached"),
            "class": each.get("class") or "",
            "provisioned": bool(each.get("provisioned")),
            "candidates": [dict(one) for one in each.get("candidates") or ()],
        }
        for each in why["claims"]
    ]
    return {"kind": "claims", "claims": claims} if claims else None


def _zones(why: Told) -> Section | None:
    rows = [
        {
            "volume": each["volume"],
            "key": each["key"],
            "values": ", ".join(each["values"]),
            "value": each["value"] or "",
            "ok": each["holds"],
        }
        for each in why["topologies"]
    ]
    return {"kind": "zones", "rows": rows} if rows else None


def _limits(why: Told) -> Section | None:
    rows = [{**each, "ok": each["attached"] + each["new"] <= each["limit"]} for each in why["drivers"]]
    return {"kind": "limits", "rows": rows} if rows else None


def _labels(why: Told) -> Section | None:
    """Node selector and required affinity: every requirement with the node's own value."""
    rows = [_requirement(each, 0) for each in why["nodeSelector"]]
    for number, term in enumerate((*why["required"], *why["added"]), 1):
        rows += [_requirement(each, number) for each in (*term["expressions"], *term["fields"])]
    return {"kind": "labels", "rows": rows} if rows else None


def _requirement(told: Told, term: int) -> dict[str, Any]:
    return {
        "key": told["key"],
        "operator": told["operator"],
        "values": ", ".join(told["values"]),
        "value": told["value"] or "",
        "ok": told["holds"],
        "term": term,
    }


_SECTIONS: dict[str, Callable[[Told], Section | None]] = {
    "NodeAffinity": _labels,
    "NodeResourcesFit": _resources,
    "PodTopologySpread": _spread,
    "InterPodAffinity": _affinity,
    "VolumeBinding": _claims,
    "VolumeZone": _zones,
    "NodeVolumeLimits": _limits,
}
