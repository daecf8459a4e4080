"""The first difference of two JSON values, as a path with both values. null equals absence."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from scheduler_core.apiserver import APIServerOptions, Refused, Store
from scheduler_core.apiserver.admission.catalogue import PLUGINS
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates
from scheduler_core.apiserver.server import APIServer
from scheduler_core.scheduler.framework.plugin import WaitingPod


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that is not as a corpus expects: both values, and in words with their place. `facts`: more for JSON."""

    expected: Any
    received: Any
    text: str
    facts: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        return {**self.facts, "expected": self.expected, "received": self.received}


# The corpus of validity: what kube-apiserver's validation says of an object that is made, and what is said here.

# The corpus has objects as validation gets them, without admission plugins before it.
_BARE = APIServerOptions(disable_admission_plugins=tuple(plugin.name for plugin in PLUGINS))


def judge_object(data: Mapping[str, Any]) -> Difference | None:
    """Create a scenario's object and compare the API server's errors with `errors`, in order. A missing error is ""."""
    try:
        APIServer(Store(), _BARE, 0, devices=DeviceGates()).create(data["object"], dry_run=True)
        received: list[str] = []
    except Refused as refused:
        received = [str(error) for error in refused.errors]
    for number in range(max(len(received), len(data["errors"]))):
        wanted, got = ("".join(list(each)[number : number + 1]) for each in (data["errors"], received))
        if wanted != got:
            text = f"error {number}: expected {wanted!r}, received {got!r}"
            return Difference(wanted, got, text, {"error": number})
    return None


# What a handle says of pods that wait on Permit where no pod ever waits.


class NobodyWaits:
    """The Handle of a world without waiting pods, at time 0."""

    now = 0

    def waiting_pods(self) -> list[WaitingPod]:
        return []

    def pod_group(self, namespace: str, name: str) -> None:
        return None


Place = tuple[str, Any, Any]
"""A path such as `.scores.node-2` or `[3].name`, the value that is expected there, and the one that was received."""


def _equal(expected: Any, received: Any) -> bool:
    return bool(expected == received)


def first_place(expected: Any, received: Any, same: Callable[[Any, Any], bool] = _equal) -> Place | None:
    """Return the first place that differs, in the order of the expected value; None if there is none. `same` compares leaves."""
    if isinstance(expected, dict) and isinstance(received, dict):
        pairs = [(f".{name}", expected.get(name), received.get(name)) for name in {**expected, **received}]
    elif isinstance(expected, list | tuple) and isinstance(received, list | tuple):
        pairs = [(f"[{i}]", *both) for i, both in enumerate(zip_longest(expected, received))]
    else:
        return None if same(expected, received) else ("", expected, received)
    for step, wanted, got in pairs:
        place = first_place(wanted, got, same)
        if place is not None:
            return step + place[0], place[1], place[2]
    return None


def describe(where: str, expected: Any, received: Any, about: str = "") -> str:
    """Describe a difference with its place and both values in full. `about`: a note that helps to find it."""
    note = f" ({about})" if about else ""
    return f"{where}: expected {_words(expected)}, received {_words(received)}{note}"


def _words(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
