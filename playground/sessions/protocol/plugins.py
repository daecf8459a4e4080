"""What is asked about plugins of one's own."""

from __future__ import annotations

from msgspec import Struct

from playground.sessions.protocol.base import Data, Query
from playground.sessions.protocol.errors import FieldProblem


class PluginTried(Struct, frozen=True):
    """What a definition in CEL says of a pod on each node, or what does not compile in it. `pods`: which can be asked about."""

    problems: list[FieldProblem] = []
    trial: Data = {}
    pods: list[str] = []


class TryPlugin(Query[PluginTried], frozen=True, kw_only=True):
    """Try a definition that nobody uses yet; without one only the pods are told. `pod` "" is the first that waits."""

    name: str
    definition: Data | None
    pod: str
