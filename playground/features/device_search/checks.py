"""What was asked of a device during a search, and answered: each check as a line, and in a word why the device was refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from playground.presenters.words import Message, gettext_noop, message

Check = Mapping[str, Any]
MOST_VALUES = 24
LONGEST = 120

# kind -> what is said where it passed, and where it did not; values are those of the check
_SAID = {
    "in-use": (gettext_noop("It is free."), gettext_noop("It is in use.")),
    "chosen": ("", gettext_noop("This search has chosen it already.")),
    "binding": (
        gettext_noop("Devices with binding conditions may be taken."),
        gettext_noop("It has binding conditions, and the gate for them is off."),
    ),
    "node": (gettext_noop("The node reaches it."), gettext_noop("The node does not reach it.")),
    "remembered": (
        gettext_noop("It was selected when it was asked before; it is not asked again."),
        gettext_noop("It was not selected when it was asked before; it is not asked again."),
    ),
    "selector": (
        gettext_noop("The expression of %(owner)s selects it."),
        gettext_noop("The expression of %(owner)s does not select it."),
    ),
    "capacity": (
        gettext_noop("Enough of its capacity is left."),
        gettext_noop("Too little of its capacity is left."),
    ),
    "counters": (
        gettext_noop("Enough is left of the hardware that it shares with other partitions."),
        gettext_noop("Too little is left of %(missing)s, which it shares with other partitions."),
    ),
    "taint": (
        gettext_noop("Its taint %(taint)s is tolerated."),
        gettext_noop("Its taint %(taint)s is not tolerated."),
    ),
    "constraint": (
        gettext_noop("%(constraint)s %(attribute)s holds: %(value)s."),
        gettext_noop(
            "%(constraint)s %(attribute)s does not hold: it has %(value)s, chosen before: %(expected)s."
        ),
    ),
}
_WHY = {
    "in-use": gettext_noop("in use"),
    "chosen": gettext_noop("chosen already"),
    "binding": gettext_noop("has binding conditions"),
    "node": gettext_noop("not for this node"),
    "remembered": gettext_noop("not selected, as before"),
    "selector": gettext_noop("not selected"),
    "capacity": gettext_noop("too little capacity left"),
    "counters": gettext_noop("too little left of %(missing)s"),
    "taint": gettext_noop("taint not tolerated"),
    "constraint": gettext_noop("%(attribute)s is %(value)s, not %(expected)s"),
    "distinct": gettext_noop("%(attribute)s has to differ"),
    "missing": gettext_noop("has no %(attribute)s"),
}
_FAILS = gettext_noop("The expression of %(owner)s fails: %(error)s")
_ERROR = gettext_noop("CEL error")
_DISTINCT = "distinctAttribute"


def describe_check(check: Check) -> dict[str, Any]:
    """`passed`, a sentence, and what stands behind it: an expression with the values of its parts, or amounts."""
    kind, passed = check["kind"], bool(check["passed"])
    if kind == "selector" and check.get("error"):
        text = message(_FAILS, owner=check["owner"], error=check["error"])
    else:
        text = message(_SAID[kind][0 if passed else 1], **_values(check))
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
        return message(_ERROR)
    kind = check["kind"]
    if kind == "constraint" and check.get("value") is None:
        kind = "missing"
    elif kind == "constraint" and check.get("constraint") == _DISTINCT:
        kind = "distinct"
    return message(_WHY[kind], **_values(check))


def _values(check: Check) -> dict[str, object]:
    names = ("owner", "missing", "taint", "constraint", "attribute")
    values: dict[str, object] = {name: check[name] for name in names if name in check}
    for name in ("value", "expected"):
        if name in check:
            values[name] = format_value(_strip_type(check[name]))
    return values


def _strip_type(value: Any) -> Any:
    """An attribute's value without its type."""
    if isinstance(value, Mapping) and len(value) == 1:
        return next(iter(value.values()))
    return value


def format_value(value: Any) -> str:
    """A value as CEL writes it."""
    if isinstance(value, Mapping) and "error" in value and len(value) == 1:
        return str(value["error"])
    text = "–" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def parts(check: Check) -> Iterable[dict[str, str]]:
    """The values of the expression's parts, from left to right, the whole last; literals and functions' names say nothing."""
    seen = set()
    values = sorted(check.get("values") or (), key=lambda each: (each["start"], -each["end"]))
    for each in values[:MOST_VALUES]:
        text, value = " ".join(str(each["text"]).split()), format_value(each["value"])
        if text in (value, "device") or text in seen or text == check.get("expression"):
            continue
        seen.add(text)
        yield {"text": text, "value": value}


def amounts(check: Check) -> Iterable[dict[str, str]]:
    """Yield the amounts of a check. For capacities: wanted, taken, and total. For counters: needed and left."""
    for name, each in (check.get("amounts") or {}).items():
        yield {"name": name, "wanted": each["wanted"], "taken": each["taken"], "of": each["of"]}
    left = check.get("left") or {}
    for name, amount in (check.get("needs") or {}).items():
        yield {"name": name, "wanted": amount, "left": left.get(name, "0")}
