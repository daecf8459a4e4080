"""What is asked about plugins of one's own."""

from __future__ import annotations

from msgspec import Struct

from playground.sessions.protocol.base import Data, Query
from playground.sessions.protocol.errors import FieldProblem


class PluginTried(Struct, frozen=True):
    """The results of a CEL definition for a pod on each node, or its compile errors. `pods`: the pods to choose from."""

    problems: list[FieldProblem] = []
    trial: Data = {}
    pods: list[str] = []


class TryPlugin(Query[PluginTried], frozen=True, kw_only=True):
    """Try a definition that nobody uses yet; without one only the pods are told. `pod` "" is the first that waits."""

    name: str
    definition: Data | None
    pod: str
