"""Parsers of kubectl's notations for the builder's forms: labels, taints, tolerations, and selectors.

Each parser returns manifest data for a text, or raises GrammarError with the received text and the expected form. They check only syntax:
the API server validates values, and all names except those of resources.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django.utils.translation import gettext as _


class PatternError(ValueError):
    """A pattern that cannot name the objects asked for."""


def expand(pattern: str, count: int, first: int = 1, zones: Sequence[str] = ()) -> list[str]:
    """Return `count` names. {i} counts from `first`; {zone} is the object's zone, in rotation.

    A pattern without {i} gets the suffix `-{i}` if names would repeat.
    """
    names = _fill(pattern, count, first, zones)
    if "{i}" not in pattern and len(set(names)) < len(names):
        names = _fill(f"{pattern}-{{i}}", count, first, zones)
    if left := [name for name in names[:1] if "{" in name or "}" in name]:
        raise PatternError(_("“%(name)s” contains a brace. A pattern can use {i} and {zone}") % {"name": left[0]})
    return names


def _fill(pattern: str, count: int, first: int, zones: Sequence[str]) -> list[str]:
    return [
        pattern.replace("{i}", str(first + index)).replace("{zone}", zones[index % len(zones)] if zones else "")
        for index in range(count)
    ]


def next_index(pattern: str, taken: Iterable[str]) -> int:
    """Return the first value of {i} above all names of the pattern: one after the highest."""
    before, _braces, after = pattern.partition("{i}")
    shape = re.compile(re.escape(before) + r"(\d{1,9})" + re.escape(after))
    numbers = [int(match[1]) for name in taken if (match := shape.fullmatch(name))]
    return max(numbers, default=0) + 1


T = TypeVar("T")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WORDS = {"in": "In", "notin": "NotIn"}
_REQUIREMENT = re.compile(r"^(?P<key>\S+?)\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)$", re.IGNORECASE)
_RESOURCE = re.compile(r"^(?:[A-Za-z0-9.-]+/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$")
_COMPARISON = re.compile(r"^(?P<key>[^\s=!<>]+)\s*(?P<op>==|=|!=|>|<)\s*(?P<value>[^\s=<>]*)$")


class GrammarError(ValueError):
    """A text with invalid syntax. The message is for its author."""

    def __init__(self, received: str, what: str, example: str) -> None:
        said = {"received": received, "what": what, "example": example}
        super().__init__(_("“%(received)s” is not %(what)s. Write it as %(example)s") % said)


def split(text: str) -> list[str]:
    """Split a text at line ends, and at commas outside parentheses. Blank parts are dropped."""
    parts, depth, part = [], 0, ""
    for char in text.replace("\r", ""):
        depth += (char == "(") - (char == ")")
        if char == "\n" or (char == "," and depth <= 0):
            parts.append(part)
            part, depth = "", 0
        else:
            part += char
    return [stripped for stripped in (each.strip() for each in [*parts, part]) if stripped]


def lines(text: str, parse: Callable[[str], T]) -> list[T]:
    """One answer of `parse` for each line that is not blank."""
    return [parse(line.strip()) for line in text.splitlines() if line.strip()]


def parse_pairs(text: str, what: str = "", example: str = "app=web") -> dict[str, str]:
    """Return `app=web, tier=front` as a mapping. `key=` has an empty value."""
    pairs: dict[str, str] = {}
    for part in split(text):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise GrammarError(part, what or _("a label"), example)
        if key.strip() in pairs:
            raise GrammarError(part, _("a new key, because this key is already used"), example)
        pairs[key.strip()] = value.strip()
    return pairs


def parse_resources(text: str) -> dict[str, str]:
    """Return `nvidia.com/gpu=2` and similar texts as a mapping with unchanged quantities."""
    resources = parse_pairs(text, _("a resource"), "nvidia.com/gpu=1")
    for name, amount in resources.items():
        if not _RESOURCE.match(name):
            raise GrammarError(f"{name}={amount}", _("a resource"), "nvidia.com/gpu=1")
    return resources


def _taint(part: str) -> dict[str, str]:
    """A taint as `kubectl taint` takes it: `key=value:Effect` or `key:Effect`."""
    pair, colon, effect = part.rpartition(":")
    key, _equals, value = pair.partition("=")
    if not colon or not key.strip() or effect.strip() not in EFFECTS:
        raise GrammarError(part, _("a taint"), f"dedicated=infra:{'|'.join(EFFECTS)}")
    taint = {"key": key.strip(), "effect": effect.strip()}
    return {**taint, "value": value.strip()} if value.strip() else taint


def _toleration(part: str) -> dict[str, Any]:
    """A toleration: `key=value:Effect`, `key:Effect`, `key`, `*`; each may end in `for 300s`."""
    wanted = re.fullmatch(r"(?P<taint>\S+)(?:\s+for\s+(?P<seconds>-?\d+)s?)?", part)
    if wanted is None:
        raise GrammarError(part, _("a toleration"), "dedicated=infra:NoSchedule")
    toleration: dict[str, Any] = {}
    pair, colon, effect = wanted["taint"].rpartition(":")
    if not colon:
        pair, effect = effect, ""
    key, equals, value = pair.partition("=")
    if (colon and effect not in EFFECTS) or (not key and equals):
        raise GrammarError(part, _("a toleration"), "dedicated=infra:NoSchedule")
    if key not in ("", "*"):
        toleration["key"] = key
    toleration["operator"] = "Equal" if equals else "Exists"
    if equals:
        toleration["value"] = value
    if effect:
        toleration["effect"] = effect
    if wanted["seconds"] is not None:
        toleration["tolerationSeconds"] = int(wanted["seconds"])
    return toleration


def _requirement(part: str) -> dict[str, Any]:
    """A part of a selector as kubectl's `-l` takes it, with Gt and Lt: `zone in (a, b)`, `disk=ssd`, `!gpu`, `cores>8`."""
    if match := _REQUIREMENT.match(part):
        values = [value.strip() for value in match["values"].split(",") if value.strip()]
        return {"key": match["key"], "operator": _WORDS[match["op"].lower()], "values": values}
    if match := _COMPARISON.match(part):
        operator = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}[match["op"]]
        return {"key": match["key"], "operator": operator, "values": [match["value"]]}
    if re.fullmatch(r"!?[^\s!=<>()]+", part):
        return {"key": part.lstrip("!"), "operator": "DoesNotExist" if part.startswith("!") else "Exists"}
    raise GrammarError(part, _("a selector"), "zone in (a, b), disk=ssd, !gpu")


