"""The details of an attempt, a stranded pod as a message, and the whole journey as text."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import reduce
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np

from playground.common.catalogs import read_yaml
from playground.presenters.journey import COLUMNS
from playground.presenters.journey.entries import AttemptDetail, Call, Flight, Step
from playground.presenters.scene import short
from playground.presenters.sentences.lines import BOTH
from playground.presenters.words import Message, clock, duration, exactly, gettext_noop, message
from scheduler_core.analysis import inspection
from scheduler_core.analysis.inspection import Stranding

FIELDS = 6
TEXT = 60


class Access(TypedDict):
    """Equal accesses, with their number and the first one's step."""

    point: str
    plugin: str
    at: int
    count: int
    clone: NotRequired[str]
    what: NotRequired[str]


class CycleStateKeys(TypedDict):
    """The CycleState: `keys` in the order of their first write, `clones` by purpose, and the plugins in the skip sets."""

    pod: str
    name: str
    number: int
    keys: "list[StateKey]"
    missed: list[Access]
    clones: list[tuple[str, int]]
    skip_filter: list[str]
    skip_score: list[str]


def keys_of(observer: inspection.CycleStateObserver) -> CycleStateKeys:
    accesses, cycle = observer.accesses, observer.cycle
    names = dict.fromkeys([*(n.key for n in accesses if n.what == inspection.WROTE), *observer.values])
    return {
        "pod": cycle.pod.key,
        "name": short(cycle.pod.key),
        "number": cycle.number,
        "keys": [_key(name, [n for n in accesses if n.key == name], observer.values) for name in names],
        "missed": _by([n for n in accesses if n.what == inspection.MISSED and n.key not in names]),
        "clones": list(Counter(access.clone for access in accesses if access.what == inspection.CLONED).items()),
        "skip_filter": list(cycle.state.skip_filter),
        "skip_score": list(cycle.state.skip_score),
    }


class StateKey(TypedDict):
    key: str
    wrote: list[Access]
    read: list[Access]
    copies: list[Access]
    value: Message | None


def _key(name: str, accesses: list[inspection.StateAccess], values: Mapping[str, Any]) -> StateKey:
    own = [n for n in accesses if n.clone not in (inspection.DRY_RUN, inspection.NOMINATED)]
    return {
        "key": name,
        "wrote": _by(n for n in own if n.what == inspection.WROTE),
        "read": _by(n for n in own if n.what == inspection.READ),
        "copies": _by((n for n in accesses if n not in own), by_clone=True),
        "value": brief(values[name]) if name in values else None,
    }


def _by(accesses: Iterable[inspection.StateAccess], by_clone: bool = False) -> list[Access]:
    out: dict[tuple[str, ...], Access] = {}
    for access in accesses:
        part = (access.clone, access.what) if by_clone else (access.point, access.plugin)
        if part not in out:
            out[part] = {"point": access.point, "plugin": access.plugin, "at": access.position, "count": 0}
            if by_clone:
                out[part]["clone"], out[part]["what"] = access.clone, access.what
        out[part]["count"] += 1
    return list(out.values())


def brief(value: object) -> Message:
    """Summarize a value in one line: numbers and texts as they are, a collection by its size, and an object by its fields."""
    if isinstance(value, (tuple, list, set, frozenset, dict, np.ndarray)):
        return message(_ENTRY if len(value) == 1 else _ENTRIES, n=len(value)) if len(value) else message(_EMPTY)
    if is_dataclass(value):
        parts = [_field(field.name, getattr(value, field.name)) for field in fields(value)[:FIELDS]]
        parts += [exactly("…")] * (len(fields(value)) > FIELDS)
        return reduce(lambda rest, first: message(BOTH, first=first, rest=rest), parts[-2::-1], parts[-1])
    if isinstance(value, Enum):
        return exactly(value.name.lower().replace("_", " "))
    if value is None or isinstance(value, bool):
        return message(_WORDS[value])
    text = f'"{value[:TEXT]}"' if isinstance(value, str) else f"{value}"
    return exactly(text if isinstance(value, str | int | float) else "…")


