"""The requests of the page about schedulers from outside."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from playground.sessions.protocol.base import Data, Query


class Progress(Struct, frozen=True):
    """The schedulers of a world that run, what a scheduler from outside needs to be the same, and how far one is.

    `asked`: commands so far; `waiting`: pods without a node; `undecided`: those of them that no scheduler has tried.
    """

    schedulers: list[str]
    kubelets: bool
    release: str
    gates: str
    configuration: dict[str, Any]
    asked: int
    waiting: int
    undecided: int


class AskOutside(Query[Progress], frozen=True, kw_only=True):
    """Ask how a world is prepared for a scheduler from outside, and how far one is."""


class SecondOpinion(Query[Data], frozen=True, kw_only=True):
    """What schedulers from outside did up to a position, beside what ours does from where it was stopped.

    `seed`: of our draws; None: the session's.
    """

    seconds: float
    seed: int | None = None


class AuditBinding(Query[Data], frozen=True, kw_only=True):
    """What our filters say of each node right before a pod was bound."""

    pod: str
