"""The requests of a pod's journey."""

from typing import Any

from playground.features.journey.presenter import CycleStateKeys
from playground.sessions.protocol.base import Query


class Journey(Query[Any], frozen=True, kw_only=True):
    """The request for a pod's journey (presenters/journey) up to a position. Details of its attempts take at most `seconds`."""

    pod: str
    page: int | None
    seconds: float


class CycleState(Query[CycleStateKeys | None], frozen=True, kw_only=True):
    """The request for the CycleState of a pod's present or last cycle, and the plugins that wrote and read it."""

    pod: str
