"""Fixes in words: each change of a fix as a sentence, and the one command as the form's field holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.presenters.scene import short
from playground.presenters.words import Message, gettext_noop, message

_TEXTS = {
    "gates": gettext_noop("Remove the scheduling gates: %(list)s"),
    "scheduler": gettext_noop(
        "Let the profile %(name)s schedule the pod: nobody answers to its schedulerName"
    ),
    "uncordon": gettext_noop("Uncordon %(node)s"),
    "toleration": gettext_noop("Add a toleration for the taint %(taint)s to the pod"),
    "selector": gettext_noop("Remove %(text)s from the pod's node selection"),
    "skew": gettext_noop("Raise maxSkew of the spread over %(key)s from %(from)s to %(to)s"),
    "devices": gettext_noop(
        "Ask for %(to)s devices in place of %(from)s in request %(request)s of the claim %(claim)s"
    ),
    "device-toleration": gettext_noop(
        "Add a toleration for the device taint %(taint)s to request %(request)s of the claim %(claim)s"
    ),
    "device-class": gettext_noop(
        "Ask for the device class %(to)s in place of %(from)s in request %(request)s of the claim %(claim)s"
    ),
    "device-selector": gettext_noop(
        "Remove the selector %(expression)s from request %(request)s of the claim %(claim)s"
    ),
    "device-constraint": gettext_noop("Remove the constraint on %(attribute)s from the claim %(claim)s"),
    "taint": gettext_noop("Take the taint %(taint)s off %(node)s"),
    "port": gettext_noop("Give up the pod's host ports %(list)s"),
    "request": gettext_noop("Lower the pod's %(resource)s request from %(from)s to %(to)s"),
    "node": gettext_noop("Add a node %(name)s like %(node)s"),
}
_LABEL = gettext_noop("Label %(node)s with %(text)s")
_UNLABEL = gettext_noop("Take the label %(text)s off %(node)s")
_FREE = gettext_noop("Free %(amounts)s on %(node)s: delete %(list)s")
_DELETE = gettext_noop("Delete %(list)s, which keep the pod off %(node)s")
_SOFTEN = {
    "spread": gettext_noop("Make the spread over %(text)s soft: ScheduleAnyway"),
    "nodeAffinity": gettext_noop("Make the pod's required node affinity a preference"),
    "podAffinity": gettext_noop("Make the pod affinity to %(text)s a preference"),
    "podAntiAffinity": gettext_noop("Make the pod anti-affinity to %(text)s a preference"),
}


def sentence(change: Mapping[str, Any]) -> Message:
    """One change as people say it."""
    kind, values = change["kind"], dict(change["values"])
    if kind == "label":
        gone = values["value"] is None
        text = values["key"] if gone else f"{values['key']}={values['value']}"
        return message(_UNLABEL if gone else _LABEL, node=values["node"], text=text)
    if kind == "soften":
        return message(_SOFTEN[values["what"]], text=values["text"])
    if kind == "free":
        pods = ", ".join(short(key) for key in values["pods"])
        if not values["amounts"]:
            return message(_DELETE, node=values["node"], list=pods)
        return message(_FREE, node=values["node"], list=pods, amounts=", ".join(values["amounts"]))
    if kind == "node":
        return message(_TEXTS[kind], name=values["node"], node=values["like"])
    if kind in ("gates", "port"):
        return message(_TEXTS[kind], list=", ".join(values["gates" if kind == "gates" else "ports"]))
    return message(_TEXTS[kind], **values)


def worded(findings: Mapping[str, Any]) -> dict[str, Any]:
    """What a search found (Findings.to_json()), each fix with its sentences."""
    fixes = [
        {
            "lines": [sentence(change) for change in fix["changes"]],
            "command": fix["command"],
            "node": fix["node"],
            "steps": fix["steps"],
            "recreated": fix["recreated"],
            "held_back": fix["held_back"],
        }
        for fix in findings["fixes"]
    ]
    return {**findings, "name": short(findings["pod"]), "fixes": fixes}