def _field(name: str, value: object) -> Message:
    said = message("%(n)s fields", n=len(fields(value))) if is_dataclass(value) else brief(value)
    return message("%(name)s: %(value)s", name=exactly(name.strip("_").replace("_", " ")), value=said)


_EMPTY, _ENTRY, _ENTRIES = gettext_noop("none"), gettext_noop("%(n)s entry"), gettext_noop("%(n)s entries")
_WORDS = {None: _EMPTY, True: gettext_noop("yes"), False: gettext_noop("no")}


EVENTS = 20
_STAYS = "stays"
_PLAIN = ("Reserve", "Permit", "PreBind", "PostBind")  # a success there is shown in short


def describe_attempt(account: Mapping[str, Any]) -> AttemptDetail:
    steps = [_step(step) for step in account["steps"]]
    return {
        "refusals": account["refusals"],
        "answers": [_step(step) for step in account["answers"]],
        **_events(account["events"]),
        "steps": [step for step in steps if step["point"] != "Unreserve"],
        "rollback": [step for step in steps if step["point"] == "Unreserve"],
        "calls": [_call(call) for call in account["calls"]],
    }


def _step(step: Mapping[str, Any]) -> Step:
    return {
        "point": step["point"],
        "plugin": step["plugin"],
        "code": step["code"],
        "message": step["message"],
        "at": step["position"],
        "t": clock(step["t"]),
        "took": duration(step["took"]) if step["took"] else "",
        "limit": duration(step["timeout"]) if step["code"] == "Wait" and step["timeout"] else "",
        "failed": step["code"] not in ("Success", "Skip", "Wait"),
        "plain": step["code"] == "Success" and not (step["took"] or step["message"]) and step["point"] in _PLAIN,
    }


def _call(call: Mapping[str, Any]) -> Call:
    failed = call.get("error") or call.get("fault") or ""
    return {
        "verb": call["verb"],
        "what": _what(call),
        "failed": failed if isinstance(failed, str) else str(failed.get("message", failed)),
        "at": call["position"],
        "t": clock(call["t"]),
    }


def _what(call: Mapping[str, Any]) -> str:
    """Describe a call by the fields of a status, by a claim with its effects, or by a node."""
    if isinstance(fields := call.get("status"), list):
        return ", ".join(fields)
    if call.get("kind"):
        about = f"{call['kind']} {call['object']}"
        return f"{about}: {', '.join(call['effects'])}" if call.get("effects") else about
    return str(call.get("node", ""))


def _events(events: list[dict[str, Any]]) -> Flight:
    """Return the events that mattered, then the others, in order; at most EVENTS."""
    ordered = sorted(events, key=lambda event: event.get("decision", _STAYS) == _STAYS)
    return {
        "flight": [
            {
                "event": event["event"],
                "object": event.get("object", ""),
                "plugin": event.get("plugin", ""),
                "hint": event.get("hint", ""),
                "at": event["position"],
                "t": clock(event["t"]),
                "helps": _helps(event),
            }
            for event in ordered[:EVENTS]
        ],
        "flight_more": max(len(events) - EVENTS, 0),
    }


def _helps(event: Mapping[str, Any]) -> bool | None:
    decision = event.get("decision")
    return None if decision is None else decision != _STAYS


_WAYS = Path(__file__).with_name("ways.yaml")


def describe_stranded(stranded: Stranding) -> Message:
    """Return the sentence for one way of being stranded."""
    until = "-" if stranded.until is None else clock(stranded.until)
    return message(
        read_yaml(_WAYS)[stranded.way.value], node=stranded.node, plugin=", ".join(stranded.plugins), until=until
    )


_EVENTS = ("Type", "Reason", "Age", "From", "Message")
_NONE = "<none>"


def text(story: Mapping[str, Any], said: str, stranded: str = "") -> str:
    """Return the journey as text. `said` is the sentence about the pod's state, `stranded` the sentence about a stranded pod."""
    wide = story["wide"]
    parts = [
        *_table(COLUMNS, [[wide[name] or _NONE for name in COLUMNS]], "   "),
        "",
        *_fields(story, said, stranded),
        "Journey:",
        *_indent_lines(_table(("Step", "Time", "Place", "Why"), list(_lines(story["entries"])), "  ", ruled=True)),
        *_write_events(story["events"]),
    ]
    return "\n".join(line.rstrip() for line in parts) + "\n"


