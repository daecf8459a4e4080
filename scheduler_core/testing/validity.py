"""The corpus of validity: what kube-apiserver's validation says of an object that is made, and what is said here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apiserver.admission.catalogue import PLUGINS
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.registry.devices.gates import DeviceGates
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store

# The corpus has objects as validation gets them, without admission plugins before it.
_BARE = APIServerOptions(disable_admission_plugins=tuple(plugin.name for plugin in PLUGINS))


@dataclass(frozen=True, slots=True)
class TextsDiffer:
    """The first text in which two lists of errors differ; "" where a list has ended."""

    number: int
    expected: str
    received: str

    def to_json(self) -> dict[str, Any]:
        return {"error": self.number, "expected": self.expected, "received": self.received}

    def __str__(self) -> str:
        return f"error {self.number}: expected {self.expected!r}, received {self.received!r}"


def judge_object(data: Mapping[str, Any]) -> TextsDiffer | None:
    """Makes the object of a scenario, and compares what is said of it with `errors`, in their order."""
    try:
        APIServer(Store(), _BARE, 0, devices=DeviceGates()).create(data["object"], dry_run=True)
        received: list[str] = []
    except Refused as refused:
        received = [str(error) for error in refused.errors]
    for number in range(max(len(received), len(data["errors"]))):
        texts = [list(each)[number : number + 1] for each in (data["errors"], received)]
        if texts[0] != texts[1]:
            return TextsDiffer(number, *("".join(each) for each in texts))
    return None