def parse_label_selector(text: str) -> dict[str, Any]:
    """A LabelSelector of pods: plain `key=value` parts as matchLabels, all others as matchExpressions."""
    labels: dict[str, str] = {}
    expressions: list[dict[str, Any]] = []
    for requirement in parse_requirements(text):
        values = requirement.get("values", [])
        if requirement["operator"] in ("Gt", "Lt"):
            raise GrammarError(text, _("a selector of pods (no > or <)"), "app in (web, api)")
        if requirement["operator"] == "In" and len(values) == 1:
            labels[requirement["key"]] = values[0]
        else:
            expressions.append(requirement)
    return {**({"matchLabels": labels} if labels else {}), **({"matchExpressions": expressions} if expressions else {})}


def parse_weighted(text: str) -> tuple[int, str]:
    """Return the weight (1 to 100) of `50 disk=ssd` and the rest."""
    weight, _blank, rest = text.partition(" ")
    if not weight.rstrip(":").isdecimal() or not 1 <= int(weight.rstrip(":")) <= 100 or not rest.strip():
        raise GrammarError(text, _("a weight from 1 to 100 and a selector"), "50 disk=ssd")
    return int(weight.rstrip(":")), rest.strip()


def parse_pod_term(text: str) -> dict[str, Any]:
    """Return `app=web @ topology.kubernetes.io/zone` as a pod affinity term. Without @, the topology is the node."""
    selector, _at, topology = text.partition("@")
    if not selector.strip():
        raise GrammarError(text, _("a selector of pods and a topology"), "app=web @ kubernetes.io/hostname")
    return {
        "labelSelector": parse_label_selector(selector),
        "topologyKey": topology.strip() or "kubernetes.io/hostname",
    }


def _port(part: str) -> dict[str, Any]:
    """A host port: `8080`, `53/UDP`, `127.0.0.1:9100/TCP`."""
    match = re.fullmatch(r"(?:(?P<ip>[0-9a-fA-F.:\[\]]+):)?(?P<port>\d{1,5})(?:/(?P<protocol>TCP|UDP|SCTP))?", part)
    if match is None or not 1 <= int(match["port"]) <= 65535:
        raise GrammarError(part, _("a host port"), "8080, 53/UDP, 127.0.0.1:9100/TCP")
    port: dict[str, Any] = {"containerPort": int(match["port"]), "hostPort": int(match["port"])}
    if match["protocol"]:
        port["protocol"] = match["protocol"]
    if match["ip"]:
        port["hostIP"] = match["ip"].strip("[]")
    return port


def _of_each(parse: Callable[[str], T]) -> Callable[[str], list[T]]:
    """Return a parser of a whole text from the parser of one part."""
    return lambda text: [parse(part) for part in split(text)]


parse_taints, parse_tolerations, parse_ports = _of_each(_taint), _of_each(_toleration), _of_each(_port)
parse_requirements = _of_each(_requirement)
