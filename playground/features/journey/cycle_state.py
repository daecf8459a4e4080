"""A cycle's CycleState key by key: who wrote it, who read it, in which copies, and what it holds in short."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NotRequired, TypedDict

import numpy as np

from playground.presenters.scene import short
from scheduler_core.analysis import inspection

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


class Clones(TypedDict):
    purpose: str
    count: int


class CycleStateKeys(TypedDict):
    """`keys` in the order in which they were first written, `clones` by purpose, and the plugins in the skip sets."""

    pod: str
    name: str
    number: int
    keys: "list[StateKey]"
    missed: list[Access]
    clones: list[Clones]
    skip_filter: list[str]
    skip_score: list[str]


def keys_of(observer: inspection.CycleStateObserver) -> CycleStateKeys:
    accesses, cycle = observer.accesses, observer.cycle
    names = dict.fromkeys([*(n.key for n in accesses if n.what == inspection.WROTE), *observer.values])
    clones: dict[str, int] = {}
    for access in accesses:
        if access.what == inspection.CLONED:
            clones[access.clone] = clones.get(access.clone, 0) + 1
    return {
        "pod": cycle.pod.key,
        "name": short(cycle.pod.key),
        "number": cycle.number,
        "keys": [_key(name, [n for n in accesses if n.key == name], observer.values) for name in names],
        "missed": _by([n for n in accesses if n.what == inspection.MISSED and n.key not in names]),
        "clones": [{"purpose": purpose, "count": count} for purpose, count in clones.items()],
        "skip_filter": list(cycle.state.skip_filter),
        "skip_score": list(cycle.state.skip_score),
    }


class StateKey(TypedDict):
    key: str
    wrote: list[Access]
    read: list[Access]
    copies: list[Access]
    value: str


def _key(name: str, accesses: list[inspection.StateAccess], values: Mapping[str, Any]) -> StateKey:
    own = [n for n in accesses if n.clone not in (inspection.DRY_RUN, inspection.NOMINATED)]
    return {
        "key": name,
        "wrote": _by(n for n in own if n.what == inspection.WROTE),
        "read": _by(n for n in own if n.what == inspection.READ),
        "copies": _by((n for n in accesses if n not in own), by_clone=True),
        "value": brief(values[name]) if name in values else "",
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


def brief(value: object) -> str:
    """Summarize a value in one line: numbers as they are, other values by kind and size."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        return f'"{value[:TEXT]}"'
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, (tuple, list, set, frozenset, dict)):
        return f"{type(value).__name__} of {len(value)}"
    if is_dataclass(value):
        parts = [f"{f.name}: {_inner(getattr(value, f.name))}" for f in fields(value)[:FIELDS]]
        return f"{type(value).__name__}({', '.join(parts)}{', …' if len(fields(value)) > FIELDS else ''})"
    return type(value).__name__


def _inner(value: object) -> str:
    return type(value).__name__ if is_dataclass(value) else brief(value)