def _fields(story: Mapping[str, Any], said: str, stranded: str) -> list[str]:
    namespace, _, name = story["key"].partition("/")
    rows = [
        ("Name:", name),
        ("Namespace:", namespace),
        ("Node:", story["node"] or _NONE),
        ("Place:", f"{story['place']}  ({said})"),
        ("Attempts:", str(story["attempts"])),
        ("Virtual time:", f"{story['now']}, {story['total']} since it was created, step {story['position']}"),
        ("Time spent:", ", ".join(f"{p['place']} {p['time']}" for p in story["places"])),
    ]
    if story["why"]["message"]:
        rows.append(("Message:", story["why"]["message"]))
    rows += [("Claim:", _claim(claim)) for claim in story.get("claims") or ()]
    if stranded:
        rows.append(("Stranded:", stranded))
    return [f"{name:<18}{value}" for name, value in rows]


def _claim(claim: Mapping[str, Any]) -> str:
    row = claim["row"]
    if row is None:
        return f"{claim['short'] or claim['entry']}  does not exist yet"
    devices = ", ".join(each["device"] for each in row["devices"])
    where = f" on {row['node']}" if row["node"] else ""
    return f"{claim['short']}  {row['word']}  {devices}{where}".rstrip()


def _lines(entries: Iterable[Mapping[str, Any]]) -> Iterable[Sequence[str]]:
    for entry in entries:
        if entry["kind"] == "attempt":
            yield from _attempt(entry)
        else:
            yield (str(entry["at"]), entry["t"], entry["place"], _why(entry))


def _why(entry: Mapping[str, Any]) -> str:
    parts = [entry["cause"]]
    if entry["event"] and entry["event"] != entry["cause"]:
        parts.append(f"event {entry['event']}")
    if entry["plugin"]:
        parts.append(f"plugin {entry['plugin']}")
    if entry["hint"]:
        parts.append(f"hint {entry['hint'].lstrip('_')}")
    if entry["until"]:
        parts.append(f"until {entry['until']}")
    return ", ".join(parts)


def _attempt(entry: Mapping[str, Any]) -> Iterable[Sequence[str]]:
    head = f"attempt {entry['tries']}"
    if entry["outcome"] == "running":
        yield (str(entry["at"]), entry["t"], "in flight", f"{head} runs")
    else:
        node = f" on {entry['node']}" if entry["node"] else ""
        yield (str(entry["at"]), entry["t"], "in flight", f"{head}: {entry['outcome']}{node}, {entry['took']}")
        if entry["message"]:
            yield ("", "", "", entry["message"])
    if entry.get("nominated"):
        victims = ", ".join(victim["name"] for victim in entry["victims"])
        yield ("", "", "", f"nominated to {entry['nominated']}" + (f"; victims: {victims}" if victims else ""))
    detail = entry.get("detail")
    if detail:
        for event in detail["flight"]:
            helps = {None: "", True: " - helps", False: " - does not help"}[event["helps"]]
            name = f" {event['object']}" if event["object"] else ""
            yield (str(event["at"]), event["t"], "", f"in flight: {event['event']}{name}{helps}")
        for step in (*detail["steps"], *detail["rollback"]):
            if step["code"] == "Skip" or step["plain"]:
                continue
            took = f", {step['took']}" if step["took"] else ""
            message = f": {step['message']}" if step["message"] else ""
            yield (str(step["at"]), step["t"], "", f"{step['point']} {step['plugin']} {step['code']}{took}{message}")


def _write_events(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return [f"{'Events:':<18}{_NONE}"]
    cells = [[row["type"], row["reason"], row["age"], row["source"], row["message"]] for row in rows]
    return ["Events:", *_indent_lines(_table(_EVENTS, cells, "  ", ruled=True))]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], gap: str, ruled: bool = False) -> list[str]:
    """Return columns as wide as their widest cell. The last column is not padded."""
    every = [heads, *([["-" * len(head) for head in heads]] if ruled else []), *rows]
    widths = [max(len(row[i]) for row in every) for i in range(len(heads))]
    return [gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in every]


def _indent_lines(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]
